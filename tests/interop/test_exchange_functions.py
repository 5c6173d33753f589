"""DLPack's C functions, which array types publish from version 1.3 on: those of other libraries, and ours."""

from __future__ import annotations

import ctypes
import gc
import os
import subprocess
import sys
import threading

import numpy as np
import pytest

import cuscope as cs
from cuscope import _core
from exchange_functions import (
    ALLOCATE,
    ATTRIBUTE,
    EXPORT,
    IMPORT,
    SET_ERROR,
    STREAM,
    Functions,
    delete,
    functions_of,
    make,
    taken,
)
from others import EXTENSION, READ_ONLY, DataType, Device, DLTensor, Tensor, dlpack_device, elements
from support import TESTS, second, spin

CPU = 1
USES = {"asarray": cs.asarray, "from_dlpack": cs.from_dlpack}


# ---- arrays of other libraries


@pytest.mark.parametrize("use", USES)
@pytest.mark.parametrize("dtype", ["?", "i1", "u2", "i4", "f2", "f4", "f8", "c16"])
def test_an_array_is_taken_by_the_functions_of_its_type(device: cs.Device, use: str, dtype: str) -> None:
    array = cs.to_device(elements((3, 4), dtype))
    theirs = make(array.T)

    ours = USES[use](theirs)

    assert (theirs.exported, theirs.asked) == (1, [])
    assert theirs.on == [dlpack_device(device)]
    assert ours.pointer == array.pointer
    assert (ours.shape, ours.dtype, ours.strides) == (array.T.shape, array.dtype, array.T.strides)
    assert np.array_equal(ours.to_host(), elements((3, 4), dtype).T)


def test_an_argument_of_a_kernel_and_a_source_are_taken_by_the_functions(device: cs.Device) -> None:
    theirs = make(cs.full(4, 7.0, np.float32))
    ours = cs.empty(4)

    ours.copy_from(theirs)
    copied = cs.to_device(theirs)

    assert ours.to_host().tolist() == copied.to_host().tolist() == [7, 7, 7, 7]
    assert (theirs.exported, theirs.asked) == (2, [])


def test_a_read_only_array_is_not_written(device: cs.Device) -> None:
    ours = cs.asarray(make(cs.zeros(4), flags=READ_ONLY))
    with pytest.raises(ValueError, match="read-only"):
        ours.fill(1)


@pytest.mark.no_initcheck("it waits for every kernel")
def test_our_stream_waits_for_theirs(device: cs.Device) -> None:
    spin(device, 0)  # loads the kernel
    theirs, ours, third = (cs.Stream(non_blocking=True) for _ in range(3))
    tensor = make(cs.zeros(4, np.int32), stream=theirs)
    device.synchronize()
    spin(device, 0.05, theirs)

    array = cs.asarray(tensor, stream=ours)
    waits = ours.query()
    third_before = third.query()
    array.copy_to(cs.empty(4, np.int32, stream=third), stream=third)
    third_after = third.query()

    assert (waits, third_before, third_after) == (False, True, False)
    device.synchronize()


def test_the_array_is_given_back_once_after_its_last_use(device: cs.Device) -> None:
    spin(device, 0)  # loads the kernel
    stream = cs.Stream()
    tensor = make(cs.zeros(4, np.int32))
    array = cs.asarray(tensor)
    device.synchronize()
    spin(device, 0.02, stream)
    array.copy_to(cs.empty(4, np.int32), stream=stream)

    del array
    gc.collect()
    early = tensor.deleted
    device.synchronize()
    cs.empty(1)  # completes releases that were put off

    assert (early, tensor.deleted) == (0, 1)


def test_an_array_may_be_dropped_on_another_thread(device: cs.Device) -> None:
    tensor = make(cs.zeros(4, np.int32))
    held = [cs.asarray(tensor)]
    device.synchronize()

    thread = threading.Thread(target=held.clear)
    thread.start()
    thread.join()

    assert tensor.deleted == 1


FALL_BACK = {
    "functions of version 2": {"table": {"major": 2}},
    "no function that exports": {"table": {"export": None}},
    "no function for the stream": {"table": {"stream": None}},
    "a capsule of another name": {"table": {"capsule": b"something"}},
    "an export that fails": {"fail": "export"},
    "an export of nothing": {"fail": "nothing"},
    "a stream that fails": {"fail": "stream"},
}


@pytest.mark.parametrize("what", FALL_BACK)
def test_without_usable_functions_the_method_is_called(device: cs.Device, what: str) -> None:
    theirs = make(cs.full(2, 7.0), **FALL_BACK[what])

    ours = cs.asarray(theirs)

    assert ours.to_host().tolist() == [7, 7]
    assert len(theirs.asked) == 1
    del ours
    gc.collect()
    device.synchronize()
    cs.empty(1)
    assert theirs.deleted == len(theirs.asked) + (theirs.exported if what == "a stream that fails" else 0)


def test_an_attribute_that_is_no_capsule_is_ignored(device: cs.Device) -> None:
    for attribute in (None, 0, 1 << 20, "text", object()):
        theirs = type("Odd", (Tensor,), {ATTRIBUTE: attribute})(cs.full(2, 7.0))
        assert cs.asarray(theirs).to_host().tolist() == [7, 7]
        assert len(theirs.asked) == 1


def test_functions_that_refuse_with_an_exception_leave_it_to_the_method(device: cs.Device) -> None:
    # Our own functions take no array of another type.
    theirs = type("Wrong", (Tensor,), {ATTRIBUTE: getattr(cs.DeviceArray, ATTRIBUTE)})(cs.full(2, 7.0))

    assert cs.asarray(theirs).to_host().tolist() == [7, 7]
    assert len(theirs.asked) == 1


def test_older_functions_behind_new_ones_are_found(device: cs.Device) -> None:
    older = make(cs.full(2, 7.0))
    theirs = make(
        cs.full(2, 7.0), table={"major": 2, "export": None, "previous": ctypes.pointer(older.table.header)}
    )

    assert cs.asarray(theirs).to_host().tolist() == [7, 7]
    assert (theirs.exported, theirs.asked) == (1, [])


def test_a_derived_type_is_asked_by_its_method(device: cs.Device) -> None:
    theirs = make(cs.full(2, 7.0))
    theirs.__class__ = type("Derived", (type(theirs),), {})

    assert cs.asarray(theirs).to_host().tolist() == [7, 7]
    assert (theirs.exported, len(theirs.asked)) == (0, 1)


def test_a_tensor_with_gradients_is_left_to_its_method(device: cs.Device) -> None:
    theirs = make(cs.full(2, 7.0))
    type(theirs).requires_grad = property(lambda self: self.gradients)
    for theirs.gradients, exported in ((True, 0), (False, 1)):
        cs.asarray(theirs)
        assert theirs.exported == exported
    assert len(theirs.asked) == 1


def test_a_lazy_conjugate_is_left_to_its_method(device: cs.Device) -> None:
    for dtype, asked in ((np.complex64, 1), (np.float32, 0)):
        theirs = make(cs.zeros(2, dtype))
        type(theirs).is_conj = lambda self: True
        cs.asarray(theirs)
        assert len(theirs.asked) == asked


def test_during_a_capture_the_method_is_called(device: cs.Device) -> None:
    theirs, stream = make(cs.full(2, 7.0)), cs.Stream()
    with stream.capture():
        cs.asarray(theirs, stream=stream)
    assert (theirs.exported, len(theirs.asked)) == (0, 1)


@pytest.mark.parametrize(
    ("changes", "error", "message"),
    [
        ({"version": (2, 0)}, BufferError, "DLPack 2.0"),
        ({"shape": (-4,)}, BufferError, "extent of -4"),
        ({"shape": None, "ndim": 3}, BufferError, "axes"),
        ({"dtype": (99, 32, 1)}, BufferError, "code 99"),
        ({"shape": (1 << 40,), "strides": None}, ValueError, "more than its memory"),
        ({"data": 1 << 20}, ValueError, "no device's memory"),
        ({"device": (EXTENSION, 7777)}, BufferError, "7777"),
    ],
    ids=lambda value: str(value) if isinstance(value, dict) else "",
)
def test_a_wrong_tensor_is_refused_and_given_back(
    device: cs.Device, changes: dict[str, object], error: type[Exception], message: str
) -> None:
    theirs = make(cs.zeros(4), **changes)
    with pytest.raises(error, match=message):
        cs.asarray(theirs)
    gc.collect()
    assert theirs.deleted == theirs.exported + len(theirs.asked)


# ---- our own functions


@pytest.fixture
def functions() -> Functions:
    return functions_of(cs.DeviceArray)


def exported(functions: Functions, array: object) -> int | None:
    out = ctypes.c_void_p()
    assert EXPORT(functions.export)(array, ctypes.byref(out)) == 0
    return out.value


def imported(functions: Functions, tensor: int | None) -> cs.DeviceArray:
    out = ctypes.c_void_p()
    assert IMPORT(functions.take)(tensor, ctypes.byref(out)) == 0
    array = ctypes.cast(out, ctypes.py_object).value
    ctypes.pythonapi.Py_DecRef(ctypes.py_object(array))  # the caller owns the new reference
    return array


def test_our_type_publishes_the_functions(functions: Functions) -> None:
    assert (functions.header.major, functions.header.minor >= 3) == (1, True)
    assert not functions.header.previous
    assert all((functions.allocate, functions.export, functions.take, functions.stream))
    assert functions.borrow is None


def test_an_exported_tensor_describes_the_array(device: cs.Device, functions: Functions) -> None:
    array = cs.to_device(elements((3, 4), np.int32))[:, ::2]

    tensor = taken(exported(functions, array))

    assert (tensor.major, tensor.flags) == (1, 0)
    assert tensor.tensor.data + tensor.tensor.byte_offset == array.pointer
    assert (tensor.tensor.device.type, tensor.tensor.device.id) == dlpack_device(device)
    assert tensor.tensor.shape[: tensor.tensor.ndim] == [3, 2]
    assert tensor.tensor.strides[: tensor.tensor.ndim] == [4, 2]
    assert (tensor.tensor.dtype.code, tensor.tensor.dtype.bits, tensor.tensor.dtype.lanes) == (0, 32, 1)
    delete(tensor)


def test_an_exported_tensor_keeps_the_memory(device: cs.Device, functions: Functions) -> None:
    gc.collect()
    before = _core.live()["device_memory"]
    array = cs.full(4, 7.0, np.float32)
    tensor = exported(functions, array)
    pointer = array.pointer

    del array
    gc.collect()
    kept = _core.live()["device_memory"]
    back = imported(functions, tensor)

    assert kept == before + 1
    assert back.pointer == pointer
    assert back.to_host().tolist() == [7, 7, 7, 7]
    del back
    gc.collect()
    device.synchronize()
    cs.empty(1)
    assert _core.live()["device_memory"] == before


def test_a_tensor_may_be_deleted_on_another_thread(device: cs.Device, functions: Functions) -> None:
    gc.collect()
    before = _core.live()["device_memory"]
    tensor = taken(exported(functions, cs.zeros(4)))

    thread = threading.Thread(target=delete, args=(tensor,))
    thread.start()
    thread.join()

    assert _core.live()["device_memory"] == before


def test_read_only_is_said(device: cs.Device, functions: Functions) -> None:
    tensor = taken(exported(functions, cs.asarray(make(cs.zeros(4), flags=READ_ONLY))))
    assert tensor.flags == READ_ONLY
    delete(tensor)


def test_the_current_stream_waits_for_the_allocation(device: cs.Device, functions: Functions) -> None:
    spin(device, 0)  # loads the kernel
    first, second_ = cs.Stream(non_blocking=True), cs.Stream(non_blocking=True)
    device.synchronize()
    spin(device, 0.05, first)
    array = cs.empty(4, stream=first)

    with second_:
        tensor = taken(exported(functions, array))
    waits = not second_.query()

    assert waits
    device.synchronize()
    delete(tensor)


def test_an_export_in_a_capture_is_kept_by_the_graph(device: cs.Device, functions: Functions) -> None:
    gc.collect()
    before = _core.live()["device_memory"]
    stream, array = cs.Stream(), cs.zeros(4)
    with stream.capture() as graph:
        delete(taken(exported(functions, array)))
    del array
    gc.collect()
    assert _core.live()["device_memory"] == before + 1
    del graph
    gc.collect()
    assert _core.live()["device_memory"] == before


def test_wrong_arguments_are_refused_with_an_exception(device: cs.Device, functions: Functions) -> None:
    out = ctypes.c_void_p()
    with pytest.raises(TypeError, match=r"takes a DeviceArray, not numpy\.ndarray"):
        EXPORT(functions.export)(np.zeros(2), ctypes.byref(out))
    with pytest.raises(ValueError, match="null pointer"):
        EXPORT(functions.export)(cs.zeros(2), None)
    with pytest.raises(ValueError, match="null pointer"):
        IMPORT(functions.take)(None, ctypes.byref(out))
    with pytest.raises(ValueError, match="null pointer"):
        STREAM(functions.stream)(*dlpack_device(device), None)
    closed = cs.zeros(2)
    closed.close()
    with pytest.raises(ValueError, match="closed"):
        EXPORT(functions.export)(closed, ctypes.byref(out))
    with pytest.raises(BufferError, match="no elements of dtype"):
        EXPORT(functions.export)(cs.zeros(2, np.dtype([("x", "f4")])), ctypes.byref(out))
    assert out.value is None


def test_a_tensor_of_another_version_is_refused_and_given_back(
    device: cs.Device, functions: Functions
) -> None:
    theirs = make(cs.zeros(4), version=(2, 0))
    out = ctypes.c_void_p()
    EXPORT(theirs.table.export)(theirs, ctypes.byref(out))
    with pytest.raises(BufferError, match=r"DLPack 2\.0"):
        imported(functions, out.value)
    gc.collect()
    assert theirs.deleted == 1


def test_an_imported_tensor_waits_for_the_current_stream(device: cs.Device, functions: Functions) -> None:
    spin(device, 0)  # loads the kernel
    current, other = cs.Stream(non_blocking=True), cs.Stream(non_blocking=True)
    theirs = make(cs.zeros(4, np.int32))
    target = cs.empty(4, np.int32, stream=other)
    out = ctypes.c_void_p()
    EXPORT(theirs.table.export)(theirs, ctypes.byref(out))
    device.synchronize()
    spin(device, 0.05, current)

    with current:
        array = imported(functions, out.value)
    array.copy_to(target, stream=other)
    waits = not other.query()

    assert waits
    device.synchronize()


def allocate(functions: Functions, **changes: object) -> tuple[int, int | None, list[tuple[bytes, bytes]]]:
    """Calls the function without the GIL: its answer, the tensor, and the errors that it reported."""
    errors: list[tuple[bytes, bytes]] = []
    shape = changes.get("shape", (2, 3))
    prototype = DLTensor()
    prototype.ndim = len(shape) if shape is not None else 2
    prototype.shape = (ctypes.c_int64 * len(shape))(*shape) if shape is not None else None
    prototype.dtype = DataType(*changes.get("dtype", (2, 32, 1)))
    prototype.device = Device(*changes["device"])
    out = ctypes.c_void_p()
    report = SET_ERROR(lambda context, kind, message: errors.append((kind, message)))
    given = ctypes.addressof(prototype) if changes.get("prototype", True) else None
    answer = ALLOCATE(functions.allocate)(given, ctypes.byref(out), None, report)
    return answer, out.value, errors


@pytest.mark.parametrize("shape", [(2, 3), (), (0, 4), (5,)])
def test_a_tensor_is_allocated(device: cs.Device, functions: Functions, shape: tuple[int, ...]) -> None:
    answer, tensor, errors = allocate(functions, device=dlpack_device(device), shape=shape)
    assert (answer, errors) == (0, [])

    array = imported(functions, tensor)

    assert (array.shape, array.dtype, array.device) == (shape, np.float32, device)
    array.fill(7)
    assert np.array_equal(array.to_host(), np.full(shape, 7, np.float32))


@pytest.mark.parametrize(
    ("changes", "kind", "message"),
    [
        ({"shape": (2, -3)}, b"ValueError", b"extent of -3"),
        ({"shape": None}, b"ValueError", b"with a shape"),
        ({"shape": (1 << 40, 1 << 40)}, b"ValueError", b"more elements than there are addresses"),
        ({"shape": (1 << 45,)}, b"MemoryError", b"bytes on"),
        ({"device": (CPU, 0)}, b"BufferError", b"(1, 0)"),
        ({"device": (EXTENSION, 7777)}, b"BufferError", b"(12, 7777)"),
        ({"prototype": False}, b"ValueError", b"null pointer"),
    ],
    ids=str,
)
def test_a_wrong_prototype_is_reported(
    device: cs.Device, functions: Functions, changes: dict[str, object], kind: bytes, message: bytes
) -> None:
    answer, tensor, errors = allocate(functions, **{"device": dlpack_device(device)} | changes)
    assert (answer, tensor) == (-1, None)
    assert [one for one, _ in errors] == [kind]
    assert message in errors[0][1]


def test_the_current_work_stream_is_the_current_stream(device: cs.Device, functions: Functions) -> None:
    def asked(type_: int, number: int) -> int | None:
        out = ctypes.c_void_p(1 << 20)
        assert STREAM(functions.stream)(type_, number, ctypes.byref(out)) == 0
        return out.value

    place = dlpack_device(device)
    assert asked(*place) == cs.current_stream().handle
    with cs.Stream() as stream:
        assert asked(*place) == stream.handle
    other = second(device)
    with cs.Stream(device=other) as stream:
        assert asked(*dlpack_device(other)) == stream.handle
        assert asked(*place) == 1  # the legacy default stream
    assert asked(CPU, 0) is None
    with pytest.raises(BufferError, match="7777"):
        asked(EXTENSION, 7777)


def test_both_sides_agree(device: cs.Device, functions: Functions) -> None:
    """A type that hands on an array of ours by our own functions."""
    array = cs.to_device(elements((3, 4), np.int16))
    callback = EXPORT(lambda holder, out: EXPORT(functions.export)(holder.array, out))
    address = ctypes.cast(callback, ctypes.c_void_p).value
    holder = make(array, table={"export": address, "stream": functions.stream})

    ours = cs.asarray(holder)

    assert (ours.pointer, holder.exported, holder.asked) == (array.pointer, 0, [])
    assert np.array_equal(ours.to_host(), array.to_host())


EXIT = """
import sys
sys.path.insert(0, {tests!r})
import ctypes
import cuscope as cs
from exchange_functions import EXPORT, delete, functions_of, make, taken
out = ctypes.c_void_p()
EXPORT(functions_of(cs.DeviceArray).export)(cs.zeros(4), ctypes.byref(out))
class Late:
    tensor, array, delete = taken(out.value), cs.asarray(make(cs.zeros(4))), staticmethod(delete)
    def __del__(self):
        self.delete(self.tensor)
sys.late = Late()  # deleted with the interpreter's last module
print("end")
"""


@pytest.mark.subprocess
def test_tensors_may_outlive_the_interpreter(device: cs.Device) -> None:
    code = EXIT.format(tests=str(TESTS))
    ended = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        timeout=120,
        env=os.environ | {"CUSCOPE_DEVICE": device.name},
    )
    assert (ended.returncode, ended.stdout) == (0, "end\n"), ended.stderr
