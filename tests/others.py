"""Minimal libraries that exchange arrays with cuscope; their descriptions of an array can be made wrong."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np

import cuscope as cs

CPU, CUDA, PINNED, EXTENSION, MANAGED = 1, 2, 3, 12, 13
READ_ONLY, IS_COPIED = 1, 2
CODES = {"i": 0, "u": 1, "f": 2, "c": 5, "b": 6}


class OnTheHost:
    """Exports a copy of an array on the host, also to a consumer that cannot ask for one."""

    def __init__(self, array: cs.DeviceArray) -> None:
        self.array = array

    def __dlpack__(self, **_: object) -> object:
        return self.array.__dlpack__(dl_device=(CPU, 0))

    def __dlpack_device__(self) -> tuple[int, int]:
        return CPU, 0


def on_the_host(array: cs.DeviceArray) -> np.ndarray:
    """NumPy's import of an array with DLPack. NumPy can ask for the host since 2.1."""
    if np.lib.NumpyVersion(np.__version__) >= "2.1.0":
        return np.from_dlpack(array, device="cpu")
    return np.from_dlpack(OnTheHost(array))


class Interface:
    """An array with __cuda_array_interface__ over a DeviceArray's memory."""

    def __init__(self, array: cs.DeviceArray, **changes: object) -> None:
        self.array = array
        self.said: object = {
            "shape": array.shape,
            "typestr": array.dtype.str,
            "data": (array.pointer, False),
            "strides": None if array.is_contiguous else array.strides,
            "version": 3,
        } | changes

    @property
    def __cuda_array_interface__(self) -> object:
        return self.said


class TheirStream:
    """A stream with no protocol but __cuda_stream__."""

    def __init__(self, stream: cs.Stream, answer: object = None) -> None:
        self.stream = stream
        self.answer = answer

    def __cuda_stream__(self) -> object:
        return (0, self.stream.handle) if self.answer is None else self.answer


class TorchStream:
    """A stream like PyTorch's before 2.10."""

    def __init__(self, stream: cs.Stream) -> None:
        self.stream = stream
        self.cuda_stream = stream.handle


class Device(ctypes.Structure):
    _fields_ = (("type", ctypes.c_int32), ("id", ctypes.c_int32))


class DataType(ctypes.Structure):
    _fields_ = (("code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16))


class DLTensor(ctypes.Structure):
    _fields_ = (
        ("data", ctypes.c_void_p),
        ("device", Device),
        ("ndim", ctypes.c_int32),
        ("dtype", DataType),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("byte_offset", ctypes.c_uint64),
    )


DELETER = ctypes.CFUNCTYPE(None, ctypes.c_void_p)


class Managed(ctypes.Structure):
    _fields_ = (("tensor", DLTensor), ("context", ctypes.c_void_p), ("deleter", DELETER))


class ManagedVersioned(ctypes.Structure):
    _fields_ = (
        ("major", ctypes.c_uint32),
        ("minor", ctypes.c_uint32),
        ("context", ctypes.c_void_p),
        ("deleter", DELETER),
        ("flags", ctypes.c_uint64),
        ("tensor", DLTensor),
    )


_api = ctypes.pythonapi
_api.PyCapsule_New.restype = ctypes.py_object
_api.PyCapsule_New.argtypes = (ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p)
_api.PyCapsule_GetPointer.restype = ctypes.c_void_p
_api.PyCapsule_GetPointer.argtypes = (ctypes.py_object, ctypes.c_char_p)
_api.PyCapsule_GetName.restype = ctypes.c_char_p
_api.PyCapsule_GetName.argtypes = (ctypes.py_object,)


def capsule_name(capsule: object) -> str:
    return _api.PyCapsule_GetName(capsule).decode()


def content(capsule: object) -> Managed | ManagedVersioned:
    """The content of a capsule that was not consumed yet."""
    name = _api.PyCapsule_GetName(capsule)
    kind = ManagedVersioned if name == b"dltensor_versioned" else Managed
    return kind.from_address(_api.PyCapsule_GetPointer(capsule, name))


def dlpack_device(device: cs.Device) -> tuple[int, int]:
    kind, number = device.name.split(":")
    return (CUDA if kind == "cuda" else EXTENSION, int(number))


class Held(list):
    """A list that is equal only to itself, because arrays cannot be compared."""

    __eq__ = object.__eq__
    __hash__ = object.__hash__


class Tensor:
    """An array with __dlpack__ over a DeviceArray's memory; ctypes makes its capsules."""

    alive: ClassVar[list[object]] = []  # objects that open capsules still need

    def __init__(self, array: cs.DeviceArray | None, **changes: Any) -> None:
        self.array = array
        self.changes = changes
        self.asked: list[dict[str, object]] = []
        self.deleted = 0
        self.on_delete: Callable[[], object] = lambda: None

    def __dlpack_device__(self) -> tuple[int, int]:
        assert self.array is not None
        return self.changes.get("device", dlpack_device(self.array.device))

    def __dlpack__(self, **asked: Any) -> object:
        self.asked.append(asked)
        if self.changes.get("old") and "max_version" in asked:
            raise TypeError("__dlpack__() got an unexpected keyword argument 'max_version'")
        return self.capsule(versioned=asked.get("max_version") is not None)

    def capsule(self, *, versioned: bool = True) -> object:
        array, changes = self.array, self.changes
        assert array is not None
        size = array.itemsize
        shape = changes.get("shape", array.shape)
        strides = changes.get("strides", tuple(step // size for step in array.strides))
        held = Held([array])

        def delete(_: object) -> None:
            self.deleted += 1
            self.on_delete()
            Tensor.alive.remove(held)

        managed = ManagedVersioned() if versioned else Managed()
        managed.deleter = DELETER() if changes.get("no_deleter") else DELETER(delete)
        if isinstance(managed, ManagedVersioned):
            managed.major, managed.minor = changes.get("version", (1, 1))
            managed.flags = changes.get("flags", 0)
        tensor = managed.tensor
        tensor.data = changes.get("data", array.pointer)
        tensor.device = Device(*self.__dlpack_device__())
        tensor.ndim = changes["ndim"] if "ndim" in changes else len(shape)
        own = DataType(CODES.get(array.dtype.kind, 2), size * 8, 1)
        tensor.dtype = DataType(*changes["dtype"]) if "dtype" in changes else own
        tensor.shape = (ctypes.c_int64 * len(shape))(*shape) if shape is not None else None
        tensor.strides = (ctypes.c_int64 * len(strides))(*strides) if strides is not None else None
        tensor.byte_offset = changes.get("byte_offset", 0)
        held += [managed, managed.deleter, tensor.shape, tensor.strides]
        Tensor.alive.append(held)
        name = changes.get("name", b"dltensor_versioned" if versioned else b"dltensor")
        held.append(name)
        return _api.PyCapsule_New(ctypes.addressof(managed), name, None)


def elements(shape: tuple[int, ...], dtype: object) -> np.ndarray:
    """Elements that all differ, for any dtype."""
    count = int(np.prod(shape, dtype=np.int64))
    return (np.arange(count) % 251).astype(dtype).reshape(shape)
