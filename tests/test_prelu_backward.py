from __future__ import annotations

from typing import Any

import ascend_grad as ag
import numpy as np
import pytest
import strategies
from arrays import DTYPES, FLOAT16, FLOAT32, LAYOUTS, place, place_values, random_values
from cases import Case, cases, check_seeds
from hypothesis import given
from reference.prelu_backward import prelu_backward
from tolerance import assert_same_bits, assert_within


def check(case: Case, **where: Any) -> None:
    inputs = case.inputs
    got = ag.prelu_backward(**case.arguments, **where)
    exact = prelu_backward(**inputs)
    for name, result in got._asdict().items():
        assert result.dtype == inputs["input"].dtype
        assert name in case.outputs or result.flags.c_contiguous
    assert_within(got.grad_input, exact.grad_input, "grad_input")
    assert_within(got.grad_weight, exact.grad_weight, "grad_weight")
    case.check_memory(got._asdict())


def test_random_configurations(seeds: range) -> None:
    check_seeds(check, strategies.prelu_backward, seeds)


@given(cases(strategies.prelu_backward))
def test_any_configuration(case: Case) -> None:
    check(case)


def assert_correct(g: np.ndarray, x: np.ndarray, w: np.ndarray) -> ag.PreluGrads:
    got, exact = ag.prelu_backward(g, x, w), prelu_backward(g, x, w)
    assert_within(got.grad_input, exact.grad_input, "grad_input")
    assert_within(got.grad_weight, exact.grad_weight, "grad_weight")
    return got


def normal(*shape: int, dtype: np.dtype = FLOAT32, seed: int = 0) -> np.ndarray:
    return random_values(shape, dtype, "normal", np.random.default_rng(seed))


@pytest.mark.parametrize("rank", range(9))
@pytest.mark.parametrize("layout", LAYOUTS)
def test_ranks_and_layouts(rank: int, layout: str) -> None:
    shape = (2, 3, 4, 1, 5, 2, 2, 3)[:rank]
    rng = np.random.default_rng(rank)
    for weight_shape in [(1,), (3,)] if rank > 1 else [(1,)]:
        arrays = [
            place_values(normal(*extents, seed=index), layout, rng).array
            for index, extents in enumerate((shape, shape, weight_shape))
        ]
        assert_correct(*arrays)


@pytest.mark.parametrize("count", [1, 2, 15, 17, 1023, 1025, 4095, 4096, 4097, 70001])
@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("channels", [1, 3])
def test_numbers_of_terms(count: int, dtype: np.dtype, channels: int) -> None:
    for shape in ((count, 3), (1, 3, count), (32, 3, count)):
        g, x = (normal(*shape, dtype=dtype, seed=seed) for seed in (1, 2))
        assert_correct(g, x, normal(channels, dtype=dtype))


def test_long_sum_of_equal_terms_does_not_drift() -> None:
    g = np.full((3, 1, 1_000_003), 0.1, FLOAT32)
    assert_correct(g, np.full(g.shape, -0.7, FLOAT32), np.array([0.25], FLOAT32))


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_zeros_and_nan_take_the_weight_branch(dtype: np.dtype) -> None:
    x = np.array([0.0, -0.0, np.nan, 1.0], dtype)
    g, w = np.array([2.0, 2.0, 2.0, 2.0], dtype), np.array(0.25, dtype)
    got = ag.prelu_backward(g, x, w)
    assert got.grad_input.astype(FLOAT32).tolist() == [0.5, 0.5, 0.5, 2.0]
    assert np.isnan(got.grad_weight)
    assert ag.prelu_backward(g[:2], x[:2], w).grad_weight == 0


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_branches_are_selects(dtype: np.dtype) -> None:
    """Infinities and NaN behind the branch not taken must not leak into the result."""
    x, g = np.array([np.inf, 1.0, 2.0], dtype), np.array([0.0, np.inf, np.nan], dtype)
    for slope in (np.inf, np.nan):
        got = ag.prelu_backward(g, x, np.array([slope], dtype))
        assert_same_bits(got.grad_input, g)
        assert got.grad_weight == 0
    got = ag.prelu_backward(np.ones(2, dtype), np.array([-np.inf, -1.0], dtype), np.ones(1, dtype))
    assert got.grad_weight == -np.inf and (got.grad_input == 1).all()


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_signs_of_zero_and_subnormals_are_kept(dtype: np.dtype) -> None:
    smallest = np.ones((), np.dtype(f"u{dtype.itemsize}")).view(dtype)
    g = np.stack([np.array(-0.0, dtype), np.array(0.0, dtype), smallest, -smallest])
    x = np.array([1.0, -1.0, 1.0, -1.0], dtype)
    got = ag.prelu_backward(g, x, np.array(-1.0, dtype))
    assert_same_bits(got.grad_input, g * np.array([1, -1, 1, -1], dtype))
    assert got.grad_weight == smallest


@pytest.mark.parametrize("channels", [128, 1023, 1025, 5000])
@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_channels_of_one_element(channels: int, dtype: np.dtype) -> None:
    rng = np.random.default_rng(channels)
    g, x = (random_values((1, channels), dtype, "nonfinite", rng) for _ in range(2))
    w = random_values((channels,), dtype, "normal", rng)
    assert_correct(g, x, w)
    apart = ag.prelu_backward(g, x, place_values(w, "step2", rng).array)
    for name, result in ag.prelu_backward(g, x, w)._asdict().items():
        assert_same_bits(result, getattr(apart, name), name)


@pytest.mark.parametrize(
    "gradient",
    [(2, 3, 4, 5), (1, 1, 1, 1), (), (5,), (1,), (4, 1), (3, 1, 1), (3, 1, 5), (2, 1, 1, 5)],
)
@pytest.mark.parametrize("channels", [1, 3])
def test_grad_output_broadcasts(gradient: tuple[int, ...], channels: int) -> None:
    g, x, w = normal(*gradient, seed=1), normal(2, 3, 4, 5), normal(channels, seed=2)
    got = assert_correct(g, x, w)
    full = ag.prelu_backward(np.broadcast_to(g, x.shape).copy(), x, w)
    assert_same_bits(got.grad_input, full.grad_input)
    assert_same_bits(got.grad_weight, full.grad_weight)


@pytest.mark.parametrize(
    "weight, gradient",
    [
        ((), ()),
        ((1,), (1,)),
        ((1, 1, 1), (1, 1, 1)),
        ((1,) * 8, (1,) * 8),
        ((6,), (6,)),
        ((1, 6, 1, 1), (6,)),
        ((6, 1), (6,)),
        ((2, 3), (6,)),
        ((1, 3, 1, 2), (6,)),
    ],
)
def test_shapes_of_weight_and_its_gradient(
    weight: tuple[int, ...], gradient: tuple[int, ...]
) -> None:
    got = assert_correct(normal(4, 6, 3), normal(4, 6, 3, seed=1), normal(*weight, seed=2))
    assert got.grad_weight.shape == gradient


def test_one_channel_takes_the_shape_of_a_one_element_weight() -> None:
    got = assert_correct(normal(4, 1, 3), normal(4, 1, 3, seed=1), normal(1, 1, seed=2))
    assert got.grad_weight.shape == (1, 1)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_weight_of_any_layout_is_read_in_row_major_order(layout: str) -> None:
    rng = np.random.default_rng(4)
    w = place_values(normal(2, 3, seed=5), layout, rng).array
    g, x = normal(4, 6, 3), normal(4, 6, 3, seed=1)
    assert_same_bits(
        ag.prelu_backward(g, x, w).grad_input, ag.prelu_backward(g, x, w.ravel()).grad_input
    )


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("target", ["grad_output", "input"])
def test_exactly_in_place(dtype: np.dtype, layout: str, target: str) -> None:
    arrays = {
        "grad_output": normal(3, 5, 7, dtype=dtype),
        "input": normal(3, 5, 7, dtype=dtype, seed=1),
        "weight": normal(5, dtype=dtype, seed=2),
    }
    want = ag.prelu_backward(**arrays)
    placed = place_values(arrays[target], layout, np.random.default_rng(3))
    arrays[target] = placed.array
    got = ag.prelu_backward(**arrays, grad_input=placed.array)
    assert got.grad_input is placed.array
    assert_same_bits(got.grad_input, want.grad_input)
    assert_same_bits(got.grad_weight, want.grad_weight)
    placed.assert_only_elements_written()


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_outputs_of_any_layout(layout: str, dtype: np.dtype) -> None:
    g, x, w = (normal(*shape, dtype=dtype, seed=len(shape)) for shape in ((4, 6), (4, 6), (6,)))
    rng = np.random.default_rng(6)
    outputs = {
        name: place(array.shape, dtype, layout, rng)
        for name, array in (("grad_input", x), ("grad_weight", w))
    }
    got = ag.prelu_backward(g, x, w, **{name: item.array for name, item in outputs.items()})
    for name, want in ag.prelu_backward(g, x, w)._asdict().items():
        assert getattr(got, name) is outputs[name].array
        assert_same_bits(outputs[name].array, want)
        outputs[name].assert_only_elements_written()


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("shape", [(0,), (0, 3), (3, 2, 0), (2**40, 2, 0)])
def test_empty_input_gives_a_zero_weight_gradient(shape: tuple[int, ...], dtype: np.dtype) -> None:
    empty = np.empty(shape, dtype)
    for weight in [(1,), (1, 1)] + ([shape[1:2]] if len(shape) > 1 else []):
        grad_weight = np.full(weight, np.nan, dtype)
        got = ag.prelu_backward(empty, empty, np.ones(weight, dtype), grad_weight=grad_weight)
        assert got.grad_input.shape == shape and got.grad_weight is grad_weight
        assert_same_bits(grad_weight, np.zeros(weight, dtype))


def test_no_channels() -> None:
    empty = np.empty((4, 0, 3), FLOAT32)
    got = ag.prelu_backward(empty, empty, np.empty((2, 0), FLOAT32))
    assert got.grad_input.shape == (4, 0, 3) and got.grad_weight.shape == (0,)


def test_terms_of_the_weight_gradient_are_not_rounded_to_float16() -> None:
    g, x = np.full((1000, 1), 2.0**-13, FLOAT16), np.full((1000, 1), -(2.0**-13), FLOAT16)
    got = ag.prelu_backward(g, x, np.ones(1, FLOAT16))
    assert got.grad_weight == FLOAT16.type(-1000 * 2.0**-26)


def test_example_of_the_manual() -> None:
    x = np.arange(8, dtype=FLOAT32).reshape(4, 2)
    got = ag.prelu_backward(np.ones((4, 2), FLOAT32), x, np.array([0.5, 0.5], FLOAT32))
    assert got.grad_input.tolist() == [[0.5, 1.0], [1.0, 1.0], [1.0, 1.0], [1.0, 1.0]]
    assert got.grad_weight.tolist() == [0.0, 0.0]
