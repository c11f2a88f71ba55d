from __future__ import annotations

from itertools import product
from typing import Any

import ascend_grad as ag
import numpy as np
import pytest
import strategies
from arrays import DTYPES, FLOAT16, FLOAT32, LAYOUTS, place, place_values, random_values
from cases import Case, cases, check_seeds
from hypothesis import given
from reference.avg_pool2d_backward import output_extent, pair, with_cube_math_type
from tolerance import assert_same_bits, assert_within


def check(case: Case, **where: Any) -> None:
    unused = ("grad_output", "input", "ceil_mode", "grad_input")
    rest = {name: value for name, value in case.arguments.items() if name not in unused}
    got = ag.avg_pool2d_backward(**case.arguments, **where)
    grad_output, input = case.inputs["grad_output"], case.inputs["input"]
    exact, via = with_cube_math_type(grad_output, input.shape, **rest)
    assert got.dtype == input.dtype
    assert "grad_input" in case.outputs or got.flags.c_contiguous
    assert_within(got, exact, "grad_input", via)
    case.check_memory({"grad_input": got})


def test_random_configurations(seeds: range) -> None:
    check_seeds(check, strategies.avg_pool2d_backward, seeds)


@given(cases(strategies.avg_pool2d_backward))
def test_any_configuration(case: Case) -> None:
    check(case)


def operands(
    shape: tuple[int, ...],
    kernel: Any,
    stride: Any = (),
    padding: Any = 0,
    ceil_mode: bool = False,
    dtype: np.dtype = FLOAT32,
) -> tuple[np.ndarray, np.ndarray]:
    steps = pair(stride) if np.size(stride) else pair(kernel)
    extents = map(output_extent, shape[-2:], pair(kernel), steps, pair(padding), [ceil_mode] * 2)
    rng = np.random.default_rng(0)
    grad_output = random_values((*shape[:-2], *extents), dtype, "normal", rng)
    return grad_output, random_values(shape, dtype, "normal", rng)


def assert_correct(
    shape: tuple[int, ...],
    kernel: Any,
    stride: Any = (),
    padding: Any = 0,
    ceil_mode: bool = False,
    dtype: np.dtype = FLOAT32,
    **rest: Any,
) -> np.ndarray:
    g, x = operands(shape, kernel, stride, padding, ceil_mode, dtype)
    got = ag.avg_pool2d_backward(g, x, kernel, stride, padding, ceil_mode, **rest)
    assert_within(got, with_cube_math_type(g, shape, kernel, stride, padding, **rest)[0])
    return got


@pytest.mark.parametrize("count_include_pad", [True, False])
@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_every_small_geometry_of_one_axis(count_include_pad: bool, dtype: np.dtype) -> None:
    for size, kernel, stride, ceil in product(range(1, 9), range(1, 7), range(1, 8), (0, 1)):
        for padding in range(kernel // 2 + 1):
            if output_extent(size, kernel, stride, padding, bool(ceil)) > 0:
                assert_correct(
                    (2, size, 3),
                    (kernel, 2),
                    (stride, 1),
                    (padding, 1),
                    bool(ceil),
                    dtype,
                    count_include_pad=count_include_pad,
                )


@pytest.mark.parametrize(
    "size, kernel, stride, padding, extent",
    [
        (5, 2, 2, 0, 3),  # the last window hangs over the end
        (4, 2, 2, 1, 3),
        (3, 2, 2, 1, 2),  # a third window would lie in the padding only
        (6, 2, 3, 1, 3),
        (5, 2, 3, 1, 2),
        (2, 3, 2, 0, 1),  # one window, larger than the input
        (6, 2, 7, 0, 1),  # a second window would start past the end
    ],
)
def test_ceil_mode_extents(size: int, kernel: int, stride: int, padding: int, extent: int) -> None:
    assert output_extent(size, kernel, stride, padding, True) == extent
    for include in (True, False):
        assert_correct((1, 2, size, size), kernel, stride, padding, True, count_include_pad=include)


def test_elements_under_no_window_get_zero() -> None:
    got = assert_correct((2, 8, 9), 2, 5)
    covered = np.zeros((8, 9), bool)
    for i, j in product((0, 5), repeat=2):
        covered[i : i + 2, j : j + 2] = True
    assert (got[:, ~covered] == 0).all() and (got[:, covered] != 0).all()


@pytest.mark.parametrize("divisor", [-255, -254, -3, -1, 1, 2, 3, 254, 255])
@pytest.mark.parametrize("count_include_pad", [True, False])
def test_divisor_override(divisor: int, count_include_pad: bool) -> None:
    assert_correct(
        (2, 3, 7, 6), (3, 4), 2, 1, divisor_override=divisor, count_include_pad=count_include_pad
    )


@pytest.mark.parametrize("kernel", [2, (2,), [2], (2, 2), [2, 2], np.int32(2)])
@pytest.mark.parametrize("stride", [2, (2,), [2, 2], (), [], None, "omitted"])
@pytest.mark.parametrize("padding", [1, (1,), [1, 1]])
def test_forms_of_integer_arguments(kernel: Any, stride: Any, padding: Any) -> None:
    g, x = operands((1, 2, 6, 6), 2, 2, 1)
    want = ag.avg_pool2d_backward(g, x, (2, 2), (2, 2), (1, 1))
    given_stride = {} if isinstance(stride, str) else {"stride": stride}
    got = ag.avg_pool2d_backward(g, x, kernel, padding=padding, **given_stride)
    assert_same_bits(got, want)


def test_integer_arrays_are_sequences() -> None:
    g, x = operands((1, 2, 6, 6), (2, 3))
    got = ag.avg_pool2d_backward(g, x, np.array([2, 3]))
    assert_same_bits(got, ag.avg_pool2d_backward(g, x, (2, 3)))


def test_length_one_stride_and_kernel_are_independent() -> None:
    g, x = operands((1, 2, 9, 8), (3, 2), 2, (1, 0))
    want = ag.avg_pool2d_backward(g, x, (3, 2), (2, 2), (1, 0))
    assert_same_bits(ag.avg_pool2d_backward(g, x, (3, 2), (2,), (1, 0)), want)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_three_dimensions_are_one_image(dtype: np.dtype) -> None:
    g, x = operands((5, 9, 8), 3, 2, 1, dtype=dtype)
    got = ag.avg_pool2d_backward(g, x, 3, 2, 1)
    assert_same_bits(got[None], ag.avg_pool2d_backward(g[None], x[None], 3, 2, 1))


def test_data_of_input_are_never_read() -> None:
    g, x = operands((2, 3, 8, 8), 2)
    nan = np.broadcast_to(np.array(np.nan, FLOAT32), x.shape)
    assert_same_bits(ag.avg_pool2d_backward(g, nan, 2), ag.avg_pool2d_backward(g, x, 2))


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("kernel, stride, padding", [(2, 2, 0), (3, 2, 1), (7, 7, 0), (5, 1, 2)])
def test_layouts(dtype: np.dtype, layout: str, kernel: int, stride: int, padding: int) -> None:
    g, x = operands((2, 17, 14, 7), kernel, stride, padding, dtype=dtype)
    rng = np.random.default_rng(1)
    out = place(x.shape, dtype, layout, rng)
    source = place_values(g, layout, rng)
    got = ag.avg_pool2d_backward(source.array, x, kernel, stride, padding, grad_input=out.array)
    assert got is out.array
    assert_same_bits(got, ag.avg_pool2d_backward(g, x, kernel, stride, padding))
    out.assert_only_elements_written()


@pytest.mark.parametrize("layout", ["contiguous", "step2", "step3"])
@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("divisor", [0, -3])
@pytest.mark.parametrize(
    "shape, kernel",
    [
        ((3, 5, 28, 28), 2),
        ((2, 700, 2, 2), 2),
        ((2, 3, 12, 1030), (3, 2)),
        ((1, 2, 1030, 34), (5, 2)),
        ((2, 9, 7, 66), (1, 2)),
        ((3, 5, 28, 28), 4),
        ((2, 3, 12, 1030), (3, 5)),
        ((2, 9, 7, 66), (1, 3)),
        ((2, 3, 36, 72), (36, 24)),
    ],
    ids=str,
)
def test_windows_side_by_side(
    shape: tuple[int, ...], kernel: Any, divisor: int, dtype: np.dtype, layout: str
) -> None:
    g, x = operands(shape, kernel, dtype=dtype)
    place_of_g = place_values(g, layout, np.random.default_rng(2))
    out = place(shape, dtype, "sliced", np.random.default_rng(3))
    got = ag.avg_pool2d_backward(place_of_g.array, x, kernel, divisor_override=divisor)
    assert_within(got, with_cube_math_type(g, shape, kernel, divisor_override=divisor)[0])
    ag.avg_pool2d_backward(g, x, kernel, divisor_override=divisor, grad_input=out.array)
    assert_same_bits(out.array, got)
    out.assert_only_elements_written()


@pytest.mark.parametrize("kernel", [2, 3])
@pytest.mark.parametrize("layout", ["contiguous", "step2"])
@pytest.mark.parametrize("dtype", [FLOAT32, FLOAT16], ids=str)
def test_windows_side_by_side_from_memory(dtype: np.dtype, layout: str, kernel: int) -> None:
    shape = (17 if dtype == FLOAT32 else 34, 128, 108 + kernel // 3, 112)
    g, x = operands(shape, kernel, dtype=dtype)
    source = place_values(g, layout, np.random.default_rng(5))
    got = ag.avg_pool2d_backward(source.array, x, kernel)
    expected = (0 + g.astype(FLOAT32) / FLOAT32.type(kernel * kernel)).astype(dtype)
    height, width = (extent - extent % kernel for extent in shape[2:])
    for row, column in product(range(kernel), repeat=2):
        elements = got[..., row:height:kernel, column:width:kernel]
        assert_same_bits(np.ascontiguousarray(elements), expected)
    assert not got[..., height:, :].any() and not got[..., width:].any()


# Partly filled, whole and several vectors of windows, with and without columns and rows behind the
# last one; tiles that cut rows; more columns to a window than are written at once.
@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize(
    "kernel", [3, 4, 5, 7, 16, (1, 3), (3, 2), (2, 11), (5, 32), (2, 33)], ids=str
)
@pytest.mark.parametrize("windows", [4, 16, 31, 32, 33, 64, 65, 180])
def test_what_lies_behind_windows_side_by_side(windows: int, kernel: Any, dtype: np.dtype) -> None:
    height, width = pair(kernel)
    rng = np.random.default_rng(9)
    for behind, ceil, divisor in ((0, False, -3), (1, False, 0), (1, True, 8)):
        shape = (2, 3, 3 * height + behind, windows * width + behind)
        g, x = operands(shape, kernel, ceil_mode=ceil, dtype=dtype)
        g[0, :, 0, 0] = -0.0, np.inf, np.nan
        quotients = (g.astype(FLOAT32) / FLOAT32.type(divisor or height * width)).astype(dtype)
        repeated = np.repeat(np.repeat(quotients + dtype.type(0), height, 2), width, 3)
        expected = np.zeros(shape, dtype)
        rows, columns = (min(n) for n in zip(repeated.shape[2:], shape[2:], strict=True))
        expected[..., :rows, :columns] = repeated[..., :rows, :columns]
        for of_source in ("contiguous", "step2", "sliced", "channels_last"):
            source = place_values(g, of_source, rng)
            out = place(shape, dtype, "contiguous" if of_source != "step2" else "sliced", rng)
            ag.avg_pool2d_backward(
                source.array, x, kernel, (), 0, ceil, True, divisor, grad_input=out.array
            )
            assert_same_bits(out.array, expected, of_source)
            out.assert_only_elements_written()


@pytest.mark.parametrize("size", [13, 16, 17, 31, 64, 65, 1025])
def test_widths(size: int) -> None:
    geometries = ((2, 2, 0), (3, 1, 1), (3, 2, 1), (2, 3, 0), (3, 3, 1), (4, 3, 1), (8, 3, 3))
    for kernel, stride, padding in geometries:
        assert_correct((2, 3, 7, size), kernel, stride, padding)
        assert_correct((2, 3, size, 4), kernel, stride, padding, count_include_pad=False)


@pytest.mark.parametrize(
    "kernel, stride, padding",
    [
        (2, 2, 0),
        (3, 1, 1),
        (3, 2, 1),
        (2, 3, 0),
        (7, 7, 3),
        (18, 1, 9),
        ((40, 1), (1, 1), (20, 0)),
    ],
)
@pytest.mark.parametrize(
    "shape",
    [
        (2, 3, 40, 513),
        (1, 2, 1030, 40),
        (1, 1030, 41, 40),
        (2, 7, 65, 64),
        (3, 17, 48, 96),
        (2, 600, 40, 41),
    ],
    ids=str,
)
def test_extents_beyond_work_blocks(
    shape: tuple[int, ...], kernel: Any, stride: Any, padding: Any
) -> None:
    g, x = operands(shape, kernel, stride, padding)
    got = ag.avg_pool2d_backward(g, x, kernel, stride, padding, False, False)
    some = slice(None, None, 37)
    exact, _ = with_cube_math_type(g[:, some], x[:, some].shape, kernel, stride, padding, False)
    assert_within(got[:, some], exact)
    channels_last = np.empty((shape[0], *shape[2:], shape[1]), FLOAT32).transpose(0, 3, 1, 2)
    turned = np.ascontiguousarray(g.transpose(0, 2, 3, 1)).transpose(0, 3, 1, 2)
    ag.avg_pool2d_backward(
        turned, x, kernel, stride, padding, False, False, grad_input=channels_last
    )
    assert_same_bits(channels_last, got)


@pytest.mark.parametrize("shape", [(0, 3, 8, 8), (2, 0, 8, 8), (0, 8, 8)])
@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_empty_batch_or_channels(shape: tuple[int, ...], dtype: np.dtype) -> None:
    assert assert_correct(shape, 2, dtype=dtype).shape == shape


@pytest.mark.parametrize(
    "kernel, stride, padding",
    [
        (2**31 + 2, 2**33, 2**30),
        ((2**17, 2**17), 2**40, (2**16, 2**16)),
        (2**20, 2**62, 2**19),
    ],
)
def test_windows_far_larger_than_the_input(kernel: Any, stride: int, padding: Any) -> None:
    for include in (True, False):
        assert_correct((1, 2, 4, 5), kernel, stride, padding, count_include_pad=include)


def test_long_sum_of_equal_terms_does_not_drift() -> None:
    """Every element of the middle lies under 10 201 windows."""
    g, x = np.full((1, 101, 101), 0.1, FLOAT32), np.zeros((1, 201, 201), FLOAT32)
    got = ag.avg_pool2d_backward(g, x, 101, 1)
    assert_within(got, with_cube_math_type(g, x.shape, 101, 1)[0])


@pytest.mark.parametrize("size", [1, 7, 10, 12])
@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_global_pooling(size: int, dtype: np.dtype) -> None:
    got = assert_correct((2, 5, size, size), size, dtype=dtype)
    assert (got == got[..., :1, :1]).all()


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("layout", ["contiguous", "sliced"])
@pytest.mark.parametrize("shape", [(1, 2, 700, 600), (2, 1030, 3, 11), (1, 130, 1, 4)], ids=str)
def test_global_pooling_of_tiles(shape: tuple[int, ...], layout: str, dtype: np.dtype) -> None:
    g, x = operands(shape, shape[2:], dtype=dtype)
    out = place(shape, dtype, layout, np.random.default_rng(4))
    ag.avg_pool2d_backward(g, x, shape[2:], grad_input=out.array)
    assert_within(out.array, with_cube_math_type(g, shape, shape[2:])[0])
    assert (out.array == out.array[..., :1, :1]).all()
    out.assert_only_elements_written()


# Planes of short rows are transposed, up to 256 at a time.
@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("layout", ["contiguous", "sliced"])
@pytest.mark.parametrize(
    "kernel, stride, padding, ceil",
    [
        (3, 1, 1, False),
        (3, 2, 1, True),
        (2, 1, 0, False),
        (2, 2, 0, True),
        (5, 4, 2, True),
        (2, 3, 0, False),
    ],
)
@pytest.mark.parametrize(
    "shape",
    [
        (3, 100, 7, 7),
        (1, 31, 9, 8),
        (1, 65, 20, 10),
        (1, 600, 3, 3),
        (1, 33, 32, 16),
        (1, 257, 8, 8),
    ],
    ids=str,
)
def test_planes_of_short_rows(
    shape: tuple[int, ...],
    kernel: int,
    stride: int,
    padding: int,
    ceil: bool,
    layout: str,
    dtype: np.dtype,
) -> None:
    g, x = operands(shape, kernel, stride, padding, ceil, dtype)
    # Slices of planes, which stay contiguous themselves.
    source = np.repeat(g, 2, axis=1)[:, ::2] if layout == "sliced" else g
    out = place(shape, dtype, layout, np.random.default_rng(6))
    ag.avg_pool2d_backward(source, x, kernel, stride, padding, ceil, False, grad_input=out.array)
    exact, _ = with_cube_math_type(g, shape, kernel, stride, padding, False)
    assert_within(out.array, exact)
    out.assert_only_elements_written()


# Windows that do not overlap, on planes of short rows: lines of results are picked from quotients,
# with gaps between windows, before the first and behind the last one.
@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("layout", ["contiguous", "misaligned"])
@pytest.mark.parametrize("divisor", [0, -3])
@pytest.mark.parametrize(
    "kernel, stride, padding",
    [
        (2, 2, 0),
        (3, 3, 1),
        (3, 4, 0),
        (1, 2, 0),
        ((5, 3), (6, 5), (2, 1)),
        ((1, 4), (1, 4), (0, 2)),
        ((8, 1), (8, 3), (3, 0)),
    ],
    ids=str,
)
@pytest.mark.parametrize(
    "shape",
    [(1, 32, 8, 3), (1, 32, 9, 4), (2, 40, 13, 14), (1, 65, 29, 7), (5, 13, 170, 24)],
    ids=str,
)
def test_planes_under_windows_apart(
    shape: tuple[int, ...],
    kernel: Any,
    stride: Any,
    padding: Any,
    divisor: int,
    layout: str,
    dtype: np.dtype,
) -> None:
    g, x = operands(shape, kernel, stride, padding, dtype=dtype)
    rng = np.random.default_rng(9)
    source, out = place_values(g, layout, rng), place(shape, dtype, layout, rng)
    last = place(shape, dtype, "channels_last", rng)
    rest = (kernel, stride, padding, False, True, divisor)
    with ag.num_threads(2):
        ag.avg_pool2d_backward(source.array, x, *rest, grad_input=out.array)
        ag.avg_pool2d_backward(g, x, *rest, grad_input=last.array)
    exact, _ = with_cube_math_type(g, shape, kernel, stride, padding, divisor_override=divisor)
    assert_within(out.array, exact)
    assert_same_bits(out.array, last.array, layout)
    out.assert_only_elements_written()


# Few channels that are last are pixels of rows; planes of short rows are gathered, whole or in
# parts, whatever their strides; many windows one row apart are kept or, of too many, added again.
@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize(
    "kernel, stride, padding, ceil",
    [
        (3, 1, 1, False),
        (3, 2, 1, True),
        (2, 2, 0, True),
        (1, 3, 0, False),
        (5, 4, 2, True),
        ((2, 4), (3, 1), (0, 2), False),
        ((19, 2), (1, 2), (9, 1), False),
        ((3, 38), (2, 1), (1, 19), False),
        ((70, 3), (1, 3), (35, 0), True),
    ],
    ids=str,
)
@pytest.mark.parametrize(
    "shape",
    [
        (70, 3, 5, 9),
        (2, 3, 40, 50),
        (1, 2, 9, 530),
        (1, 15, 30, 70),
        (2, 31, 9, 40),
        (5, 16, 6, 4),
        (9, 4, 300, 3),
        (40, 8, 1, 1),
        (300, 1, 2, 2),
    ],
    ids=str,
)
def test_few_channels_and_short_rows(
    shape: tuple[int, ...], kernel: Any, stride: Any, padding: Any, ceil: bool, dtype: np.dtype
) -> None:
    geometry = zip(shape[2:], pair(kernel), pair(stride), pair(padding), strict=True)
    if any(output_extent(*axis, ceil) < 1 for axis in geometry):
        return
    g, x = operands(shape, kernel, stride, padding, ceil, dtype)
    rest = (kernel, stride, padding, ceil, False)
    got = ag.avg_pool2d_backward(g, x, *rest)
    assert_within(got, with_cube_math_type(g, shape, kernel, stride, padding, False)[0])
    rng = np.random.default_rng(8)
    for layout in LAYOUTS:
        source = place_values(g, layout, rng)
        out = place(shape, dtype, layout, rng)
        ag.avg_pool2d_backward(source.array, x, *rest, grad_input=out.array)
        assert_same_bits(out.array, got, layout)
        out.assert_only_elements_written()


# A later tile of columns may be under no window, of any layout of grad_output.
@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("layout", ["contiguous", "step2", "step3"])
@pytest.mark.parametrize("height", [1, 6])
def test_tile_under_no_window(height: int, layout: str, dtype: np.dtype) -> None:
    g, x = operands((2, 3, height, 513), (1, 19), (1, 19), (0, 7), dtype=dtype)
    assert g.shape[3] == 27
    source = place_values(g, layout, np.random.default_rng(7)).array
    got = ag.avg_pool2d_backward(source, x, (1, 19), (1, 19), (0, 7))
    assert_within(got, with_cube_math_type(g, x.shape, (1, 19), (1, 19), (0, 7))[0])
    assert not got[..., 506:].any()


# Planes of up to 64 elements are filled a register of planes at a time, a line at a time.
@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("planes", [1, 15, 31, 32, 97])
def test_global_pooling_of_small_planes(planes: int, dtype: np.dtype) -> None:
    for width in range(1, 67):
        shape = (planes, 1, width)
        g, x = operands(shape, shape[1:], dtype=dtype)
        g[planes // 2] = np.nan
        out = place(shape, dtype, "contiguous", np.random.default_rng(width))
        ag.avg_pool2d_backward(g, x, shape[1:], grad_input=out.array)
        assert_within(out.array, with_cube_math_type(g, shape, shape[1:])[0])
        out.assert_only_elements_written()


def assert_same_as_channels_last(
    shape: tuple[int, ...], kernel: int, rest: tuple[Any, ...], dtype: np.dtype
) -> None:
    """Of a gradient with special and tiny values, in which channels are neither many nor few, also
    where rows lie without gaps but planes do not."""
    rng = np.random.default_rng(shape[2] * shape[3])
    g, x = operands(shape, kernel, *rest[:3], dtype)
    g[:, 1::3] *= dtype.type(1e-4 if dtype == np.float16 else 1e-38)
    for i, special in enumerate([np.nan, np.inf, -0.0]):
        g[0, i, rng.integers(g.shape[2]), rng.integers(g.shape[3])] = special
    g[0, 4] = -0.0
    channels_last = np.ascontiguousarray(g.transpose(0, 2, 3, 1)).transpose(0, 3, 1, 2)
    want = np.full(np.take(shape, (0, 2, 3, 1)), 7, dtype).transpose(0, 3, 1, 2)
    ag.avg_pool2d_backward(channels_last, x, kernel, *rest, grad_input=want)
    result = place(shape, dtype, "contiguous", rng)
    ag.avg_pool2d_backward(g, x, kernel, *rest, grad_input=result.array)
    assert_same_bits(result.array, want)
    result.assert_only_elements_written()
    zeros = result.array[0, 4]
    assert (zeros == 0).all() and not np.signbit(zeros).any()
    rows = shape[2]
    apart = place((*shape[:2], rows + 1, shape[3]), dtype, "contiguous", rng).array
    behind = apart[:, :, rows].tobytes()
    ag.avg_pool2d_backward(g, x, kernel, *rest, grad_input=apart[:, :, :rows])
    assert_same_bits(apart[:, :, :rows], want)
    assert apart[:, :, rows].tobytes() == behind


# Rows of one to four vectors, full ones and others (vectors run across the ends of some of these on
# narrow registers), and rows and planes that are too long for either, but not channels last.
@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("kernel", [3, 5])
@pytest.mark.parametrize(
    "count_include_pad, divisor", [(True, 0), (False, 0), (True, -3), (True, 4)]
)
@pytest.mark.parametrize(
    "height, width",
    [
        (1, 8),
        (1, 50),
        (8, 8),
        (13, 11),
        (7, 16),
        (17, 17),
        (128, 32),
        (129, 32),
        (170, 24),
        (240, 17),
        (512, 8),
        (33, 40),
        (85, 48),
        (9, 49),
        (2, 62),
        (64, 64),
        (65, 64),
        (7, 65),
    ],
)
def test_windows_around_elements(
    height: int, width: int, count_include_pad: bool, divisor: int, kernel: int, dtype: np.dtype
) -> None:
    rest = (1, kernel // 2, False, count_include_pad, divisor)
    assert_same_as_channels_last((2, 35, height, width), kernel, rest, dtype)


# Rows of one vector of windows or two, but not channels last; of a few planes shorter ones, too.
@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("padding", [0, 1, (0, 1), (1, 0)], ids=str)
@pytest.mark.parametrize("ceil", [True, False])
@pytest.mark.parametrize(
    "count_include_pad, divisor", [(True, 0), (False, 0), (True, -3), (True, 4)]
)
@pytest.mark.parametrize(
    "shape",
    [
        (1, 9, 4, 4),
        (1, 9, 5, 11),
        (2, 35, 13, 13),
        (1, 35, 14, 30),
        (1, 35, 33, 31),
        (2, 17, 128, 32),
        (1, 35, 4, 33),
        (1, 35, 57, 56),
        (1, 17, 9, 63),
        (2, 17, 64, 64),
        (1, 17, 65, 64),
        (1, 17, 7, 65),
    ],
    ids=str,
)
def test_windows_two_apart_in_short_rows(
    shape: tuple[int, ...],
    count_include_pad: bool,
    divisor: int,
    ceil: bool,
    padding: int | tuple[int, int],
    dtype: np.dtype,
) -> None:
    rest = (2, padding, ceil, count_include_pad, divisor)
    assert_same_as_channels_last(shape, 3, rest, dtype)


# Tasks make parts of such gradients dense: of all their rows or of a few, of a line of channels or of
# several items, in one piece or row by row, and not at all where that would not pay.
@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("gap", ["", "pixels", "rows", "items"])
@pytest.mark.parametrize(
    "kernel, stride, padding", [(2, 2, 0), (3, 2, 1), (3, 1, 1), (4, 3, 0), (2, 5, 0)]
)
@pytest.mark.parametrize(
    "shape",
    [
        (1, 16, 224, 225),
        (1, 40, 120, 118),
        (3, 2, 9, 21),
        (2, 3, 30, 22),
        (2, 5, 13, 14),
        (5, 8, 14, 33),
        (2, 16, 28, 28),
        (2, 17, 31, 24),
        (1, 33, 15, 40),
        (3, 48, 4, 50),
        (1, 100, 60, 57),
        (2, 40, 9, 300),
    ],
    ids=str,
)
def test_results_across_channels_last(
    shape: tuple[int, ...], kernel: int, stride: int, padding: int, gap: str, dtype: np.dtype
) -> None:
    ceil, divisor = kernel == 4, 7 if stride == 5 else 0
    dense, x = operands(shape, kernel, stride, padding, ceil, dtype)
    n, c, h, w = dense.shape
    dense[0, :, h // 2, w // 2] = np.resize([np.nan, np.inf, -0.0, 1e-40], c).astype(dtype)
    wide = (n, h + (gap == "items"), w + (gap == "rows"), c + (gap == "pixels"))
    g = np.full(wide, np.nan, dtype)[:, :h, :w, :c].transpose(0, 3, 1, 2)
    g[...] = dense
    result = place(shape, dtype, "contiguous", np.random.default_rng(1))
    rest = (kernel, stride, padding, ceil, kernel != 3, divisor)
    ag.avg_pool2d_backward(g, x, *rest, grad_input=result.array)
    assert_same_bits(result.array, ag.avg_pool2d_backward(dense, x, *rest))
    result.assert_only_elements_written()


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_quotients_have_the_bits_of_a_division(dtype: np.dtype) -> None:
    """Every 16-bit pattern, and as many random ones of float32."""
    bits = np.arange(1 << 16)
    if dtype == FLOAT32:
        bits = np.random.default_rng(0).integers(0, 1 << 32, bits.size)
    g = bits.astype(f"u{dtype.itemsize}").view(dtype).reshape(1, 16, 64, 64)
    moderate = np.where(np.abs(g.astype(FLOAT32)) < 1e-18, dtype.type(1), g)
    channels_last = np.ascontiguousarray(moderate.transpose(0, 2, 3, 1)).transpose(0, 3, 1, 2)
    for divisor in (1, 3, 7, 9, 25, 49, 64, 121, 253, 255, -3):
        for x in (g, moderate, channels_last):
            with np.errstate(all="ignore"):
                want = (x.astype(FLOAT32) / FLOAT32.type(divisor) + FLOAT32.type(0)).astype(dtype)
            want[np.isnan(want)] = np.nan
            got = ag.avg_pool2d_backward(x, x, 1, divisor_override=divisor)
            assert_same_bits(got, want, str(divisor))


def test_example_of_the_manual() -> None:
    g, x = np.ones((1, 16, 1, 1), FLOAT16), np.ones((1, 16, 4, 4), FLOAT16)
    got = ag.avg_pool2d_backward(g, x, [4, 4], [1, 1], [0, 0], False, True, 0, 0)
    assert_same_bits(got, np.full((1, 16, 4, 4), 1 / 16, FLOAT16))


BEYOND_FLOAT = 2**24 + 1
"""A kernel, and as many elements of one less, are the same float."""


def test_kernels_that_are_no_float() -> None:
    """What windows count is compared as integers."""
    pad = 2**23
    grad, like = np.ones((1, 1, 5, 100), FLOAT32), np.zeros((1, 1, 8, 100), FLOAT32)
    kernel = (BEYOND_FLOAT, 3)
    got = ag.avg_pool2d_backward(grad, like, kernel, (2, 1), (pad, 1), ceil_mode=True)
    counts = [min(BEYOND_FLOAT, 8 + 2 * pad - 2 * i) for i in range(5)]
    want = np.full(8, sum(1 / count for count in counts))
    np.testing.assert_allclose(got[0, 0, :, 50], want, rtol=1e-6)
