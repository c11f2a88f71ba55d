"""Repeated calls do not make the process grow."""

from __future__ import annotations

import gc
from collections.abc import Callable
from pathlib import Path

import ascend_grad as ag
import numpy as np
import pytest
from arrays import FLOAT32
from dlpack import ArrayInterfaceOnly, DLPackOnly

STATM = Path("/proc/self/statm")
PAGE = 4096
g, y = np.ones((8, 300), FLOAT32), np.ones((8, 300), FLOAT32)


def refused() -> None:
    with pytest.raises(ag.ParamInvalidError):
        ag.softmax_backward(g, y, 5)


def with_statistics() -> None:
    ag.batch_norm_reduce_backward(g, y, g[0], y[0], sum_dy=np.empty(300, FLOAT32))


WAYS: dict[str, Callable[[], object]] = {
    "call": lambda: ag.softmax_backward(g, y, 1),
    "sums": with_statistics,
    "error": refused,
    "prepare": lambda: ag.prepare.prelu_backward(g, y, g[0])(),
    "dlpack": lambda: ag.softmax_backward(DLPackOnly(g), DLPackOnly(y), 1),
    "interface": lambda: ag.softmax_backward(ArrayInterfaceOnly(g), ArrayInterfaceOnly(y), 1),
    "pool": lambda: ag.avg_pool2d_backward(g[None], np.empty((1, 16, 600), FLOAT32), (2, 2), [2]),
}


@pytest.mark.skipif(not STATM.exists(), reason="no /proc here")
@pytest.mark.parametrize("way", WAYS)
def test_no_growth(way: str) -> None:
    def resident() -> int:
        gc.collect()
        return int(STATM.read_text().split()[1]) * PAGE

    for _ in range(300):
        WAYS[way]()
    before = resident()
    for _ in range(3000):
        WAYS[way]()
    # One leaked object of 64 bytes per call would be 192 KB, a leaked result 29 MB.
    assert resident() - before < 150_000
