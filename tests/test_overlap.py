"""Results must not overlap anything, themselves included, except where in-place is promised."""

from __future__ import annotations

import re
from collections.abc import Callable
from itertools import product
from typing import Any

import ascend_grad as ag
import numpy as np
import pytest
from arrays import FLOAT16, FLOAT32, reach
from error_rules import ARRAYS, BN, LEGAL, OUTPUTS, POOL, PRELU, RESULTS, SOFTMAX, arguments
from numpy.lib.stride_tricks import as_strided


def assert_overlap_refused(operator: str, made: dict[str, Any], *names: str) -> None:
    before = {name: value.tobytes() for name, value in made.items() if name in OUTPUTS[operator]}
    with pytest.raises(ag.ParamInvalidError, match=r"(?i)overlap|alias|share") as caught:
        getattr(ag, operator)(**made)
    assert caught.value.parameter in names, caught.value
    assert all(re.search(rf"\b{name}\b", str(caught.value)) for name in names), caught.value
    assert all(made[name].tobytes() == value for name, value in before.items())


OVERLAPS = [
    (operator, result, other)
    for operator, result in RESULTS
    for other_operator, other in ARRAYS
    if operator == other_operator and other != result
]


@pytest.mark.parametrize("operator, result, other", OVERLAPS)
def test_partial_overlap(operator: str, result: str, other: str) -> None:
    """Two arrays in one buffer, one element apart."""
    made = arguments(operator, {})
    smaller, larger = sorted((made[result].shape, made[other].shape), key=np.prod)
    base = np.zeros(int(np.prod(larger)) + 1, FLOAT32)
    first = base[:-1].reshape(larger)
    second = base[1 : 1 + int(np.prod(smaller))].reshape(smaller)
    swapped = made[result].shape == smaller and smaller != larger
    made[result], made[other] = (second, first) if swapped else (first, second)
    assert_overlap_refused(operator, made, result, other)


@pytest.mark.parametrize(
    "operator, result, other",
    [
        (operator, result, other)
        for operator, result, other in OVERLAPS
        if LEGAL[operator][result] == LEGAL[operator][other]
    ],
)
def test_exact_overlap(operator: str, result: str, other: str) -> None:
    made = arguments(operator, {})
    made[result] = made[other]
    elementwise = {(SOFTMAX, "out"), (PRELU, "grad_input")}
    if (operator, result) in elementwise:
        getattr(ag, operator)(**made)
    else:
        assert_overlap_refused(operator, made, result, other)


def test_pooling_with_a_kernel_of_one_is_not_in_place_either() -> None:
    same = np.zeros((2, 3, 8, 8), FLOAT32)
    made = {"grad_output": same, "input": np.zeros_like(same), "kernel_size": 1}
    assert_overlap_refused(POOL, {**made, "grad_input": same}, "grad_output", "grad_input")


@pytest.mark.parametrize(
    "view",
    [
        lambda a: a[::-1],
        lambda a: a.T,
        lambda a: as_strided(a, a.shape, (a.strides[0] * 2, 4)),
    ],
    ids=["reversed", "transposed", "other strides"],
)
def test_same_memory_in_another_order(view: Callable[[np.ndarray], np.ndarray]) -> None:
    memory = np.zeros((8, 4), FLOAT32)[:4]
    made = {"grad_output": memory, "output": np.zeros((4, 4), FLOAT32), "dim": 1}
    assert_overlap_refused(SOFTMAX, {**made, "out": view(memory)}, "grad_output", "out")


def test_same_address_and_another_dtype() -> None:
    memory = np.zeros((4, 4), FLOAT32)
    out = memory.view(np.float16)[:, ::2]
    made = {"grad_output": memory, "output": np.zeros_like(memory), "dim": 1, "out": out}
    assert_overlap_refused(SOFTMAX, made, "grad_output", "out")


def shape_of(strides: tuple[int, ...]) -> tuple[int, ...]:
    return (4, 4) if len(strides) == 2 else (4, 1, 4)


@pytest.mark.parametrize(
    "strides",
    [(0, 4), (16, 0), (4, 4), (8, 4), (12, 4), (4, 12), (-4, 4), (17, 2), (20, 6), (12, 0, 4)],
)
def test_a_result_that_overlaps_itself(strides: tuple[int, ...]) -> None:
    memory = np.zeros(256, np.uint8)
    shape = shape_of(strides)
    out = np.ndarray(shape, FLOAT32, memory, 64, strides)
    made = {"grad_output": np.ones(shape, FLOAT32), "output": np.ones(shape, FLOAT32), "dim": 1}
    with pytest.raises(ag.ParamInvalidError, match=r"(?i)out.*overlap") as caught:
        ag.softmax_backward(**made, out=out)
    assert caught.value.parameter == "out" and not memory.any()


@pytest.mark.parametrize(
    "strides", [(16, 4), (4, 16), (20, 5), (-16, 4), (4, 20), (12, 44), (44, 8), (16, 0, 4)]
)
def test_strides_that_only_look_like_overlap(strides: tuple[int, ...]) -> None:
    """(12, 44): rows and columns interleave, yet no two elements share a byte."""
    memory = np.zeros(400, np.uint8)
    out = np.ndarray(shape_of(strides), FLOAT32, memory, 128, strides)
    rng = np.random.default_rng(0)
    g, y = (rng.standard_normal(out.shape).astype(FLOAT32) for _ in "gy")
    assert ag.softmax_backward(g, y, 1, out=out) is out
    assert (out == ag.softmax_backward(g, y, 1)).all()


def interleavings() -> dict[str, tuple[np.ndarray, np.ndarray]]:
    memory = np.zeros((2, 3, 16), FLOAT32)
    steps, columns, depth = memory.copy(), memory.copy(), np.zeros((2, 3, 8, 2), FLOAT32)
    return {
        "every other": (steps[..., ::2], steps[..., 1::2]),
        "halves": (columns[..., :8], columns[..., 8:]),
        "real and imaginary": (depth[..., 0], depth[..., 1]),
        "reversed": (memory[..., 14::-2], memory[..., 1::2]),
    }


@pytest.mark.parametrize("name", interleavings())
def test_interleaved_arrays_that_share_no_byte(name: str) -> None:
    g, out = interleavings()[name]
    g[...] = np.arange(48).reshape(2, 3, 8)
    y = np.ones((2, 3, 8), FLOAT32)
    want = ag.softmax_backward(g.copy(), y, 0)
    assert (ag.softmax_backward(g, y, 0, out=out) == want).all()
    assert (g == np.arange(48).reshape(2, 3, 8)).all()


def test_interleaved_results_of_one_operator() -> None:
    made = arguments(BN, {})
    columns = np.zeros((3, 4), FLOAT32)
    made.update(zip(OUTPUTS[BN], columns.T, strict=True))
    made["grad_out"][...] = 1
    ag.batch_norm_reduce_backward(**made)
    assert columns[:, 0].tolist() == [8, 8, 8] and columns[:, 3].tolist() == [8, 8, 8]


def bytes_of(array: np.ndarray) -> list[int]:
    """The address of every byte of every element, once per element."""
    addresses = np.full(array.shape, array.__array_interface__["data"][0])
    for axis, stride in enumerate(array.strides):
        steps = np.arange(array.shape[axis]) * stride
        addresses = addresses + steps.reshape((-1,) + (1,) * (array.ndim - axis - 1))
    return [int(a) + byte for a in addresses.flat for byte in range(array.itemsize)]


def random_view(
    rng: np.random.Generator, memory: np.ndarray, shape: tuple[int, ...], dtype: np.dtype
) -> np.ndarray:
    """Any strides that stay inside, multiples of the element's size or not."""
    unit = int(rng.choice([1, 2, dtype.itemsize, dtype.itemsize]))
    strides = [int(rng.integers(-12, 13)) * unit for _ in shape]
    low, high = reach(shape, tuple(strides))
    start = int(rng.integers(-low, memory.size - high - dtype.itemsize))
    return np.ndarray(shape, dtype, memory, start, tuple(strides))


@pytest.mark.parametrize("shape", [(5,), (3, 4), (2, 3, 4), (2, 2, 3, 2), (1, 4, 1, 3)], ids=str)
@pytest.mark.parametrize("dtype", [FLOAT32, FLOAT16], ids=str)
def test_random_views_against_enumeration(shape: tuple[int, ...], dtype: np.dtype) -> None:
    rng = np.random.default_rng(0)
    memory = np.zeros(900, np.uint8)
    y = np.ones(shape, dtype)
    seen = {True: 0, False: 0}
    for _ in range(1500):
        g, out = (random_view(rng, memory, shape, dtype) for _ in range(2))
        written = bytes_of(out)
        legal = len(set(written)) == len(written) and not set(written) & set(bytes_of(g))
        seen[legal] += 1
        try:
            ag.softmax_backward(g, y, 0, out=out)
        except ag.ParamInvalidError as error:
            assert error.parameter == "out" and not legal, (g.strides, out.strides, error)
        else:
            assert legal, (g.strides, out.strides, bytes_of(g)[0] - written[0])
    assert min(seen.values()) > 50


@pytest.mark.parametrize("order", list(product([False, True], repeat=2)))
def test_interleaved_views_of_a_large_array(order: tuple[bool, bool]) -> None:
    """Disjoint, though every byte range of one meets those of the other."""
    memory = np.zeros((64, 33, 65, 7), FLOAT16)
    halves = memory[::2, :, :, ::2][..., :3], memory[1::2, :, :, 1::2]
    g, out = (
        half.transpose(2, 0, 3, 1) if flip else half
        for half, flip in zip(halves, order, strict=True)
    )
    if order[0] != order[1]:
        out = np.ascontiguousarray(out).reshape(g.shape)
    assert ag.softmax_backward(g, g, 1, out=out) is out
