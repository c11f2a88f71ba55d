"""Calls in the emulator, with what it saw of them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import ascend_grad as ag
import numpy as np
import pytest
from arrays import DTYPES, FLOAT16, FLOAT32
from ascend_grad import _core, settings
from cases import Case, Chooser, check_seeds
from strategies import Target

SOCS = ("ascend910b", "ascend310p", "ascend910")
MIB = 1 << 20

requires_emulator = pytest.mark.skipif(
    not _core.emulator, reason="this build was made without the emulator"
)


def dtypes_of(soc: str) -> tuple[np.dtype, ...]:
    return DTYPES if soc == "ascend910b" else (FLOAT32, FLOAT16)


def on_every_product(*socs: str) -> pytest.MarkDecorator:
    """Parameters `soc` and `dtype`: what the products' kernels exist for."""
    pairs = [(soc, dtype) for soc in socs or SOCS for dtype in dtypes_of(soc)]
    return pytest.mark.parametrize(("soc", "dtype"), pairs, ids=lambda value: str(value))


@dataclass
class Launches:
    """The kernels of one call, as `_core.last_launches` gives them."""

    all: list[dict[str, Any]] = field(default_factory=list)

    @property
    def kernels(self) -> list[str]:
        return [launch["kernel"] for launch in self.all]

    def total(self, key: str) -> float:
        return sum(launch[key] for launch in self.all)


def emulate(
    operator: str, *args: Any, soc: str = "ascend910b", **kwargs: Any
) -> tuple[Any, Launches]:
    """Result of `ascend_grad.<operator>` in the emulator. A report of a check is an error."""
    result = getattr(ag, operator)(*args, device="emulator", soc=soc, **kwargs)
    return result, Launches(_core.last_launches())


def addresses(array: np.ndarray) -> ag.npu.DeviceArray:
    strides = [stride // array.itemsize for stride in array.strides]
    return ag.npu.DeviceArray(array.ctypes.data, array.shape, str(array.dtype), strides)


def device_copies(*arrays: np.ndarray) -> list[np.ndarray]:
    """In memory that begins at multiples of 512 bytes and goes on, as the device's does."""
    copies = []
    for values in arrays:
        memory = np.zeros(values.nbytes + 1024, np.uint8)
        begin = -memory.ctypes.data % 512
        copies.append(memory[begin : begin + values.nbytes].view(values.dtype))
        copies[-1] = copies[-1].reshape(values.shape)
        copies[-1][...] = values
    return copies


def check_random(
    check: Callable[..., None],
    generate: Callable[[Chooser, Target], Case],
    soc: str,
    dtype: np.dtype,
    seeds: range,
) -> None:
    """An operator's check of random calls, in the emulator."""
    target = Target(soc, dtype, is_device=True)
    check_seeds(
        lambda case: check(case, device="emulator"), lambda choose: generate(choose, target), seeds
    )


def copy(source: np.ndarray, target: np.ndarray, soc: str = "ascend910b") -> Launches:
    """target[...] = source by the kernel strided_copy."""
    _core.copy_on_device(source, target, soc, settings.require_device("emulator", "strided_copy"))
    return Launches(_core.last_launches())
