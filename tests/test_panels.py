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
Layout = str | tuple[int, ...]
Prepared = tuple[Any, list[Placed]]
"""A call and its results."""


class Arrays:
    """Inputs whose axes lie in one order, and results in another; values depend on shapes alone."""

    def __init__(self, inputs: Layout, results: Layout, dtype: np.dtype, seed: int = 1):
        self.rng, self.places = np.random.default_rng(7), np.random.default_rng(seed)
        self.inputs, self.results, self.dtype = inputs, results, dtype

    def vector(self, size: int, dtype: np.dtype) -> np.ndarray:
        return random_values((size,), dtype, "normal", self.rng)

    def input(self, *shape: int) -> np.ndarray:
        values = random_values(shape, self.dtype, "normal", self.rng)
        return place_values(values, self.inputs, self.places).array

    def result(self, *shape: int, dtype: np.dtype | None = None) -> Placed:
        return place(shape, dtype or self.dtype, self.results, self.places)


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

FEWEST_CUT = {softmax: 28, pooling: 44, prelu: 46, batch_norm: 40}
"""Of some seventy pairs of orders, where no axis is short; others are walked where they lie."""


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
        assert cut >= FEWEST_CUT[make], f"only {cut} calls were cut into panels"


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


@pytest.mark.parametrize("dim", [1, 3])
def test_softmax_of_three_orders(dim: int) -> None:
    """Of inputs and result; also in the place of either input, which then lies as the result."""
    copies: dict[str, int] = {}
    for orders in itertools.product(ORDERS[::7], repeat=3):
        grad, output, out = (Arrays(order, order, FLOAT32).input(*SHAPES[0]) for order in orders)
        output *= np.float32(0.5)
        want = ag.softmax_backward(np.ascontiguousarray(grad), np.ascontiguousarray(output), dim)
        for result in (out, grad, output):
            inputs = [x.copy("K") if x is not result else x for x in (grad, output)]
            before = result.copy("K")
            call = ag.prepare.softmax_backward(*inputs, dim, out=result)
            plan = ag.explain.softmax_backward(*inputs, dim, out=result)
            copies[plan["copies"]] = copies.get(plan["copies"], 0) + 1
            call()
            assert_same_bits(np.ascontiguousarray(result), want, str(orders))
            result[...] = before
    assert copies["operands in panels"] > 5
    assert copies["some operands in panels"] > 20


def test_prelu_in_place() -> None:
    order = ORDERS[0][::-1]
    arrays = Arrays(order, order, FLOAT32)
    grad, self_ = arrays.input(*SHAPES[0]), arrays.input(*SHAPES[0])
    weight = arrays.vector(SHAPES[0][1], FLOAT32)
    want = ag.prelu_backward(grad.copy(), self_.copy(), weight)
    sums = np.empty_like(weight)
    call = ag.prepare.prelu_backward(grad, self_, weight, grad_input=grad, grad_weight=sums)
    assert call.workspace_size > 1 << 14, "no panels"
    call()
    assert_same_bits(grad, want.grad_input)
    assert_same_bits(sums, want.grad_weight)


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("name", CALLS)
def test_steps_gaps_and_other_orders(name: str, seed: int) -> None:
    """Negative and larger steps, margins, misaligned elements; the operands' orders differ."""
    make, *arguments = CALLS[name]
    shape, dtype = SHAPES[seed % len(SHAPES)], DTYPES[seed % len(DTYPES)]
    _, want = prepared = make(Arrays(ORDERS[0], ORDERS[0], dtype), shape, *arguments)
    prepared[0]()
    call, got = make(Arrays("mixed", "mixed", dtype, seed), shape, *arguments)
    call()
    for placed, expected in zip(got, want, strict=True):
        assert_same_bits(placed.array, expected.array)
        placed.assert_only_elements_written()


@pytest.mark.parametrize("rank", [3, 5, 6, 7, 8])
def test_ranks(rank: int) -> None:
    """Beyond six axes calls are not cut."""
    shape = (9, 10, 8, 3, 2, 2, 2, 2)[:rank]
    first, backwards = tuple(range(rank)), tuple(range(rank))[::-1]
    for make, *arguments in ((softmax, 1), (prelu,), (batch_norm,)):
        call, want = make(Arrays(first, first, FLOAT32), shape, *arguments)
        call()
        for results in (first, backwards):
            call, got = make(Arrays(backwards, results, FLOAT32), shape, *arguments)
            call()
            for placed, expected in zip(got, want, strict=True):
                assert_same_bits(placed.array, expected.array)


@pytest.mark.parametrize("side", [300, 1000])
def test_planes_that_fit_no_near_cache(side: int) -> None:
    """Whole planes are a panel, however large; of transposed images."""
    results = []
    for order in ((0, 1, 3, 2), ORDERS[0]):
        call, (out,) = pooling(Arrays(order, order, FLOAT32), (1, 2, side, side + 1), 3, 2, 1)
        assert (call.workspace_size > 0) == (order != ORDERS[0])
        call()
        out.assert_only_elements_written()
        results.append(out.array)
    assert_same_bits(*results)


@pytest.mark.parametrize("length", [40_000, 600_000])
def test_rows_of_a_panel(length: int) -> None:
    """As many as half a line of all operands has, or, where these are too long, none: tiles."""
    shape = (20, 9, length)
    grad, output = (np.empty(shape[::-1], FLOAT32).T for _ in range(2))  # memory that is not used
    with ag.num_threads(4):
        call = ag.prepare.softmax_backward(grad, output, 2, out=np.empty(shape, FLOAT32))
    assert (call.workspace_size > 0) == (length == 40_000)


def test_lines_of_batch_items_and_of_channels() -> None:
    """Panels of both, larger than usual: inputs whose batch items are neighbours, a result whose
    channels are."""
    shape = (32, 32, 40, 41)
    with ag.num_threads(1):
        call, (out, sums) = prelu(Arrays((3, 2, 1, 0), (3, 2, 0, 1), FLOAT32), shape)
        want, (want_out, want_sums) = prelu(Arrays(ORDERS[0], ORDERS[0], FLOAT32), shape)
    assert call.workspace_size > 3 << 20
    call()
    want()
    out.assert_only_elements_written()
    assert_same_bits(out.array, want_out.array)
    assert_same_bits(sums.array, want_sums.array)


def test_long_rows() -> None:
    results = []
    for order in ((2, 1, 0), (0, 1, 2)):
        call, (out,) = softmax(Arrays(order, (0, 1, 2), FLOAT32), (20, 9, 40_000), 2)
        call()
        results.append(out.array)
    assert_same_bits(*results)


@pytest.mark.skipif(not ag.build_info()["openmp"], reason="built without OpenMP")
def test_threads_get_panels_of_their_own() -> None:
    shape = (16, 64, 28, 28)
    calls, results = {}, {}
    for threads in (1, 4):
        with ag.num_threads(threads):
            calls[threads], results[threads] = softmax(
                Arrays(ORDERS[0][::-1], ORDERS[0], FLOAT32), shape, 3
            )
    assert calls[1].workspace_size > 0
    arrays = Arrays(ORDERS[0][::-1], ORDERS[0], FLOAT32)
    inputs, out = (arrays.input(*shape), arrays.input(*shape)), arrays.result(*shape)
    with ag.num_threads(4):
        plan = ag.explain.softmax_backward(*inputs, 3, out=out.array)
    assert (plan["threads"], plan["copies"]) == (4, "some operands in panels")
    for threads, call in calls.items():  # each with the others' number
        with ag.num_threads(5 - threads):
            call()
    assert_same_bits(results[1][0].array, results[4][0].array)


class BehindLines(Arrays):
    """Results begin so many bytes behind a cache line."""

    def __init__(self, inputs: Layout, results: Layout, behind: int):
        super().__init__(inputs, results, FLOAT32)
        self.behind = behind

    def result(self, *shape: int, dtype: np.dtype | None = None) -> Placed:
        near = super().result(*shape, dtype=dtype)
        buffer = self.places.integers(0, 256, near.buffer.size + 64, np.uint8)
        offset = near.offset + (self.behind - buffer.ctypes.data - near.offset) % 64
        array = np.ndarray(shape, near.array.dtype, buffer, offset, near.array.strides)
        return Placed(array, buffer, offset, buffer.copy())


NHWC, CHWN, WCHN = (0, 2, 3, 1), (1, 2, 3, 0), (3, 1, 2, 0)
HWCN, CHNW, NHCW = (2, 3, 1, 0), (1, 2, 0, 3), (0, 2, 1, 3)

LARGE = {
    "prelu where inputs lie": (prelu, (48, 40, 36, 36), NHWC, WCHN),
    "prelu where the result lies": (prelu, (33, 40, 40, 40), WCHN, NHWC),
    "prelu where rows of inputs lie": (prelu, (32, 18, 62, 62), (2, 3, 0, 1), WCHN),
    "prelu of many channels": (prelu, (24, 160, 24, 24), CHWN, NHWC),
    "prelu of many batch items": (prelu, (144, 40, 20, 24), NHWC, WCHN),
    "softmax": (softmax, (24, 160, 24, 24), CHWN, NHWC, 2),
    "pooling": (pooling, (64, 160, 24, 24), CHWN, NHWC, 3, 2, 1),
    "pooling where the result lies": (pooling, (91, 160, 24, 24), ORDERS[0], NHWC, 3, 2, 1),
}
"""Calls of more than 24 MiB, whose results may go past the caches: operator, shape, orders of
inputs and results, other arguments."""


@pytest.mark.parametrize("behind", [0, 16, 60])
@pytest.mark.parametrize("name", LARGE)
def test_large_calls(name: str, behind: int) -> None:
    """Panels end where the result's cache lines do, if they can."""
    make, shape, inputs, results, *arguments = LARGE[name]
    call, want = make(Arrays(ORDERS[0], ORDERS[0], FLOAT32), shape, *arguments)
    call()
    call, got = make(BehindLines(inputs, results, behind), shape, *arguments)
    assert call.workspace_size > 1 << 16, "no panels"
    call()
    for placed, expected in zip(got, want, strict=True):
        assert_same_bits(placed.array, expected.array)
        placed.assert_only_elements_written()


SOME = "some operands in panels"
TILES = "operands in tiles"
POOLED = [
    ((91, 160, 24, 24), "nchw>nhwc", 1, SOME),
    ((8, 64, 56, 56), "nchw>nhwc", 1, SOME),
    # Equal panels of 31 channels have one or all.
    ((1, 31, 256, 256), "nchw>nhwc", 1, SOME),
    ((1, 31, 256, 256), "nchw>nhwc", 2, "operands in panels"),
    ((64, 512, 7, 7), "nhwc>whcn", 1, SOME),  # else gathered
    ((64, 512, 7, 7), "nhwc>whcn", 2, SOME),
    ((16, 512, 7, 7), "nhwc>whcn", 1, TILES),  # too few planes for vectors
    ((64, 512, 7, 7), "wchn>nchw", 1, TILES),  # transposed
    ((32, 32, 56, 56), "cwhn>whcn", 1, SOME),  # else runs of 128 bytes
    ((32, 32, 56, 56), "whcn>whcn", 1, ""),
    ((16, 24, 30, 30), "cwhn>whcn", 1, SOME),
    ((16, 24, 30, 30), "nhwc>whnc", 2, ""),  # threads would be fewer
]
"""Shapes, orders of grad_output and of the result, outermost in memory first, and threads."""


@pytest.mark.parametrize(("shape", "orders", "threads", "copies"), POOLED)
def test_where_results_of_pooling_stay(
    shape: tuple[int, ...], orders: str, threads: int, copies: str
) -> None:
    inputs, results = (tuple(map("nchw".index, order)) for order in orders.split(">"))
    kernel = 3 if shape[2] < 8 else 2
    arrays = Arrays(inputs, results, FLOAT32)
    grad = arrays.input(*shape[:2], *(1 + (n - kernel) // 2 for n in shape[2:]))
    like = np.broadcast_to(np.zeros((), FLOAT32), shape)
    result = arrays.result(*shape).array
    with ag.num_threads(threads):
        plan = ag.explain.avg_pool2d_backward(grad, like, kernel, 2, grad_input=result)
    assert plan["copies"] == copies


class EachInOrder(Arrays):
    """One input after the other, and results, each in an order of its own."""

    def __init__(self, orders: tuple[Layout, ...], dtype: np.dtype):
        super().__init__(orders[0], orders[-1], dtype)
        self.orders = list(orders)

    def input(self, *shape: int) -> np.ndarray:
        self.inputs = self.orders.pop(0)
        return super().input(*shape)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("channels", [*range(1, 10), 65])
@pytest.mark.parametrize("name", CALLS)
def test_channels_that_are_last_in_some_operands(name: str, channels: int, dtype: np.dtype) -> None:
    """In all, too: few channels are parted on the way (isa/copy_block.h)."""
    make, *arguments = CALLS[name]
    for shape in ((3, channels, 19, 27), (18, channels, 5, 3)):
        call, want = make(Arrays(ORDERS[0], ORDERS[0], dtype), shape, *arguments)
        call()
        for orders in itertools.product((ORDERS[0], NHWC), repeat=3):
            call, got = make(EachInOrder(orders, dtype), shape, *arguments)
            call()
            for placed, expected in zip(got, want, strict=True):
                assert_same_bits(placed.array, expected.array, str(orders))
                placed.assert_only_elements_written()


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("orders", [(HWCN, CHNW), (WCHN, NHCW)], ids=str)
@pytest.mark.parametrize("name", ["softmax along channels", "prelu", "batch norm"])
def test_rows_shorter_than_half_a_line(
    name: str, orders: tuple[Layout, Layout], dtype: np.dtype
) -> None:
    """Others follow them, so that panels have whole lines."""
    make, *arguments = CALLS[name]
    shape, (order, other) = (64, 128, 7, 7), orders
    inputs = (order, other) if make is batch_norm else (order, order, other)
    with ag.num_threads(1):
        plain, want = make(Arrays(ORDERS[0], ORDERS[0], dtype), shape, *arguments)
        call, got = make(EachInOrder(inputs, dtype), shape, *arguments)
        assert call.workspace_size > plain.workspace_size, "no panels"
        plain()
        call()
    for placed, expected in zip(got, want, strict=True):
        assert_same_bits(placed.array, expected.array)
        placed.assert_only_elements_written()


@pytest.mark.parametrize(("channels", "copies"), [(3, "operands in tiles"), (5, "")])
def test_few_channels_are_parted(channels: int, copies: str) -> None:
    x = np.zeros((3, 19, 27, channels), FLOAT32).transpose(0, 3, 1, 2)
    plan = ag.explain.prelu_backward(x, x, np.zeros(channels, FLOAT32), grad_input=x.copy("K"))
    assert plan["copies"] == copies


@pytest.mark.parametrize("orders", [(NHWC, WCHN), (WCHN, NHWC)], ids=str)
def test_batch_norm_of_inputs_in_two_orders(orders: tuple[Layout, Layout]) -> None:
    """One of them is read where it lies (test_explain.py)."""
    shape = (48, 40, 36, 36)
    call, want = batch_norm(Arrays(ORDERS[0], ORDERS[0], FLOAT32), shape)
    call()
    call, got = batch_norm(EachInOrder(orders, FLOAT32), shape)
    assert call.workspace_size > 1 << 20, "no panels"
    call()
    for placed, expected in zip(got, want, strict=True):
        assert_same_bits(placed.array, expected.array)


@pytest.mark.parametrize("make", [prelu, batch_norm])
def test_strides_of_single_batch_items(make: Callable[..., Prepared]) -> None:
    """These strides lead nowhere, and differ between operands that lie alike."""
    shape = (1, 17, 21, 39)
    call, want = make(Arrays(ORDERS[0], ORDERS[0], FLOAT32), shape)
    call()
    for strides in itertools.product((0, 68, 1 << 40), repeat=3):
        for orders in itertools.product(((0, 3, 2, 1), (3, 2, 0, 1), (0, 3, 1, 2)), repeat=3):
            call, got = make(StridesOfOne(orders, strides), shape)
            call()
            for placed, expected in zip(got, want, strict=True):
                assert_same_bits(placed.array, expected.array, f"{orders} {strides}")


class StridesOfOne(Arrays):
    """Two inputs and a result, each in its order and with its stride of batch items."""

    def __init__(self, orders: tuple[Layout, ...], strides: tuple[int, ...]):
        super().__init__(orders[0], orders[2], FLOAT32)
        self.orders, self.strides = list(orders[:2]), list(strides)

    def strided(self, array: np.ndarray) -> np.ndarray:
        strides = (self.strides.pop(0), *array.strides[1:])
        return np.lib.stride_tricks.as_strided(array, array.shape, strides)

    def input(self, *shape: int) -> np.ndarray:
        self.inputs = self.orders.pop(0)
        return self.strided(super().input(*shape))

    def result(self, *shape: int, dtype: np.dtype | None = None) -> Placed:
        placed = super().result(*shape, dtype=dtype)
        return Placed(self.strided(placed.array), placed.buffer, placed.offset, placed.before)
