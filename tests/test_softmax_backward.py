from __future__ import annotations

from typing import Any

import ascend_grad as ag
import ml_dtypes
import numpy as np
import pytest
import strategies
from arrays import (
    BFLOAT16,
    DTYPES,
    FLOAT16,
    FLOAT32,
    FLOAT64,
    LAYOUTS,
    place,
    random_values,
    zeros_behind_line,
)
from cases import Case, cases, check_seeds
from hypothesis import given
from reference.softmax_backward import softmax_backward
from tolerance import assert_same_bits, assert_within


def check(case: Case, **where: Any) -> None:
    grad_output, output = case.inputs["grad_output"], case.inputs["output"]
    got = ag.softmax_backward(**case.arguments, **where)
    if "out" not in case.outputs:
        assert got.dtype == grad_output.dtype and got.flags.c_contiguous
    assert_within(got, softmax_backward(grad_output, output, case.arguments["dim"]), "out")
    case.check_memory({"out": got})


def test_random_configurations(seeds: range) -> None:
    check_seeds(check, strategies.softmax_backward, seeds)


@given(cases(strategies.softmax_backward))
def test_any_configuration(case: Case) -> None:
    check(case)


def operands(
    shape: tuple[int, ...], dtype: np.dtype = FLOAT32, seed: int = 0
) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    return random_values(shape, dtype, "normal", rng), random_values(shape, dtype, "normal", rng)


@pytest.mark.parametrize("dim", range(-8, 8))
def test_every_dim_of_eight(dim: int) -> None:
    g, y = operands((2, 3, 1, 4, 2, 3, 2, 5))
    assert_within(ag.softmax_backward(g, y, dim), softmax_backward(g, y, dim))


@pytest.mark.parametrize("dim", [0, -1])
@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_zero_dimensional(dim: int, dtype: np.dtype) -> None:
    g, y = np.array(3.0, dtype), np.array(0.25, dtype)
    got = ag.softmax_backward(g, y, dim)
    assert got.shape == () and float(got) == 0.25 * (3.0 - 0.75)


@pytest.mark.parametrize("dim", [0, 1])
def test_gradients_of_a_softmax_sum_to_zero(dim: int) -> None:
    scores, g = operands((65, 257))
    exponentials = np.exp(scores - scores.max(dim, keepdims=True))
    y = exponentials / exponentials.sum(dim, keepdims=True)
    totals = ag.softmax_backward(g, y, dim).astype(np.float64).sum(dim)
    assert np.abs(totals).max() < 257 * 2.0**-24 * np.abs(g).max()


@pytest.mark.parametrize("length", [1, 2, 15, 16, 17, 1023, 1024, 1025, 4095, 4097, 70001])
@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("dim", [0, 1])
def test_row_lengths(length: int, dtype: np.dtype, dim: int) -> None:
    g, y = operands((3, length) if dim else (length, 3), dtype)
    assert_within(ag.softmax_backward(g, y, dim), softmax_backward(g, y, dim))


# Tiles of such tensors are made of rows, as many as whole vectors need, or of neighbouring rows.
@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("length", [20, 150, 300, 512, 513, 1000, 5000])
@pytest.mark.parametrize("columns", [9, 70])
@pytest.mark.parametrize("across", range(3))
def test_one_tensor_lies_across_the_others(
    across: int, columns: int, length: int, dtype: np.dtype
) -> None:
    rng = np.random.default_rng(length)
    shape = (2, length, columns)
    tensors = [place(shape, dtype, "channels_last", rng).array for _ in range(3)]
    tensors[across] = place(shape, dtype, "contiguous", rng).array
    g, y, out = tensors
    for x in (g, y):
        x[...] = rng.standard_normal(shape).astype(dtype)
    ag.softmax_backward(g, y, 1, out=out)
    want = ag.softmax_backward(np.ascontiguousarray(g), np.ascontiguousarray(y), 1)
    assert_same_bits(np.ascontiguousarray(out), want)


# Sums of so few elements mostly stay in registers; planes of few columns are taken together.
@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("length", [2, 10, 16, 17, 24, 32, 33])
@pytest.mark.parametrize("columns", [31, 32, 49, 253, 1100])
def test_few_elements_across_rows(columns: int, length: int, dtype: np.dtype) -> None:
    g, y = operands((3, length, columns), dtype)
    along = (np.ascontiguousarray(np.moveaxis(x, 1, -1)) for x in (g, y))
    want = np.ascontiguousarray(np.moveaxis(ag.softmax_backward(*along, -1), -1, 1))
    assert_within(want, softmax_backward(g, y, 1))
    assert_same_bits(ag.softmax_backward(g, y, 1), want)
    over_g, over_y = g.copy(), y.copy()
    assert_same_bits(ag.softmax_backward(over_g, y, 1, out=over_g), want)
    assert_same_bits(ag.softmax_backward(g, over_y, 1, out=over_y), want)
    wider = np.empty((3, length, columns + 1), FLOAT32)[..., :columns]
    assert_within(ag.softmax_backward(g, y, 1, out=wider), softmax_backward(g, y, 1))
    packed = ag.softmax_backward(g, y, 1, out=np.empty(g.shape, FLOAT32))
    assert_same_bits(packed, np.ascontiguousarray(wider))


# Groups of such rows end where the cache lines of the result do.
@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("length", [1, 3, 20, 40, 1500])
@pytest.mark.parametrize("columns", [210, 1037, 2600, 4112])
@pytest.mark.parametrize("gap", [0, 7])
@pytest.mark.parametrize("beyond", [0, 3])
def test_rows_in_lines(beyond: int, gap: int, columns: int, length: int, dtype: np.dtype) -> None:
    g, y = operands((length, columns), dtype)
    want = np.ascontiguousarray(ag.softmax_backward(g.T.copy(), y.T.copy(), -1).T)
    memory = zeros_behind_line((length + 1) * (columns + gap), dtype, beyond)
    out = memory[: length * (columns + gap)].reshape(length, -1)[:, :columns]
    for threads in (1, 3):
        memory[...] = 0
        with ag.num_threads(threads):
            assert_same_bits(ag.softmax_backward(g, y, 0, out=out), want)
        out[...] = 0
        assert not memory.any()  # nothing else was written
        with ag.num_threads(threads):
            over_g, over_y = g.copy(), y.copy()
            assert_same_bits(ag.softmax_backward(over_g, y, 0, out=over_g), want)
            assert_same_bits(ag.softmax_backward(g, over_y, 0, out=over_y), want)
            wider = ag.softmax_backward(g, y, 0, out=np.empty(g.shape, FLOAT32))
        assert_same_bits(wider.astype(dtype), want)


def test_long_sum_of_equal_terms_does_not_drift() -> None:
    g, y = np.full((1, 3_000_001), 0.1, FLOAT32), np.full((1, 3_000_001), 0.3, FLOAT32)
    assert_within(ag.softmax_backward(g, y, 1), softmax_backward(g, y, 1))


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("out_dtype", [*DTYPES, FLOAT64], ids=str)
@pytest.mark.parametrize("layout", LAYOUTS)
def test_out_of_any_dtype_and_layout(dtype: np.dtype, out_dtype: np.dtype, layout: str) -> None:
    g, y = operands((3, 5, 7), dtype)
    out = place((3, 5, 7), out_dtype, layout, np.random.default_rng(1))
    assert ag.softmax_backward(g, y, 1, out=out.array) is out.array
    assert_within(out.array, softmax_backward(g, y, 1))
    out.assert_only_elements_written()


@pytest.mark.parametrize("dtype", [FLOAT16, BFLOAT16], ids=str)
def test_wider_out_is_not_rounded_to_the_input_dtype(dtype: np.dtype) -> None:
    g, y = operands((4, 33), dtype)
    out = ag.softmax_backward(g, y, 1, out=np.empty((4, 33), FLOAT32))
    assert (out.astype(dtype).astype(FLOAT32) != out).any()
    assert_same_bits(out.astype(dtype), ag.softmax_backward(g, y, 1))


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("target", ["grad_output", "output"])
def test_exactly_in_place(dtype: np.dtype, layout: str, target: str) -> None:
    g, y = operands((3, 5, 7), dtype)
    want = ag.softmax_backward(g, y, 2)
    placed = place((3, 5, 7), dtype, layout, np.random.default_rng(2))
    placed.array[...] = g if target == "grad_output" else y
    placed.before[...] = placed.buffer
    arguments = {"grad_output": g, "output": y, target: placed.array}
    ag.softmax_backward(**arguments, dim=2, out=placed.array)
    assert_same_bits(placed.array, want)
    placed.assert_only_elements_written()


@pytest.mark.parametrize("shape", [(0,), (0, 3), (3, 0), (2, 0, 4), (2**40, 0, 2**20)])
@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_empty(shape: tuple[int, ...], dtype: np.dtype) -> None:
    got = ag.softmax_backward(np.empty(shape, dtype), np.empty(shape, dtype), -1)
    assert got.shape == shape and got.dtype == dtype


@pytest.mark.parametrize("grad_shape, output_shape", [((0, 3), (2, 3)), ((2, 3), (0,))])
def test_empty_operand_succeeds_before_every_other_rule(
    grad_shape: tuple[int, ...], output_shape: tuple[int, ...]
) -> None:
    out = np.full((4, 5), 7.0, FLOAT32)
    g, y = np.ones(grad_shape, FLOAT32), np.ones(output_shape, FLOAT16)
    assert ag.softmax_backward(g, y, 99, out=out) is out
    assert (out == 7.0).all()


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_subnormals_are_kept(dtype: np.dtype) -> None:
    smallest = np.ones((), np.dtype(f"u{dtype.itemsize}")).view(dtype)
    g, y = np.array([[3.0, 0.0]], dtype), np.array([[1.0, 0.0]], dtype) * smallest
    assert ag.softmax_backward(g, y, 1)[0, 0] == 3 * smallest
    # out = 3 (s - 3 s), s the smallest subnormal
    assert ag.softmax_backward(y, g, 0)[0, 0] == -6 * smallest


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_nonfinite_values_spread_over_their_row_only(dtype: np.dtype) -> None:
    g, y = np.ones((4, 3), dtype), np.full((4, 3), 0.25, dtype)
    g[0, 1], g[1, 0], y[2, 2] = np.nan, np.inf, -np.inf
    with np.errstate(all="ignore"):
        got = ag.softmax_backward(g, y, 1).astype(FLOAT32)
    assert np.isnan(got[0]).all()
    assert np.isnan(got[1, 0]) and (got[1, 1:] == -np.inf).all()
    assert (got[2] == [np.inf, np.inf, -np.inf]).all()
    assert (got[3] == 0.25 * (1.0 - 0.75)).all()


@pytest.mark.parametrize("exponent", [102, 103, 119, 120])
@pytest.mark.parametrize("length", [300, 2500])
@pytest.mark.parametrize("dtype", [FLOAT32, BFLOAT16], ids=str)
def test_differences_that_overflow_though_the_sum_is_finite(
    dtype: np.dtype, length: int, exponent: int
) -> None:
    g, y = np.zeros((2, length), dtype), np.zeros((2, length), dtype)
    g[:, 0], y[:, 0] = 2.0**exponent, -1.0
    largest = float(ml_dtypes.finfo(dtype).max)
    g[:, 1::7], g[:, 2::7] = largest, -largest
    with np.errstate(all="ignore"):
        # The sum is that of the first product, as the others are zeros.
        expected = y.astype(FLOAT32) * (g.astype(FLOAT32) + FLOAT32.type(2.0**exponent))
    expected[np.isnan(expected)] = np.nan
    assert np.isnan(expected).any() == (exponent >= (103 if dtype == FLOAT32 else 120))
    assert_same_bits(ag.softmax_backward(g, y, 1), expected.astype(dtype))


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("length", [300, 2500])
def test_infinite_factor_of_a_zero(dtype: np.dtype, length: int) -> None:
    g, y = np.ones((3, length), dtype), np.zeros((3, length), dtype)
    g[1, length // 2] = np.inf
    got = ag.softmax_backward(g, y, 1)
    expected = np.zeros((3, length), FLOAT32)
    expected[1] = np.nan
    assert_same_bits(got, expected.astype(dtype))


def test_negative_zero() -> None:
    g, y = np.array([[1.0, 2.0]], FLOAT32), np.array([[-0.0, 0.0]], FLOAT32)
    got = ag.softmax_backward(g, y, 1)
    assert_same_bits(got, np.array([[-0.0, 0.0]], FLOAT32))


@pytest.mark.parametrize("dtype, largest", [(FLOAT16, 65504.0), (BFLOAT16, 2.0**127)], ids=str)
def test_overflow_of_a_narrow_out_gives_infinity(dtype: np.dtype, largest: float) -> None:
    g, y = np.array([[0.0, 2.0]], FLOAT32), np.array([[-largest, 1.0]], FLOAT32)
    got = ag.softmax_backward(g, y, 1, out=np.empty((1, 2), dtype))
    assert float(got[0, 0]) == np.inf and float(got[0, 1]) == 0.0


def test_example_of_the_manual() -> None:
    """Its `output` is no softmax."""
    g = np.arange(8, dtype=FLOAT32).reshape(4, 2)
    y = np.array([[1, 1], [1, 2], [2, 2], [3, 3]], FLOAT32)
    want = y * (g - (g * y).sum(0))
    assert_same_bits(ag.softmax_backward(g, y, 0), want)
