"""What a small call costs where a near cache holds its code, and where other data are there.

    python benchmarks/cold_calls.py [MiB]

Calls of the grid's smallest cases in float32, with results given: right after each other, and each
after reading as many MiB (8), as calls are that follow work on large arrays. "nothing" is a call of
an empty Python function; all times include the clock's. Medians, one thread.
"""

from __future__ import annotations

import statistics
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from ascend_grad.bench import cases
from ascend_grad.bench.contenders import PREPARED, ours
from ascend_grad.bench.problem import Problem

SMALLEST = ("4x2", "4x2 dim-1", "1x2x4x4 k2s2p0")
CALLS = 1000


def median_ns(call: Callable[[], Any], before: Callable[[], Any]) -> float:
    times = []
    for _ in range(CALLS):
        before()
        begin = time.perf_counter_ns()
        call()
        times.append(time.perf_counter_ns() - begin)
    return statistics.median(times)


def main(mebibytes: int) -> None:
    others = np.ones(mebibytes << 20, np.uint8)
    ours.set_threads(1)
    calls: dict[str, Callable[[], Any]] = {"nothing": lambda: None}
    for case in cases.grid():
        if case.name in SMALLEST:
            of_case = ours.calls(Problem(case, "float32"))
            calls[case.operator] = of_case[""]
            calls[f"{case.operator}, prepared"] = of_case[PREPARED]
    for name, call in calls.items():
        cached, cold = median_ns(call, call), median_ns(call, others.max)
        print(f"{name:38} {cached / 1e3:6.2f} us, after other data {cold / 1e3:6.2f} us")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 8)
