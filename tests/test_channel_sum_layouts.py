"""Sums over all axes but the channels', of shapes and layouts that kernels take through tiles."""

from __future__ import annotations

from typing import Any

import ascend_grad as ag
import numpy as np
import pytest
from arrays import DTYPES, FLOAT32, LAYOUTS, place_values, random_values
from reference.batch_norm_reduce_backward import batch_norm_reduce_backward
from reference.prelu_backward import prelu_backward
from tolerance import assert_same_bits, assert_within

SHAPES = (
    # Few positions of many channels: along channels.
    (1, 3001),
    (2, 1500),
    (3, 1025, 2),
    (7, 600),
    (9, 600),
    (40, 515),
    (48, 131),
    (64, 256),
    (1100, 9),
    # More of them: along channels as one run.
    (70, 73),
    (70, 96),
    (90, 301),
    (66, 1001),
    (66, 1024),
    (3, 85, 5, 5),
    # Small planes: along positions.
    (700, 2, 2),
    (400, 3, 3),
    (300, 1, 5),
    (90, 13, 1, 7),
    (40, 66, 3, 3),
    (9, 130, 15),
    (1500, 3),
    (5, 70, 2, 1, 3),
    # Rows that lie one behind the other and are no whole cache lines.
    (9, 70, 7, 7),
    (3, 131, 5, 17),
    (11, 257, 17),
    # Rows that are short, of one channel and of few.
    (130, 1, 2, 9),
    (130, 3, 17),
    (33, 5, 70),
)


def shapes_with_others() -> tuple[tuple[int, ...], ...]:
    """Also random ones, whose axes are mostly short."""
    rng = np.random.default_rng(22)
    others = []
    while len(others) < 40:
        shape = [int(n) for n in rng.choice([1, 2, 3, 4, 5, 7, 9, 16, 18, 33, 65, 700], 4)]
        if 500 < np.prod(shape) < 30000:
            others.append(tuple(shape[: int(rng.integers(3, 5))]))
    return SHAPES + tuple(others)


def values(shape: tuple[int, ...], dtype: np.dtype, rng: np.random.Generator) -> np.ndarray:
    kind = "nonfinite" if rng.random() < 0.2 else "normal"
    array = random_values(shape, dtype, kind, rng)
    array[rng.random(shape) < 0.1] = -0.0
    return array


def layouts_of(array: np.ndarray, rng: np.random.Generator) -> Any:
    for layout in LAYOUTS:
        yield layout, place_values(array, layout, rng).array
    # Every second element, in all of memory.
    yield "every_second", np.repeat(array, 2, axis=-1)[..., ::2]


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("shape", shapes_with_others(), ids=str)
def test_batch_norm_reduce_backward(shape: tuple[int, ...], dtype: np.dtype) -> None:
    rng = np.random.default_rng(list(shape))
    channels = shape[1:2]
    inputs = {
        "grad_out": values(shape, dtype, rng),
        "input": values(shape, dtype, rng),
        "mean": random_values(channels, FLOAT32, "normal", rng),
        "invstd": random_values(channels, FLOAT32, "normal", rng),
    }
    want = ag.batch_norm_reduce_backward(**inputs)
    for name, exact in batch_norm_reduce_backward(**inputs)._asdict().items():
        assert_within(getattr(want, name), exact, name)
    grads = dict(layouts_of(inputs["grad_out"], rng))
    for layout, array in layouts_of(inputs["input"], rng):
        for grad in {layout, str(rng.choice(list(grads)))}:
            operands = inputs | {"grad_out": grads[grad], "input": array}
            got = ag.batch_norm_reduce_backward(**operands)
            for name, result in got._asdict().items():
                assert_same_bits(result, getattr(want, name), f"{name} {layout} {grad}")


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("shape", shapes_with_others(), ids=str)
def test_prelu_backward(shape: tuple[int, ...], dtype: np.dtype) -> None:
    rng = np.random.default_rng(list(shape))
    g, x = values(shape, dtype, rng), values(shape, dtype, rng)
    weights = random_values(shape[1:2], dtype, "normal", rng)
    want, exact = ag.prelu_backward(g, x, weights), prelu_backward(g, x, weights)
    assert_within(want.grad_input, exact.grad_input, "grad_input")
    assert_within(want.grad_weight, exact.grad_weight, "grad_weight")
    grads = dict(layouts_of(g, rng))
    for layout, array in layouts_of(x, rng):
        grad = grads[str(rng.choice([layout, *grads]))]
        like = str(rng.choice([layout if layout in LAYOUTS else "contiguous", *LAYOUTS]))
        result = place_values(np.zeros(shape, dtype), like, rng)
        weight = place_values(weights, str(rng.choice(LAYOUTS)), rng).array
        got = ag.prelu_backward(grad, array, weight, grad_input=result.array)
        assert_same_bits(got.grad_weight, want.grad_weight, layout)
        assert_same_bits(result.array, want.grad_input, f"{layout} {like}")
        result.assert_only_elements_written()
        # In place.
        target = place_values(x, like, rng)
        ag.prelu_backward(grad, target.array, weight, grad_input=target.array)
        assert_same_bits(target.array, want.grad_input, f"in place {like}")
        target.assert_only_elements_written()


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("width", [5, 9, 15, 33])
@pytest.mark.parametrize("gap", [0, 2])
@pytest.mark.parametrize("channels", [3, 40])
def test_neighbours_that_are_not_finite(
    channels: int, gap: int, width: int, dtype: np.dtype
) -> None:
    """Vectors hold other channels' elements, too, or those of a gap, which do not count."""
    rng = np.random.default_rng(width)
    x = random_values((70, channels, 1, width), dtype, "normal", rng)
    wide = np.full((70, channels, 1, width + gap), np.nan, dtype)
    spoilt = wide[..., :width]
    spoilt[...] = x
    spoilt[:, 1] = np.nan
    statistics = random_values((3, channels), FLOAT32, "normal", rng)
    weight = random_values((channels,), dtype, "normal", rng)
    others = np.delete(np.arange(channels), 1)
    bad = weight.copy()
    bad[1] = np.nan
    sums = ag.batch_norm_reduce_backward(spoilt, spoilt, *statistics)
    for got, want in zip(sums, ag.batch_norm_reduce_backward(x, x, *statistics), strict=True):
        assert np.isnan(got[1]) and np.isfinite(want).all()
        assert_same_bits(got[others], want[others])
    prelu, want_prelu = ag.prelu_backward(spoilt, spoilt, bad), ag.prelu_backward(x, x, weight)
    assert np.isnan(prelu.grad_weight[1]) and np.isnan(prelu.grad_input[:, 1]).all()
    assert_same_bits(prelu.grad_weight[others], want_prelu.grad_weight[others])
    assert_same_bits(prelu.grad_input[:, others], want_prelu.grad_input[:, others])


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("gap", [0, 3])
@pytest.mark.parametrize(
    "shape", [(3000, 64, 3, 3), (9000, 5, 11), (300, 33, 30, 20), (2000, 40, 7, 7)], ids=str
)
def test_large_and_in_place(shape: tuple[int, ...], gap: int, dtype: np.dtype) -> None:
    """Results where one of the inputs was, with gaps behind each row that stay as they are."""
    rng = np.random.default_rng(1)
    wide = random_values((*shape[:-1], shape[-1] + gap), dtype, "normal", rng)
    x = wide[..., : shape[-1]]
    g = random_values(shape, dtype, "normal", rng)
    weight = random_values(shape[1:2], dtype, "normal", rng)
    want = ag.prelu_backward(g, np.ascontiguousarray(x), weight)
    behind = wide[..., shape[-1] :].copy()
    got = ag.prelu_backward(g, x, weight, grad_input=x)
    assert_same_bits(got.grad_weight, want.grad_weight)
    assert_same_bits(x, want.grad_input)
    assert_same_bits(wide[..., shape[-1] :], behind)


ROWS_NEAREST = ((1, 2, 3, 0), (2, 3, 1, 0), (3, 2, 1, 0), (2, 3, 0, 1), (2, 1, 3, 0))
"""Orders of axes, outermost in memory first, in which batch items are near: each of their rows is a
block of its own where it has more than five hundred elements."""


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("gaps", [(0, 0), (3, 0), (0, 2)], ids=str)
@pytest.mark.parametrize("order", ROWS_NEAREST, ids=str)
@pytest.mark.parametrize(
    "shape",
    [
        *((8, 2, 25, 21), (33, 5, 1, 601), (3, 70, 33, 17), (2, 1030, 2, 257)),
        *((40, 1, 16, 64), (2, 9, 50, 90), (70, 36, 4, 130)),
    ],
    ids=str,
)
def test_rows_walked_as_channels(
    shape: tuple[int, ...], order: tuple[int, ...], gaps: tuple[int, int], dtype: np.dtype
) -> None:
    rng = np.random.default_rng(list(shape))
    wide = (shape[0] + gaps[0], shape[1] + gaps[1], *shape[2:])

    def place_in_order(array: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """What it lies in, and the elements."""
        memory = np.full(tuple(wide[axis] for axis in order), 7, dtype)
        view = memory.transpose(np.argsort(order))[: shape[0], : shape[1]]
        view[...] = array
        return memory, view

    g, x = values(shape, dtype, rng), values(shape, dtype, rng)
    statistics = random_values((2, shape[1]), FLOAT32, "normal", rng)
    (_, near_g), (_, near_x) = place_in_order(g), place_in_order(x)
    near = ag.batch_norm_reduce_backward(near_g, near_x, *statistics)
    for got, want in zip(near, ag.batch_norm_reduce_backward(g, x, *statistics), strict=True):
        assert_same_bits(got, want)
    for weights in (1, shape[1]):
        weight = random_values((weights,), dtype, "normal", rng)
        want_prelu = ag.prelu_backward(g, x, weight)
        memory, result = place_in_order(np.zeros(shape, dtype))
        expected, _ = place_in_order(want_prelu.grad_input)
        sums = ag.prelu_backward(near_g, near_x, weight, grad_input=result)
        assert_same_bits(sums.grad_weight, want_prelu.grad_weight)
        assert_same_bits(memory, expected)
        # Results across them, with gaps between batch items, which are in reverse order.
        across = np.full((shape[0], shape[1] + gaps[1], *shape[2:]), 7, dtype)
        expected = across.copy()
        expected[::-1, : shape[1]] = want_prelu.grad_input
        sums = ag.prelu_backward(near_g, near_x, weight, grad_input=across[::-1, : shape[1]])
        assert_same_bits(sums.grad_weight, want_prelu.grad_weight)
        assert_same_bits(across, expected)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_rows_that_overlap(dtype: np.dtype) -> None:
    """Of inputs: each row begins an element behind the one before, as if they lay nearest."""
    flat = random_values((40 + 3 * 700,), dtype, "normal", np.random.default_rng(0))
    size = dtype.itemsize
    x = np.lib.stride_tricks.as_strided(flat, (40, 3, 700), (size, 700 * size, size))
    own = x.copy()
    statistics = np.ones((2, 3), FLOAT32)
    got = ag.batch_norm_reduce_backward(x, x, *statistics)
    for sums, want in zip(got, ag.batch_norm_reduce_backward(own, own, *statistics), strict=True):
        assert_same_bits(sums, want)
    weight = np.ones(3, dtype)
    for sums, want in zip(
        ag.prelu_backward(x, x, weight), ag.prelu_backward(own, own, weight), strict=True
    ):
        assert_same_bits(sums, want)


def test_one_position_of_which_one_operand_has_every_second_channel() -> None:
    """It is copied to tiles that lie as the other one: no workspace."""
    x = random_values((1, 40_000), FLOAT32, "normal", np.random.default_rng(0))
    statistics = np.ones((2, 20_000), FLOAT32)
    call = ag.prepare.batch_norm_reduce_backward(x[:, :20_000], x[:, ::2], *statistics)
    assert call.workspace_size == 0
    want = ag.batch_norm_reduce_backward(x[:, :20_000], x[:, ::2].copy(), *statistics)
    for got, sums in zip(call(), want, strict=True):
        assert_same_bits(got, sums)
