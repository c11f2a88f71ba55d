"""What layouts cost: every order of the axes of the inputs, with every order of the result.

    python benchmarks/orders.py prelu_backward 32x64x56x56 float32 --json before.json
    python benchmarks/orders.py prelu_backward 32x64x56x56 float32 --before before.json

Prepared calls, the least of some in a row; softmax along axis 1, pooling with 3x3 windows two apart.
Orders name axes outermost in memory first: "nhwc" is channels last, "hwnc>nchw" a C-contiguous
result of inputs whose channels lie nearest and batch items next to them. Of batch normalisation the
second order is that of its second input. Ratios are to the fastest pair of orders.
"""

from __future__ import annotations

import argparse
import functools
import itertools
import json
import math
import statistics
import time
from collections.abc import Callable
from pathlib import Path

import ascend_grad as ag
import numpy as np
from ascend_grad.bench.cases import AVG_POOL, BATCH_NORM, PRELU, SOFTMAX
from ascend_grad.bench.problem import aligned_empty

AXES = "nchw"
SHOWN = 8


def orders_of(axes: int) -> tuple[str, ...]:
    return tuple("".join(order) for order in itertools.permutations(AXES[:axes]))


@functools.cache
def values(size: int, dtype: np.dtype) -> np.ndarray:
    return np.random.default_rng(0).standard_normal(size, np.float32).astype(dtype)


def array(shape: tuple[int, ...], dtype: np.dtype, order: str) -> np.ndarray:
    axes = [AXES.index(axis) for axis in order]
    flat = aligned_empty(math.prod(shape), dtype)
    flat[:] = values(flat.size, dtype)
    return flat.reshape([shape[i] for i in axes]).transpose(np.argsort(axes))


def operand_shapes(operator: str, shape: tuple[int, ...]) -> list[tuple[int, ...]]:
    """Of the operands whose order counts: inputs and, but for batch normalisation, the result."""
    windows = (*shape[:-2], *((extent - 1) // 2 + 1 for extent in shape[-2:]))
    first = windows if operator == AVG_POOL else shape
    return [first, *[shape] * (1 if operator in (AVG_POOL, BATCH_NORM) else 2)]


def prepared(operator: str, operands: list[np.ndarray]) -> Callable[[], object]:
    """The call of these operands."""
    grad, result = operands[0], operands[-1]
    dtype, channels = grad.dtype, grad.shape[1]
    if operator == SOFTMAX:
        return ag.prepare.softmax_backward(grad, operands[1], 1, out=result)
    if operator == PRELU:
        weight = np.ones(channels, dtype)
        return ag.prepare.prelu_backward(grad, operands[1], weight, grad_input=result)
    if operator == BATCH_NORM:
        mean, invstd = np.ones((2, channels), np.float32)
        return ag.prepare.batch_norm_reduce_backward(grad, result, mean, invstd)
    like = np.broadcast_to(np.zeros((), dtype), result.shape)  # of which only the shape counts
    return ag.prepare.avg_pool2d_backward(grad, like, 3, 2, 1, grad_input=result)


def seconds(call: Callable[[], object], times: int) -> float:
    call()
    taken = []
    for _ in range(times):
        begin = time.perf_counter()
        call()
        taken.append(time.perf_counter() - begin)
    return min(taken)


def report(now: dict[str, float], before: dict[str, float] | None) -> None:
    best = min(now.values())
    mean = statistics.geometric_mean(t / best for t in now.values())
    worst = sorted(now, key=now.__getitem__, reverse=True)[:SHOWN]
    print(f"{len(now)} pairs, the fastest {best * 1e3:.2f} ms, mean ratio {mean:.2f}; the slowest:")
    print("  " + ", ".join(f"{pair} {now[pair] / best:.1f}" for pair in worst))
    if before is None:
        return
    change = {pair: now[pair] / before[pair] for pair in now}
    ends = sorted(change, key=change.__getitem__)
    print(f"of the time before: {statistics.geometric_mean(change.values()):.2f}; least and most:")
    for pairs in (ends[:SHOWN], ends[-SHOWN:]):
        print("  " + ", ".join(f"{pair} {change[pair]:.2f}" for pair in pairs))


def problem_parser(description: str) -> argparse.ArgumentParser:
    """Of a command that begins with an operator, a shape and a dtype."""
    parser = argparse.ArgumentParser(description=description.splitlines()[0])
    parser.add_argument("operator", choices=(BATCH_NORM, AVG_POOL, PRELU, SOFTMAX))
    parser.add_argument("shape", help="32x64x56x56, or a matrix: 4096x1024")
    parser.add_argument("dtype", choices=("float32", "float16"))
    parser.add_argument("--threads", type=int, default=1)
    return parser


def main() -> None:
    parser = problem_parser(__doc__)
    parser.add_argument("--times", type=int, default=4, help="calls of which the fastest counts")
    parser.add_argument("--json", type=Path, help="where to save the seconds of each pair")
    parser.add_argument("--before", type=Path, help="saved seconds to compare with")
    arguments = parser.parse_args()
    shape = tuple(int(extent) for extent in arguments.shape.split("x"))
    shapes = operand_shapes(arguments.operator, shape)

    def call(order: str, other: str) -> Callable[[], object]:
        orders = [*[order] * (len(shapes) - 1), other]
        operands = [
            array(extents, np.dtype(arguments.dtype), of_one)
            for extents, of_one in zip(shapes, orders, strict=True)
        ]
        return prepared(arguments.operator, operands)

    with ag.num_threads(arguments.threads):
        now = {
            f"{order}>{other}": seconds(call(order, other), arguments.times)
            for order, other in itertools.product(orders_of(len(shape)), repeat=2)
        }
    if arguments.json is not None:
        arguments.json.write_text(json.dumps(now))
    before = arguments.before and json.loads(arguments.before.read_text())
    report(now, before)


if __name__ == "__main__":
    main()
