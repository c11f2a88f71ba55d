"""Results too large for the caches, which are stored past them, equal those of small calls."""

from __future__ import annotations

import math

import ascend_grad as ag
import numpy as np
import pytest
from arrays import DTYPES, FLOAT32, random_values, zeros_behind_line
from tolerance import assert_same_bits

BYTES = 72 << 20
"""Of one operand: with two threads every operator streams on every processor, but for what
`streams_beside_arithmetic` in csrc/core/processor.h says; tests/cpp/digest.cpp streams that, too."""


def values(shape: tuple[int, ...], dtype: np.dtype, order: str, seed: int) -> np.ndarray:
    """Random values, the first item repeated; `order` names the axes from the outermost on."""
    item = random_values(shape[1:], dtype, "normal", np.random.default_rng(seed))
    axes = [order.index(letter) for letter in "nchw"[: len(shape)]]
    extents = [shape["nchw".index(letter)] for letter in order]
    array = np.empty(extents, dtype).transpose(axes)
    array[...] = item
    array[-1] += np.array(1, dtype)
    return array


def results(shape: tuple[int, ...], dtype: np.dtype, order: str, beyond: int) -> np.ndarray:
    """Memory for results, `beyond` elements after the start of a cache line."""
    extents = [shape["nchw".index(letter)] for letter in order]
    dense = zeros_behind_line(math.prod(shape), dtype, beyond).reshape(extents)
    return dense.transpose([order.index(letter) for letter in "nchw"[: len(shape)]])


def check_items(
    x: np.ndarray, weight: np.ndarray, dim: int, prelu: np.ndarray, softmax: np.ndarray
) -> None:
    """Results of x, of which all items but the last are equal."""
    for index in (0, -1):
        small = np.ascontiguousarray(x[[index]])
        assert_same_bits(prelu[[index]], ag.prelu_backward(small, small, weight).grad_input)
        assert_same_bits(softmax[[index]], ag.softmax_backward(small, small, dim))
    for array in (prelu, softmax):
        assert_same_bits(array[1:-1], np.broadcast_to(array[:1], array[1:-1].shape).copy())


def check_pooling(g: np.ndarray, x: np.ndarray, out: np.ndarray, *windows: int) -> None:
    """Writes and checks results of g, of which all items but the last are equal."""
    with ag.num_threads(2):
        ag.avg_pool2d_backward(g, x, *windows, grad_input=out)
    for index in (0, -1):
        small = np.ascontiguousarray(g[[index]])
        assert_same_bits(out[[index]], ag.avg_pool2d_backward(small, x[[index]], *windows))
    assert_same_bits(out[1:-1], np.broadcast_to(out[:1], out[1:-1].shape).copy())


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("beyond", [0, 3])
@pytest.mark.parametrize(
    ("inputs", "outputs"),
    [("nchw", "nchw"), ("nhwc", "nhwc"), ("nhwc", "nchw"), ("nchw", "nhwc")],
)
def test_four_axes(inputs: str, outputs: str, beyond: int, dtype: np.dtype) -> None:
    check_four_axes((36, 33, 38), inputs, outputs, beyond, dtype)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("beyond", [0, 3, 16])
def test_planes_of_whole_lines(beyond: int, dtype: np.dtype) -> None:
    """Transposed: stored as lines, which begin at once, never, or after half a line."""
    check_four_axes((36, 32, 80), "nhwc", "nchw", beyond, dtype)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("channels", [5, 32, 96, 260])
def test_channels_that_are_transposed(channels: int, dtype: np.dtype) -> None:
    """Many positions, some or none of which are walked together."""
    check_four_axes((channels, 17, 19), "nhwc", "nchw", 0, dtype)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("beyond", [0, 3])
@pytest.mark.parametrize(("item", "kernel"), [((35, 17, 17), 3), ((3, 24, 24), 5)])
def test_pooling_around_elements(
    item: tuple[int, int, int], kernel: int, beyond: int, dtype: np.dtype
) -> None:
    shape = (BYTES // (math.prod(item) * dtype.itemsize), *item)
    g = values(shape, dtype, "nchw", 1)
    got = results(shape, dtype, "nchw", beyond)
    check_pooling(g, g, got, kernel, 1, kernel // 2)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("beyond", [0, 3])
def test_pooling_of_windows_apart(beyond: int, dtype: np.dtype) -> None:
    shape = (BYTES // (31 * 85 * 14 * dtype.itemsize), 31, 85, 14)
    g = values((*shape[:2], 28, 4), dtype, "nchw", 1)
    got = results(shape, dtype, "nchw", beyond)
    check_pooling(g, values(shape, dtype, "nchw", 2), got, 3, 3, 0)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("beyond", [0, 3])
@pytest.mark.parametrize("channels", [24, 48])
def test_pooling_of_channels_last(channels: int, beyond: int, dtype: np.dtype) -> None:
    """With windows one apart, to planes: of few channels the gradient is made dense before."""
    shape = (BYTES // (channels * 20 * 24 * dtype.itemsize), channels, 20, 24)
    g = values(shape, dtype, "nhwc", 1)
    got = results(shape, dtype, "nchw", beyond)
    check_pooling(g, g, got, 3, 1, 1)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("last", ["g", "x", "g out", "x out"])
@pytest.mark.parametrize("item", [(70, 14, 14), (33, 30, 31), (512, 7, 3)], ids=str)
def test_mixed_layouts(item: tuple[int, int, int], last: str, dtype: np.dtype) -> None:
    """Channels are last in some operands only."""
    shape = (BYTES // (4 * math.prod(item) * dtype.itemsize), *item)
    x, g = (
        values(shape, dtype, "nhwc" if name in last.split() else "nchw", seed)
        for seed, name in enumerate("xg")
    )
    out = results(shape, dtype, "nhwc" if "out" in last else "nchw", 0)
    weight, mean = (
        random_values(item[:1], dtype, "normal", np.random.default_rng(k)) for k in (3, 4)
    )
    dense_g, dense_x = np.ascontiguousarray(g), np.ascontiguousarray(x)
    with ag.num_threads(2):
        prelu = ag.prelu_backward(g, x, weight, grad_input=out)
        sums = ag.batch_norm_reduce_backward(g, x, mean, mean)
    want = ag.prelu_backward(dense_g, dense_x, weight)
    assert_same_bits(np.ascontiguousarray(out), want.grad_input)
    assert_same_bits(prelu.grad_weight, want.grad_weight)
    want_sums = ag.batch_norm_reduce_backward(dense_g, dense_x, mean, mean)
    for got, exact in zip(sums, want_sums, strict=True):
        assert_same_bits(got, exact)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("inputs_gap", [0, 2])
@pytest.mark.parametrize("result_gap", [(0, 0), (0, 3), (1, 0)], ids=str)
@pytest.mark.parametrize(
    "item", [(70, 3, 3), (9, 5, 1), (3, 3, 5), (64, 19, 31), (5, 33, 17), (3, 40, 150)], ids=str
)
def test_pieces(
    item: tuple[int, int, int], inputs_gap: int, result_gap: tuple[int, int], dtype: np.dtype
) -> None:
    """PReLU's and batch normalisation's rows in pieces: of small planes, or with gaps behind each
    row of a plane, or a plane, which stay as they are."""
    channels, height, width = item
    count = BYTES // (3 * channels * height * (width + inputs_gap) * dtype.itemsize)
    wide = values((count, channels, height, width + inputs_gap), dtype, "nchw", 1)
    x, dense = wide[..., :width], np.ascontiguousarray(wide[..., :width])
    weight = random_values((channels,), dtype, "normal", np.random.default_rng(3))
    rows, columns = height + result_gap[0], width + result_gap[1]
    memory = results((count, channels, rows, columns), dtype, "nchw", 3)
    memory[...] = 7
    out = memory[..., :height, :width]
    statistics = np.ones((3, channels), np.float32)
    with ag.num_threads(2):
        got = ag.prelu_backward(x, x, weight, grad_input=out)
        sums = ag.batch_norm_reduce_backward(x, x, *statistics)
    want = ag.prelu_backward(dense, dense, weight)
    assert_same_bits(got.grad_weight, want.grad_weight)
    for index in (0, -1):
        small = np.ascontiguousarray(x[[index]])
        assert_same_bits(out[[index]].copy(), ag.prelu_backward(small, small, weight).grad_input)
    assert_same_bits(out[1:-1], np.broadcast_to(out[:1], out[1:-1].shape).copy())
    assert (memory[..., width:] == 7).all() and (memory[..., height:, :] == 7).all()
    for one, other in zip(
        sums, ag.batch_norm_reduce_backward(dense, dense, *statistics), strict=True
    ):
        assert_same_bits(one, other)


@pytest.mark.parametrize("beyond", [0, 16])
def test_channels_of_whole_lines(beyond: int) -> None:
    """Whose last vector is one line."""
    check_four_axes((48, 33, 38), "nhwc", "nhwc", beyond, FLOAT32)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("beyond", [0, 3, 8])
@pytest.mark.parametrize("gap", [0, 7, 32])
@pytest.mark.parametrize("channels", [32, 64, 72, 96, 128, 512, 1024])
def test_lines_in_parts(channels: int, gap: int, beyond: int, dtype: np.dtype) -> None:
    """PReLU's runs of channels that end inside a cache line, with whose other part the next one
    begins, or a gap of elements that stay as they are."""
    shape = (BYTES // (3 * 90 * (channels + gap) * dtype.itemsize), channels, 10, 9)
    x = values(shape, dtype, "nhwc", 1)
    wide = results((shape[0], channels + gap, 10, 9), dtype, "nhwc", beyond)
    wide[...] = 7
    weight = random_values((channels,), dtype, "normal", np.random.default_rng(3))
    out = wide[:, :channels]
    with ag.num_threads(2):
        got = ag.prelu_backward(x, x, weight, grad_input=out)
    want = ag.prelu_backward(x[:1].copy(), x[:1].copy(), weight)
    assert_same_bits(out[:1].copy(), want.grad_input)
    assert_same_bits(out[1:-1], np.broadcast_to(out[:1], out[1:-1].shape).copy())
    assert (wide[:, channels:] == 7).all()
    dense = np.ascontiguousarray(x)
    assert_same_bits(got.grad_weight, ag.prelu_backward(dense, dense, weight).grad_weight)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("beyond", [0, 8])
def test_items_with_gaps_inside_lines(beyond: int, dtype: np.dtype) -> None:
    """PReLU's batch items that end in the line in which the next one begins, behind a gap."""
    channels, positions = 34, 31
    size = channels * positions
    pitch = -(-size // 32) * 32
    shape = (BYTES // (3 * pitch * dtype.itemsize), channels, positions)
    x = values(shape, dtype, "nhc", 1)
    weight = random_values((channels,), dtype, "normal", np.random.default_rng(3))
    memory = zeros_behind_line(shape[0] * pitch, dtype, beyond).reshape(-1, pitch)
    memory[...] = 7
    out = memory[:, :size].reshape(-1, positions, channels).transpose(0, 2, 1)
    with ag.num_threads(2):
        ag.prelu_backward(x, x, weight, grad_input=out)
    want = ag.prelu_backward(x[:1].copy(), x[:1].copy(), weight).grad_input
    assert_same_bits(out[:1].copy(), want)
    assert_same_bits(out[1:-1], np.broadcast_to(out[:1], out[1:-1].shape).copy())
    assert (memory[:, size:] == 7).all()


def check_four_axes(
    item: tuple[int, int, int], inputs: str, outputs: str, beyond: int, dtype: np.dtype
) -> None:
    shape = (BYTES // (math.prod(item) * dtype.itemsize), *item)
    x = values(shape, dtype, inputs, 1)
    g = values((shape[0], item[0], (item[1] + 1) // 2, (item[2] + 1) // 2), dtype, inputs, 2)
    weight = random_values(item[:1], dtype, "normal", np.random.default_rng(3))
    pool, prelu, softmax = (results(shape, dtype, outputs, beyond) for _ in range(3))
    with ag.num_threads(2):
        ag.avg_pool2d_backward(g, x, 3, 2, 1, grad_input=pool)
        ag.prelu_backward(x, x, weight, grad_input=prelu)
        ag.softmax_backward(x, x, 1, out=softmax)
    for index in (0, -1):
        one = slice(index, index + 1 or None)
        small_g, small_x = (np.ascontiguousarray(array[one]) for array in (g, x))
        want = ag.avg_pool2d_backward(small_g, small_x, 3, 2, 1)
        assert_same_bits(pool[one], want)
        assert_same_bits(prelu[one], ag.prelu_backward(small_x, small_x, weight).grad_input)
        assert_same_bits(softmax[one], ag.softmax_backward(small_x, small_x, 1))
    for array in (pool, prelu, softmax):
        assert_same_bits(array[1:-1], np.broadcast_to(array[:1], array[1:-1].shape).copy())


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("beyond", [0, 3])
@pytest.mark.parametrize(
    ("item", "kernel", "stride"),
    [
        ((64, 8, 8), 3, 2),
        ((70, 7, 7), 2, 1),
        ((16, 60, 61), 3, 3),
        ((16, 33, 64), 4, 3),
        ((64, 7, 7), 7, 7),
    ],
    ids=str,
)
def test_pooling(
    item: tuple[int, int, int], kernel: int, stride: int, beyond: int, dtype: np.dtype
) -> None:
    """Of planes that are transposed, of columns that are looked up, of constant planes."""
    shape = (BYTES // (math.prod(item) * dtype.itemsize), *item)
    x = np.broadcast_to(np.zeros((), dtype), shape)
    windows = ((extent - kernel) // stride + 1 for extent in item[1:])
    g = values((*shape[:2], *windows), dtype, "nchw", 2)
    pool = results(shape, dtype, "nchw", beyond)
    check_pooling(g, x, pool, kernel, stride)


@pytest.mark.parametrize("beyond", [0, 3])
@pytest.mark.parametrize(("inputs", "outputs"), [("nc", "nc"), ("cn", "cn"), ("cn", "nc")])
@pytest.mark.parametrize("channels", [401, 2601])
@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_matrices(inputs: str, outputs: str, beyond: int, channels: int, dtype: np.dtype) -> None:
    shape = (4000 * 2601 // channels, channels)
    x = values(shape, dtype, inputs, 1)
    weight = random_values(shape[1:], dtype, "normal", np.random.default_rng(3))
    prelu, softmax = (results(shape, dtype, outputs, beyond) for _ in range(2))
    ag.prelu_backward(x, x, weight, grad_input=prelu)
    ag.softmax_backward(x, x, 1, out=softmax)
    check_items(x, weight, 1, prelu, softmax)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("beyond", [0, 3])
@pytest.mark.parametrize("length", [7, 9, 20, 49, 64, 127, 130, 1024, 2064])
def test_rows(length: int, beyond: int, dtype: np.dtype) -> None:
    """Of softmax, and of PReLU's channels, several of which are one store."""
    channels = 70
    shape = (-(-BYTES // (6 * channels * length * dtype.itemsize)) * 2, channels, length)
    x = values(shape, dtype, "nch", 1)
    weight = random_values((channels,), dtype, "normal", np.random.default_rng(3))
    prelu, softmax = (results(shape, dtype, "nch", beyond) for _ in range(2))
    ag.prelu_backward(x, x, weight, grad_input=prelu)
    ag.softmax_backward(x, x, -1, out=softmax)
    check_items(x, weight, -1, prelu, softmax)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("beyond", [0, 3])
@pytest.mark.parametrize(
    "plane", [(5, 2), (16, 3), (3, 16), (7, 11), (30, 17), (64, 4), (64, 64), (300, 41)]
)
def test_planes_of_softmax(plane: tuple[int, int], beyond: int, dtype: np.dtype) -> None:
    """In one loop and, of every other matrix, in two."""
    count = BYTES // (40 * math.prod(plane) * dtype.itemsize)
    x = values((count, 80, *plane), dtype, "nchw", 1)
    out = results((count, 80, *plane), dtype, "nchw", beyond)
    for part in (slice(None), slice(0, 40)):
        out[...] = 0
        ag.softmax_backward(x[:, part], x[:, part], 2, out=out[:, part])
        for index in (0, -1):
            small = np.ascontiguousarray(x[[index], part])
            assert_same_bits(out[[index], part], ag.softmax_backward(small, small, 2))
        between = out[1:-1, part]
        assert_same_bits(between, np.broadcast_to(out[:1, part], between.shape).copy())


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("gap", [1, 4, 36])
def test_rows_that_begin_at_any_byte(gap: int, dtype: np.dtype) -> None:
    """Softmax across rows that begin anywhere in a cache line."""
    shape = (1400, 4096 // dtype.itemsize * 2)
    x = random_values(shape, dtype, "normal", np.random.default_rng(1))
    pitch = shape[1] * dtype.itemsize + gap
    memory = np.empty(shape[0] * pitch + 64, np.uint8)
    out = np.ndarray(shape, dtype, memory, -memory.ctypes.data % 64, (pitch, dtype.itemsize))
    ag.softmax_backward(x, x, 0, out=out)
    assert_same_bits(out.copy(), ag.softmax_backward(x, x, 0))


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("beyond", [0, 3])
@pytest.mark.parametrize(
    ("item", "inputs", "outputs"),
    [
        ((50, 9, 41), "nhwc", "nchw"),
        ((50, 9, 41), "nchw", "nhwc"),
        ((203, 9, 41), "nchw", "nhwc"),
        ((64, 56, 56), "whnc", "wchn"),  # batch items are joined with rows of the image
        ((30, 9, 41), "hwnc", "wchn"),
        ((2601, 3, 4), "nchw", "nhwc"),
        ((2601, 3, 4), "nhwc", "nchw"),
        ((5000, 3, 4), "nchw", "nhwc"),
    ],
)
def test_softmax_transposed(
    item: tuple[int, int, int], inputs: str, outputs: str, beyond: int, dtype: np.dtype
) -> None:
    """No two items are equal: lines are put together of neighbouring ones. Some results have gaps
    between columns, or the last axis turned round; what lies between and around stays as it was."""
    shape = (BYTES // (math.prod(item) * dtype.itemsize), *item)
    x = random_values(shape, dtype, "normal", np.random.default_rng(1))
    axes = [inputs.index(letter) for letter in "nchw"]
    other = np.ascontiguousarray(x.transpose(["nchw".index(letter) for letter in inputs]))
    g = y = other.transpose(axes)
    want = ag.softmax_backward(x, x, 1)
    extents = [shape["nchw".index(letter)] for letter in outputs]
    for gap, turns, threads in ((0, False, 2), (5, False, 1), (32, True, 3)):
        memory = zeros_behind_line(math.prod(extents[:-1]) * (extents[-1] + gap) + 99, dtype, 0)
        memory[:] = 7
        placed = memory[beyond : memory.size - 99 + beyond].reshape(*extents[:-1], -1)
        placed = placed[..., : extents[-1]]
        out = placed.transpose([outputs.index(letter) for letter in "nchw"])
        out = out[..., ::-1] if turns else out
        with ag.num_threads(threads):
            ag.softmax_backward(g, y, 1, out=out)
        assert_same_bits(np.ascontiguousarray(out), want, f"{gap} {turns}")
        out[...] = 7
        assert (memory == 7).all(), "memory outside the result was written"


def every_third(array: np.ndarray) -> np.ndarray:
    """Equal values, each third element of memory."""
    memory = np.zeros((*array.shape, 3), array.dtype)
    memory[..., 0] = array
    return memory[..., 0]


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("beyond", [0, 3])
@pytest.mark.parametrize("item", [(2601,), (64, 41), (300, 7, 7), (3, 1500)], ids=str)
def test_inputs_in_tiles(item: tuple[int, ...], beyond: int, dtype: np.dtype) -> None:
    """Whose results are stored past the caches."""
    count = BYTES // (2 * math.prod(item) * dtype.itemsize)
    order = "nchw"[: len(item) + 1]
    dense = values((count, *item), dtype, order, 1)
    x = every_third(dense)
    weight = random_values(item[:1], dtype, "normal", np.random.default_rng(3))
    prelu, softmax = (results(x.shape, dtype, order, beyond) for _ in range(2))
    with ag.num_threads(2):
        ag.prelu_backward(x, x, weight, grad_input=prelu)
        ag.softmax_backward(x, x, 1, out=softmax)
        sums = ag.batch_norm_reduce_backward(x, x, *np.ones((3, item[0]), np.float32))
    want = ag.batch_norm_reduce_backward(dense, dense, *np.ones((3, item[0]), np.float32))
    for got, wanted in zip(sums, want, strict=True):
        assert_same_bits(got, wanted)
    check_items(dense, weight, 1, prelu, softmax)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("beyond", [0, 3])
@pytest.mark.parametrize(("extent", "kernel", "stride"), [(8, 3, 2), (7, 2, 1), (40, 3, 1)])
def test_pooling_of_every_third(
    extent: int, kernel: int, stride: int, beyond: int, dtype: np.dtype
) -> None:
    shape = (BYTES // (64 * extent**2 * dtype.itemsize), 64, extent, extent)
    pooled = (extent - kernel) // stride + 1
    dense = values((*shape[:2], pooled, pooled), dtype, "nchw", 2)
    x = np.broadcast_to(np.zeros((), dtype), shape)
    pool = results(shape, dtype, "nchw", beyond)
    with ag.num_threads(2):
        ag.avg_pool2d_backward(every_third(dense), x, kernel, stride, grad_input=pool)
    assert_same_bits(pool.copy(), ag.avg_pool2d_backward(dense, x, kernel, stride))
