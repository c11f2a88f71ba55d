"""How many problems reach the aim for 910B in the emulator's model: the time at most 1.15 times
that of the bytes, and these at most 1.02 of the least, from 4 MiB on.

    python benchmarks/device_survey.py                       # 3 draws of 25 problems per operator
    python benchmarks/device_survey.py --seeds 4 5 --worst 5
    python benchmarks/device_survey.py --suites networks     # layers of well-known networks alone

The problems are those of `ascend-grad bench` (its grid and suites) and ones of random sizes, of 4
to 80 MiB, in float32 and float16 (bfloat16 costs the same). "floor" counts the problems that miss
the time where a program does, too, that copies evenly and computes what none is without (see
device_costs.py).
"""

from __future__ import annotations

import argparse
import os
import tempfile
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any, NamedTuple

import device_costs
import numpy as np
from ascend_grad.bench.cases import Case, grid
from ascend_grad.bench.problem import moved_bytes
from ascend_grad.bench.random_cases import random_cases
from ascend_grad.bench.report import geometric_mean

DTYPES = ("float32", "float16")
SUITES = ("table", "networks", "shapes", "random")
MIB = 1 << 20
SIZES = (700_000, 8_000_000)  # elements of a random problem's largest tensor
BANDS = (4, 8, 16, 80)  # MiB
TIME, BYTES = 1.15, 1.02


class Figures(NamedTuple):
    case: str
    ratio: float
    floor: float | None  # None: holds the time
    beyond: float  # bytes moved over the least


def cases(suites: Iterable[str], seeds: Iterable[int]) -> Iterator[Case]:
    chosen = [case for suite in suites if suite != "random" for case in grid(suite)]
    if "random" in suites:
        chosen += [case for seed in seeds for case in random_cases(seed, SIZES)]
    seen = set()
    for case in chosen:
        # All are contiguous here.
        case = replace(case, label=case.label.split(" [")[0], layout="", begin=0)
        key = case.operator, case.label
        if key not in seen:
            yield case
        seen.add(key)


def arguments_of(case: Case, dtype: str) -> list[Any]:
    attributes = case.attributes
    if case.operator != "avg_pool2d_backward":
        shaped = (case.shape, *attributes.values())
        return device_costs.arguments_of(
            case.operator, shaped, device_costs.DTYPES[dtype], device_costs.SOC
        )
    x = np.ones(case.shape, device_costs.DTYPES[dtype])
    names = ("kernel_size", "stride", "padding", "ceil_mode", "count_include_pad")
    given = [attributes[name] for name in (*names, "divisor_override")]
    return [np.ones(case.pooled_shape, x.dtype), x, *given, 0]


def measure(case: Case, dtype: str, floor_program: list[str]) -> Figures:
    arguments = arguments_of(case, dtype)
    least, launches = device_costs.call(case.operator, arguments, device_costs.SOC)
    (launch,) = launches  # of contiguous tensors
    moved = launch["bytes_read"] + launch["bytes_written"]
    ratio, floor = launch["cycles"] / launch["bound_cycles"], None
    if round(ratio, 2) > TIME:
        floor = device_costs.floor(case.operator, arguments, launches, floor_program)
    return Figures(case.label, ratio, floor, moved / least)


def row(name: str, figures: list[Figures]) -> str:
    worst = max(figures, key=lambda f: f.ratio)
    in_time = sum(round(f.ratio, 2) <= TIME for f in figures)
    out_of_reach = sum(f.floor is not None and round(f.floor, 2) > TIME for f in figures)
    in_bytes = sum(round(f.beyond, 2) <= BYTES for f in figures)
    mean = geometric_mean(f.ratio for f in figures)
    cells = [name, len(figures), f"{mean:.2f}", in_time, out_of_reach, in_bytes]
    return "| " + " | ".join(map(str, cells)) + f" | {worst.ratio:.2f}: {worst.case} |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--ops", nargs="*", default=list(device_costs.CASES))
    parser.add_argument("--suites", nargs="*", choices=SUITES, default=SUITES)
    parser.add_argument("--seeds", nargs="*", type=int, default=[1, 2, 3])
    parser.add_argument("--worst", type=int, default=0, help="list so many of each operator")
    options = parser.parse_args()
    os.environ["ASCENDC_EMULATOR"] = "nochecks"
    found: dict[tuple[str, str, int], list[Figures]] = defaultdict(list)
    with tempfile.TemporaryDirectory() as folder:
        floor_program = device_costs.build_floor(folder)
        for case in cases(options.suites, options.seeds):
            for dtype in DTYPES:
                mib = moved_bytes(case, dtype) / MIB
                if case.operator in options.ops and BANDS[0] <= mib < BANDS[-1]:
                    band = max(least for least in BANDS if least <= mib)
                    found[case.operator, dtype, band].append(measure(case, dtype, floor_program))
    heads = ("operator, dtype, from MiB on", "problems", "mean", f"<= {TIME}", f"floor > {TIME}",
             f"<= {BYTES}", "worst")  # fmt: skip
    print("| " + " | ".join(heads) + " |\n" + "|---" * len(heads) + "|")
    for operator, dtype, band in sorted(found):
        print(row(f"{operator}, {dtype}, {band}", found[operator, dtype, band]))
    if found:
        print(row("together", [f for figures in found.values() for f in figures]))
    for operator in options.ops if options.worst else ():
        of_operator = [(f, key[1]) for key in found for f in found[key] if key[0] == operator]
        for f, dtype in sorted(of_operator, reverse=True, key=lambda pair: pair[0].ratio)[
            : options.worst
        ]:
            print(
                f"{operator} {f.case} {dtype}: {f.ratio:.2f}, {f.beyond:.3f} of the least bytes"
                + (f", floor {f.floor:.2f}" if f.floor else "")
            )


if __name__ == "__main__":
    main()
