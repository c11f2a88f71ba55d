"""Objects that speak one protocol only, as arrays of other libraries do."""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np

CPU, CUDA, EXTENSION = 1, 2, 12
FLOAT, BFLOAT, INT = 2, 4, 0


class ArrayInterfaceOnly:
    def __init__(self, array: np.ndarray) -> None:
        self.array = array
        self.__array_interface__ = array.__array_interface__


class DLPackOnly:
    """Any NumPy array with a dtype that NumPy itself can export."""

    def __init__(self, array: np.ndarray) -> None:
        self.array = array

    def __dlpack__(self, **options: Any) -> Any:
        return self.array.__dlpack__(**options)

    def __dlpack_device__(self) -> tuple[int, int]:
        return self.array.__dlpack_device__()


class Tensor(ctypes.Structure):
    _fields_ = [
        ("data", ctypes.c_void_p),
        ("device_type", ctypes.c_int32),
        ("device_id", ctypes.c_int32),
        ("ndim", ctypes.c_int32),
        ("code", ctypes.c_uint8),
        ("bits", ctypes.c_uint8),
        ("lanes", ctypes.c_uint16),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("byte_offset", ctypes.c_uint64),
    ]


DELETER = ctypes.CFUNCTYPE(None, ctypes.c_void_p)


class ManagedTensor(ctypes.Structure):
    _fields_ = [("tensor", Tensor), ("context", ctypes.c_void_p), ("deleter", DELETER)]


new_capsule = ctypes.pythonapi.PyCapsule_New
new_capsule.restype = ctypes.py_object
new_capsule.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]


class OldDLPack:
    """Unversioned DLPack with an exporter that knows no options; counts what is exported and
    what the consumer gave back."""

    def __init__(
        self,
        array: np.ndarray,
        *,
        code: int = FLOAT,
        device: int = CPU,
        lanes: int = 1,
        compact: bool = False,
        byte_offset: int = 0,
    ) -> None:
        self.array, self.device = array, device
        self.exported = self.released = 0
        step = array.dtype.itemsize
        extents = (ctypes.c_int64 * array.ndim)(*array.shape)
        steps = (ctypes.c_int64 * array.ndim)(*(stride // step for stride in array.strides))
        self.keep = (extents, steps)
        self.managed = ManagedTensor(
            Tensor(
                array.ctypes.data - byte_offset,
                device,
                0,
                array.ndim,
                code,
                8 * step,
                lanes,
                extents,
                None if compact else steps,
                byte_offset,
            ),
            None,
            DELETER(self.release),
        )

    def release(self, _: int) -> None:
        self.released += 1

    def __dlpack__(self, stream: Any = None) -> Any:
        self.exported += 1
        return new_capsule(ctypes.addressof(self.managed), b"dltensor", None)

    def __dlpack_device__(self) -> tuple[int, int]:
        return self.device, 0


class OldTensor(OldDLPack):
    """One that hands out its address, as torch's tensors do."""

    def data_ptr(self) -> int:
        return self.array.ctypes.data


class VersionedTensor(ctypes.Structure):
    _fields_ = [
        ("major", ctypes.c_uint32),
        ("minor", ctypes.c_uint32),
        ("context", ctypes.c_void_p),
        ("deleter", DELETER),
        ("flags", ctypes.c_uint64),
        ("tensor", Tensor),
    ]


EXPORT = ctypes.PYFUNCTYPE(
    ctypes.c_int, ctypes.py_object, ctypes.POINTER(ctypes.POINTER(VersionedTensor))
)
READ_ONLY = 1


class ExchangeApi(ctypes.Structure):
    _fields_ = [
        ("major", ctypes.c_uint32),
        ("minor", ctypes.c_uint32),
        ("previous", ctypes.c_void_p),
        ("allocate", ctypes.c_void_p),
        ("export", EXPORT),
        ("others", ctypes.c_void_p * 3),
    ]


def exchanged(
    array: np.ndarray, *, flags: int = 0, major: int = 1, refuses: bool = False, **attributes: Any
) -> Any:
    """An object whose type has the C functions of DLPack 1.3; counts what is exported by them, by
    `__dlpack__`, and what the consumer gave back."""

    class Exchanged(OldTensor):
        by_function = 0

    @EXPORT
    def export(given: Any, to: Any) -> int:
        if refuses:
            return -1
        given.by_function += 1
        to[0] = ctypes.pointer(given.versioned)
        return 0

    api = ExchangeApi(major, 3, None, None, export)
    Exchanged.__dlpack_c_exchange_api__ = new_capsule(
        ctypes.addressof(api), b"dlpack_exchange_api", None
    )
    Exchanged.keep_alive = (api, export)
    for name, value in attributes.items():
        setattr(Exchanged, name, value)
    result = Exchanged(array)
    managed = result.managed
    result.versioned = VersionedTensor(1, 3, None, managed.deleter, flags, managed.tensor)
    return result
