"""The kernels that sum over channels, batch_norm_reduce_backward and prelu_backward, in the
emulator, all checks on, against the float64 formulas."""

from __future__ import annotations

from typing import Any

import ascend_grad as ag
import numpy as np
import pytest
import strategies
from arrays import BFLOAT16, DTYPES, FLOAT16, FLOAT32, LAYOUTS, place_values, random_values
from emulated import MIB, Launches, check_random, emulate, on_every_product, requires_emulator
from reference.batch_norm_reduce_backward import batch_norm_reduce_backward
from reference.prelu_backward import prelu_backward
from test_batch_norm_reduce_backward import check as check_batch_norm
from test_prelu_backward import check as check_prelu
from tolerance import assert_same_bits, assert_within

pytestmark = requires_emulator

SOCS = ("ascend910b", "ascend910")  # 310P has neither operator
BATCH_NORM, PRELU = "batch_norm_reduce_backward", "prelu_backward"


def operands(
    operator: str, shape: tuple[int, ...], dtype: np.dtype = FLOAT32, layout: str = "contiguous"
) -> list[np.ndarray]:
    rng = np.random.default_rng(sum(shape))
    channels = shape[1:2] or (1,)
    shapes = [shape, shape, channels] + [channels] * (operator == BATCH_NORM)
    arrays = [random_values(extents, dtype, "normal", rng) for extents in shapes]
    return [place_values(array, layout, rng).array for array in arrays]


def check_results(operator: str, got: Any, arrays: list[np.ndarray], what: str) -> None:
    reference = batch_norm_reduce_backward if operator == BATCH_NORM else prelu_backward
    for name, exact in reference(*arrays)._asdict().items():
        assert_within(getattr(got, name), exact, f"{operator} {what} {name}")


def check(operator: str, soc: str, arrays: list[np.ndarray]) -> tuple[Any, Launches]:
    got, launches = emulate(operator, *arrays, soc=soc)
    check_results(operator, got, arrays, f"{soc} {arrays[1].dtype} {arrays[1].shape}")
    return got, launches


@on_every_product(*SOCS)
def test_random_batch_norms(soc: str, dtype: np.dtype, device_seeds: range) -> None:
    generate = strategies.batch_norm_reduce_backward
    check_random(check_batch_norm, generate, soc, dtype, device_seeds)


@on_every_product(*SOCS)
def test_random_prelus(soc: str, dtype: np.dtype, device_seeds: range) -> None:
    check_random(check_prelu, strategies.prelu_backward, soc, dtype, device_seeds)


@pytest.mark.parametrize("operator", [BATCH_NORM, PRELU])
@pytest.mark.parametrize("soc", SOCS)
@pytest.mark.parametrize(
    "shape",
    [
        (1, 1),
        (3, 1),
        (1, 17),
        (1, 1, 1, 1),
        (5, 1, 7),
        (70001, 1),
        (3001, 1, 13, 13),
        (20001, 3),
        (3000, 16),
        (3000, 520),
        (2, 9001),
        (513, 130),
        (1001, 130),
        (4099, 499),
        (515, 129),
        (700, 250),
        (777, 101),
        (527, 813),
        (1100, 1001),
        (700, 1373),
        (1028, 1101),
        (560, 2810),
        (620, 1902),
        (900, 2500),
        (1, 100003),
        (3, 7011, 2),
        (47, 127, 1, 3),
        (2, 130, 9, 9),
        (16, 24, 13, 13),
        (17, 382, 11, 11),
        (30, 193, 10, 10),
        (9, 71, 19, 19),
        (3, 67, 51, 51),
        (40, 6, 17, 19),
        (70, 2, 2003),
        (6, 64, 7, 7),
        (96, 128, 7, 7),
        (129, 5, 3),
        (2, 17, 31, 33),
        (1, 300, 4, 97),
        (2, 3, 8200),
        (2, 3, 70001),
        (3, 192, 35, 35),
        (36, 128, 13, 13),
        (30, 201, 79),
        (40, 3, 15, 15),
        (5, 1, 111, 111),
        (9, 1530, 11),
        (300, 5, 13),
        (40, 301, 5),
        (70, 1530, 2),
        (13500, 2, 9),
        (1900, 2, 31),
        (1187, 7, 7, 7),
        (1500, 3, 331),
        (2000, 5, 191),
        (700, 4, 700),
        (1, 1, 250007),
        (9, 2, 1, 5, 1, 3, 2, 2),
    ],
    ids=str,
)
def test_hard_shapes(operator: str, soc: str, shape: tuple[int, ...]) -> None:
    """Around the limits of lanes, rows, one core's buffer, all cores' buffers."""
    for dtype in (FLOAT32, FLOAT16):
        check(operator, soc, operands(operator, shape, dtype))


@pytest.mark.parametrize("operator", [BATCH_NORM, PRELU])
@on_every_product(*SOCS)
@pytest.mark.parametrize("layout", LAYOUTS)
def test_layouts(operator: str, soc: str, dtype: np.dtype, layout: str) -> None:
    check(operator, soc, operands(operator, (3, 19, 6, 11), dtype, layout))


@pytest.mark.parametrize("operator", [BATCH_NORM, PRELU])
@pytest.mark.parametrize("layout", ["contiguous", "channels_last", "transposed"])
def test_dense_arrays_are_read_as_they_lie(operator: str, layout: str) -> None:
    arrays = operands(operator, (4, 40, 9, 10), FLOAT32, layout)
    results = {"grad_input": np.empty_like(arrays[1])} if operator == PRELU else {}
    got, launches = emulate(operator, *arrays, **results)
    check_results(operator, got, arrays, layout)
    assert len(launches.kernels) == 1


@pytest.mark.parametrize("soc", SOCS)
@pytest.mark.parametrize(
    "gradient", [(), (1,), (5,), (4, 1), (3, 1, 1), (2, 1, 1, 5), (2, 3, 4, 5)], ids=str
)
def test_prelu_of_one_weight_and_broadcast_gradients(soc: str, gradient: tuple[int, ...]) -> None:
    rng = np.random.default_rng(2)
    for weight in ((), (1, 1), (1, 3)):
        shapes = (gradient, (2, 3, 4, 5), weight)
        check(PRELU, soc, [random_values(shape, FLOAT32, "normal", rng) for shape in shapes])


@pytest.mark.parametrize("soc", SOCS)
@pytest.mark.parametrize(
    "shape", [(64, 40), (300, 3), (520, 101), (5, 3, 2000), (4, 700, 3)], ids=str
)
def test_special_values_stay_in_their_channel(soc: str, shape: tuple[int, ...]) -> None:
    for operator in (BATCH_NORM, PRELU):
        arrays = operands(operator, shape)
        arrays[0][1, 0], arrays[1][2, 1], arrays[0][3, 2] = np.inf, np.nan, 1e-42
        check(operator, soc, arrays)


@pytest.mark.parametrize("soc", SOCS)
def test_prelu_branches_are_selects(soc: str) -> None:
    x, g = np.array([np.inf, 1, 2], FLOAT32), np.array([0, np.inf, np.nan], FLOAT32)
    for slope in (np.inf, np.nan):
        got, _ = emulate(PRELU, g, x, np.array([slope], FLOAT32), soc=soc)
        assert_same_bits(got.grad_input, g)
        assert got.grad_weight == 0
    x = np.array([0.0, -0.0, np.nan, 1.0], FLOAT32)
    got, _ = emulate(PRELU, np.full(4, 2, FLOAT32), x, np.full(1, 0.25, FLOAT32), soc=soc)
    assert got.grad_input.tolist() == [0.5, 0.5, 0.5, 2.0] and np.isnan(got.grad_weight)


@pytest.mark.parametrize("operator", [BATCH_NORM, PRELU])
@on_every_product(*SOCS)
@pytest.mark.parametrize("shape", [(400, 70), (6, 40, 33, 31), (1, 2, 90001)], ids=str)
def test_repeated_runs_give_the_same_bits(
    operator: str, soc: str, dtype: np.dtype, shape: tuple[int, ...]
) -> None:
    arrays = operands(operator, shape, dtype)
    first, _ = check(operator, soc, arrays)
    for _ in range(2):
        for again, field in zip(emulate(operator, *arrays, soc=soc)[0], first, strict=True):
            assert_same_bits(again, field)


# Shape, bytes moved beyond the least for elements of 4 and of 2 bytes. What does not grow with the
# data: sums that cores exchange; what does: copies that begin earlier, at 512 bytes.
LARGE = [
    ((32, 64, 56, 56), 0.001, 0.012),
    ((64, 512, 14, 14), 0.002, 0.013),
    ((65536, 64), 0.002, 0.004),
    ((1, 4, 600, 1000), 0.005, 0.01),
    ((4096, 1024), 0.02, 0.046),
    ((32, 64, 28, 28), 0.003, 0.016),
    ((32, 768, 49), 0.015, 0.039),
    ((2048, 1000), 0.04, 0.091),
    ((4096, 1000), 0.02, 0.046),
    ((4096, 1001), 0.02, 0.046),
    ((6144, 500), 0.014, 0.041),
    ((32, 192, 35, 35), 0.015, 0.018),
]


@pytest.mark.parametrize(
    ("operator", "shape"),
    [(BATCH_NORM, (24776, 1001)), (PRELU, (24840, 513)), (BATCH_NORM, (100, 73, 31, 31))],
    ids=str,
)
def test_short_loads_begin_new_sums(operator: str, shape: tuple[int, ...]) -> None:
    """Some cores' last load is all of a sum, and ends where a part of it does."""
    check(operator, "ascend910b", operands(operator, shape, FLOAT16))


@pytest.mark.parametrize("dtype", [FLOAT16, BFLOAT16], ids=str)
def test_six_channels_are_joined_with_work_tiles_of_half_a_load(dtype: np.dtype) -> None:
    arrays = operands(BATCH_NORM, (32, 192, 35, 35), FLOAT32)
    arrays[:2] = [array.astype(dtype) for array in arrays[:2]]
    check(BATCH_NORM, "ascend910b", arrays)


@pytest.mark.parametrize("operator", [BATCH_NORM, PRELU])
@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize(("shape", "more", "more_of_16_bit"), LARGE, ids=str)
def test_large_arrays_move_once(
    operator: str, dtype: np.dtype, shape: tuple[int, ...], more: float, more_of_16_bit: float
) -> None:
    arrays = operands(operator, shape, FLOAT32)
    arrays[:2] = [array.astype(dtype) for array in arrays[:2]]
    arrays[2:] = [array.astype(dtype if operator == PRELU else FLOAT32) for array in arrays[2:]]
    _, launches = emulate(operator, *arrays)
    moved = launches.total("bytes_read") + launches.total("bytes_written")
    least = arrays[0].nbytes * (3 if operator == PRELU else 2)
    assert least >= 4 * MIB and least <= moved
    assert moved <= least * (1 + (more if dtype == FLOAT32 else more_of_16_bit))
    assert len(launches.kernels) == 1
    assert launches.total("scalar_accesses") == 0


@pytest.mark.parametrize(
    ("shape", "limit"),
    [
        ((32, 64, 56, 56), 1.07),
        ((64, 512, 7, 7), 1.15),
        ((4096, 1000), 1.09),
        ((4096, 1001), 1.11),
        ((13360, 32, 2, 7), 1.07),
    ],
    ids=str,
)
def test_batch_norm_takes_little_longer_than_its_bytes(
    shape: tuple[int, ...], limit: float
) -> None:
    """In the emulator's model; docs/device_costs.md says what of."""
    _, launches = emulate(BATCH_NORM, *operands(BATCH_NORM, shape))
    assert launches.total("cycles") <= limit * launches.total("bound_cycles")


@pytest.mark.parametrize("dtype", (FLOAT32, FLOAT16), ids=str)
@pytest.mark.parametrize(
    "shape",
    [
        (8, 192, 35, 35),
        (64, 100, 9, 9),
        (2, 3, 501, 501),
        (600, 7, 73),
        (955, 282, 5),
        (3001, 171),
        (700, 1000),
    ],
    ids=str,
)
def test_prelu_stores_odd_channels_by_copies(shape: tuple[int, ...], dtype: np.dtype) -> None:
    """Where copies are of whole blocks; at the tensor's and the weights' ends scalars may be left,
    and cores share the work."""
    arrays = operands(PRELU, shape, dtype)
    _, launches = check(PRELU, "ascend910", arrays)
    assert launches.total("scalar_accesses") <= 64
    assert all(launch["blocks"] == 32 for launch in launches.all)


def test_results_of_other_dtypes() -> None:
    arrays = operands(BATCH_NORM, (5, 30, 7), FLOAT16)
    results = {
        name: np.empty(30, dtype)
        for name, dtype in zip(
            ag.BatchNormReduceGrads._fields, (FLOAT32, FLOAT16, BFLOAT16, FLOAT16), strict=True
        )
    }
    got, _ = emulate(BATCH_NORM, *arrays, **results)
    assert all(getattr(got, name) is array for name, array in results.items())
    check_results(BATCH_NORM, got, arrays, "other dtypes")


@pytest.mark.parametrize("operator", [BATCH_NORM, PRELU])
def test_products_without_the_operator(operator: str) -> None:
    with pytest.raises(ag.AclnnError) as caught:
        emulate(operator, *operands(operator, (4, 3)), soc="ascend310p")
    assert caught.value.status == 561003


@pytest.mark.parametrize("soc", SOCS)
def test_empty_input_gives_zeros(soc: str) -> None:
    empty, statistics = np.empty((0, 5), FLOAT32), np.full(5, np.nan, FLOAT32)
    got, _ = emulate(BATCH_NORM, empty, empty, statistics, statistics, soc=soc)
    for field in (*got, emulate(PRELU, empty, empty, statistics, soc=soc)[0].grad_weight):
        assert_same_bits(field, np.zeros(5, FLOAT32))
