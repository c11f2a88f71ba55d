"""Arrays of every memory layout, each inside a byte buffer that shows stray writes."""

from __future__ import annotations

from dataclasses import dataclass

import ml_dtypes
import numpy as np

FLOAT32, FLOAT16, FLOAT64 = (np.dtype(name) for name in ("float32", "float16", "float64"))
BFLOAT16 = np.dtype(ml_dtypes.bfloat16)
DTYPES = (FLOAT32, FLOAT16, BFLOAT16)

LAYOUTS = (
    "contiguous",
    "transposed",
    "channels_last",
    "sliced",
    "step2",
    "step3",
    "negative",
    "misaligned",
    "odd_strides",
    "mixed",
)
GUARD = 64
LARGEST_SPREAD = 2**17
"""Beyond this many bytes, further axes are laid out without steps and margins."""


@dataclass(eq=False)
class Placed:
    """`array` views `buffer`; `before` is what the buffer held when the array was handed out."""

    array: np.ndarray
    buffer: np.ndarray
    offset: int
    before: np.ndarray

    def view(self, buffer: np.ndarray) -> np.ndarray:
        like = self.array
        return np.ndarray(like.shape, like.dtype, buffer, self.offset, like.strides)

    def assert_only_elements_written(self) -> None:
        expected = self.before.copy()
        self.view(expected)[...] = self.array
        assert np.array_equal(self.buffer, expected), "bytes outside the array were written"

    def assert_untouched(self) -> None:
        assert np.array_equal(self.buffer, self.before), "the array was written"


def reach(shape: tuple[int, ...], strides: tuple[int, ...]) -> tuple[int, int]:
    """Lowest and highest byte offset of an element from element 0 (of its first byte)."""
    steps = [(extent - 1) * stride for extent, stride in zip(shape, strides, strict=True)]
    return sum(step for step in steps if step < 0), sum(step for step in steps if step > 0)


def place(
    shape: tuple[int, ...],
    dtype: np.dtype,
    layout: str | tuple[int, ...],
    rng: np.random.Generator,
    broadcast: tuple[int, ...] = (),
) -> Placed:
    """An array over random bytes. `layout`: one of LAYOUTS, or the axes, outermost in memory first,
    without gaps. Axes in `broadcast` get stride 0 (inputs only)."""
    rank = len(shape)
    order = list(range(rank))
    steps, margins = [1] * rank, [0] * rank
    shift = gap = 0
    if isinstance(layout, tuple):
        order = list(layout)
    elif layout == "transposed":
        order.reverse()
    elif layout == "channels_last" and rank > 2:
        order = [0, *range(2, rank), 1]
    elif layout == "sliced":
        margins = [int(n) for n in rng.integers(0, 4, rank)]
    elif layout in ("step2", "step3") and rank:
        steps[int(rng.integers(rank))] = steps[-1] = int(layout[-1])
    elif layout == "negative":
        steps = [int(n) for n in rng.choice([-1, 1], rank)]
        steps[-1:] = [-1] * min(rank, 1)
    elif layout == "misaligned":
        shift = int(rng.integers(1, dtype.itemsize))
    elif layout == "odd_strides":
        gap = 1
    elif layout == "mixed":
        order = [int(n) for n in rng.permutation(rank)]
        steps = [int(n) for n in rng.choice([-3, -2, -1, 1, 2, 3], rank)]
        margins = [int(n) for n in rng.integers(0, 3, rank)]
        shift, gap = int(rng.integers(0, 4)), int(rng.choice([0, 0, 1, 2]))
    strides, unit, offset = [0] * rank, dtype.itemsize + gap, GUARD + shift
    for axis in reversed(order):
        if axis in broadcast:
            continue
        if unit > LARGEST_SPREAD:
            steps[axis], margins[axis] = int(np.sign(steps[axis])), 0
        strides[axis] = steps[axis] * unit
        span = abs(steps[axis]) * unit
        offset += margins[axis] * unit
        if steps[axis] < 0:
            offset += max(shape[axis] - 1, 0) * span
        unit = span * max(shape[axis], 1) + 2 * margins[axis] * unit
    buffer = rng.integers(0, 256, offset + unit + GUARD, np.uint8)
    array = np.ndarray(shape, dtype, buffer, offset, tuple(strides))
    return Placed(array, buffer, offset, buffer.copy())


def place_values(
    values: np.ndarray,
    layout: str | tuple[int, ...],
    rng: np.random.Generator,
    broadcast: tuple[int, ...] = (),
) -> Placed:
    placed = place(values.shape, values.dtype, layout, rng, broadcast)
    placed.array[...] = values
    placed.before[...] = placed.buffer
    return placed


def largest(dtype: np.dtype) -> float:
    """A huge value of `dtype` whose double is still a float32."""
    return min(float(ml_dtypes.finfo(dtype).max), 2.0**126)


def random_values(
    shape: tuple[int, ...], dtype: np.dtype, kind: str, rng: np.random.Generator
) -> np.ndarray:
    """kind: "normal"; "nonfinite" or "huge" mix such values in (never both: float32 may turn a
    huge sum into an infinity, which the tolerance could not tell from a wrong one)."""
    with np.errstate(all="ignore"):
        values = (rng.standard_normal(shape) * 2.0 ** rng.integers(-6, 4)).astype(dtype)
        if kind == "normal":
            return values
        info = ml_dtypes.finfo(dtype)
        subnormal, big = float(info.smallest_subnormal), largest(dtype)
        common = [0.0, -0.0, subnormal, -3 * subnormal, float(info.smallest_normal)]
        odd = [np.nan, np.inf, -np.inf] if kind == "nonfinite" else [big, -big, big / 3, -big / 7]
        mixed = rng.choice(np.array(common + odd), shape).astype(dtype)
        return np.where(rng.random(shape) < 0.1, mixed, values)


def zeros_behind_line(size: int, dtype: np.dtype, elements: int) -> np.ndarray:
    """A vector that begins so many elements behind the start of a cache line."""
    memory = np.zeros(size + 64, dtype)
    start = -memory.ctypes.data % 64 // dtype.itemsize + elements
    return memory[start : start + size]
