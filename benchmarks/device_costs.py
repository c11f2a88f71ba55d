"""What the Ascend kernels cost in the emulator's model, as a Markdown table per operator.

    python benchmarks/device_costs.py                  # every operator, dtype, shape and product
    python benchmarks/device_costs.py --svg docs/images    # a timeline of each operator instead
    python benchmarks/device_costs.py --ops softmax_backward --case 64x128x777 1    # another shape

A cell: estimated time, its ratio to the time of the bytes moved at full bandwidth, and the pipe
that is busiest on the slowest core, with its share of the time. `+n%`: GM bytes beyond the least.
`floor`: the ratio of a program that moves as many bytes, but in even copies, and does the
arithmetic that no kernel of the operator is without, on all 910B cores, with a barrier where there
is a workspace for sums (device_floor.cpp, compiled by CXX or g++).
"""

from __future__ import annotations

import argparse
import math
import os
import re
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import ascend_grad as ag
import ml_dtypes
import numpy as np
from ascend_grad import _core

DTYPES = {"float32": np.float32, "float16": np.float16, "bfloat16": ml_dtypes.bfloat16}
SOC = "ascend910b"  # of the aim
PRODUCTS = {SOC: "910B", "ascend310p": "310P", "ascend910": "910A"}
CHANNEL_SHAPES = [
    ((32, 64, 56, 56),),
    ((64, 512, 7, 7),),
    ((32, 192, 35, 35),),
    ((4096, 1000),),
]
CASES: dict[str, list[tuple[Any, ...]]] = {
    "softmax_backward": [  # shape, dim
        ((4096, 1024), 1),
        ((8192, 127), 1),
        ((32, 64, 1024), 1),
        ((1024, 4096), 0),
        ((64, 1000, 49), 1),
        ((1, 4000000), 1),
    ],
    "batch_norm_reduce_backward": CHANNEL_SHAPES,
    "prelu_backward": CHANNEL_SHAPES,
    "avg_pool2d_backward": [  # shape, kernel, stride, padding
        ((8, 64, 112, 112), 2, 2, 0),
        ((8, 64, 112, 112), 3, 2, 1),
        ((16, 64, 56, 56), 3, 1, 1),
        ((16, 64, 56, 56), 5, 1, 2),
        ((64, 1024, 7, 7), 7, 7, 0),
    ],
}
SVG_CASES: dict[str, tuple[Any, ...]] = {
    "softmax_backward": ((1024, 1024), 1),
    "batch_norm_reduce_backward": ((8, 64, 56, 56),),
    "prelu_backward": ((8, 64, 56, 56),),
    "avg_pool2d_backward": ((4, 64, 56, 56), 3, 2, 1),
}


def text_of(case: tuple[Any, ...]) -> str:
    shape, *rest = case
    names = ("dim",) if len(rest) == 1 else ("kernel", "stride", "padding")
    words = [f"{name} {value}" for name, value in zip(names, rest, strict=False)]
    return ", ".join(["x".join(map(str, shape)), *words])


def arguments_of(operator: str, case: tuple[Any, ...], dtype: Any, soc: str) -> list[Any]:
    shape, *rest = case
    x = np.ones(shape, dtype)
    if operator == "avg_pool2d_backward":
        kernel, stride, padding = rest
        extents = [(size + 2 * padding - kernel) // stride + 1 for size in shape[-2:]]
        g = np.ones((*shape[:-2], *extents), dtype)
        rest = [kernel, stride, padding, False, True, 0, 0 if soc == SOC else 2]
    else:
        g = x
    if operator == "prelu_backward":
        rest = [np.ones(shape[1], dtype)]
    if operator == "batch_norm_reduce_backward":
        rest = [np.ones(shape[1], np.float32)] * 2
    return [g, x, *rest]


def call(operator: str, arguments: list[Any], soc: str) -> tuple[float, list[Any]]:
    """Bytes that the call must move, and its launches."""
    results = getattr(ag, operator)(*arguments, device="emulator", soc=soc)
    read = [x for x in arguments if isinstance(x, np.ndarray)]
    if operator == "avg_pool2d_backward":
        del read[1]  # only its shape counts
    written = results if isinstance(results, tuple) else (results,)
    return sum(x.nbytes for x in (*read, *written)), _core.last_launches()


def busiest(launch: dict[str, Any]) -> tuple[str, float]:
    """Of the launch's pipes: name, share of the slowest core's time in percent."""
    lines = launch["table"].split("share\n")[1].splitlines()
    return max(
        ((line.split()[0], float(line.split()[-1][:-1])) for line in lines), key=lambda p: p[1]
    )


def cell(least: float, launches: list[Any]) -> str:
    main = max(launches, key=lambda launch: launch["cycles"])
    total = {
        key: sum(launch[key] for launch in launches)
        for key in launches[0]
        if key != "table" and isinstance(launches[0][key], (int, float))
    }
    pipe, share = busiest(main)
    ratio = total["cycles"] / total["bound_cycles"]
    text = f"{total['microseconds']:.1f} us, {ratio:.2f}, {pipe} {share:.0f}%"
    more = (total["bytes_read"] + total["bytes_written"]) / least - 1
    return text + (f", +{100 * more:.0f}%" if more > 0.005 else "")


def build_floor(folder: str) -> list[str]:
    """The command that runs device_floor.cpp, compiled for 910B."""
    config = [sys.executable, "-m", "ascend_grad", "config", "--emulator", "--soc", SOC]
    flags = subprocess.check_output([*config, "--cflags", "--libs"], text=True)
    source, program = Path(__file__).with_name("device_floor.cpp"), f"{folder}/device_floor"
    compiler = os.environ.get("CXX", "g++")
    subprocess.check_call([compiler, "-O1", str(source), "-o", program, *shlex.split(flags)])
    return [program]


def least_work(operator: str, arguments: list[Any]) -> list[int]:
    """How many floats each instruction makes that no kernel is without once both inputs are there.

    The last input of 16 bit is made float, results are rounded, and sums are added up as a tree or
    element by element.
    """
    x = arguments[1]
    n = x.size
    casts = [n] * (x.itemsize == 2)
    if operator == "softmax_backward":  # products, their sums, differences, results
        sums = n - n // x.shape[arguments[2]]
        return [*casts, n, sums, n, n, *casts]
    if operator == "batch_norm_reduce_backward":  # products, their sum
        return [*casts, n, n]
    if operator == "prelu_backward":  # two products, two choices, one perhaps of 16 bit, a sum
        return [*casts, n, n, n, n, n * x.itemsize // 4, *casts]
    if operator == "avg_pool2d_backward":
        return least_pooling(arguments)
    raise ValueError(operator)


def least_pooling(arguments: list[Any]) -> list[int]:
    """Quotients; where neighbours lie under the same windows one sum of these for all, over columns
    and then rows; from a row's different sums its elements. A row may be stored again and again."""
    grad, x, kernel, stride = arguments[:4]
    planes, (grad_rows, grad_columns) = math.prod(x.shape[:-2]), grad.shape[-2:]
    kinds = 1 if kernel % stride == 0 else 2  # of elements, from one window to the next
    rows, columns = (min(a, kinds * b) for a, b in zip(x.shape[-2:], grad.shape[-2:], strict=True))
    sums = planes * rows * columns
    casts = x.itemsize == 2

    def additions(windows: int) -> int:
        """Over an element there are kernel // stride windows at least. Sums of runs that begin, or
        end, where blocks of them do make any other of two."""
        return min((min(max(kernel // stride, 1), windows) - 1).bit_length(), 2)

    work = [grad.size] * (1 + casts)
    work += [planes * grad_rows * columns] * additions(grad_columns)
    work += [sums] * (additions(grad_rows) + casts)
    return (
        work if columns == x.shape[-1] else [*work, planes * rows * x.shape[-1] * x.itemsize // 4]
    )


def floor(
    operator: str, arguments: list[Any], launches: list[Any], floor_program: list[str]
) -> float:
    """The ratio for 910B, of one launch with these bytes and, if this one has it, an exchange."""
    (launch,) = launches
    plan = getattr(ag.explain, operator)(*arguments, device="emulator", soc=SOC)
    counts = [plan["cores"], launch["bytes_read"], launch["bytes_written"]]
    counts += [int(plan["workspace_size"] > 0), *least_work(operator, arguments)]
    cycles = float(subprocess.check_output([*floor_program, *map(str, counts)], text=True))
    if cycles > 1.005 * launch["cycles"]:  # beyond what ratios are rounded to
        raise RuntimeError(f"{operator} takes less than its floor, {cycles}: {launch}")
    return cycles / launch["bound_cycles"]


def print_table(operator: str, cases: list[tuple[Any, ...]], floor_program: list[str]) -> None:
    print(f"\n| {operator} | dtype |", " | ".join(PRODUCTS.values()), "| 910B floor |")
    print("|---" * (3 + len(PRODUCTS)) + "|")
    for case in cases:
        for name, dtype in DTYPES.items():
            cells, last = [], ""
            for soc in PRODUCTS:
                arguments = arguments_of(operator, case, dtype, soc)
                try:
                    least, launches = call(operator, arguments, soc)
                except ag.AclnnError:
                    cells.append("no")
                    continue
                cells.append(cell(least, launches))
                if soc == SOC and len(launches) == 1:
                    last = f"{floor(operator, arguments, launches, floor_program):.2f}"
            print("|", " | ".join([text_of(case), name, *cells, last]), "|", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--ops", nargs="*", default=list(CASES))
    parser.add_argument("--svg", type=Path, help="folder for the timelines")
    parser.add_argument(
        "--case",
        nargs="+",
        metavar=("SHAPE", "N"),
        help="instead of the table's; after the shape softmax's dim, or pooling's kernel, stride and padding",
    )
    options = parser.parse_args()
    if options.svg:
        for operator in options.ops:
            os.environ["ASCENDC_EMULATOR"] = f"svg={options.svg / operator}.svg"
            arguments = arguments_of(operator, SVG_CASES[operator], np.float32, SOC)
            call(operator, arguments, SOC)
            # Sources by their path in the project, wherever it was built.
            picture = options.svg / f"{operator}.svg"
            picture.write_text(re.sub(r"[^ >]*/(?=kernels_ascendc/)", "", picture.read_text()))
        return
    os.environ["ASCENDC_EMULATOR"] = "nochecks"
    given: list[tuple[Any, ...]] = []
    if options.case:
        shape, *rest = options.case
        given.append((tuple(map(int, shape.split("x"))), *map(int, rest)))
    with tempfile.TemporaryDirectory() as folder:
        floor_program = build_floor(folder)
        for operator in options.ops:
            print_table(operator, given or CASES[operator], floor_program)


if __name__ == "__main__":
    main()
