"""Calls of layouts that are cut into panels: every order of four axes, of inputs and of results."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import ascend_grad as ag
import numpy as np
import pytest
from arrays import DTYPES, FLOAT16, FLOAT32, FLOAT64, Placed, place, place_values, random_values
from tolerance import assert_same_bits

ORDERS = tuple(itertools.permutations(range(4)))
"""Axes, outermost in memory first."""

SHAPES = ((17, 9, 20, 23), (3, 70, 13, 8), (33, 2, 5, 40), (1, 19, 34, 18))
Prepared = tuple[Any, list[Placed]]
"""A call and its results."""


class Arrays:
    """Inputs whose axes lie in one order, and results in another; values depend on shapes alone."""

    def __init__(self, inputs: tuple[int, ...], results: tuple[int, ...], dtype: np.dtype):
        self.rng = np.random.default_rng(7)
        self.inputs, self.results, self.dtype = inputs, results, dtype

    def vector(self, size: int, dtype: np.dtype) -> np.ndarray:
        return random_values((size,), dtype, "normal", self.rng)

    def input(self, *shape: int) -> np.ndarray:
        values = random_values(shape, self.dtype, "normal", self.rng)
        return place_values(values, self.inputs, np.random.default_rng(1)).array

    def result(self, *shape: int, dtype: np.dtype | None = None) -> Placed:
        return place(shape, dtype or self.dtype, self.results, np.random.default_rng(1))


def softmax(arrays: Arrays, shape: tuple[int, ...], dim: int, dtype: Any = None) -> Prepared:
    out = arrays.result(*shape, dtype=dtype)
    inputs = arrays.input(*shape), arrays.input(*shape)
    return ag.prepare.softmax_backward(*inputs, dim, out=out.array), [out]


def pooling(arrays: Arrays, shape: tuple[int, ...], kernel: int, stride: int, pad: int) -> Prepared:
    grad = arrays.input(*shape[:2], *((n + 2 * pad - kernel) // stride + 1 for n in shape[2:]))
    out = arrays.result(*shape)
    like = np.broadcast_to(np.zeros((), out.array.dtype), shape)
    call = ag.prepare.avg_pool2d_backward(grad, like, kernel, stride, pad, grad_input=out.array)
    return call, [out]


def prelu(arrays: Arrays, shape: tuple[int, ...], weights: int | None = None) -> Prepared:
    out = arrays.result(*shape)
    weight = arrays.vector(shape[1] if weights is None else weights, arrays.dtype)
    sums = place(weight.shape, weight.dtype, "contiguous", np.random.default_rng(1))
    inputs = arrays.input(*shape), arrays.input(*shape)
    call = ag.prepare.prelu_backward(*inputs, weight, grad_input=out.array, grad_weight=sums.array)
    return call, [out, sums]


def batch_norm(arrays: Arrays, shape: tuple[int, ...]) -> Prepared:
    sums = [place(shape[1:2], FLOAT32, "contiguous", np.random.default_rng(1)) for _ in range(4)]
    names = ("sum_dy", "sum_dy_xmu", "grad_weight", "grad_bias")
    vectors = arrays.vector(shape[1], FLOAT32), arrays.vector(shape[1], FLOAT32)
    inputs = arrays.input(*shape), arrays.input(*shape)
    call = ag.prepare.batch_norm_reduce_backward(
        *inputs, *vectors, **{name: x.array for name, x in zip(names, sums, strict=True)}
    )
    return call, sums


CALLS = {
    "softmax along columns": (softmax, 3),
    "softmax along channels": (softmax, 1),
    "pooling 3x3 two apart": (pooling, 3, 2, 1),
    "pooling 3x3 one apart": (pooling, 3, 1, 1),
    "pooling 2x2": (pooling, 2, 2, 0),
    "prelu": (prelu,),
    "prelu of one weight": (prelu, 1),
    "batch norm": (batch_norm,),
}


def check_orders(
    make: Callable[..., Prepared], shape: tuple[int, ...], arguments: Any, dtype: np.dtype
) -> None:
    """Bits are those of contiguous operands. Of axes that are not short, calls are cut."""
    call, want = make(Arrays(ORDERS[0], ORDERS[0], dtype), shape, *arguments)
    call()
    needed, cut = call.workspace_size, 0
    for order in ORDERS:
        for results in {order, ORDERS[0], order[::-1]}:
            call, got = make(Arrays(order, results, dtype), shape, *arguments)
            call()
            cut += call.workspace_size > needed
            for placed, expected in zip(got, want, strict=True):
                assert_same_bits(placed.array, expected.array, f"{order} to {results}")
                placed.assert_only_elements_written()
    if min(shape) >= 8:
        assert cut >= len(ORDERS) / 2, f"only {cut} calls were cut into panels"


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("name", CALLS)
def test_every_order_of_axes(name: str, shape: tuple[int, ...], dtype: np.dtype) -> None:
    make, *arguments = CALLS[name]
    with ag.num_threads(1 + shape[0] % 3):
        check_orders(make, shape, arguments, dtype)


@pytest.mark.parametrize("out_dtype", [FLOAT64, FLOAT16], ids=str)
def test_results_of_another_dtype(out_dtype: np.dtype) -> None:
    check_orders(softmax, SHAPES[0], (1, out_dtype), FLOAT32)


def test_a_result_in_the_place_of_an_input() -> None:
    grad = Arrays(ORDERS[0][::-1], ORDERS[0], FLOAT32).input(*SHAPES[0])
    output = Arrays(ORDERS[0], ORDERS[0], FLOAT32).input(*SHAPES[0])
    want = ag.softmax_backward(grad, output.copy(), 3)
    call = ag.prepare.softmax_backward(grad, output, 3, out=output)
    assert call.workspace_size > 0, "no panels"
    call()
    assert_same_bits(output, want)


@pytest.mark.parametrize("side", [200, 700])
def test_planes_that_fit_no_near_cache(side: int) -> None:
    """Whole planes are a panel, however large; of transposed images."""
    check = Arrays((0, 1, 3, 2), (0, 1, 3, 2), FLOAT32), Arrays(ORDERS[0], ORDERS[0], FLOAT32)
    results = []
    for arrays in check:
        call, (out,) = pooling(arrays, (1, 2, side, side + 1), 3, 2, 1)
        call()
        out.assert_only_elements_written()
        results.append(out.array)
    assert_same_bits(*results)


def test_rows_that_fit_no_panel() -> None:
    """Neither is a line of each: such calls take tiles."""
    shape = (20, 3, 100_000)
    arrays = Arrays((2, 1, 0), ORDERS[0][:3], FLOAT32)
    call, (out,) = softmax(arrays, shape, 2)
    call()
    arrays = Arrays(ORDERS[0][:3], ORDERS[0][:3], FLOAT32)
    want_call, (want,) = softmax(arrays, shape, 2)
    want_call()
    assert_same_bits(out.array, want.array)


def test_threads_get_panels_of_their_own() -> None:
    arrays = Arrays((3, 2, 1, 0), ORDERS[0], FLOAT32)
    with ag.num_threads(1):
        one, _ = softmax(arrays, (16, 64, 28, 28), 3)
    with ag.num_threads(4):
        four, _ = softmax(arrays, (16, 64, 28, 28), 3)
    assert four.workspace_size == 4 * one.workspace_size > 0
