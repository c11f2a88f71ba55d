"""What float32 gradients of average pooling are rounded to, by cube_math_type and product."""

from __future__ import annotations

from itertools import product

import ascend_grad as ag
import numpy as np
import pytest
from arrays import DTYPES, FLOAT16, FLOAT32
from reference.avg_pool2d_backward import round_to_hf32, with_cube_math_type
from tolerance import assert_same_bits, assert_within

SOCS = ("ascend910", "ascend910b", "ascend910_93", "ascend310p")
WITHOUT_FLOAT32 = ("ascend910", "ascend310p")


def mode_values() -> np.ndarray:
    """Values that each narrower format treats differently: ties, range limits, subnormals."""
    rng = np.random.default_rng(7)
    special = [
        1 + 2.0**-11,
        1 + 3 * 2.0**-11,
        1 + 2.0**-12,
        1 + 3 * 2.0**-12,
        65519.0,
        65520.0,
        -1e5,
        3e38,
        2.0**-24,
        2.0**-25,
        1e-30,
        2.0**-149,
        -0.0,
        np.inf,
        -np.inf,
        np.nan,
    ]
    values = rng.standard_normal((2, 3, 8, 8))
    values.flat[: len(special)] = special
    return values.astype(FLOAT32)


LEGAL = [
    (soc, mode, dtype)
    for soc, mode, dtype in product(SOCS, range(4), DTYPES)
    if soc not in WITHOUT_FLOAT32 or dtype == FLOAT16 or (dtype == FLOAT32 and mode in (1, 2))
]


@pytest.mark.parametrize("soc, mode, dtype", LEGAL, ids=str)
@pytest.mark.parametrize("kernel, stride", [(1, 1), (2, 2), (3, 1)])
def test_cube_math_type(soc: str, mode: int, dtype: np.dtype, kernel: int, stride: int) -> None:
    with np.errstate(over="ignore"):
        g = mode_values().astype(dtype)
    size = (8 - 1) * stride + kernel
    x = np.zeros((2, 3, size, size), dtype)
    got = ag.avg_pool2d_backward(
        g, x, kernel, stride, cube_math_type=ag.CubeMathType(mode), soc=soc
    )
    exact, via = with_cube_math_type(g, x.shape, kernel, stride, cube_math_type=mode, soc=soc)
    assert_within(got, exact, via=via)


def test_modes_differ_where_they_should() -> None:
    g = np.array([[[1 + 2.0**-20, 1e5]]], FLOAT32)
    x = np.zeros_like(g)
    results = {
        (soc, mode): ag.avg_pool2d_backward(g, x, 1, cube_math_type=mode, soc=soc).tolist()
        for soc, mode, dtype in LEGAL
        if dtype == FLOAT32
    }
    full, hf32, half = [g.tolist(), [[[1.0, 100000.0]]], [[[1.0, np.inf]]]]
    assert round_to_hf32(g).tolist() == hf32
    for soc in ("ascend910b", "ascend910_93"):
        assert [results[soc, mode] for mode in range(4)] == [full, hf32, half, hf32]
    for soc in WITHOUT_FLOAT32:
        assert [results[soc, mode] for mode in (1, 2)] == [half, half]


@pytest.mark.parametrize("mode", range(4))
def test_rounding_of_every_value_near_a_tie(mode: int) -> None:
    """A kernel of one gives the rounding alone: mantissas around each tie, all exponents."""
    exponents = np.arange(-140, 128, dtype=np.float64)
    mantissas = (
        1
        + np.concatenate(
            [
                (2 * np.arange(4) + 1)[:, None] * 2.0**-bits + np.array([-1, 0, 1]) * 2.0**-23
                for bits in (11, 12)
            ]
        ).ravel()
    )
    with np.errstate(over="ignore"):
        g = np.ldexp(mantissas[:, None], exponents.astype(int)).astype(FLOAT32)[None]
        half = g.astype(FLOAT16).astype(FLOAT32)
    want = (g, round_to_hf32(g), half, round_to_hf32(g))[mode]
    got = ag.avg_pool2d_backward(g, np.zeros_like(g), 1, cube_math_type=mode)
    assert_same_bits(got, want.astype(FLOAT32))


@pytest.mark.parametrize("dtype", [d for d in DTYPES if d != FLOAT32], ids=str)
def test_other_dtypes_are_the_same_in_every_mode(dtype: np.dtype) -> None:
    g = mode_values().clip(-1e4, 1e4).astype(dtype)
    x = np.zeros((2, 3, 17, 17), dtype)
    want = ag.avg_pool2d_backward(g, x, 3, 2)
    for mode in range(1, 4):
        assert_same_bits(ag.avg_pool2d_backward(g, x, 3, 2, cube_math_type=mode), want)
