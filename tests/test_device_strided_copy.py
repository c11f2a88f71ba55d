"""The kernel that copies between strided memory, in the emulator with all checks on."""

from __future__ import annotations

import numpy as np
import pytest
from arrays import BFLOAT16, FLOAT16, FLOAT32, LAYOUTS, place, place_values, random_values
from cases import Seeded
from emulated import SOCS, copy, dtypes_of, requires_emulator
from strategies import shape_of
from tolerance import assert_same_bits

pytestmark = requires_emulator


def check(
    soc: str,
    shape: tuple[int, ...],
    dtypes: tuple[np.dtype, np.dtype],
    layouts: tuple[str, str],
    broadcast: tuple[int, ...] = (),
    seed: int = 0,
) -> None:
    rng = np.random.default_rng(seed)
    source = place_values(
        random_values(shape, dtypes[0], "normal", rng), layouts[0], rng, broadcast
    )
    target = place(shape, dtypes[1], layouts[1], rng)
    copy(source.array, target.array, soc)
    with np.errstate(over="ignore"):
        want = source.array.astype(np.float32).astype(dtypes[1])
    assert_same_bits(np.array(target.array), want, f"{soc} {shape} {dtypes} {layouts}")
    target.assert_only_elements_written()


@pytest.mark.parametrize("soc", SOCS)
def test_random_copies(soc: str) -> None:
    for seed in range(60):
        choose = Seeded(seed)
        shape = shape_of(choose, choose.integer(0, 8))
        dtypes = choose.pick(dtypes_of(soc)), choose.pick(dtypes_of(soc))
        layouts = choose.pick(LAYOUTS), choose.pick(LAYOUTS)
        broadcast = tuple(axis for axis in range(len(shape)) if choose.integer(0, 5) == 0)
        if 0 not in shape:
            check(soc, shape, dtypes, layouts, broadcast, seed)


@pytest.mark.parametrize("soc", SOCS)
@pytest.mark.parametrize(
    ("shape", "layouts"),
    [
        ((40000,), ("contiguous", "contiguous")),
        ((20011,), ("step2", "contiguous")),
        ((20011,), ("contiguous", "step3")),
        ((9001,), ("negative", "contiguous")),
        ((3, 5, 31, 33), ("channels_last", "contiguous")),
        ((2, 64, 56, 7), ("channels_last", "contiguous")),
        ((2, 130, 9, 9), ("contiguous", "channels_last")),
        ((257, 129), ("transposed", "contiguous")),
        ((700, 3), ("sliced", "sliced")),
    ],
)
def test_common_layouts(soc: str, shape: tuple[int, ...], layouts: tuple[str, str]) -> None:
    for dtypes in ((FLOAT32, FLOAT32), (FLOAT16, FLOAT32), (FLOAT32, FLOAT16)):
        check(soc, shape, dtypes, layouts)
    if soc == "ascend910b":
        check(soc, shape, (BFLOAT16, FLOAT16), layouts)
        check(soc, shape, (FLOAT16, BFLOAT16), layouts)


@pytest.mark.parametrize(
    ("shape", "layout"), [((4 << 20,), "contiguous"), ((8, 256, 32, 32), "channels_last")]
)
def test_large_copies_move_each_byte_once(shape: tuple[int, ...], layout: str) -> None:
    rng = np.random.default_rng(0)
    source = place(shape, FLOAT32, layout, rng).array
    target = np.empty(shape, FLOAT32)
    launches = copy(source, target)
    assert launches.total("bytes_read") == launches.total("bytes_written") == target.nbytes
    assert launches.total("scalar_accesses") == 0
    assert launches.total("cycles") < 2 * launches.total("bound_cycles")
