"""Bits do not depend on where in a cache line arrays begin; NumPy's own begin at 16 bytes."""

from __future__ import annotations

import ascend_grad as ag
import numpy as np
import pytest
from arrays import DTYPES, random_values, zeros_behind_line
from tolerance import assert_same_bits

BEGINS = [(0, 0), (1, 1), (4, 4), (8, 0), (0, 8), (15, 3), (24, 24)]
"""Elements from a cache line to inputs and to results."""


def begin_at(array: np.ndarray, elements: int) -> np.ndarray:
    """A copy in the same order of memory."""
    axes = np.argsort(array.strides, kind="stable")[::-1]
    memory = zeros_behind_line(array.size, array.dtype, elements)
    copy = memory.reshape([array.shape[axis] for axis in axes]).transpose(np.argsort(axes))
    copy[...] = array
    return copy


def values(shape: tuple[int, ...], dtype: np.dtype, last: bool, seed: int) -> np.ndarray:
    array = random_values(shape, dtype, "normal", np.random.default_rng(seed))
    if not last:
        return array
    return np.moveaxis(np.ascontiguousarray(np.moveaxis(array, 1, -1)), -1, 1)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize(
    ("shape", "last"),
    [
        ((2, 3, 50, 60), False),
        ((1, 2, 9001), False),
        ((5, 70, 20, 31), False),
        ((3, 64, 16, 16), False),
        ((3, 64, 20, 21), True),
        ((2, 32, 40, 33), True),
        ((2, 96, 11, 10), True),
        ((2, 128, 9, 17), True),
        ((2, 512, 8, 9), True),
        ((2, 40, 30, 31), True),
        ((3, 56, 20, 21), True),
        ((300, 73), False),
        ((130, 401), False),
        ((70, 1000), False),
        ((40, 1024), False),
        ((70, 2080), False),
    ],
    ids=str,
)
def test_channel_sums(shape: tuple[int, ...], last: bool, dtype: np.dtype) -> None:
    g, x = values(shape, dtype, last, 1), values(shape, dtype, last, 2)
    weight = random_values(shape[1:2], dtype, "normal", np.random.default_rng(3))
    mean = random_values(shape[1:2], np.dtype(np.float32), "normal", np.random.default_rng(4))
    results = []
    for inputs, outputs in BEGINS:
        of_inputs = begin_at(g, inputs), begin_at(x, inputs)
        out = begin_at(np.zeros_like(g), outputs)
        prelu = ag.prelu_backward(*of_inputs, weight, grad_input=out)
        results.append([*prelu, *ag.batch_norm_reduce_backward(*of_inputs, mean, mean + 3, mean)])
    for other in results[1:]:
        for got, want in zip(other, results[0], strict=True):
            assert_same_bits(np.ascontiguousarray(got), np.ascontiguousarray(want))


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("shape", [(7, 1024), (5, 2500), (3, 4111), (2, 70001)], ids=str)
def test_softmax_of_long_rows(shape: tuple[int, ...], dtype: np.dtype) -> None:
    g, y = values(shape, dtype, False, 1), values(shape, dtype, False, 2)
    want = ag.softmax_backward(g, y, 1)
    for inputs, outputs in BEGINS:
        out = begin_at(np.zeros_like(g), outputs)
        ag.softmax_backward(begin_at(g, inputs), begin_at(y, inputs), 1, out=out)
        assert_same_bits(out, want)
        in_place = begin_at(g, inputs)
        ag.softmax_backward(in_place, begin_at(y, outputs), 1, out=in_place)
        assert_same_bits(in_place, want)
