"""float16 and bfloat16 to float32 and back: every 16-bit pattern, and float32 patterns around every
tie. A batch of one makes sum_dy the conversion of grad_out alone."""

from __future__ import annotations

import ascend_grad as ag
import digest
import numpy as np
import pytest
from arrays import BFLOAT16, FLOAT16, FLOAT32, place_values
from tolerance import assert_same_bits

NARROW = [FLOAT16, BFLOAT16]
LAYOUTS = ["contiguous", "step2", "negative", "misaligned"]


def converted(values: np.ndarray, dtype: np.dtype) -> np.ndarray:
    like = np.zeros((1, values.size), values.dtype)
    statistics = like[0]
    got = ag.batch_norm_reduce_backward(
        values.reshape(1, -1),
        like,
        statistics,
        statistics,
        weight_g=False,
        bias_g=False,
        sum_dy=np.empty(values.size, dtype),
        sum_dy_xmu=np.empty(values.size, dtype),
    )
    return got.sum_dy


def expected(values: np.ndarray, dtype: np.dtype) -> np.ndarray:
    """Every NaN becomes the positive quiet one; a sum has no negative zero."""
    with np.errstate(all="ignore"):
        wide = values.astype(FLOAT32) + FLOAT32.type(0)
        return np.where(np.isnan(wide), FLOAT32.type(np.nan), wide).astype(dtype)


@pytest.mark.parametrize("dtype", NARROW, ids=str)
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("target", [*NARROW, FLOAT32], ids=str)
def test_every_pattern(dtype: np.dtype, layout: str, target: np.dtype) -> None:
    patterns = digest.every_pattern(dtype.name)
    placed = place_values(patterns, layout, np.random.default_rng(0)).array
    assert_same_bits(converted(placed, target), expected(patterns, target))


@pytest.mark.parametrize("dtype", NARROW, ids=str)
@pytest.mark.parametrize("layout", LAYOUTS)
def test_rounding_of_float32(dtype: np.dtype, layout: str) -> None:
    values = digest.around_ties()
    placed = place_values(values, layout, np.random.default_rng(0)).array
    assert_same_bits(converted(placed, dtype), expected(values, dtype))


@pytest.mark.parametrize("dtype", NARROW, ids=str)
def test_a_value_that_passes_keeps_its_bits(dtype: np.dtype) -> None:
    """Where x > 0, PReLU's gradient is the gradient, -0.0 and subnormals included."""
    patterns = digest.every_pattern(dtype.name)
    with np.errstate(invalid="ignore"):
        patterns = patterns[~np.isnan(patterns)]
    ones = np.ones(patterns.size, dtype)
    assert_same_bits(ag.prelu_backward(patterns, ones, ones[:1]).grad_input, patterns)
    assert_same_bits(ag.prelu_backward(patterns, -ones, ones[:1]).grad_input, patterns)
