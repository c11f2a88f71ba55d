"""The limits of a case: native kernels that read and write the same blocks and do nothing else, or
nothing but the operator's arithmetic, in whole vectors."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from ascend_grad import _bench
from ascend_grad.bench.cases import AVG_POOL, BATCH_NORM, SOFTMAX
from ascend_grad.bench.problem import Problem

# What a step of a kernel reads of each source, at least.
_STEP_BYTES = 4096
_CACHE_LINE = 64
_VECTORS = 32  # elements of two vectors of floats
_COLUMNS = (512, 1024, 2048, 4096)
_SHORT_ROW = 64
# Below this a second thread may cost more than it brings, so the limit may use one, and the nearest
# caches hold all.
_SMALL_BYTES = 1 << 20

Kernel = Callable[[int], float]


def kernels(problem: Problem, threads: int, computing: bool = False) -> dict[str, Kernel]:
    """Ways to move the bytes, by name; each takes a number of passes and returns seconds per pass.
    The fastest is the limit. `computing`: elements are also widened to float, the operator's sums
    and results made of them, and these rounded to the case's dtype."""
    ways = arithmetic(problem, threads) if computing else {"": {}}
    teams = {1, threads} if problem.moved_bytes < _SMALL_BYTES else {threads}
    can_stream = problem.target is not None and _bench.has_streaming_stores
    asks = problem.moved_bytes >= _SMALL_BYTES
    return {
        f"{'NT' if stream else 'regular'}{' ahead' if ahead else ''} {team}T{way}": _kernel(
            problem, stream, ahead, team, computed
        )
        for way, computed in ways.items()
        for team in sorted(teams)
        for stream in ((False, True) if can_stream else (False,))
        for ahead in (
            (False, True) if asks and not {"pitch", "row"} & computed.keys() else (False,)
        )
    }


def arithmetic(problem: Problem, threads: int = 1) -> dict[str, dict[str, Any]]:
    """Arguments of the native kernels that compute, by what tells their names apart.

    Batch normalisation adds up the positions of an item's channel by themselves, which counts where
    they are few. Softmax has to read a row before it writes any of it, so along a strided axis a
    strip of neighbouring rows, of several widths (where there are none, all rows that share cache
    lines, as if they were contiguous). Pooling's additions are an average, rounded down:
    over the rows of windows that cover an element for every column of windows, then over those
    columns, whose neighbours have to be shifted into place where columns lie side by side."""
    case = problem.case
    result = {"dtype": problem.dtype, "op": case.operator}
    if case.operator == AVG_POOL:
        kernel, stride = case.attributes["kernel_size"], case.attributes["stride"]
        covering = max(1.0, kernel / stride)
        result["additions"] = int(4 * (covering - 1) * (1 / stride + 1))
        if case.layout != "cl":
            result["shifted"] = int(4 * (covering - 1))
        result["equal"] = stride**2 if kernel == stride else 1
    elif case.operator == SOFTMAX:
        axis = case.attributes["dim"]
        stride = problem.grad.strides[axis]
        if stride > problem.grad.itemsize and (strips := _strips(problem, threads)):
            return {f" {n} columns": result | strip for n, strip in strips.items()}
        result["step_bytes"] = max(_STEP_BYTES, case.shape[axis] * min(stride, _CACHE_LINE))
    elif case.operator == BATCH_NORM and not case.layout:
        positions = math.prod(case.shape[2:])
        if 1 < positions < _SHORT_ROW:
            result |= {"row": positions, "step_bytes": 16 * _STEP_BYTES}
    return {"": result}


def _strips(problem: Problem, threads: int) -> dict[int, dict[str, int]]:
    """Softmax along a strided axis of an array without gaps: arguments by columns of a strip, for
    widths that leave each thread one. Runs that are no whole vectors are taken several at a time,
    as longer ones."""
    grad, axis = problem.grad, problem.case.attributes["dim"]
    plane_bytes = problem.case.shape[axis] * grad.strides[axis]
    pitch = math.lcm(grad.strides[axis] // grad.itemsize, _VECTORS)
    widths = [n for n in _COLUMNS if pitch % n == 0]
    if not widths and pitch <= max(_COLUMNS):
        widths = [pitch]
    steps = {n: plane_bytes * n // pitch for n in widths}
    return {
        n: {"columns": n, "pitch": pitch, "step_bytes": step}
        for n, step in steps.items()
        if grad.size % pitch == 0 and step >= _STEP_BYTES and threads * step <= grad.nbytes
    }


def _kernel(
    problem: Problem, stream: bool, ahead: bool, threads: int, computed: dict[str, Any]
) -> Kernel:
    first, *others = (source.lines for source in problem.sources)
    target = problem.target.lines if problem.target else None

    def seconds(passes: int) -> float:
        return _bench.seconds(
            first=first.ctypes.data,
            second=others[0].ctypes.data if others else 0,
            source_bytes=first.nbytes,
            target=0 if target is None else target.ctypes.data,
            target_bytes=0 if target is None else target.nbytes,
            stream=stream,
            asks=ahead,
            threads=threads,
            repeats=passes,
            **computed,
        )

    return seconds
