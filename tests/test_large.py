"""Index arithmetic beyond 2^31 and 2^32, cheaply: by stride 0, or by huge strides over memory that
is reserved but hardly touched."""

from __future__ import annotations

import mmap
from collections.abc import Callable, Iterator
from typing import Any

import ascend_grad as ag
import numpy as np
import pytest
from arrays import BFLOAT16, DTYPES, FLOAT16, FLOAT32, random_values
from reference import Exact
from tolerance import assert_same_bits, assert_within

APART = 2**31 + 16
"""Elements between neighbours along axis 0."""
ROOM = 2**20
"""Bytes for the elements of one index of axis 0."""
NO_RESERVE = getattr(mmap, "MAP_NORESERVE", 0x4000)
Spread = Callable[[np.ndarray], np.ndarray]


@pytest.fixture
def spread() -> Iterator[Spread]:
    """Copies up to 8 float32 arrays of up to 4 rows into memory, rows APART elements apart."""
    try:
        memory = mmap.mmap(
            -1,
            4 * 4 * APART + 8 * ROOM,
            flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | NO_RESERVE,
        )
    except OSError as error:
        pytest.skip(f"no address space of this size: {error}")
    count = 0

    def copy(values: np.ndarray) -> np.ndarray:
        nonlocal count
        strides = (APART * values.itemsize, *values.strides[1:])
        array = np.ndarray(values.shape, values.dtype, memory, count * ROOM, strides)
        array[...] = values
        count += 1
        return array

    yield copy


def normal(*shape: int, dtype: np.dtype, seed: int = 0) -> np.ndarray:
    return random_values(shape, dtype, "normal", np.random.default_rng(seed))


def assert_same_results(got: Any, want: Any) -> None:
    got, want = (item if isinstance(item, tuple) else (item,) for item in (got, want))
    for ours, theirs in zip(got, want, strict=True):
        assert_same_bits(ours, theirs)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize(
    "turn",
    [
        lambda a: a,
        lambda a: a[::-1],
        lambda a: a.swapaxes(0, 1),
        lambda a: a.swapaxes(0, -1),
    ],
    ids=["rows", "reversed", "columns", "innermost"],
)
def test_huge_strides(spread: Spread, dtype: np.dtype, turn: Spread) -> None:
    plain = [turn(normal(4, 3, 5, dtype=dtype, seed=seed)) for seed in (1, 2)]
    g, x = (turn(spread(turn(array))) for array in plain)
    channels = [normal(g.shape[1], dtype=dtype, seed=seed) for seed in (3, 4)]
    if g.shape[1] <= 4:
        channels = [spread(array) for array in channels]
    out = turn(spread(np.zeros_like(turn(plain[0]))))
    for dim in range(3):
        assert_same_results(
            ag.softmax_backward(g, x, dim, out=out), ag.softmax_backward(*plain, dim)
        )
    for weight in (channels[0], channels[0][:1]):
        assert_same_results(
            ag.prelu_backward(g, x, weight, grad_input=out), ag.prelu_backward(*plain, weight)
        )
    assert_same_results(
        ag.batch_norm_reduce_backward(g, x, *channels),
        ag.batch_norm_reduce_backward(*plain, *channels),
    )


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("axis", range(4))
def test_huge_strides_of_pooling(spread: Spread, dtype: np.dtype, axis: int) -> None:
    def turn(array: np.ndarray) -> np.ndarray:
        return array.swapaxes(0, axis)

    g, x = normal(2, 3, 2, 2, dtype=dtype), np.zeros((2, 3, 4, 4), dtype)
    out = turn(spread(turn(x)))
    got = ag.avg_pool2d_backward(turn(spread(turn(g))), x, 3, 2, 1, grad_input=out)
    assert got is out
    assert_same_bits(got, ag.avg_pool2d_backward(g, x, 3, 2, 1))


@pytest.mark.parametrize("shape", [(2**31 + 4099, 1), (32769, 2, 1, 65537)], ids=str)
def test_more_terms_than_two_to_the_31(shape: tuple[int, ...]) -> None:
    """Every sum is over more than 2^31 equal terms."""

    def constant(value: float, dtype: np.dtype) -> np.ndarray:
        return np.broadcast_to(np.array(value, dtype), shape)

    channels, terms = shape[1], int(np.prod(shape)) // shape[1]
    mean, invstd = np.full(channels, 0.5, FLOAT32), np.full(channels, 2.0, FLOAT32)
    got = ag.batch_norm_reduce_backward(
        constant(0.25, FLOAT16), constant(1.25, FLOAT16), mean, invstd
    )
    for result, term, roundings in zip(got, (0.25, 0.1875, 0.375, 0.25), (0, 2, 3, 0), strict=True):
        total = np.full(channels, term * terms)
        assert_within(result, Exact(total, total, terms, roundings, total))


def test_empty_tensors_of_huge_extents() -> None:
    empty = np.empty((2**31 + 1, 3, 0, 2**20), FLOAT32)
    three = np.ones(3, FLOAT32)
    assert ag.softmax_backward(empty, empty, 0).shape == empty.shape
    got = ag.prelu_backward(empty, empty, three)
    assert got.grad_input.shape == empty.shape and got.grad_weight.tolist() == [0.0] * 3
    assert ag.batch_norm_reduce_backward(empty, empty, three, three).sum_dy.tolist() == [0.0] * 3


def test_huge_shapes_in_errors() -> None:
    huge = np.broadcast_to(np.float32(1), (2**31, 2**20, 3))
    small = np.ones((2, 3), FLOAT32)
    with pytest.raises(ag.ParamInvalidError, match=r"2147483648"):
        ag.softmax_backward(huge, small, 0)
    with pytest.raises(ag.ParamInvalidError, match=r"2147483648"):
        ag.batch_norm_reduce_backward(huge, small, small[0], small[0])
    with pytest.raises(ag.ParamInvalidError, match=r"2147483648"):
        ag.prelu_backward(huge, small, small[0])
    image = np.broadcast_to(BFLOAT16.type(1), (2**31, 2**15, 3))
    with pytest.raises(ag.ParamInvalidError, match=r"2147483648"):
        ag.avg_pool2d_backward(image[:, :3], np.ones((3, 3, 3), BFLOAT16), 1)


def test_results_too_large_for_memory() -> None:
    huge = np.broadcast_to(np.float32(1), (2**31, 2**20, 3))
    with pytest.raises(MemoryError):
        ag.softmax_backward(huge, huge, 0)


EXTENT = 32769
"""Of two axes; its square is beyond 2^30."""


def constant(shape: tuple[int, ...], value: float) -> np.ndarray:
    return np.broadcast_to(FLOAT16.type(value), shape)


@pytest.fixture(scope="module")
def huge_result() -> np.ndarray:
    """2 x 32769 x 32769 elements, 4.3 GB."""
    return np.empty((2, EXTENT, EXTENT), FLOAT16)


def assert_all(array: np.ndarray, value: float) -> None:
    bits = array.reshape(-1).view(np.uint16)
    want = FLOAT16.type(value).view(np.uint16)
    assert bits.min() == bits.max() == want
    bits[...] = 0xFFFF


@pytest.mark.large
@pytest.mark.parametrize("dim", [0, 1, 2])
def test_results_beyond_two_to_the_31_of_softmax(huge_result: np.ndarray, dim: int) -> None:
    shape, length = huge_result.shape, huge_result.shape[dim]
    ag.softmax_backward(constant(shape, 0.5), constant(shape, 2.0**-15), dim, out=huge_result)
    assert_all(huge_result, 2.0**-15 * (0.5 - length * 2.0**-16))


@pytest.mark.large
@pytest.mark.parametrize("shape", [(2, EXTENT, EXTENT), (1, 1, 2 * EXTENT**2), (2 * EXTENT**2,)])
def test_results_beyond_two_to_the_31_of_prelu(
    huge_result: np.ndarray, shape: tuple[int, ...]
) -> None:
    out = huge_result.reshape(shape)
    got = ag.prelu_backward(
        constant(shape, 2.0**-12), constant(shape, -(2.0**-12)), FLOAT16.type([0.5]), grad_input=out
    )
    assert_all(out, 2.0**-13)
    assert float(got.grad_weight[0]) == -128.0


@pytest.mark.large
@pytest.mark.parametrize("kernel", [1, 3])
@pytest.mark.parametrize("shape", [(2, EXTENT, EXTENT), (1, 2, EXTENT, EXTENT)])
def test_results_beyond_two_to_the_31_of_pooling(
    huge_result: np.ndarray, shape: tuple[int, ...], kernel: int
) -> None:
    out = huge_result.reshape(shape)
    gradient = (*shape[:-2], EXTENT // kernel, EXTENT // kernel)
    ag.avg_pool2d_backward(constant(gradient, 2.25), constant(shape, 0), kernel, grad_input=out)
    assert_all(out, 2.25 / kernel**2)
