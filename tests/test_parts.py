"""A call on the whole gives what calls on its parts give, where results are independent of each
other. The whole is larger than what a cache holds, so other code may do the work."""

from __future__ import annotations

from collections.abc import Callable

import ascend_grad as ag
import numpy as np
import pytest
from arrays import DTYPES, FLOAT32
from tolerance import assert_same_bits

BYTES = 26_000_000  # of an operand
Operator = Callable[[np.ndarray, np.ndarray, np.ndarray], None]


def softmax(g: np.ndarray, x: np.ndarray, out: np.ndarray) -> None:
    ag.softmax_backward(g, x, 1, out=out)


def softmax_of_transposed(g: np.ndarray, x: np.ndarray, out: np.ndarray) -> None:
    ag.softmax_backward(g.T, x.T, 0, out=out.T)


def prelu(g: np.ndarray, x: np.ndarray, out: np.ndarray) -> None:
    weight = np.linspace(-1, 1, g.shape[1]).astype(g.dtype)
    ag.prelu_backward(g, x, weight, grad_input=out)


def pooling(kernel: int) -> Operator:
    """Rows become square images, the gradient's the first ones of `g`."""

    def operator(g: np.ndarray, x: np.ndarray, out: np.ndarray) -> None:
        count, size = g.shape[0], int(np.sqrt(g.shape[1]))
        inner = size // kernel
        gradient = g[:, : inner * inner].reshape(count, inner, inner)
        images, like = (array[:, : size * size].reshape(count, size, size) for array in (out, x))
        ag.avg_pool2d_backward(gradient, like, kernel, grad_input=images)
        assert np.shares_memory(images, out)
        out[:, size * size :] = 0

    operator.__name__ = f"pooling{kernel}"
    return operator


OPERATORS = [softmax, softmax_of_transposed, prelu, pooling(2), pooling(7)]


def made(count: int, length: int, dtype: np.dtype, shift: int) -> np.ndarray:
    """Rows that begin `shift` elements after a 64-byte boundary."""
    buffer = np.empty((count * length + shift + 64) * dtype.itemsize, np.uint8)
    start = -buffer.ctypes.data % 64 + shift * dtype.itemsize
    return np.ndarray((count, length), dtype, buffer, start)


@pytest.mark.parametrize("operator", OPERATORS, ids=lambda operator: operator.__name__)
@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("length, shift", [(49, 0), (49, 1), (1024, 0), (1025, 3), (70_001, 5)])
def test_parts(operator: Operator, dtype: np.dtype, length: int, shift: int) -> None:
    count = BYTES // dtype.itemsize // length
    rng = np.random.default_rng(0)
    g, x = (made(count, length, dtype, shift) for _ in "gx")
    for array in (g, x):
        array[...] = rng.integers(-100, 100, (count, length)).astype(np.int8).astype(FLOAT32) / 64
    whole, parts = (made(count, length, dtype, shift) for _ in "wp")
    step = max(count // 40, 1)
    for start in range(0, count, step):
        part = slice(start, start + step)
        operator(g[part], x[part], parts[part])
    for threads in (1, 2):
        whole[...] = 99
        with ag.num_threads(threads):
            operator(g, x, whole)
        assert_same_bits(whole, parts, f"{threads} threads")
