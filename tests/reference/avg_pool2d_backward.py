from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from . import SMALLEST_NORMAL, Exact, widen

IntOrPair = int | Sequence[int]


def pair(value: IntOrPair) -> tuple[int, int]:
    values = np.atleast_1d(value).tolist()
    return values[0], values[-1]


def output_extent(size: int, kernel: int, stride: int, padding: int, ceil_mode: bool) -> int:
    span = size + 2 * padding - kernel
    if not ceil_mode:
        return span // stride + 1
    extent = -(-span // stride) + 1
    return extent - 1 if (extent - 1) * stride >= size + padding else extent


def windows(size: int, count: int, kernel: int, stride: int, padding: int) -> list[tuple[int, ...]]:
    """For each output index: the window's length clipped to the padded extent, its first and its
    past-the-last index in the input."""
    result = []
    for index in range(count):
        low = index * stride - padding
        high = min(low + kernel, size + padding)
        result.append((high - low, max(low, 0), min(high, size)))
    return result


def avg_pool2d_backward(
    grad_output: np.ndarray,
    shape: tuple[int, ...],
    kernel_size: IntOrPair,
    stride: IntOrPair,
    padding: IntOrPair,
    count_include_pad: bool,
    divisor_override: int,
) -> Exact:
    g = widen(grad_output)
    kernel, pad = pair(kernel_size), pair(padding)
    step = pair(stride) if np.size(stride) else kernel
    value, magnitude, terms = np.zeros(shape), np.zeros(shape), np.zeros(shape, np.int64)
    rows, columns = (
        windows(shape[axis], g.shape[axis], kernel[axis], step[axis], pad[axis])
        for axis in (-2, -1)
    )
    with np.errstate(all="ignore"):
        for i, (height, top, bottom) in enumerate(rows):
            for j, (width, left, right) in enumerate(columns):
                if top >= bottom or left >= right:
                    continue
                valid = (bottom - top) * (right - left)
                divisor = divisor_override or (height * width if count_include_pad else valid)
                term = g[..., i, j, None, None] / divisor
                window = (..., slice(top, bottom), slice(left, right))
                value[window] += term
                magnitude[window] += np.maximum(np.abs(term), SMALLEST_NORMAL)
                terms[window] += 1
    return Exact(value, magnitude, terms, 2, magnitude)


def round_to_hf32(values: np.ndarray) -> np.ndarray:
    """Float32 with an 11-bit mantissa, to nearest even."""
    bits = values.astype(np.float32).view(np.uint32).astype(np.uint64)
    nearest = ((bits + 0x7FF + ((bits >> 12) & 1)) & 0xFFFFF000).astype(np.uint32)
    return np.where(np.isfinite(values), nearest.view(np.float32), values)


def rounded_for_matrix_unit(
    grad_output: np.ndarray, cube_math_type: int, soc: str | None
) -> tuple[np.ndarray, type | None]:
    """What the arithmetic starts from, and the dtype its result is rounded to before its own."""
    if grad_output.dtype != np.float32 or cube_math_type == 0:
        return grad_output, None
    with np.errstate(over="ignore"):
        if cube_math_type == 2 or soc in ("ascend910", "ascend310p"):
            return grad_output.astype(np.float16), np.float16
        return round_to_hf32(grad_output), None


def with_cube_math_type(
    grad_output: np.ndarray,
    shape: tuple[int, ...],
    kernel_size: IntOrPair,
    stride: IntOrPair = (),
    padding: IntOrPair = 0,
    count_include_pad: bool = True,
    divisor_override: int = 0,
    cube_math_type: int = 0,
    soc: str | None = None,
) -> tuple[Exact, type | None]:
    """The exact gradient, and the dtype that it is rounded to before its own, if any."""
    values, via = rounded_for_matrix_unit(grad_output, cube_math_type, soc)
    exact = avg_pool2d_backward(
        values, shape, kernel_size, stride, padding, count_include_pad, divisor_override
    )
    return exact, via
