"""What layouts cost: every order of four axes of the inputs, with every order of the result.

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
import statistics
import time
from collections.abc import Callable
from pathlib import Path

import ascend_grad as ag
import numpy as np
from ascend_grad.bench.cases import AVG_POOL, BATCH_NORM, PRELU, SOFTMAX

AXES = "nchw"
ORDERS = tuple("".join(order) for order in itertools.permutations(AXES))
SHOWN = 8


@functools.cache
def values(size: int, dtype: np.dtype) -> np.ndarray:
    return np.random.default_rng(0).standard_normal(size, np.float32).astype(dtype)


def array(shape: tuple[int, ...], dtype: np.dtype, order: str) -> np.ndarray:
    axes = [AXES.index(axis) for axis in order]
    flat = values(int(np.prod(shape)), dtype).copy()
    return flat.reshape([shape[i] for i in axes]).transpose(np.argsort(axes))


def prepared(
    operator: str, shape: tuple[int, ...], dtype: np.dtype
) -> Callable[[str, str], Callable[[], object]]:
    """The call of an operator, of two orders."""
    channels = shape[1]
    windows = (*shape[:2], *((extent - 1) // 2 + 1 for extent in shape[2:]))

    def call(order: str, other: str) -> Callable[[], object]:
        x, out = array(shape, dtype, order), array(shape, dtype, other)
        if operator == SOFTMAX:
            return ag.prepare.softmax_backward(x, x.copy("K"), 1, out=out)
        if operator == PRELU:
            weight = np.ones(channels, dtype)
            return ag.prepare.prelu_backward(x, x.copy("K"), weight, grad_input=out)
        if operator == BATCH_NORM:
            mean, invstd = np.ones((2, channels), np.float32)
            return ag.prepare.batch_norm_reduce_backward(x, out, mean, invstd)
        grad = array(windows, dtype, order)
        return ag.prepare.avg_pool2d_backward(grad, x, 3, 2, 1, grad_input=out)

    return call


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


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("operator", choices=(BATCH_NORM, AVG_POOL, PRELU, SOFTMAX))
    parser.add_argument("shape", help="four extents: 32x64x56x56")
    parser.add_argument("dtype", choices=("float32", "float16"))
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--times", type=int, default=4, help="calls of which the fastest counts")
    parser.add_argument("--json", type=Path, help="where to save the seconds of each pair")
    parser.add_argument("--before", type=Path, help="saved seconds to compare with")
    arguments = parser.parse_args()
    shape = tuple(int(extent) for extent in arguments.shape.split("x"))
    call = prepared(arguments.operator, shape, np.dtype(arguments.dtype))
    with ag.num_threads(arguments.threads):
        now = {
            f"{order}>{other}": seconds(call(order, other), arguments.times)
            for order, other in itertools.product(ORDERS, ORDERS)
        }
    if arguments.json is not None:
        arguments.json.write_text(json.dumps(now))
    before = arguments.before and json.loads(arguments.before.read_text())
    report(now, before)


if __name__ == "__main__":
    main()
