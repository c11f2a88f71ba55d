"""oneDNN 3 through its C library (package onednn-cpu-gomp, or a system's libdnnl): primitives that
are built once and executed on preallocated results. Dense arrays only; batch normalisation always
computes the input's gradient too."""

from __future__ import annotations

import ctypes
import ctypes.util
import sys
from collections.abc import Callable, Sequence
from ctypes import byref, c_float, c_int, c_int64, c_uint, c_void_p
from pathlib import Path
from typing import Any

import numpy as np

from ascend_grad.bench.cases import AVG_POOL, BATCH_NORM, PRELU
from ascend_grad.bench.contenders import PREPARED
from ascend_grad.bench.problem import Operand, Problem

_CPU, _IN_ORDER = 1, 1
_DTYPES = {"float16": 1, "bfloat16": 2, "float32": 3}
_FORWARD, _BACKWARD = 64, 128
_SOFTMAX, _POOL_WITH_PADDING, _POOL_WITHOUT_PADDING = 0x30000, 0x2FF, 0x3FF
_USE_SCALE, _USE_SHIFT = 2, 4
_EPSILON = 1e-5
_SRC, _DST, _WEIGHTS, _MEAN, _VARIANCE, _SCALE = 1, 17, 33, 49, 50, 51
_DIFF_SRC, _DIFF_DST, _DIFF_WEIGHTS, _DIFF_SCALE, _DIFF_SHIFT = 129, 145, 161, 255, 256


class _Version(ctypes.Structure):
    _fields_ = [("major", c_int), ("minor", c_int), ("patch", c_int)]


class _Argument(ctypes.Structure):
    _fields_ = [("index", c_int), ("memory", c_void_p)]


class _Unsupported(Exception):
    pass


class _Library:
    def __init__(self) -> None:
        bundled = Path(sys.prefix) / "lib" / "libdnnl.so.3"
        name = str(bundled) if bundled.exists() else ctypes.util.find_library("dnnl")
        if not name:
            raise ImportError("libdnnl is not installed (pip install onednn-cpu-gomp)")
        self.dll = ctypes.CDLL(name)
        self.openmp = ctypes.CDLL("libgomp.so.1")
        self.dll.dnnl_version.restype = ctypes.POINTER(_Version)
        version = self.dll.dnnl_version().contents
        if version.major != 3:
            raise ImportError(f"oneDNN 3 is needed, {name} has version {version.major}")
        self.version = f"{version.major}.{version.minor}.{version.patch}"
        self.engine = self.create("engine_create", c_int(_CPU), ctypes.c_size_t(0))
        self.stream = self.create("stream_create", self.engine, c_uint(_IN_ORDER))

    def create(self, function: str, *arguments: Any) -> c_void_p:
        created = c_void_p()
        if getattr(self.dll, f"dnnl_{function}")(byref(created), *arguments) != 0:
            raise _Unsupported(function)
        return created

    def descriptor(self, array: np.ndarray, dtype: str, shape: Sequence[int] = ()) -> c_void_p:
        """`shape`: a dense array's other shape."""
        strides = [stride // array.itemsize for stride in array.strides]
        if shape:
            strides = [int(np.prod(shape[axis + 1 :])) for axis in range(len(shape))]
        dims = shape or array.shape
        return self.create(
            "memory_desc_create_with_strides",
            c_int(len(dims)),
            _dims(dims),
            c_int(_DTYPES[dtype]),
            _dims(strides),
        )

    def primitive(self, description: c_void_p, arguments: dict[int, tuple]) -> Callable[[], None]:
        """`arguments`: array and descriptor by argument number."""
        primitive = self.create("primitive_create", description)
        packed = (_Argument * len(arguments))()
        for slot, (index, (array, descriptor)) in zip(packed, arguments.items(), strict=True):
            data = c_void_p(array.ctypes.data)
            slot.index = index
            slot.memory = self.create("memory_create", descriptor, self.engine, data).value
        execute, wait = self.dll.dnnl_primitive_execute, self.dll.dnnl_stream_wait
        count, keep = c_int(len(arguments)), [array for array, _ in arguments.values()]

        def run() -> None:
            if execute(primitive, self.stream, count, packed) or wait(self.stream) or not keep:
                raise RuntimeError("oneDNN failed")

        return run


_library: _Library | None = None


def _dims(values: Sequence[int]) -> Any:
    return (c_int64 * 12)(*values)


def load() -> str:
    global _library
    _library = _library or _Library()
    return _library.version


def set_threads(count: int) -> bool:
    assert _library is not None
    _library.openmp.omp_set_num_threads(c_int(count))
    return True


def calls(problem: Problem) -> dict[str, Callable[[], Any]]:
    """Nothing where oneDNN has no such primitive, as for 16-bit types on older processors."""
    if problem.case.layout not in ("", "cl") or problem.attributes.get("divisor_override"):
        return {}
    kind = {BATCH_NORM: _batch_norm, AVG_POOL: _avg_pool, PRELU: _prelu}
    try:
        return {PREPARED: kind.get(problem.case.operator, _softmax)(problem)}
    except _Unsupported:
        return {}


def reorder(source: np.ndarray, target: np.ndarray, dtype: str) -> Callable[[], None]:
    """Copies from one layout to another."""
    library = _library
    assert library is not None
    of_source, of_target = (library.descriptor(array, dtype) for array in (source, target))
    ends = (of_source, library.engine, of_target, library.engine, None)
    description = library.create("reorder_primitive_desc_create", *ends)
    return library.primitive(description, {_SRC: (source, of_source), _DST: (target, of_target)})


def _pair(library: _Library, name: str, forward: tuple, backward: tuple) -> c_void_p:
    """The backward primitive's description; forward's is a hint that it wants to see."""
    hint = library.create(f"{name}_forward_primitive_desc_create", library.engine, *forward, None)
    description = f"{name}_backward_primitive_desc_create"
    return library.create(description, library.engine, *backward, hint, None)


def _batch_norm(problem: Problem) -> Callable[[], Any]:
    library, dtype = _library, problem.dtype
    assert library is not None
    grad, input = problem.grad, problem.input
    grad_input = Operand(input.shape, problem.numpy_dtype, problem.case.layout).array
    data = library.descriptor(grad, dtype)
    variance = (1 / problem.invstd**2 - _EPSILON).astype(np.float32)
    scale = np.ones_like(problem.mean)
    statistic = library.descriptor(problem.mean, "float32")
    grad_scale, grad_shift = problem.sums[2:]
    settings = (c_float(_EPSILON), c_uint(_USE_SCALE | _USE_SHIFT))
    description = _pair(
        library,
        "batch_normalization",
        (c_int(_FORWARD), data, data, *settings),
        (c_int(_BACKWARD), data, data, data, *settings),
    )
    vectors = {_MEAN: problem.mean, _VARIANCE: variance, _SCALE: scale, _DIFF_SCALE: grad_scale,
               _DIFF_SHIFT: grad_shift}  # fmt: skip
    arguments = {_SRC: (input, data), _DIFF_DST: (grad, data), _DIFF_SRC: (grad_input, data)}
    arguments |= {index: (array, statistic) for index, array in vectors.items()}
    run = library.primitive(description, arguments)

    def sums() -> Any:
        run()
        return grad_shift, grad_scale / problem.invstd

    return sums


def _avg_pool(problem: Problem) -> Callable[[], Any]:
    library, a = _library, problem.attributes
    assert library is not None
    kernel, stride, padding = (a[name] for name in ("kernel_size", "stride", "padding"))
    after = [
        max(0, (outputs - 1) * stride + kernel - extent - padding)
        for outputs, extent in zip(problem.grad.shape[2:], problem.result.shape[2:], strict=True)
    ]
    algorithm = c_int(_POOL_WITH_PADDING if a["count_include_pad"] else _POOL_WITHOUT_PADDING)
    grad = library.descriptor(problem.grad, problem.dtype)
    result = library.descriptor(problem.result, problem.dtype)
    window = (
        _dims([stride] * 2),
        _dims([kernel] * 2),
        _dims([0, 0]),
        _dims([padding] * 2),
        _dims(after),
    )
    description = _pair(
        library,
        "pooling",
        (c_int(_FORWARD), algorithm, result, grad, *window),
        (algorithm, result, grad, *window),
    )
    arguments = {_DIFF_DST: (problem.grad, grad), _DIFF_SRC: (problem.result, result)}
    return _then(library.primitive(description, arguments), problem.result)


def _prelu(problem: Problem) -> Callable[[], Any]:
    library = _library
    assert library is not None
    shape = [-1 if axis == 1 else 1 for axis in range(problem.grad.ndim)]
    shape[1] = problem.weight.size
    data = library.descriptor(problem.grad, problem.dtype)
    weight = library.descriptor(problem.weight, problem.dtype, shape)
    description = _pair(
        library,
        "prelu",
        (c_int(_FORWARD), data, weight, data),
        (data, weight, data, weight, data),
    )
    arguments = {
        _SRC: (problem.input, data),
        _WEIGHTS: (problem.weight, weight),
        _DIFF_DST: (problem.grad, data),
        _DIFF_SRC: (problem.result, data),
        _DIFF_WEIGHTS: (problem.weight_result, weight),
    }
    run = library.primitive(description, arguments)
    return _then(run, (problem.result, problem.weight_result))


def _softmax(problem: Problem) -> Callable[[], Any]:
    library = _library
    assert library is not None
    data = library.descriptor(problem.grad, problem.dtype)
    algorithm = c_int(_SOFTMAX)
    axis = c_int(problem.attributes["dim"] % problem.grad.ndim)
    description = _pair(
        library,
        "softmax",
        (c_int(_FORWARD), algorithm, data, data, axis),
        (algorithm, data, data, data, axis),
    )
    arrays = {_DST: problem.input, _DIFF_DST: problem.grad, _DIFF_SRC: problem.result}
    arguments = {index: (array, data) for index, array in arrays.items()}
    return _then(library.primitive(description, arguments), problem.result)


def _then(run: Callable[[], None], result: Any) -> Callable[[], Any]:
    def call() -> Any:
        run()
        return result

    return call
