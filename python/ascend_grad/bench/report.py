"""Tables and figures of merit from records (`measure.measure`)."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from typing import Any

from ascend_grad.bench.contenders import OURS, PREPARED
from ascend_grad.bench.measure import OVERHEAD_BYTES

Record = dict[str, Any]

_SHORT = {"float32": "fp32", "float16": "fp16", "bfloat16": "bf16"}


def peer_of(contender: str) -> str:
    return contender.split("_")[0]


def best_peer(record: Record) -> tuple[str, float, float] | None:
    """Name, seconds, and these over ours; like is compared with like where calls are prepared."""
    seconds = record["seconds"]
    prepared = seconds.get(f"{OURS}_{PREPARED}", seconds[OURS])
    peers = [
        (name, value, value / (prepared if name.endswith(PREPARED) else seconds[OURS]))
        for name, value in seconds.items()
        if peer_of(name) != OURS
    ]
    return min(peers, key=lambda peer: peer[2], default=None)


def ratio_to_best_peer(record: Record) -> float | None:
    best = best_peer(record)
    return best[2] if best else None


def torch_seconds(record: Record) -> float | None:
    """Of PyTorch's own operator, not of an expression of several."""
    times = [v for k, v in record["seconds"].items() if k in ("torch", "torch_alloc")]
    return min(times, default=None)


def ratio_to_torch(record: Record) -> float | None:
    seconds = torch_seconds(record)
    return seconds / record["seconds"][OURS] if seconds is not None else None


def fraction_of_limit(record: Record) -> float | None:
    """None where a call is too small for bandwidth to matter."""
    if record["moved_bytes"] < OVERHEAD_BYTES:
        return None
    return record["limit_seconds"] / record["seconds"][OURS]


def fraction_of_arithmetic(record: Record) -> float | None:
    """Of the limit of kernels that do the arithmetic, too; never less than that of the bytes."""
    seconds = record.get("arithmetic_seconds")
    if seconds is None or record["moved_bytes"] < OVERHEAD_BYTES:
        return None
    return max(seconds, record["limit_seconds"]) / record["seconds"][OURS]


def cost_of_allocation(record: Record) -> float:
    return record["seconds"][f"{OURS}_alloc"] / record["seconds"][OURS]


def _microseconds(seconds: float) -> str:
    value = seconds * 1e6
    return f"{value:.0f}" if value >= 1000 else f"{value:.3g}"


def _optional(value: float | None, form: str) -> str:
    return "" if value is None else format(value, form)


def _rate(record: Record, seconds: float) -> str:
    return f"{record['moved_bytes'] / seconds / 1e9:.0f}"


def _limit(record: Record) -> str:
    if fraction_of_limit(record) is None:
        return "overhead"
    seconds = record["limit_seconds"]
    kernel = ", NT" if record["limit_kernel"].startswith("NT") else ""
    return f"{_microseconds(seconds)} ({_rate(record, seconds)}{kernel})"


def _ours(record: Record) -> str:
    seconds = record["seconds"]
    text = f"{_microseconds(seconds[OURS])} ({_rate(record, seconds[OURS])})"
    prepared = seconds.get(f"{OURS}_{PREPARED}")
    return f"{text}, prepared {_microseconds(prepared)}" if prepared else text


def _best(record: Record) -> str:
    best = best_peer(record)
    return f"{best[0]} {_microseconds(best[1])}" if best else ""


_COLUMNS: dict[str, Callable[[Record], str]] = {
    "case": lambda r: r["case"],
    "dtype": lambda r: _SHORT[r["dtype"]],
    "MB": lambda r: f"{r['moved_bytes'] / 1e6:.3g}",
    "limit µs (GB/s)": _limit,
    "ours µs (GB/s)": _ours,
    "of limit": lambda r: _optional(fraction_of_limit(r), ".0%"),
    "of arithmetic": lambda r: _optional(fraction_of_arithmetic(r), ".0%"),
    "new result": lambda r: f"x{cost_of_allocation(r):.2f}",
    "best peer µs": _best,
    "faster than it": lambda r: _optional(ratio_to_best_peer(r), ".2f"),
    "than torch": lambda r: _optional(ratio_to_torch(r), ".1f"),
    "quiet": lambda r: f"{r['quiet_rounds']}/{r['rounds']}" + ("" if r["quiet"] else " busy"),
}
_PEER_COLUMNS = ("best peer µs", "faster than it", "than torch")


def header(records: Iterable[Record]) -> list[str]:
    peers = any(best_peer(record) for record in records)
    return [name for name in _COLUMNS if peers or name not in _PEER_COLUMNS]


def rows(records: Iterable[Record], names: list[str]) -> list[list[str]]:
    return [[_COLUMNS[name](record) for name in names] for record in records]


def table(names: list[str], lines: list[list[str]]) -> str:
    """A Markdown table that is also readable as it is."""
    widths = [max(map(len, column)) for column in zip(names, *lines, strict=True)]
    rule = ["-" * width for width in widths]
    return "\n".join(
        "| "
        + " | ".join(f"{cell:<{width}}" for cell, width in zip(line, widths, strict=True))
        + " |"
        for line in (names, rule, *lines)
    )


def geometric_mean(values: Iterable[float | None]) -> float | None:
    logarithms = [math.log(value) for value in values if value is not None]
    return math.exp(sum(logarithms) / len(logarithms)) if logarithms else None


def summary(records: list[Record]) -> str:
    """Geometric means by operator, dtype and threads, and over all."""
    groups: dict[tuple[str, ...], list[Record]] = {}
    for record in records:
        groups.setdefault(
            (record["operator"], _SHORT[record["dtype"]], str(record["threads"])), []
        ).append(record)
    groups["all", "", ""] = records
    names = ["operator", "dtype", "threads", "cases", "of limit", "worst", "of arithmetic",
             "new result",
             "faster than best peer", "worst ", "than torch"]  # fmt: skip
    lines = []
    for key, members in groups.items():
        fractions = [f for r in members if (f := fraction_of_limit(r)) is not None]
        ratios = [f for r in members if (f := ratio_to_best_peer(r)) is not None]
        lines.append([
            *key,
            str(len(members)),
            _optional(geometric_mean(fractions), ".0%"),
            _optional(min(fractions, default=None), ".0%"),
            _optional(geometric_mean(map(fraction_of_arithmetic, members)), ".0%"),
            _optional(geometric_mean(map(cost_of_allocation, members)), ".2f"),
            _optional(geometric_mean(ratios), ".2f"),
            _optional(min(ratios, default=None), ".2f"),
            _optional(geometric_mean(map(ratio_to_torch, members)), ".1f"),
        ])  # fmt: skip
    return table(names, lines)


def full(report: dict[str, Any]) -> str:
    """Everything as text: machine, one table per operator and thread count, summary."""
    records = report["records"]
    parts = [machine(report["machine"])]
    names = header(records)
    for operator in dict.fromkeys(record["operator"] for record in records):
        for threads in dict.fromkeys(record["threads"] for record in records):
            chosen = [r for r in records if (r["operator"], r["threads"]) == (operator, threads)]
            if chosen:
                parts += [f"{operator}, {threads} thread{'s' * (threads > 1)}"]
                parts += [table(names, rows(chosen, names))]
    return "\n\n".join([*parts, "Geometric means", summary(records)])


def machine(facts: dict[str, Any]) -> str:
    ours = facts["ascend_grad"]
    caches = ", ".join(f"{name} {size >> 10} KiB" for name, size in facts["caches"].items())
    peers = ", ".join(f"{name} {version}" for name, version in facts["peers"].items())
    return (
        f"{facts['processor']}, {facts['cores']} cores, {caches}, {facts['memory_gib']} GiB; "
        f"{facts['system']}, huge pages {facts['huge_pages']}\n"
        f"ascend-grad {ours['version']} ({ours['isa']}, {ours['compiler']}), "
        f"python {facts['python']}, numpy {facts['numpy']}; peers: {peers or 'none'}"
    )
