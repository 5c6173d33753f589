"""A library whose array type publishes DLPack's C functions; ctypes makes the functions, which can be made wrong."""

from __future__ import annotations

import ctypes
from typing import Any

import cuscope as cs
from others import DELETER, ManagedVersioned, Tensor, content

NAME = b"dlpack_exchange_api"
ATTRIBUTE = "__dlpack_c_exchange_api__"
POINTER = ctypes.POINTER(ctypes.c_void_p)
SET_ERROR = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_char_p, ctypes.c_char_p)
ALLOCATE = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, POINTER, ctypes.c_void_p, SET_ERROR)
EXPORT = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.py_object, POINTER)
IMPORT = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.c_void_p, POINTER)
STREAM = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.c_int32, ctypes.c_int32, POINTER)


class Header(ctypes.Structure):
    pass


Header._fields_ = (
    ("major", ctypes.c_uint32),
    ("minor", ctypes.c_uint32),
    ("previous", ctypes.POINTER(Header)),
)


class Functions(ctypes.Structure):
    _fields_ = (
        ("header", Header),
        ("allocate", ctypes.c_void_p),
        ("export", ctypes.c_void_p),
        ("take", ctypes.c_void_p),
        ("borrow", ctypes.c_void_p),
        ("stream", ctypes.c_void_p),
    )


_api = ctypes.pythonapi
_kept: list[object] = []  # the functions live as long as the process, as the protocol demands


def published(table: Functions, name: bytes = NAME) -> object:
    """The capsule that a type has as its attribute."""
    _kept.append((table, name))
    return _api.PyCapsule_New(ctypes.addressof(table), name, None)


def functions_of(type_: type) -> Functions:
    """The functions that a type publishes."""
    return Functions.from_address(_api.PyCapsule_GetPointer(getattr(type_, ATTRIBUTE), NAME))


class Exchanged(Tensor):
    """An array whose functions take part in the exchange. A type of its own for each object: see `make`."""

    exported: int
    stream: cs.Stream | None
    on: list[tuple[int, int]]  # the devices that were asked for their stream


def make(
    array: cs.DeviceArray,
    *,
    stream: cs.Stream | None = None,
    table: dict[str, Any] | None = None,
    fail: str = "",
    **changes: Any,
) -> Any:
    """An array with a type of its own. `table` changes fields of the table, `fail` names a function that fails."""

    def export(tensor: Any, out: Any) -> int:
        tensor.exported += 1
        if fail == "export":
            return -1
        if fail == "nothing":
            out[0] = None
            return 0
        out[0] = ctypes.addressof(content(tensor.capsule()))
        return 0

    def current(type_: int, number: int, out: Any) -> int:
        made.on.append((type_, number))
        if fail == "stream":
            return -1
        out[0] = stream.handle if stream is not None else None
        return 0

    callbacks = EXPORT(export), STREAM(current)
    functions = Functions()
    functions.header.major, functions.header.minor = 1, 3
    functions.export, functions.stream = (ctypes.cast(one, ctypes.c_void_p).value for one in callbacks)
    for name, value in (table or {}).items():
        if name in ("major", "minor", "previous"):
            setattr(functions.header, name, value)
        elif name != "capsule":
            setattr(functions, name, value)
    _kept.append(callbacks)
    capsule = published(functions, (table or {}).get("capsule", NAME))
    made = type("Exchanged", (Exchanged,), {ATTRIBUTE: capsule, "table": functions})(array, **changes)
    made.exported, made.stream, made.on = 0, stream, []
    return made


def taken(pointer: int | None) -> ManagedVersioned:
    """The tensor at an address that a function gave."""
    return ManagedVersioned.from_address(pointer)


def delete(tensor: ManagedVersioned) -> None:
    DELETER.from_buffer(tensor, ManagedVersioned.deleter.offset)(ctypes.addressof(tensor))
