"""Calls in the emulator, with what it saw of them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import ascend_grad as ag
import numpy as np
import pytest
from ascend_grad import _core, settings

SOCS = ("ascend910b", "ascend310p", "ascend910")

requires_emulator = pytest.mark.skipif(
    "emulator" not in ag.build_info()["devices"], reason="this build has no emulated kernels"
)


@dataclass
class Launches:
    """The kernels of one call, as `_core.last_launches` gives them."""

    all: list[dict[str, Any]] = field(default_factory=list)

    @property
    def kernels(self) -> list[str]:
        return [launch["kernel"] for launch in self.all]

    def total(self, key: str) -> float:
        return sum(launch[key] for launch in self.all)


def emulate(operator: str, *args: Any, soc: str = "ascend910b", **kwargs: Any) -> tuple[Any, Launches]:
    """Result of `ascend_grad.<operator>` in the emulator. A report of a check is an error."""
    result = getattr(ag, operator)(*args, device="emulator", soc=soc, **kwargs)
    return result, Launches(_core.last_launches())


def copy(source: np.ndarray, target: np.ndarray, soc: str = "ascend910b") -> Launches:
    """target[...] = source by the kernel strided_copy."""
    _core.copy_on_device(source, target, soc, settings.require_device("emulator", "strided_copy"))
    return Launches(_core.last_launches())
