"""Calls of operands that lie in different orders, beside what copying them first would take.

    python benchmarks/routes.py prelu_backward 32x64x56x56 float32
    python benchmarks/routes.py prelu_backward 32x64x56x56 float32 --random 50 --seed 1

A route has oneDNN's reorder (pip install onednn-cpu-gomp) copy the operands to one order, calls the
operator there, and has the result copied back. Orders are as in orders.py: of every operand NCHW or
NHWC (of matrices NC or CN), in all mixtures but that of NCHW alone, with routes by the two; with
--random any order of the inputs with any of the result, of batch normalisation and pooling of the
two operands, with the best three routes of all. Medians of rounds in which each contender has a
turn, another one first each time; ratios above 1 are losses.
"""

from __future__ import annotations

import argparse
import itertools
import random
import statistics
import time
from collections.abc import Callable

import ascend_grad as ag
import numpy as np
from ascend_grad.bench.cases import BATCH_NORM
from ascend_grad.bench.contenders import onednn
from orders import array, operand_shapes, orders_of, prepared, problem_parser

PRACTICAL = ("nchw", "nhwc")
ROUTES, ROUNDS = 3, 9
LOSS = 1.1
Call = Callable[[], object]


def seconds(calls: list[Call]) -> float:
    begin = time.perf_counter()
    for call in calls:
        call()
    return time.perf_counter() - begin


def route(
    operator: str, operands: list[np.ndarray], orders: tuple[str, ...], by: str
) -> list[Call]:
    """The calls of a route by that order, to a result of its own: what is written is in caches."""
    dtype = operands[0].dtype
    operands = [*operands[:-1], array(operands[-1].shape, dtype, orders[-1])]
    there = [
        x if order == by else array(x.shape, dtype, by)
        for x, order in zip(operands, orders, strict=True)
    ]
    inputs = len(operands) - (operator != BATCH_NORM)
    moved = [k for k, order in enumerate(orders) if order != by]
    before = [onednn.reorder(operands[k], there[k], dtype.name) for k in moved if k < inputs]
    after = [onednn.reorder(there[k], operands[k], dtype.name) for k in moved if k >= inputs]
    return [*before, prepared(operator, there), *after]


def compare(
    operator: str, shape: tuple[int, ...], dtype: str, orders: tuple[str, ...], by: tuple[str, ...]
) -> tuple[float, str]:
    """Our time over that of the best route, and a line about both."""
    shapes = operand_shapes(operator, shape)
    operands = [array(s, np.dtype(dtype), o) for s, o in zip(shapes, orders, strict=True)]
    ours = [prepared(operator, operands)]
    routes = {o: route(operator, operands, orders, o) for o in by if set(orders) != {o}}
    if len(routes) > ROUTES:
        first = {order: min(seconds(calls) for _ in range(2)) for order, calls in routes.items()}
        routes = {order: routes[order] for order in sorted(first, key=first.__getitem__)[:ROUTES]}
    contenders = {"": ours, **routes}
    names = list(contenders)
    times: dict[str, list[float]] = {name: [] for name in names}
    for turn in range(ROUNDS):
        for name in names[turn % len(names) :] + names[: turn % len(names)]:
            times[name].append(seconds(contenders[name]))
    medians = {name: statistics.median(taken[1:]) for name, taken in times.items()}
    mine = medians.pop("")
    best = min(medians, key=medians.__getitem__)
    line = f"{'>'.join(orders)}: {mine * 1e3:.2f} ms, by {best} {medians[best] * 1e3:.2f}"
    return mine / medians[best], line


def mixtures(
    operands: int, by: tuple[str, ...], chosen: argparse.Namespace
) -> list[tuple[str, ...]]:
    if chosen.random == 0:
        return [m for m in itertools.product(by, repeat=operands) if set(m) != {by[0]}]
    pairs = [pair for pair in itertools.product(by, by) if pair[0] != pair[1]]
    some = random.Random(chosen.seed).sample(pairs, min(chosen.random, len(pairs)))
    return [(*[pair[0]] * (operands - 1), pair[1]) for pair in some]


def main() -> None:
    parser = problem_parser(__doc__)
    parser.add_argument("--random", type=int, default=0, help="so many pairs of any orders")
    parser.add_argument("--seed", type=int, default=1)
    chosen = parser.parse_args()
    onednn.load()
    onednn.set_threads(chosen.threads)
    shape = tuple(int(extent) for extent in chosen.shape.split("x"))
    is_practical = len(shape) == len(PRACTICAL[0]) and not chosen.random
    by = PRACTICAL if is_practical else orders_of(len(shape))
    orders = mixtures(len(operand_shapes(chosen.operator, shape)), by, chosen)
    with ag.num_threads(chosen.threads):
        results = [compare(chosen.operator, shape, chosen.dtype, o, by) for o in orders]
    results.sort(reverse=True)
    lost = [ratio for ratio, _ in results if ratio > LOSS]
    mean = statistics.geometric_mean(ratio for ratio, _ in results)
    print(f"{len(lost)} of {len(results)} lose more than 10 %, mean {mean:.2f}; the most:")
    for ratio, line in results[: max(5, len(lost))]:
        print(f"  {ratio:.2f} {line}")


if __name__ == "__main__":
    main()
