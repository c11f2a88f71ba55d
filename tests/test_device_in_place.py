"""Results that replace an input on the device: no core loads what another stores, not even to drop
it, nor what it has stored itself. A call on arrays of the host has copies there, so that these are
on addresses."""

from __future__ import annotations

import ascend_grad as ag
import numpy as np
import pytest
from arrays import FLOAT32, random_values
from emulated import addresses, device_copies, emulate, on_every_product, requires_emulator
from tolerance import assert_same_bits

pytestmark = requires_emulator


def operands(dtype: np.dtype, *shapes: tuple[int, ...]) -> list[np.ndarray]:
    rng = np.random.default_rng(5)
    return [random_values(shape, dtype, "normal", rng) for shape in shapes]


@on_every_product()
@pytest.mark.parametrize(
    ("shape", "dim"),
    [
        ((3000, 129), 1),  # rows, as they lie
        ((2000, 577), 1),  # skewed
        ((999, 1001), 1),  # cores meet inside blocks
        ((40, 9003), 1),  # no more than one in a buffer
        ((9001, 17), 1),  # lanes
        ((700, 9, 11), 1),
        ((12000, 10), 1),
        ((300, 1001), 0),  # strips of columns
        ((9, 129, 513), 1),
        ((2, 50, 8200), 1),
        ((16, 1000, 49), 1),  # planes chunk by chunk
        ((17, 9001, 3), 1),
        ((5, 70001), 1),
        ((1, 3000001), 1),  # chunks that are read twice
        ((8, 300001), 1),
        ((3, 200000, 5), 1),
        ((203, 47, 13), 1),  # planes that cores share out inside blocks
        ((150, 301, 5), 1),
        ((3, 21, 16641), 1),  # rows copied by themselves
        ((20, 9, 4097), 1),
    ],
)
def test_softmax(soc: str, shape: tuple[int, ...], dim: int, dtype: np.dtype) -> None:
    arrays = operands(dtype, shape, shape)
    want, _ = emulate("softmax_backward", *arrays, dim, soc=soc)
    for target in range(2):
        inputs = device_copies(*arrays)
        given = [addresses(values) for values in inputs]
        on = {"stream": 0, "device": "emulator", "soc": soc}
        ag.npu.softmax_backward(*given, dim, out=given[target], **on)
        assert_same_bits(inputs[target], want)


@on_every_product("ascend910b", "ascend910")
@pytest.mark.parametrize(
    "shape",
    [
        (2, 5),
        (999, 1001),
        (3000, 129),
        (513, 130),
        (6144, 500),
        (40, 9003),
        (1, 100003),
        (64, 100, 7, 7),
        (16, 192, 35, 35),
        (3, 3, 70001),
        (9, 1530, 11),
        (955, 28, 5),
        (40, 301, 5),
    ],
    ids=str,
)
def test_prelu(soc: str, dtype: np.dtype, shape: tuple[int, ...]) -> None:
    arrays = operands(dtype, shape, shape, shape[1:2])
    want, _ = emulate("prelu_backward", *arrays, soc=soc)
    for target in range(2):
        inputs = device_copies(*arrays, np.full_like(want.grad_weight, np.nan))
        given = [addresses(values) for values in inputs]
        outputs = {"grad_input": given[target], "grad_weight": given[3]}
        on = {"stream": 0, "device": "emulator", "soc": soc}
        ag.npu.prelu_backward(*given[:3], **outputs, **on)
        assert_same_bits(inputs[target], want.grad_input)
        assert_same_bits(inputs[3], want.grad_weight)


@pytest.mark.parametrize("soc", ["ascend910b", "ascend310p", "ascend910"])
def test_arrays_of_the_host_have_copies_already(soc: str) -> None:
    g, y = operands(FLOAT32, (300, 129), (300, 129))
    plan = ag.explain.softmax_backward(g, y, 1, out=g, device="emulator", soc=soc)
    assert len(plan["launches"]) == 1
