"""Pictures of a report."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import matplotlib

matplotlib.use("Agg")
from matplotlib import pyplot
from matplotlib.axes import Axes
from matplotlib.ticker import FuncFormatter

from ascend_grad.bench import report
from ascend_grad.bench.cases import DTYPES, OPERATORS
from ascend_grad.bench.contenders import OURS

_OURS, _PEER, _TORCH, _LIMIT = "#c7000b", "#5b6770", "#ee8a2c", "#000000"
_OTHERS = "best of the other libraries"
_MARKERS = dict(zip(DTYPES, ("o", "s", "^"), strict=True))


def save(result: dict[str, Any], path: Path) -> None:
    """Draws what the report holds: the table to `path`, the scaling beside it (or to `path`)."""
    suites: dict[str, list[report.Record]] = {}
    for record in result["records"]:
        suites.setdefault(record["suite"], []).append(record)
    for suite, records in suites.items():
        most = max(record["threads"] for record in records)
        chosen = [record for record in records if record["threads"] == most]
        figure = (_scaling if suite == "scaling" else _table)(chosen)
        facts = result["machine"]
        busy = "" if all(record["quiet"] for record in chosen) else "; measured on a busy machine"
        versions = ", ".join(f"{name} {version}" for name, version in facts["peers"].items())
        figure.supxlabel(
            f"{facts['processor']}, {most} thread{'s' * (most > 1)}, "
            f"{facts['ascend_grad']['isa']}{busy}. {versions}",
            fontsize=7,
        )
        alone = suite == "table" or len(suites) == 1
        figure.savefig(path if alone else path.with_stem(f"{path.stem}-{suite}"), dpi=150)
        pyplot.close(figure)


def _panels(records: list[report.Record]) -> list[tuple[str, list[report.Record]]]:
    groups = [(name, [r for r in records if r["operator"] == name]) for name in OPERATORS]
    return [(name, members) for name, members in groups if members]


def _table(records: list[report.Record]) -> Any:
    """A row per case: how near to the limit ours, PyTorch and the others come, in each dtype."""
    large = [r for r in records if report.fraction_of_limit(r) is not None]
    panels = _panels(large or records)
    names = {operator: list(dict.fromkeys(r["case"] for r in m))[::-1] for operator, m in panels}
    rows = (len(panels) + 1) // 2
    height = 0.24 * rows * (1.5 + max(map(len, names.values()))) + 1
    figure, axes = pyplot.subplots(
        rows, 2, figsize=(11, height), squeeze=False, sharex=True, layout="constrained"
    )
    for axis in axes.flat[len(panels) :]:
        axis.remove()
    for axis, (operator, members) in zip(axes.flat, panels, strict=False):
        axis.set_title(operator, fontsize=9, loc="left")
        axis.set_yticks(range(len(names[operator])), names[operator], fontsize=7)
        axis.set_ylim(-0.6, len(names[operator]) - 0.4)
        axis.set_xscale("log")
        axis.tick_params(labelsize=7)
        axis.xaxis.set_major_formatter(FuncFormatter(lambda x, _: f"{x:g} %"))
        axis.axvline(100, color=_LIMIT, linewidth=1, linestyle="--")
        axis.grid(axis="x", which="both", color="#e4e4e4", linewidth=0.5)
        axis.set_axisbelow(True)
        for record in members:
            _marks(axis, record, names[operator].index(record["case"]))
        axis.set_xlabel("speed as a share of the memory's limit", fontsize=8)
    axes.flat[0].set_xlim(right=150)  # of all
    handles = [
        pyplot.Line2D([], [], color=color, marker="o", linestyle="", label=label)
        for label, color in (("ascend-grad", _OURS), ("PyTorch", _TORCH), (_OTHERS, _PEER))
    ] + [
        pyplot.Line2D([], [], color="#999999", marker=marker, linestyle="", label=dtype)
        for dtype, marker in _MARKERS.items()
    ]
    figure.legend(handles=handles, loc="outside upper center", ncols=6, fontsize=7, frameon=False)
    return figure


def _marks(axis: Axes, record: report.Record, row: int) -> None:
    height = row + 0.25 * (1 - DTYPES.index(record["dtype"]))
    best = {_PEER: _fastest(record, "others"), _TORCH: _fastest(record, "torch")}
    for color, value in {**best, _OURS: record["seconds"][OURS]}.items():
        if value is not None:
            share = 100 * record["limit_seconds"] / value
            axis.plot(share, height, _MARKERS[record["dtype"]], color=color, markersize=3.5)


def _fastest(record: report.Record, who: str) -> float | None:
    """Seconds of the fastest variant of "torch", or of all "others"."""
    groups = {"torch": [], OURS: [], "others": []}  # type: dict[str, list[float]]
    for name, seconds in record["seconds"].items():
        groups.get(report.peer_of(name), groups["others"]).append(seconds)
    return min(groups[who], default=None)


def _scaling(records: list[report.Record]) -> Any:
    """Bytes per second over bytes, one panel per operator; the first dtype of the report."""
    dtype = records[0]["dtype"]
    panels = _panels([r for r in records if r["dtype"] == dtype])
    figure, axes = pyplot.subplots(
        2, 2, figsize=(8, 5.5), squeeze=False, sharex=True, layout="constrained"
    )
    for axis in axes.flat[len(panels) :]:
        axis.remove()
    for axis, (operator, members) in zip(axes.flat, panels, strict=False):
        members.sort(key=lambda record: record["moved_bytes"])
        axis.set_title(f"{operator}, {dtype}", fontsize=9, loc="left")
        axis.set_xscale("log", base=2)
        axis.set_yscale("log")
        axis.xaxis.set_major_formatter(FuncFormatter(_size))
        axis.yaxis.set_major_formatter(FuncFormatter(lambda y, _: f"{y:g}"))
        axis.set_ylabel("GB/s", fontsize=8)
        axis.tick_params(labelsize=7)
        axis.grid(which="major", color="#e4e4e4", linewidth=0.5)
        lines = {
            ("memory's limit", _LIMIT, "--"): lambda r: r["limit_seconds"],
            ("ascend-grad", _OURS, "-"): lambda r: r["seconds"][OURS],
            ("ascend-grad, new result", _OURS, ":"): lambda r: r["seconds"][f"{OURS}_alloc"],
            ("PyTorch", _TORCH, "-"): lambda r: _fastest(r, "torch"),
            (_OTHERS, _PEER, "-"): lambda r: _fastest(r, "others"),
        }
        for (label, color, style), seconds in lines.items():
            points = [(r["moved_bytes"], s) for r in members if (s := seconds(r)) is not None]
            rates = [size / s / 1e9 for size, s in points]
            if points:
                sizes = [size for size, _ in points]
                axis.plot(sizes, rates, style, color=color, linewidth=1.3, label=label)
    handles, labels = axes.flat[0].get_legend_handles_labels()
    figure.legend(
        handles, labels, loc="outside upper center", ncols=len(labels), fontsize=7, frameon=False
    )
    return figure


def _size(value: float, _: int) -> str:
    for power, unit in ((30, "GiB"), (20, "MiB"), (10, "KiB")):
        if value >= 1 << power:
            return f"{value / (1 << power):g} {unit}"
    return f"{value:g} B"
