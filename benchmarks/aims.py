"""What saved results of `ascend-grad bench` fall short of the project's aims.

    python benchmarks/aims.py one.json two.json

An aim is a share of the limit: 0.85 in float32 and 0.8 in 16 bit beyond 32 MiB, 0.6 below (0.5
where bfloat16 results are rounded); 0.5 wherever neighbours in memory are not elements that belong
together: strided axes and slices, transposed operands, rows of less than 16, windows that overlap or have
padding. A miss is out of reach where the limit of arithmetic, measured in the same rounds, misses
the aim, too.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path

from ascend_grad.bench import report
from ascend_grad.bench.cases import AVG_POOL, BATCH_NORM, SOFTMAX

CACHES = 32 << 20
SHORT_ROW = 16
NOISE = 0.005  # shares are printed in per cent
PEER_NOISE = 0.05
Ratio = Callable[[report.Record], float | None]


def aim(record: report.Record) -> float:
    operator, attributes = record["operator"], record["attributes"]
    weak = record["layout"] in ("t", "s2")
    if operator == SOFTMAX:
        weak |= attributes["dim"] != -1 or record["shape"][-1] < SHORT_ROW
    if operator == AVG_POOL:
        weak |= attributes["kernel_size"] > attributes["stride"] or attributes["padding"] > 0
    if weak:
        return 0.5
    if record["moved_bytes"] > CACHES:
        return 0.85 if record["dtype"] == "float32" else 0.8
    rounds = record["dtype"] == "bfloat16" and operator != BATCH_NORM
    return 0.5 if rounds else 0.6


def mean(ratio: Ratio, fraction: Ratio, records: list[report.Record]) -> float:
    """Of how many times as fast calls are as others or, at 1 / fraction of their speed, would be;
    none is slowed down, and small ones, which have no fraction, stay as they are."""
    ratios = ((ratio(r), fraction(r)) for r in records)
    return report.geometric_mean(x / min(1.0, f or 1.0) for x, f in ratios if x is not None) or 0.0


def print_means(records: list[report.Record]) -> None:
    peers = {"the best peer": report.ratio_to_best_peer, "PyTorch": report.ratio_to_torch}
    for threads in sorted({r["threads"] for r in records}):
        some = [r for r in records if r["threads"] == threads]
        for name, ratio in peers.items():
            fractions = (lambda _: 1.0, report.fraction_of_arithmetic, report.fraction_of_limit)
            now, arithmetic, limit = (mean(ratio, fraction, some) for fraction in fractions)
            print(
                f"{threads} thread(s): {now:.2f} times {name} in the mean; with every case at the "
                f"limit of arithmetic {arithmetic:.2f}, at that of memory {limit:.2f}"
            )


def main(paths: list[str]) -> None:
    records = [r for path in paths for r in json.loads(Path(path).read_text())["records"]]
    shares = [r for r in records if report.fraction_of_limit(r) is not None]
    lines, out_of_reach = [], 0
    for record in shares:
        share, arithmetic = report.fraction_of_limit(record), report.fraction_of_arithmetic(record)
        wanted = aim(record)
        if share >= wanted - NOISE:
            continue
        bound = share / arithmetic if arithmetic else 1.0
        out_of_reach += bound < wanted
        lines.append(
            [
                record["operator"],
                record["case"],
                record["dtype"],
                str(record["threads"]),
                f"{share:.2f}",
                f"{wanted:.2f}",
                f"{bound:.2f}" if arithmetic else "",
                "no" if bound < wanted else "",
            ]
        )
    names = ["operator", "case", "dtype", "threads", "of limit", "aim", "arithmetic", "in reach"]
    print(report.table(names, lines))
    print(f"\n{len(lines)} of {len(shares)} shares missed, {out_of_reach} of them out of reach")
    slower = [
        f"{r['operator']} {r['case']} {r['dtype']} {r['threads']} thread(s): {ratio:.2f}"
        for r in records
        if (ratio := report.ratio_to_best_peer(r)) is not None and ratio < 1 - PEER_NOISE
    ]
    print(
        f"{len(slower)} of {len(records)} cases slower than a peer by more than 5 %",
        *slower,
        sep="\n",
    )
    print_means(records)


if __name__ == "__main__":
    main(sys.argv[1:])
