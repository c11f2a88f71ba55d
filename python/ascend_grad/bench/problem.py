"""The arrays of a case, and which bytes it must move."""

from __future__ import annotations

import contextlib
import math
import mmap
from typing import Any

import ml_dtypes
import numpy as np

from ascend_grad.bench.cases import AVG_POOL, BATCH_NORM, ITEM_BYTES, PRELU, SOFTMAX, Case

_NUMPY = {"float32": np.float32, "float16": np.float16, "bfloat16": ml_dtypes.bfloat16}
_CACHE_LINE = 64
_SMALLEST_HUGE = 4 << 20  # bytes from which on NumPy, too, asks for huge pages
_PERIOD = 1 << 20  # random values repeat after this many elements: drawing 10^8 takes seconds


def _fresh_bytes(size: int) -> np.ndarray:
    if size < _SMALLEST_HUGE or not hasattr(mmap, "MADV_HUGEPAGE"):
        return np.empty(size, np.uint8)
    memory = mmap.mmap(-1, size, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    with contextlib.suppress(OSError):  # of kernels without them
        memory.madvise(mmap.MADV_HUGEPAGE)
    return np.frombuffer(memory, np.uint8)


def aligned_empty(size: int, dtype: np.dtype) -> np.ndarray:
    """A vector that starts on a cache line. From 4 MiB on it is never memory that was used before: on
    what is left of small pages any contender takes up to three times as long."""
    raw = _fresh_bytes(size * dtype.itemsize + _CACHE_LINE)
    start = -raw.ctypes.data % _CACHE_LINE
    return raw[start : start + size * dtype.itemsize].view(dtype)


class Operand:
    """A large array in a case's layout; `memory` is the dense block of which it is a view. It
    begins `begin` bytes behind a cache line; `lines` is as much memory that begins with one."""

    def __init__(
        self, shape: tuple[int, ...], dtype: np.dtype, layout: str, begin: int = 0
    ) -> None:
        order = list(range(len(shape)))
        if layout == "cl":
            order = [0, *order[2:], 1]
        elif layout in ("t", "tc"):
            order = order[::-1]
        elif layout == "hw":
            order[-2:] = order[:-3:-1]
        stored = [shape[axis] for axis in order]
        if layout == "s2":
            stored[-1] *= 2
        size, skipped = math.prod(stored), begin // dtype.itemsize
        memory = aligned_empty(skipped + size, dtype)
        self.lines, self.memory = memory[:size], memory[skipped:]
        block = self.memory.reshape(stored)
        if layout == "s2":
            block = block[..., ::2]
        self.array = block.transpose(np.argsort(order))

    def fill(self, generator: np.random.Generator, softmax: bool) -> Operand:
        count = min(_PERIOD, self.memory.size)
        values = generator.random(count) / 64 if softmax else generator.standard_normal(count)
        self.memory[:] = np.resize(values.astype(self.memory.dtype), self.memory.size)
        return self


class Problem:
    """Arguments of one case in one dtype, results that every contender may overwrite, and the
    blocks of memory that must be read and written."""

    def __init__(self, case: Case, dtype: str) -> None:
        self.case, self.dtype = case, dtype
        self.numpy_dtype = np.dtype(_NUMPY[dtype])
        generator = np.random.default_rng(0)
        shape, layout = case.shape, case.layout
        result_layout = "" if layout in ("s2", "tc") else layout
        grad_shape = case.pooled_shape if case.operator == AVG_POOL else shape

        def operand(shape: tuple[int, ...], softmax: bool = False) -> Operand:
            return Operand(shape, self.numpy_dtype, layout, case.begin).fill(generator, softmax)

        grad = operand(grad_shape)
        self.sources = [grad]
        self.grad = grad.array
        self.target: Operand | None = None
        if case.operator != BATCH_NORM:
            self.target = Operand(shape, self.numpy_dtype, result_layout, case.begin)
            self.target.memory[:] = 0
        if case.operator == AVG_POOL:
            self.input = Operand(shape, self.numpy_dtype, layout).array  # its values are not read
        else:
            self.sources.append(operand(shape, case.operator == SOFTMAX))
            self.input = self.sources[1].array
        channels = 1 if case.label.endswith(" w1") else shape[1] if len(shape) > 1 else 1
        if case.operator == PRELU:
            self.weight = generator.random(channels).astype(self.numpy_dtype)
            self.weight_result = np.empty(channels, self.numpy_dtype)
        if case.operator == BATCH_NORM:
            self.mean = generator.standard_normal(channels).astype(np.float32)
            self.invstd = (generator.random(channels) + 0.5).astype(np.float32)
            self.sums = [np.empty(channels, np.float32) for _ in range(4)]

    @property
    def result(self) -> np.ndarray:
        """The preallocated large result; batch normalisation has none."""
        assert self.target is not None
        return self.target.array

    @property
    def attributes(self) -> dict[str, Any]:
        return self.case.attributes

    @property
    def moved_bytes(self) -> int:
        return moved_bytes(self.case, self.dtype)


def moved_bytes(case: Case, dtype: str) -> int:
    """Bytes that must be read and written: all cache lines that hold an element."""
    sliced = 2 if case.layout == "s2" else 1
    size = math.prod(case.shape)
    grad = math.prod(case.pooled_shape) if case.operator == AVG_POOL else size
    elements = {
        BATCH_NORM: 2 * size * sliced,
        AVG_POOL: grad * sliced + size,
        PRELU: 2 * size * sliced + size,
        SOFTMAX: 2 * size * sliced + size,
    }[case.operator]
    return elements * ITEM_BYTES[dtype]
