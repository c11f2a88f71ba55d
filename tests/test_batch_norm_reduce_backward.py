from __future__ import annotations

from itertools import product
from typing import Any

import ascend_grad as ag
import numpy as np
import pytest
import strategies
from arrays import BFLOAT16, DTYPES, FLOAT16, FLOAT32, LAYOUTS, place, random_values
from cases import Case, cases, check_seeds
from hypothesis import given
from reference.batch_norm_reduce_backward import batch_norm_reduce_backward
from tolerance import assert_same_bits, assert_within

OUTPUTS = ("sum_dy", "sum_dy_xmu", "grad_weight", "grad_bias")
MASK_OF = dict(zip(OUTPUTS, ("input_g", "input_g", "weight_g", "bias_g"), strict=True))
INPUTS = ("grad_out", "input", "mean", "invstd")


def default_dtype(inputs: dict[str, np.ndarray]) -> np.dtype:
    both_half = inputs["input"].dtype == inputs["mean"].dtype == FLOAT16
    return FLOAT16 if both_half else FLOAT32


def check(case: Case, **where: Any) -> None:
    got = ag.batch_norm_reduce_backward(**case.arguments, **where)._asdict()
    exact = batch_norm_reduce_backward(*(case.inputs[name] for name in INPUTS))._asdict()
    for name in OUTPUTS:
        if not case.arguments.get(MASK_OF[name], True):
            assert got[name] is None
            continue
        if name not in case.outputs:
            assert got[name].dtype == default_dtype(case.inputs) and got[name].flags.c_contiguous
        assert_within(got[name], exact[name], name)
    case.check_memory(got)


def test_random_configurations(seeds: range) -> None:
    check_seeds(check, strategies.batch_norm_reduce_backward, seeds)


@given(cases(strategies.batch_norm_reduce_backward))
def test_any_configuration(case: Case) -> None:
    check(case)


def operands(
    shape: tuple[int, ...], dtype: np.dtype = FLOAT32, mean: np.dtype = FLOAT32
) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(0)
    shapes = (shape, shape, shape[1:2], shape[1:2])
    dtypes = (dtype, dtype, mean, mean)
    return {
        name: random_values(extents, element, "normal", rng)
        for name, extents, element in zip(INPUTS, shapes, dtypes, strict=True)
    }


def assert_correct(got: ag.BatchNormReduceGrads, inputs: dict[str, np.ndarray]) -> None:
    for name, exact in batch_norm_reduce_backward(**inputs)._asdict().items():
        assert_within(getattr(got, name), exact, name)


@pytest.mark.parametrize("rank", range(2, 9))
@pytest.mark.parametrize("layout", LAYOUTS)
def test_ranks_and_layouts(rank: int, layout: str) -> None:
    inputs = operands((2, 3, 4, 1, 5, 2, 2, 3)[:rank])
    rng = np.random.default_rng(3)
    for name, array in list(inputs.items()):
        inputs[name] = place(array.shape, array.dtype, layout, rng).array
        inputs[name][...] = array
    assert_correct(ag.batch_norm_reduce_backward(**inputs), inputs)


@pytest.mark.parametrize("count", [1, 2, 15, 17, 1023, 1025, 4095, 4096, 4097, 70001])
@pytest.mark.parametrize("shape", ["n", "hw", "nhw"])
@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_numbers_of_terms(count: int, shape: str, dtype: np.dtype) -> None:
    shapes = {"n": (count, 3), "hw": (1, 3, count), "nhw": (32, 2, count)}
    inputs = operands(shapes[shape], dtype)
    assert_correct(ag.batch_norm_reduce_backward(**inputs), inputs)


def test_long_sum_of_equal_terms_does_not_drift() -> None:
    inputs = operands((3, 1, 1_000_003))
    inputs["grad_out"] = np.full((3, 1, 1_000_003), 0.1, FLOAT32)
    inputs["input"] = np.full((3, 1, 1_000_003), 0.7, FLOAT32)
    assert_correct(ag.batch_norm_reduce_backward(**inputs), inputs)


def test_results_are_tuples_with_their_hash() -> None:
    g = np.ones((4, 2), FLOAT32)
    unwanted = ag.batch_norm_reduce_backward(g, g, g[0], g[0], None, False, False, False)
    assert unwanted == (None,) * 4
    assert hash(unwanted) == hash((None,) * 4)
    with pytest.raises(TypeError, match="unhashable"):
        hash(ag.batch_norm_reduce_backward(g, g, g[0], g[0]))


def test_results_are_sums_not_means() -> None:
    ones = np.ones((4, 2, 3), FLOAT32)
    got = ag.batch_norm_reduce_backward(
        ones, 3 * ones, np.ones(2, FLOAT32), np.full(2, 0.5, FLOAT32)
    )
    assert [field.tolist() for field in got] == [[12, 12], [24, 24], [12, 12], [12, 12]]


def test_large_mean_does_not_cancel() -> None:
    inputs = operands((64, 3, 31))
    inputs["mean"] = np.full(3, 2.0**20, FLOAT32)
    inputs["input"] = inputs["input"] + np.float32(2.0**20)
    assert_correct(ag.batch_norm_reduce_backward(**inputs), inputs)


@pytest.mark.parametrize("dtype, mean, invstd", list(product(DTYPES, repeat=3)), ids=str)
def test_default_result_dtypes(dtype: np.dtype, mean: np.dtype, invstd: np.dtype) -> None:
    inputs = operands((4, 2), dtype, mean)
    inputs["invstd"] = inputs["invstd"].astype(invstd)
    got = ag.batch_norm_reduce_backward(**inputs)
    assert {field.dtype for field in got} == {default_dtype(inputs)}
    assert_correct(got, inputs)


@pytest.mark.parametrize("dtypes", list(product(DTYPES, repeat=2)), ids=str)
def test_each_output_has_its_own_dtype(dtypes: tuple[np.dtype, np.dtype]) -> None:
    inputs = operands((5, 3, 7), FLOAT16)
    outputs = dict(
        zip(OUTPUTS, (np.empty(3, dtype) for dtype in (*dtypes, BFLOAT16, FLOAT32)), strict=True)
    )
    got = ag.batch_norm_reduce_backward(**inputs, **outputs)
    assert all(getattr(got, name) is array for name, array in outputs.items())
    assert_correct(got, inputs)


@pytest.mark.parametrize("masks", list(product([True, False], repeat=3)))
@pytest.mark.parametrize("given_outputs", [True, False])
def test_masks(masks: tuple[bool, bool, bool], given_outputs: bool) -> None:
    inputs = operands((4, 3, 2))
    switches = dict(zip(("input_g", "weight_g", "bias_g"), masks, strict=True))
    outputs = {name: np.full(3, 9.0, FLOAT32) for name in OUTPUTS} if given_outputs else {}
    got = ag.batch_norm_reduce_backward(**inputs, **switches, **outputs)._asdict()
    want = ag.batch_norm_reduce_backward(**inputs)._asdict()
    for name in OUTPUTS:
        if switches[MASK_OF[name]]:
            assert_same_bits(got[name], want[name])
        else:
            assert got[name] is None
            assert all((array == 9.0).all() for key, array in outputs.items() if key == name)


@pytest.mark.parametrize("garbage", [np.zeros((5, 5), np.int32), np.zeros(0, FLOAT32)])
def test_outputs_behind_a_false_mask_are_not_checked(garbage: np.ndarray) -> None:
    inputs = operands((4, 3))
    got = ag.batch_norm_reduce_backward(
        **inputs, input_g=False, weight_g=False, bias_g=False, **dict.fromkeys(OUTPUTS, garbage)
    )
    assert got == (None, None, None, None)
    assert not garbage.any()


def test_weight_changes_nothing() -> None:
    inputs = operands((4, 3, 5))
    want = ag.batch_norm_reduce_backward(**inputs)
    for weight in (np.full(3, np.nan, FLOAT32), np.zeros(3, BFLOAT16), None):
        got = ag.batch_norm_reduce_backward(**inputs, weight=weight)
        for ours, theirs in zip(got, want, strict=True):
            assert_same_bits(ours, theirs)


@pytest.mark.parametrize("shape", [(0, 3), (2, 3, 0), (0, 3, 0, 5), (2**33, 3, 0, 2**20)])
@pytest.mark.parametrize("given_outputs", [True, False])
def test_empty_input_gives_zeros(shape: tuple[int, ...], given_outputs: bool) -> None:
    empty, statistics = np.empty(shape, FLOAT16), np.full(3, np.nan, FLOAT16)
    outputs: dict[str, Any] = {}
    if given_outputs:
        rng = np.random.default_rng(0)
        placed = {name: place((3,), FLOAT32, "step2", rng) for name in OUTPUTS}
        outputs = {name: item.array for name, item in placed.items()}
    got = ag.batch_norm_reduce_backward(empty, empty, statistics, statistics, **outputs)
    for field in got:
        assert_same_bits(field, np.zeros(3, FLOAT32 if given_outputs else FLOAT16))


def test_infinite_invstd() -> None:
    inputs = operands((4, 3))
    inputs["invstd"] = np.array([np.inf, -np.inf, np.inf], FLOAT32)
    inputs["grad_out"][:, 2] = 0.0
    got = ag.batch_norm_reduce_backward(**inputs)
    assert np.isinf(got.grad_weight[:2]).all() and np.isnan(got.grad_weight[2])
    assert np.isfinite(got.sum_dy_xmu).all() and np.isfinite(got.grad_bias).all()


def test_nonfinite_values_stay_in_their_channel() -> None:
    inputs = operands((8, 4, 5))
    inputs["grad_out"][3, 0, 2] = np.nan
    inputs["input"][1, 1, 1] = np.inf
    inputs["grad_out"][7, 2, 0], inputs["grad_out"][0, 2, 4] = np.inf, -np.inf
    got = ag.batch_norm_reduce_backward(**inputs)
    assert_correct(got, inputs)
    assert np.isfinite(got.sum_dy).tolist() == [False, True, False, True]
    assert np.isfinite(got.sum_dy_xmu).tolist() == [False, False, False, True]


def test_float16_sums_overflow_only_in_a_float16_result() -> None:
    large = np.full((3, 2), 65504.0, FLOAT16)
    zeros, ones = np.zeros(2, FLOAT16), np.ones(2, FLOAT16)
    got = ag.batch_norm_reduce_backward(
        large, ones * large * 0 + 1, zeros, ones, sum_dy=np.empty(2, FLOAT32)
    )
    assert got.sum_dy.tolist() == [3 * 65504.0] * 2
    assert np.isposinf(got.grad_bias.astype(FLOAT32)).all()


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_subnormals_are_kept(dtype: np.dtype) -> None:
    tiny = np.ones((3, 2), np.dtype(f"u{dtype.itemsize}")).view(dtype)
    zeros, ones = np.zeros(2, dtype), np.ones(2, dtype)
    outputs = {name: np.empty(2, dtype) for name in OUTPUTS}
    got = ag.batch_norm_reduce_backward(tiny, np.ones((3, 2), dtype), zeros, ones, **outputs)
    for field in got:
        assert (field.view(np.dtype(f"u{dtype.itemsize}")) == 3).all()


def test_example_of_the_manual() -> None:
    dy = np.array([[1, 1], [1, 2], [2, 2], [3, 3]], FLOAT32)
    x = np.arange(8, dtype=FLOAT32).reshape(4, 2)
    ones = np.ones(2, FLOAT32)
    got = ag.batch_norm_reduce_backward(dy, x, ones, ones, ones, True, True, True)
    assert [field.tolist() for field in got] == [[7, 8], [21, 30], [21, 30], [7, 8]]
