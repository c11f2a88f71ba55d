"""Nothing outside an array is touched, not even read, but for gaps of less than a vector between
its elements: every array ends or begins at a page that cannot be accessed. Runs in a process of its
own, which a stray access would kill."""

from __future__ import annotations

import ctypes
import mmap
import signal
import sys
from itertools import product

import ascend_grad as ag
import numpy as np
import pytest
from arrays import DTYPES, LAYOUTS, place, reach
from subprocesses import run_python

PAGE = mmap.PAGESIZE
SHAPES = [
    (2, 3, 5),
    (1, 17, 4, 6),
    (3, 2, 1, 33),
    (2, 9, 7, 7),
    (1, 33, 3, 2),
    (40, 5, 2),
    (4, 9, 3, 3),
    (5, 18, 7),
    (9, 3, 11),
    (9, 120, 33),
    (2, 3, 50),
]
LIBC = ctypes.CDLL(None, use_errno=True)


def between_guards(
    shape: tuple[int, ...], dtype: np.dtype, layout: str, at_end: bool
) -> np.ndarray:
    """An array of that layout whose last (or first) byte touches an inaccessible page."""
    strides = place(shape, dtype, layout, np.random.default_rng(0)).array.strides
    return with_strides(shape, dtype, strides, at_end)


def with_strides(
    shape: tuple[int, ...], dtype: np.dtype, strides: tuple[int, ...], at_end: bool
) -> np.ndarray:
    low, high = reach(shape, strides)
    span = high - low + dtype.itemsize
    pages = -(-span // PAGE)
    memory = mmap.mmap(-1, (pages + 2) * PAGE)
    address = ctypes.addressof(ctypes.c_char.from_buffer(memory))
    for guard in (address, address + (pages + 1) * PAGE):
        if LIBC.mprotect(ctypes.c_void_p(guard), ctypes.c_size_t(PAGE), 0) != 0:
            raise OSError(ctypes.get_errno(), "mprotect")
    start = (pages + 1) * PAGE - span if at_end else PAGE
    array = np.ndarray(shape, dtype, memory, start - low, strides)
    array[...] = np.linspace(-1, 1, array.size).reshape(shape).astype(dtype)
    return array


def apart(rows: int, columns: int, dtype: np.dtype, step: int) -> np.ndarray:
    """Every row ends at an inaccessible page."""
    memory = mmap.mmap(-1, 2 * rows * PAGE)
    array = np.ndarray(
        (1, 1, rows, columns),
        dtype,
        memory,
        PAGE - ((columns - 1) * step + 1) * dtype.itemsize,
        (0, 0, 2 * PAGE, step * dtype.itemsize),
    )
    array[...] = 1
    for row in range(rows):
        address = ctypes.addressof(ctypes.c_char.from_buffer(memory)) + (2 * row + 1) * PAGE
        if LIBC.mprotect(ctypes.c_void_p(address), ctypes.c_size_t(PAGE), 0) != 0:
            raise OSError(ctypes.get_errno(), "mprotect")
    return array


def channels_last_apart(channels: int, rows: int, columns: int, dtype: np.dtype) -> np.ndarray:
    """Every row of pixels ends at an inaccessible page."""
    wide = apart(rows, columns * channels, dtype, 1)
    strides = (0, dtype.itemsize, wide.strides[2], channels * dtype.itemsize)
    return np.lib.stride_tricks.as_strided(wide, (1, channels, rows, columns), strides)


def call_with_gaps(dtype: np.dtype) -> None:
    for columns, step in product((1, 2, 5, 15, 16, 17, 33, 40), (1, 2, 3)):
        size = dtype.itemsize * step
        gradients = [apart(3, columns, dtype, step)]
        for odd in range(1, 2 * size):
            strides = (0, 0, columns * size + odd, size)
            gradients.append(with_strides((1, 1, 3, columns), dtype, strides, True))
        batch = apart(6, columns, dtype, step)[0, 0].reshape(2, 3, columns)
        ag.prelu_backward(batch, batch, np.ones(3, dtype))
        ag.batch_norm_reduce_backward(batch, batch, np.zeros(3, dtype), np.ones(3, dtype))
        for g in gradients:
            ag.softmax_backward(g, g, -1)
            ag.softmax_backward(g, g, -2)
            ag.prelu_backward(g, g, np.ones(1, dtype))
            ag.batch_norm_reduce_backward(g, g, np.zeros(1, dtype), np.ones(1, dtype))
            for kernel, stride, padding in ((2, 2, 0), (3, 2, 1), (3, 1, 1), (5, 1, 2)):
                extents = [(size - 1) * stride + kernel - 2 * padding for size in g.shape[2:]]
                if min(extents) > 0:
                    like = np.empty((1, 1, *extents), dtype)
                    ag.avg_pool2d_backward(g, like, kernel, stride, padding)


def call_channels_last(dtype: np.dtype) -> None:
    """Pooling to results whose channels are not last."""
    for channels in (2, 3, 5, 8, 16, 18, 33):
        gradients = [channels_last_apart(channels, 4, 12, dtype)]
        for shape, at_end in product(((1, channels, 4, 12), (2, channels, 5, 11)), (True, False)):
            gradients.append(between_guards(shape, dtype, "channels_last", at_end))
        for g, (kernel, padding) in product(gradients, ((2, 0), (3, 1))):
            like = np.empty((*g.shape[:2], 2 * g.shape[2], 2 * g.shape[3]), dtype)
            ag.avg_pool2d_backward(g, like, kernel, 2, padding)


def call_all(shape: tuple[int, ...], dtype: np.dtype, layout: str, at_end: bool) -> None:
    def new(extents: tuple[int, ...]) -> np.ndarray:
        return between_guards(extents, dtype, layout, at_end)

    channels = shape[1:2]
    g, x, out, statistics, sums = new(shape), new(shape), new(shape), new(channels), new(channels)
    for dim in range(len(shape)):
        ag.softmax_backward(g, x, dim, out=out)
    ag.prelu_backward(g, x, statistics, grad_input=out, grad_weight=sums)
    dense = between_guards(shape, dtype, "contiguous", at_end)
    ag.prelu_backward(dense, dense, statistics, grad_input=out)
    ag.prelu_backward(dense, x, statistics, grad_input=dense)
    ag.prelu_backward(g, x, new((1,)), grad_input=out)
    ag.batch_norm_reduce_backward(g, x, statistics, statistics, sum_dy=sums)
    image = shape if len(shape) == 4 else (*shape, 1)[:3]
    for kernel, stride, padding in ((1, 1, 0), (2, 2, 0), (2, 2, 1), (3, 1, 1), (5, 1, 2)):
        extents = [(size + 2 * padding - kernel) // stride + 1 for size in image[-2:]]
        if min(extents) > 0:
            gradient, target = new((*image[:-2], *extents)), new(image)
            ag.avg_pool2d_backward(
                gradient, x.reshape(image), kernel, stride, padding, grad_input=target
            )


def main(dtype: np.dtype) -> None:
    for layout, at_end in product(LAYOUTS, (True, False)):
        for length in (*range(1, 36), 63, 64, 65, 1023, 1025):
            call_all((2, length), dtype, layout, at_end)
            call_all((length, 3), dtype, layout, at_end)
        for shape in SHAPES:
            call_all(shape, dtype, layout, at_end)
    call_with_gaps(dtype)
    call_channels_last(dtype)
    print("done")


@pytest.mark.skipif(sys.platform != "linux", reason="needs mprotect of Linux")
@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("isa", ag.build_info()["isa_available"])
def test_guard_pages(dtype: np.dtype, isa: str) -> None:
    done = run_python(__file__, dtype.name, ASCEND_GRAD_ISA=isa)
    assert (done.returncode, done.stdout) == (0, "done\n"), done.stderr[-2000:]


@pytest.mark.skipif(sys.platform != "linux", reason="needs mprotect of Linux")
@pytest.mark.parametrize("at_end", [True, False])
def test_a_stray_access_is_deadly(at_end: bool) -> None:
    code = (
        "import numpy as np; from test_guard_pages import between_guards; import ctypes;"
        f"a = between_guards((5,), np.dtype('f4'), 'contiguous', {at_end});"
        f"ctypes.string_at(a.ctypes.data + ({20 if at_end else -1}), 1)"
    )
    assert run_python("-c", code).returncode == -signal.SIGSEGV


if __name__ == "__main__":
    main(next(dtype for dtype in DTYPES if dtype.name == sys.argv[1]))
