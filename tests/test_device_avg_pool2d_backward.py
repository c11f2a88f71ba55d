"""The avg_pool2d_backward kernel in the emulator, all checks on, against the float64 formula."""

from __future__ import annotations

from typing import Any

import ascend_grad as ag
import numpy as np
import pytest
import strategies
from arrays import DTYPES, FLOAT16, FLOAT32, place, place_values
from emulated import (
    MIB,
    SOCS,
    Launches,
    check_random,
    dtypes_of,
    emulate,
    on_every_product,
    requires_emulator,
)
from reference.avg_pool2d_backward import with_cube_math_type
from test_avg_pool2d_backward import check as check_case
from test_avg_pool2d_backward import operands
from tolerance import assert_same_bits, assert_within

pytestmark = requires_emulator


def check(
    soc: str,
    shape: tuple[int, ...],
    kernel: Any,
    stride: Any = (),
    padding: Any = 0,
    ceil_mode: bool = False,
    dtype: np.dtype = FLOAT32,
    **rest: Any,
) -> tuple[np.ndarray, Launches]:
    g, x = operands(shape, kernel, stride, padding, ceil_mode, dtype)
    rest["cube_math_type"] = rest.get(
        "cube_math_type", 2 if soc in ("ascend910", "ascend310p") else 0
    )
    arguments = (g, x, kernel, stride, padding, ceil_mode)
    got, launches = emulate("avg_pool2d_backward", *arguments, soc=soc, **rest)
    exact, via = with_cube_math_type(g, shape, kernel, stride, padding, soc=soc, **rest)
    assert_within(got, exact, f"{soc} {arguments[2:]} {shape} {dtype} {rest}", via)
    return got, launches


@on_every_product()
def test_random_configurations(soc: str, dtype: np.dtype, device_seeds: range) -> None:
    check_random(check_case, strategies.avg_pool2d_backward, soc, dtype, device_seeds)


# Shape, kernel, stride, padding, ceil mode.
GEOMETRIES = {
    "one element": ((1, 1, 1, 1), 1),
    "one channel": ((1, 1, 12, 13), 3, 2, 1),
    "one channel, one plane": ((1, 57, 31), 2),
    "one plane, odd gradient": ((1, 4, 13), (2, 8), (1, 2), (0, 2)),
    "two planes, few gradients": ((2, 16, 6), (4, 1), (6, 10), (2, 0)),
    "many channels": ((1, 2049, 3, 3), 2, 1),
    "planes of one element": ((3, 700, 1, 1), 1),
    "odd planes": ((3, 33, 13, 7), (3, 2), (2, 1), 1),
    "copies of odd rows": ((6, 1, 6, 127), 1),
    "odd rows shared by cores": ((8, 1, 9, 63), 3, 1, 1),
    "usual": ((2, 17, 28, 28), 2),
    "overlapping": ((2, 18, 27, 29), 3, 1, 1),
    "dense": ((2, 33, 28, 28), 3, 1, 1),
    "dense, five windows": ((1, 35, 40, 57), 5, 1, 2),
    "dense, unlike sides": ((1, 19, 64, 31), (4, 5), 1, (1, 2)),
    "dense, no rows of padding": ((2, 17, 20, 30), (5, 3), 1, (0, 1)),
    "dense rows": ((1, 18, 33, 60), (1, 3), 1, (0, 1)),
    "dense, no more than a window": ((3, 16, 120, 5), (2, 5), 1, (1, 2)),
    "dense, seven windows": ((1, 17, 30, 41), 7, 1, 3),
    "dense, many windows": ((1, 16, 30, 50), (13, 9), 1, (6, 4)),
    "dense, tall lanes": ((4, 500, 7, 7), 3, 1, 1),
    "dense, tall lanes, one shorter": ((1, 1607, 5, 9), (5, 3), 1, (2, 1)),
    "dense, tall lanes, one row of windows": ((7, 333, 4, 9), (1, 3), 1, (0, 1)),
    "dense, tall lanes, no more than a window": ((3, 700, 7, 5), (7, 5), 1, (3, 2)),
    "dense, tall lanes, short planes": ((1, 1746, 6, 13), 5, 1, 2),
    "dense, tall lanes, short rows": ((1, 900, 13, 6), 5, 1, 2),
    "dense, tall lanes, one more than a window": ((1, 872, 4, 14), (3, 9), 1, (1, 4)),
    "dense, tall lanes, two more than a window": ((2, 500, 7, 9), (5, 7), 1, (2, 3)),
    "dense, wide windows of few rows": ((1, 57, 29, 26), (3, 7), 1, (1, 3)),
    "dense, tall lanes, wide windows": ((1, 856, 20, 10), (1, 7), 1, (0, 3)),
    "small planes, windows beyond": ((2, 400, 7, 8), 2, 3, 1, True),
    "small planes, gaps between columns": ((2, 400, 9, 8), (5, 2), (2, 3), 1),
    "few planes, groups of fewer lanes": ((1, 17, 90, 60), 3, 2, 1),
    "thirty-three planes": ((3, 11, 60, 64), (4, 3), (2, 1), 1),
    "small planes, apart": ((2, 400, 7, 7), 3, 2, 1),
    "rows of windows as planes": ((2, 33, 24, 30), (2, 3), (3, 4)),
    "long rows of windows as planes": ((2, 16, 90, 210), (9, 10), (9, 10)),
    "overlapping and padded": ((1, 20, 55, 56), 3, 2, 1, True),
    "wide windows": ((1, 16, 40, 41), 9, 2, 4),
    "gaps": ((2, 17, 23, 29), 2, 5),
    "gaps in rows only": ((2, 5, 24, 18), (3, 2), (2, 7), (1, 0)),
    "large steps": ((1, 3, 90, 200), (4, 3), (70, 90)),
    "kernel larger than the input": ((2, 19, 4, 5), (9, 11), 1, (4, 5)),
    "kernel far larger": ((1, 2, 4, 5), 2**31 + 2, 2**33, 2**30),
    "one window": ((4, 65, 7, 7), 7),
    "one window, large planes": ((1, 3, 70, 90), (70, 90)),
    "one window, larger planes": ((1, 4, 111, 301), (111, 301)),
    "one window, planes of whole blocks": ((1, 9001, 4, 4), 4),
    "one window, planes in blocks alike": ((2, 1999, 6, 6), 6),
    "one window, planes in blocks unlike": ((3, 1001, 5, 5), 5),
    "one window, units of planes": ((2, 3501, 7, 7), 7),
    "one window, planes of a few elements": ((1, 301, 2, 3), (2, 3)),
    "one window, planes within blocks": ((1, 33, 3, 1), (3, 1)),
    "one window, long tiles": ((4, 333, 13, 17), (13, 17)),
    "one window, partial": ((2, 17, 6, 6), 5),
    "ceil beyond the input": ((2, 16, 5, 5), 2, 2, 0, True),
    "ceil beyond gaps": ((1, 9, 6, 16), 2, 3, 1, True),
    "rows longer than the buffer": ((1, 1, 2, 9001), 2),
    "overlap in such rows": ((1, 1, 3, 7001), 3, 1, 1),
    "such rows, several tiles of them": ((1, 1, 7, 5001), 3, 1, 1),
    "such rows, windows apart": ((1, 2, 18, 5001), (3, 5), (2, 3), (1, 2)),
    "parts of rows of small planes": ((1, 2, 60, 61), (58, 60), 1, (29, 30)),
    "window by window": ((1, 1, 270, 27), (270, 9), (1, 9), (135, 0)),
    "window by window, short rows": ((1, 1, 300, 17), (300, 17), (1, 2), (150, 8)),
    "windows that complete many rows": ((1, 3, 25, 600), (1, 6), 1, (0, 1)),
    "windows that complete many tall rows": ((1, 17, 70, 138), (3, 258), (3, 258), (0, 120)),
    "columns longer than the buffer": ((1, 1, 9011, 2), (5, 1), (2, 1), (2, 0)),
    "more windows than a table holds": ((1, 2, 40, 41), (35, 38), 1, (17, 19)),
    "columns as lanes": ((1, 1, 100, 300), 3, 1, 1),
    "columns as lanes, tiled": ((1, 2, 60, 801), 2),
    "columns as lanes, padded": ((1, 3, 77, 700), 3, 2, 1, True),
    "columns as lanes, wide windows": ((2, 40, 256), 9, 1, 4),
    "columns as lanes, wide and apart": ((1, 40, 500), (7, 30), (3, 30), (3, 15)),
    "columns as lanes, gaps": ((1, 33, 515), (2, 3), (3, 5)),
    "columns as lanes, ceil": ((1, 1, 90, 641), 4, 4, 0, True),
    "rows of windows that cores share": ((2, 16, 128, 130), 9, 9),
    "large steps along rows": ((3, 17, 20, 100), (3, 31), (3, 33)),
    "tall table": ((1, 3, 90, 3), (70, 1), (1, 1), (35, 0)),
}


@pytest.mark.parametrize("soc", SOCS)
@pytest.mark.parametrize("geometry", GEOMETRIES.values(), ids=GEOMETRIES)
def test_hard_geometries(soc: str, geometry: tuple[Any, ...]) -> None:
    is_padded = len(geometry) > 3
    for dtype in (FLOAT32, FLOAT16):
        for count_include_pad in (True, False) if is_padded else (True,):
            check(soc, *geometry, dtype=dtype, count_include_pad=count_include_pad)


@pytest.mark.parametrize("soc", SOCS)
@pytest.mark.parametrize("divisor", [-255, -3, 1, 4, 254])
def test_divisor_override(soc: str, divisor: int) -> None:
    for dtype in dtypes_of(soc):
        check(soc, (2, 9, 7, 6), (3, 4), 2, 1, dtype=dtype, divisor_override=divisor)
        check(soc, (2, 9, 27, 26), 3, 1, 1, dtype=dtype, divisor_override=divisor)
        check(soc, (2, 400, 7, 7), 3, 1, 1, dtype=dtype, divisor_override=divisor)


@pytest.mark.parametrize(
    ("soc", "mode"),
    [("ascend910b", mode) for mode in range(4)] + [("ascend310p", 1), ("ascend910", 1)],
)
def test_cube_math_type(soc: str, mode: int) -> None:
    """Values far outside float16's range, and what rounds to even."""
    for dtype in dtypes_of(soc):
        check(soc, (3, 17, 12, 13), 3, 2, 1, dtype=dtype, cube_math_type=mode)
        check(soc, (2, 17, 40, 41), 3, 1, 1, dtype=dtype, cube_math_type=mode)
        check(soc, (2, 400, 8, 8), 3, 1, 1, dtype=dtype, cube_math_type=mode)
    g = np.full((1, 16, 4, 4), 1 + 2.0**-12, FLOAT32)
    g[0, :, 0, 0], g[0, :, 1, 1], g[0, :, 2, 2] = 70000.0, np.nan, 1e-30
    x = np.zeros((1, 16, 8, 8), FLOAT32)
    got, _ = emulate("avg_pool2d_backward", g, x, 2, cube_math_type=mode, soc=soc)
    exact, via = with_cube_math_type(g, x.shape, 2, cube_math_type=mode, soc=soc)
    assert_within(got, exact, f"{soc} {mode}", via)


@on_every_product()
@pytest.mark.parametrize("layout", ["transposed", "channels_last", "step2", "negative", "mixed"])
def test_layouts(soc: str, dtype: np.dtype, layout: str) -> None:
    g, x = operands((2, 17, 14, 7), 3, 2, 1, dtype=dtype)
    rng = np.random.default_rng(1)
    out, source = place(x.shape, dtype, layout, rng), place_values(g, layout, rng)
    arguments = (x, 3, 2, 1, False, True, 0, 2)
    got, _ = emulate("avg_pool2d_backward", source.array, *arguments, grad_input=out.array, soc=soc)
    assert got is out.array
    assert_same_bits(got, emulate("avg_pool2d_backward", g, *arguments, soc=soc)[0])
    out.assert_only_elements_written()
    source.assert_untouched()


@on_every_product()
def test_repeated_runs_give_the_same_bits(soc: str, dtype: np.dtype) -> None:
    geometry = ((2, 40, 31, 33), 3, 1, 1)
    first, _ = check(soc, *geometry, dtype=dtype)
    for _ in range(2):
        assert_same_bits(check(soc, *geometry, dtype=dtype)[0], first)


def test_products_of_one_family_give_the_same_bits() -> None:
    geometry = ((2, 40, 31, 33), 3, 1, 1)
    assert_same_bits(check("ascend910_93", *geometry)[0], check("ascend910b", *geometry)[0])


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize(
    ("shape", "kernel", "stride", "padding"),
    [
        ((4, 64, 112, 112), 2, 2, 0),
        ((4, 64, 112, 112), 3, 2, 1),
        ((16, 64, 56, 56), 3, 1, 1),
        ((32, 832, 7, 7), 3, 1, 1),
        ((64, 1024, 7, 7), 7, 7, 0),
    ],
)
def test_large_arrays_move_once(
    shape: tuple[int, ...], kernel: int, stride: int, padding: int, dtype: np.dtype
) -> None:
    g, x = operands(shape, kernel, stride, padding, dtype=dtype)
    _, launches = emulate("avg_pool2d_backward", g, x, kernel, stride, padding)
    moved = launches.total("bytes_read") + launches.total("bytes_written")
    assert moved >= 4 * MIB and moved <= 1.02 * (g.nbytes + x.nbytes)
    assert launches.total("scalar_accesses") == 0
    assert len(launches.kernels) == 1


@pytest.mark.parametrize(
    "kernel, stride, padding, windows, fits",
    [
        (2**31 - 1, 2**31 - 1, 2**30 - 1, 1, True),
        (2**31, 2**60, 2**30 - 1, 1, True),
        (2**31 - 2, 1, 2**30 - 1, 4, True),
        (2**32 - 1, 2**31 - 1, 2**31 - 1, 2, True),
        (2**32, 2**31, 2**31 - 1, 2, False),
        (2**60, 1, 2**59 - 1, 2, False),
        (2**60 - 1, 2**63 - 1, 2**59 - 2, 1, False),
    ],
)
def test_windows_of_any_size(
    kernel: int, stride: int, padding: int, windows: int, fits: bool
) -> None:
    """What does not fit the kernels' numbers is refused."""
    g, x = np.arange(1, windows + 1, dtype=FLOAT32), np.zeros((1, 1, 3), FLOAT32)
    sizes = (1, kernel), (1, stride), (0, padding), True
    for divisor in (0, 7):
        arguments = (g.reshape(1, 1, -1), x, *sizes, divisor % 2 == 0, divisor)
        want = ag.avg_pool2d_backward(*arguments)
        assert want.any()
        if fits:
            np.testing.assert_array_equal(emulate("avg_pool2d_backward", *arguments)[0], want)
            continue
        with pytest.raises(ag.AclnnError, match=r"2\^31 - 1") as caught:
            emulate("avg_pool2d_backward", *arguments)
        assert caught.value.status == 561003


def test_nothing_to_do() -> None:
    g, x = operands((0, 3, 8, 8), 2)
    got, launches = emulate("avg_pool2d_backward", g, x, 2)
    assert got.shape == x.shape and not launches.all
    with pytest.raises(ag.ParamInvalidError):
        emulate("avg_pool2d_backward", g, x, 0)
