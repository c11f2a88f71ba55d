"""The softmax_backward kernel in the emulator, all checks on, against the float64 formula."""

from __future__ import annotations

import numpy as np
import pytest
import strategies
from arrays import BFLOAT16, DTYPES, FLOAT16, FLOAT32
from emulated import (
    MIB,
    SOCS,
    Launches,
    check_random,
    emulate,
    on_every_product,
    requires_emulator,
)
from reference.softmax_backward import softmax_backward
from test_softmax_backward import check as check_case
from tolerance import assert_same_bits, assert_within

pytestmark = requires_emulator


def operands(
    shape: tuple[int, ...], dtype: np.dtype, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """Arrays whose axes lie in memory in one and the same random order."""
    order = rng.permutation(len(shape)) if rng.integers(3) == 0 else np.arange(len(shape))
    memory = tuple(shape[axis] for axis in order)
    g, y = (
        np.transpose(rng.standard_normal(memory).astype(dtype), np.argsort(order)) for _ in range(2)
    )
    return g, y


def check(
    soc: str, shape: tuple[int, ...], dim: int, dtype: np.dtype, out: np.dtype, seed: int = 0
) -> Launches:
    g, y = operands(shape, dtype, np.random.default_rng(seed))
    result = np.empty_like(g, dtype=out)
    got, launches = emulate("softmax_backward", g, y, dim, out=result, soc=soc)
    assert_within(got, softmax_backward(g, y, dim), f"{soc} {shape} {dim} {dtype} {out} {seed}")
    return launches


@on_every_product()
def test_random_configurations(soc: str, dtype: np.dtype, device_seeds: range) -> None:
    check_random(check_case, strategies.softmax_backward, soc, dtype, device_seeds)


@pytest.mark.parametrize("soc", SOCS)
@pytest.mark.parametrize(
    ("shape", "dim"),
    [
        ((), 0),
        ((1, 1), 1),
        ((17, 2), 1),
        ((100, 127), 1),
        ((100, 129), 1),
        ((173, 131), 1),
        ((333, 45), 1),
        ((47, 255), 1),
        ((3, 2041), 1),
        ((300, 1718), 1),
        ((800, 1003), 1),
        ((96, 577), 1),
        ((150, 1501), 1),
        ((70, 900), 1),
        ((30, 2012), 1),
        ((90, 2802), 1),
        ((20, 30001), 1),
        ((2, 9500), 1),
        ((1, 65536), 1),
        ((1, 300000), 1),
        ((3, 70001), 1),
        ((70001, 3), 0),
        ((300, 1000), 0),
        ((708, 418), 0),
        ((512, 1000), 0),
        ((3, 200, 1000), 1),
        ((2, 3, 4, 5, 6), 2),
        ((10, 20, 31), 1),
        ((700, 9, 11), 1),
        ((60, 20, 40), 1),  # small planes, several at a time
        ((50, 41, 34), 1),
        ((30, 7, 100), 1),
        ((2, 3, 8200), 1),
        ((1, 2, 100000), 1),
        ((4, 5000, 16), 1),
        ((1, 40000, 5), 1),
        ((16, 300801), 1),  # rows end one element after a block
    ],
)
def test_hard_shapes(soc: str, shape: tuple[int, ...], dim: int) -> None:
    """Around the limits of lanes, rows, one core's buffer, all cores' buffers."""
    check(soc, shape, dim, FLOAT32, FLOAT32)
    check(soc, shape, dim, FLOAT16, FLOAT16)


@pytest.mark.parametrize("out", [FLOAT32, FLOAT16], ids=str)
@pytest.mark.parametrize("dtype", [FLOAT32, FLOAT16], ids=str)
@pytest.mark.parametrize(
    "shape",
    [
        (9, 333, 7),
        (30, 19, 300),
        (5, 81, 81),
        (3, 2000, 20),
        (5, 40001),
        (150, 301, 5),
        (203, 47, 13),
        (97, 404, 2),
        (190, 12, 107),
        (3, 21, 16641),  # rows that are copied by themselves
        (1, 2, 100003),
        (20, 9, 4097),
    ],
)
def test_planes_that_begin_anywhere(shape: tuple[int, ...], dtype: np.dtype, out: np.dtype) -> None:
    """What a block of 32 bytes has of the plane before is neither summed nor stored."""
    check("ascend910b", shape, 1, dtype, out)


@pytest.mark.parametrize(
    ("shape", "dtype", "ratio"),
    [
        ((1177, 900), FLOAT16, 1.16),
        ((963, 1100), FLOAT16, 1.16),
        ((529, 2001), FLOAT16, 1.17),
        ((500, 81, 81), FLOAT32, 1.1),
        ((1000, 19, 300), FLOAT16, 1.11),
        ((8000, 20, 40), FLOAT16, 1.05),
        ((2000, 81, 21), FLOAT16, 1.08),
        ((5000, 77, 7), FLOAT32, 1.05),
        ((124, 3, 4243), FLOAT32, 1.11),
        ((90, 9, 4097), FLOAT32, 1.13),
    ],
    ids=str,
)
def test_estimated_time_where_rows_and_planes_begin_anywhere(
    shape: tuple[int, ...], dtype: np.dtype, ratio: float
) -> None:
    g = np.ones(shape, dtype)
    _, launches = emulate("softmax_backward", g, g, 1)
    assert launches.total("cycles") <= ratio * launches.total("bound_cycles")


@pytest.mark.parametrize("soc", SOCS)
@pytest.mark.parametrize(("shape", "dim"), [((40, 300), 1), ((300, 40), 0), ((2, 20000), 1)])
def test_special_values_and_equal_bits(soc: str, shape: tuple[int, ...], dim: int) -> None:
    g, y = operands(shape, FLOAT32, np.random.default_rng(7))
    g *= np.float32(1e-30)
    y *= np.float32(1e-12)
    g[0, 3], y[1, 5] = np.inf, np.nan
    first, _ = emulate("softmax_backward", g, y, dim, soc=soc)
    assert_within(first, softmax_backward(g, y, dim), f"{soc} {shape}")
    for _ in range(2):
        assert_same_bits(emulate("softmax_backward", g, y, dim, soc=soc)[0], first)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize(
    ("shape", "dim", "traffic"),
    [
        ((4096, 1024), 1, 1.0),
        ((8192, 127), 1, 1.005),  # from the last multiple of 512 bytes on
        ((400000, 10), 1, 1.0),
        ((4, 16, 256, 512), 1, 1.0),
        ((64, 128, 32, 32), 1, 1.0),
        ((1024, 4096), 0, 1.025),  # the sums that cores exchange
        ((64, 1000, 49), 1, 1.02),
        ((1, 4000000), 1, 1.53),  # all is read twice but what stays in buffers
    ],
)
def test_large_arrays_move_once(
    shape: tuple[int, ...], dim: int, traffic: float, dtype: np.dtype
) -> None:
    g = np.ones(shape, dtype)
    _, launches = emulate("softmax_backward", g, g, dim)
    moved = launches.total("bytes_read") + launches.total("bytes_written")
    assert moved >= 4 * MIB and moved <= traffic * 3 * g.nbytes
    assert launches.total("scalar_accesses") == 0
    assert len(launches.kernels) == 1


@pytest.mark.parametrize("dtype", [FLOAT32, FLOAT16], ids=str)
@pytest.mark.parametrize("soc", ["ascend310p", "ascend910"])
@pytest.mark.parametrize(("shape", "dim"), [((512, 127), 1), ((4, 1000, 49), 1), ((1024, 96), 0)])
def test_rows_that_end_inside_blocks_need_no_scalar_unit(
    soc: str, shape: tuple[int, ...], dim: int, dtype: np.dtype
) -> None:
    g = np.ones(shape, dtype)
    _, launches = emulate("softmax_backward", g, g, dim, soc=soc)
    assert launches.total("scalar_accesses") == 0


def test_bfloat16_results_of_other_inputs() -> None:
    for seed, dtype in enumerate((FLOAT32, FLOAT16)):
        check("ascend910b", (60, 70), 1, dtype, BFLOAT16, seed)
        check("ascend910b", (60, 70), 0, BFLOAT16, dtype, seed)
