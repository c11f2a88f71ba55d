"""Random problems: sizes that nobody chose."""

from __future__ import annotations

import math
from collections.abc import Iterator
from random import Random

from ascend_grad.bench.cases import AVG_POOL, BATCH_NORM, PRELU, SOFTMAX, Case, case_of, pool_of

COUNT = 25  # of each operator
Sizes = tuple[int, int]  # least and most elements of the largest tensor, about
_WINDOWS = (  # kernel, stride, padding
    (2, 2, 0), (3, 2, 1), (3, 1, 1), (3, 3, 0), (2, 1, 0), (4, 4, 0), (5, 2, 2), (4, 2, 1),
    (3, 2, 0), (5, 1, 2), (7, 1, 3), (8, 8, 0), (4, 3, 0), (6, 6, 0),
)  # fmt: skip


def random_cases(seed: int, sizes: Sizes = (2_000, 2_000_000)) -> Iterator[Case]:
    """The same ones for the same seed; every size about as likely as its double."""
    rng = Random(seed)
    for operator, shaped in (
        (BATCH_NORM, _channels),
        (AVG_POOL, _pool),
        (PRELU, _channels),
        (SOFTMAX, _softmax),
    ):
        yield from (shaped(rng, sizes, operator) for _ in range(COUNT))


def _between(rng: Random, least: int, most: int) -> int:
    return int(math.exp(rng.uniform(math.log(least), math.log(most + 1))))


def _text(shape: tuple[int, ...]) -> str:
    return "x".join(map(str, shape))


def _images(rng: Random, sizes: Sizes, least_extent: int) -> tuple[int, ...]:
    height = _between(rng, least_extent, 120)
    width = height if rng.random() < 0.6 else _between(rng, least_extent, 120)
    planes = max(1, _between(rng, *sizes) // (height * width))
    channels = _between(rng, 1, 1000) if rng.random() < 0.5 else 2 ** rng.randrange(2, 10)
    channels = min(channels, planes)
    return planes // channels, channels, height, width


def _layout(rng: Random) -> str:
    return rng.choice(("", "", " [cl]"))


def _channels(rng: Random, sizes: Sizes, operator: str) -> Case:
    if rng.random() < 0.3:
        channels = _between(rng, 2, 5000)
        shape = max(1, _between(rng, *sizes) // channels), channels
        return case_of(operator, _text(shape))
    return case_of(operator, _text(_images(rng, sizes, 2)) + _layout(rng))


def _pool(rng: Random, sizes: Sizes, _operator: str) -> Case:
    kernel, stride, padding = rng.choice(_WINDOWS)
    shape, layout = _text(_images(rng, sizes, kernel)), _layout(rng)
    return pool_of(f"{shape} k{kernel}s{stride}p{padding}{layout}", kernel, stride, padding)


def _softmax(rng: Random, sizes: Sizes, operator: str) -> Case:
    """Along the last axis, the first, or the middle one of three."""
    elements = _between(rng, *sizes)
    dim = rng.choice((-1, 0, 1))
    length = _between(rng, 2, {-1: 30_000, 0: 3_000, 1: 500}[dim])
    inner = _between(rng, 2, 400)
    shape = {
        -1: (max(1, elements // length), length),
        0: (length, max(1, elements // length)),
        1: (max(1, elements // (length * inner)), length, inner),
    }[dim]
    return case_of(operator, f"{_text(shape)} dim{dim}", dim=dim)
