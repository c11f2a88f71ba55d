"""Prints one line per result of many fixed calls: a name and a digest of the result's bits.

Equal output means equal bits, so machines, thread counts and instruction sets can be compared:

    ASCEND_GRAD_ISA=baseline python tests/digest.py > baseline.txt

Inputs follow an integer formula, so they are the same everywhere (`fill`).
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from itertools import product
from math import prod

import ascend_grad as ag
import ml_dtypes
import numpy as np
from reference.avg_pool2d_backward import output_extent

DTYPES = ("float32", "float16", "bfloat16")


def fill(shape: tuple[int, ...], dtype: str, seed: int) -> np.ndarray:
    """Element i is ((i * 2654435761 + seed * 40503) mod 2^32 >> 12) / 2^18 - 2, in [-2, 2), a
    float32 exactly, rounded to `dtype`."""
    index = np.arange(prod(shape), dtype=np.uint64)
    hashed = (index * np.uint64(2654435761) + np.uint64(seed * 40503)) & np.uint64(0xFFFFFFFF)
    values = (hashed >> np.uint64(12)).astype(np.float32) / np.float32(2**18) - np.float32(2)
    target = ml_dtypes.bfloat16 if dtype == "bfloat16" else dtype
    return values.astype(target).reshape(shape)


def digest(array: np.ndarray) -> str:
    """Of the bits in row-major order, those of NaN included."""
    unsigned = np.dtype(f"<u{array.dtype.itemsize}")
    return hashlib.sha256(np.ascontiguousarray(array).view(unsigned).tobytes()).hexdigest()[:16]


def with_special_values(array: np.ndarray, seed: int) -> np.ndarray:
    """Infinities, a NaN, zeros and subnormals, each in one element out of 64 at most."""
    info = ml_dtypes.finfo(array.dtype)
    tiny = float(info.smallest_subnormal)
    for offset, value in enumerate((0.0, -0.0, tiny, -3 * tiny, np.inf, -np.inf, np.nan)):
        array.reshape(-1)[seed + 9 * offset :: 64 << (offset > 3) * 5] = value
    return array


def batch_norm(shape: tuple[int, ...], dtype: str) -> Iterator[tuple[str, np.ndarray]]:
    statistics = (fill(shape[1:2], "float32", 3), fill(shape[1:2], "float32", 4))
    arrays = (fill(shape, dtype, 1), fill(shape, dtype, 2))
    got = ag.batch_norm_reduce_backward(*arrays, *statistics)
    yield from got._asdict().items()


def prelu(shape: tuple[int, ...], dtype: str) -> Iterator[tuple[str, np.ndarray]]:
    arrays = (fill(shape, dtype, 1), fill(shape, dtype, 2))
    for channels in {1, shape[1]}:
        got = ag.prelu_backward(*arrays, fill((channels,), dtype, 5))
        yield f"grad_input weight {channels}", got.grad_input
        yield f"grad_weight weight {channels}", got.grad_weight


def softmax(shape: tuple[int, ...], dtype: str) -> Iterator[tuple[str, np.ndarray]]:
    arrays = (fill(shape, dtype, 1), fill(shape, dtype, 2))
    for dim in range(len(shape)):
        yield f"dim {dim}", ag.softmax_backward(*arrays, dim)
    wide = np.empty(shape, np.float64)
    yield "float64", ag.softmax_backward(*arrays, -1, out=wide)


SHAPES = (
    (4, 2),
    (3, 16),
    (5, 17),
    (2, 1025),
    (1, 3, 4097),
    (1025, 3),
    (70001, 2),
    (7, 5, 3, 11),
    (2, 3, 64, 65),
    (33, 65, 7),
    (2, 3, 1, 2, 5, 1, 3, 2),
    (1, 1, 300007),
    (34, 2, 61, 67),
    (17, 3, 4200),
)
POOLS = (  # size, kernel, stride, padding
    (8, 2, 2, 0),
    (9, 3, 2, 1),
    (30, 3, 2, 1),
    (61, 3, 2, 0),
    (12, 5, 1, 2),
    (7, 7, 7, 0),
    (17, 3, 4, 0),
    (16, 4, 3, 2),
    (65, 3, 1, 1),
    (5, 1, 1, 0),
)


def avg_pool(pool: tuple[int, ...], dtype: str, ceil: bool) -> Iterator[tuple[str, np.ndarray]]:
    size, kernel, stride, padding = pool
    extent = output_extent(*pool, ceil)
    g = fill((2, 17, extent, extent), dtype, 6)
    x = np.zeros((2, 17, size, size), g.dtype)
    for include, divisor, mode in ((1, 0, 0), (0, 0, 1), (1, -7, 2), (0, 3, 3)):
        name = f"ceil {ceil} include {include} divisor {divisor} mode {mode}"
        yield (
            name,
            ag.avg_pool2d_backward(
                g, x, kernel, stride, padding, ceil, bool(include), divisor, mode
            ),
        )


def special(dtype: str) -> Iterator[tuple[str, np.ndarray]]:
    shape = (6, 5, 333)
    first, second = (with_special_values(fill(shape, dtype, s), s) for s in (7, 8))
    mean, invstd = fill((5,), dtype, 9), fill((5,), dtype, 10)
    yield from ag.batch_norm_reduce_backward(first, second, mean, invstd)._asdict().items()
    yield from (
        ("prelu " + k, v)
        for k, v in ag.prelu_backward(first, second, fill((5,), dtype, 11))._asdict().items()
    )
    yield "softmax", ag.softmax_backward(first, second, 2)
    image = with_special_values(fill((3, 40, 41), dtype, 12), 2)
    yield "pool", ag.avg_pool2d_backward(image, np.zeros((3, 82, 82), image.dtype), 3, 2, (0, 1))


def every_pattern(dtype: str) -> np.ndarray:
    """Of a 16-bit dtype."""
    target = ml_dtypes.bfloat16 if dtype == "bfloat16" else dtype
    return np.arange(2**16, dtype=np.uint16).view(target)


def around_ties() -> np.ndarray:
    """float32 values at, and next to, the ties of both 16-bit dtypes, for every sign, exponent and
    leading bits."""
    lowest = [0, 1, 0xFFF, 0x1000, 0x1001, 0x2FFF, 0x3000, 0x3001, 0x7FFF, 0x8000, 0x8001, 0xFFFF]
    high = np.arange(2**16, dtype=np.uint32)[:, None] << np.uint32(16)
    return (high | np.array(lowest, np.uint32)).reshape(-1).view(np.float32)


def conversions() -> Iterator[tuple[str, np.ndarray]]:
    for name, values in (
        *((dtype, every_pattern(dtype)) for dtype in DTYPES[1:]),
        ("float32", around_ties()),
    ):
        zeros = np.zeros((1, values.size), values.dtype)
        for dtype in DTYPES:
            out = fill((values.size,), dtype, 0)
            ag.batch_norm_reduce_backward(
                values[None],
                zeros,
                zeros[0],
                zeros[0],
                input_g=False,
                weight_g=False,
                grad_bias=out,
            )
            yield f"{name} to {dtype}", out


def results() -> Iterator[tuple[str, np.ndarray]]:
    for dtype, shape in product(DTYPES, SHAPES):
        for operator in (batch_norm, prelu, softmax):
            for name, array in operator(shape, dtype):
                yield f"{operator.__name__} {dtype} {shape} {name}", array
    for dtype, pool, ceil in product(DTYPES, POOLS, (False, True)):
        for name, array in avg_pool(pool, dtype, ceil):
            yield f"avg_pool {dtype} {pool} {name}", array
    for dtype in DTYPES:
        for name, array in special(dtype):
            yield f"special {dtype} {name}", array
    for name, array in conversions():
        yield f"conversion {name}", array


def main() -> None:
    for name, array in results():
        print(digest(array), name)


if __name__ == "__main__":
    main()
