"""Our arrays in the protocols that other libraries use: DLPack, __cuda_array_interface__, the buffer protocol."""

from __future__ import annotations

import ctypes
import gc
import threading

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import cuscope as cs
from others import (
    CPU,
    CUDA,
    EXTENSION,
    IS_COPIED,
    MANAGED,
    PINNED,
    capsule_name,
    content,
    elements,
    on_the_host,
)

DTYPES = {
    "?": (6, 8), "i1": (0, 8), "i2": (0, 16), "i4": (0, 32), "i8": (0, 64), "u1": (1, 8), "u2": (1, 16), "u4": (1, 32),
    "u8": (1, 64), "f2": (2, 16), "f4": (2, 32), "f8": (2, 64), "c8": (5, 64), "c16": (5, 128),
}  # fmt: skip


def own_device(device: cs.Device) -> tuple[int, int]:
    return (CUDA, 0) if device.name == "cuda:0" else (EXTENSION, 0)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("version", [None, (0, 8), (1, 0), (1, 1), (7, 0)])
def test_capsule_describes_the_array(device: cs.Device, dtype: str, version: tuple[int, int] | None) -> None:
    array = cs.to_device(elements((3, 4), dtype))[1:, ::-2]
    capsule = array.__dlpack__(max_version=version)
    new = version is not None and version >= (1, 0)
    assert capsule_name(capsule) == ("dltensor_versioned" if new else "dltensor")
    managed = content(capsule)
    tensor = managed.tensor
    assert tensor.data == array.pointer
    assert (tensor.device.type, tensor.device.id) == own_device(device) == array.__dlpack_device__()
    assert (tensor.dtype.code, tensor.dtype.bits, tensor.dtype.lanes) == (*DTYPES[dtype], 1)
    assert tensor.ndim == 2
    assert tensor.shape[:2] == [2, 2]
    assert tensor.strides[:2] == [4, -2]
    assert tensor.byte_offset == 0
    if new:
        assert (managed.major, managed.flags) == (1, 0)


@pytest.mark.parametrize("dtype", DTYPES)
def test_array_that_goes_back_and_forth_is_the_same_memory(device: cs.Device, dtype: str) -> None:
    array = cs.to_device(elements((3, 4), dtype))
    again = cs.from_dlpack(cs.from_dlpack(array))
    assert again.pointer == array.pointer
    assert (again.dtype, again.shape, again.strides) == (array.dtype, array.shape, array.strides)
    del array
    assert np.array_equal(again.to_host(), elements((3, 4), dtype))


@given(data=st.data())
@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_capsule_describes_any_view(device: cs.Device, data: st.DataObject) -> None:
    shape = tuple(data.draw(st.lists(st.integers(0, 5), max_size=4)))
    index = tuple(data.draw(st.slices(extent) if extent else st.just(slice(None))) for extent in shape)
    whole = elements(shape, data.draw(st.sampled_from(list(DTYPES))))
    array = cs.to_device(whole)[index]
    for seen in (cs.from_dlpack(array), cs.from_dlpack(array.__dlpack__(max_version=(1, 0), copy=True))):
        assert seen.shape == array.shape
        assert np.array_equal(seen.to_host(), whole[index])
    if whole.dtype != bool or np.lib.NumpyVersion(np.__version__) >= "1.25.0":  # older ones import no bool
        assert np.array_equal(on_the_host(array), whole[index])


def test_copy_is_made_on_request(device: cs.Device) -> None:
    array = cs.full(4, 7.0)
    capsule = array.__dlpack__(max_version=(1, 0), copy=True)
    assert content(capsule).flags == IS_COPIED
    assert content(capsule).tensor.data != array.pointer
    copy = cs.from_dlpack(capsule)
    array.fill(0)
    assert copy.to_host().tolist() == [7, 7, 7, 7]
    assert cs.from_dlpack(array.__dlpack__(copy=False)).pointer == array.pointer


def test_numpy_gets_a_copy_on_the_host(device: cs.Device) -> None:
    array = cs.to_device(np.arange(6, dtype=np.int16).reshape(2, 3))
    host = on_the_host(array)
    assert host.tolist() == [[0, 1, 2], [3, 4, 5]]
    capsule = array.T.__dlpack__(dl_device=(CPU, 0), max_version=(1, 0))
    assert content(capsule).flags == IS_COPIED
    assert (content(capsule).tensor.device.type, content(capsule).tensor.device.id) == (CPU, 0)
    with pytest.raises(BufferError, match="without a copy"):
        array.__dlpack__(dl_device=(CPU, 0), copy=False)
    with pytest.raises(ValueError, match="stream"):
        array.__dlpack__(dl_device=(CPU, 0), stream=1)
    with pytest.raises((BufferError, RuntimeError)):
        np.from_dlpack(array)


def test_memory_that_the_host_reaches_is_not_copied(device: cs.Device) -> None:
    managed = cs.empty_managed(4, np.int32)
    managed.fill(3)
    mapped = cs.pinned_empty(4, np.int32, mapped=True)
    mapped[:] = 3
    gpu = device.name == "cuda:0"
    for array, kind in ((managed, MANAGED), (cs.device_view(mapped), PINNED)):
        assert array.__dlpack_device__() == ((kind, 0) if gpu else (EXTENSION, 0))
        host = on_the_host(array)
        assert host.tolist() == [3, 3, 3, 3]
        assert host.ctypes.data == array.host_view().ctypes.data
        copied = array.__dlpack__(dl_device=(CPU, 0), copy=True, max_version=(1, 0))
        assert content(copied).flags == IS_COPIED
        assert content(copied).tensor.data != host.ctypes.data
        seen = cs.from_dlpack(array)
        assert seen.pointer == array.pointer
        assert seen.host_view().tolist() == [3, 3, 3, 3]
        assert np.asarray(array).ctypes.data == host.ctypes.data
        assert np.asarray(memoryview(array[1:])).tolist() == [3, 3, 3]
        assert array.__array_interface__["data"][0] == host.ctypes.data
        if gpu:
            assert np.from_dlpack(array).ctypes.data == host.ctypes.data
            as_device = array.__dlpack__(dl_device=(CUDA, 0))
            assert (content(as_device).tensor.device.type, content(as_device).tensor.data) == (
                CUDA,
                array.pointer,
            )
        del seen, host
    assert on_the_host(cs.empty_managed(0)).shape == (0,)


def test_device_memory_is_no_buffer(device: cs.Device) -> None:
    array = cs.zeros(3)
    for use in (memoryview, bytes, bytearray):
        with pytest.raises(BufferError, match=r"\.to_host\(\)"):
            use(array)
    with pytest.raises(TypeError, match=r"\.to_host\(\)"):
        np.asarray(array)
    with pytest.raises(BufferError):
        ctypes.c_char.from_buffer(array)
    assert not hasattr(array, "__array_interface__")
    with pytest.raises(AttributeError, match=r"\.to_host\(\)"):
        _ = array.__array_interface__
    managed = cs.empty_managed(3)
    managed.close()
    with pytest.raises((BufferError, ValueError), match="closed"):
        memoryview(managed)


def test_a_buffer_keeps_its_memory(device: cs.Device) -> None:
    array = cs.empty_managed((2, 3), np.int32)
    array.fill(5)
    buffer = memoryview(array)
    assert (buffer.shape, buffer.format, buffer.readonly) == ((2, 3), "i", False)
    array.close()
    del array
    gc.collect()
    assert buffer.tolist() == [[5, 5, 5], [5, 5, 5]]


@pytest.mark.host_only("a GPU's memory has the interface")
def test_simulated_memory_has_no_interface(device: cs.Device) -> None:
    for array in (cs.zeros(3), cs.empty_managed(3)):
        assert not hasattr(array, "__cuda_array_interface__")
        with pytest.raises(AttributeError, match=r"simulated.*\.to_host\(\)"):
            _ = array.__cuda_array_interface__


@pytest.mark.gpu_only("a simulated device's memory has no such interface")
def test_interface_describes_the_array(device: cs.Device) -> None:
    array = cs.zeros((3, 4), np.int16)
    said = array.__cuda_array_interface__
    assert said["version"] == 3
    assert said["shape"] == (3, 4)
    assert said["typestr"] == "<i2"
    assert said["data"] == (array.pointer, False)
    assert said["strides"] is None
    assert said["stream"] == array.stream.handle
    assert array.T.__cuda_array_interface__["strides"] == (2, 8)
    empty = cs.zeros((0, 3)).__cuda_array_interface__
    assert (empty["shape"], empty["data"]) == ((0, 3), (0, False))
    with cs.Stream() as stream:
        assert cs.zeros(1).__cuda_array_interface__["stream"] == stream.handle
    structure = np.dtype([("x", "f4"), ("n", "i4")])
    said = cs.zeros(2, structure).__cuda_array_interface__
    assert (said["typestr"], np.dtype(said["descr"])) == ("|V8", structure)
    for plain in (cs.empty_managed(3), cs.empty_plain(3), cs.empty_pitched((2, 3))):
        assert plain.__cuda_array_interface__["data"] == (plain.pointer, False)
    array.close()
    with pytest.raises(ValueError, match="closed"):
        _ = array.__cuda_array_interface__


@pytest.mark.parametrize(
    ("wrong", "error"),
    [
        ({"stream": 0}, ValueError),
        ({"stream": -2}, ValueError),
        ({"stream": 1.5}, TypeError),
        ({"stream": "1"}, TypeError),
        ({"stream": 1 << 70}, ValueError),
        ({"max_version": 1}, TypeError),
        ({"max_version": (1,)}, TypeError),
        ({"max_version": (-1, 0)}, ValueError),
        ({"max_version": ("1", 0)}, TypeError),
        ({"dl_device": 1}, TypeError),
        ({"dl_device": (1,)}, TypeError),
        ({"dl_device": (10, 0)}, BufferError),
        ({"dl_device": (CUDA, 77)}, BufferError),
        ({"dl_device": (1 << 40, 0)}, BufferError),
        ({"dl_device": (-1, 0)}, ValueError),
        ({"copy": 1}, TypeError),
        ({"nonsense": 1}, TypeError),
    ],
    ids=str,
)
def test_wrong_arguments_of_dlpack_are_refused(
    device: cs.Device, wrong: dict[str, object], error: type[Exception]
) -> None:
    with pytest.raises(error):
        cs.zeros(3).__dlpack__(**wrong)


def test_dtypes_that_dlpack_does_not_have_are_refused(device: cs.Device) -> None:
    pairs = np.zeros(3, [("x", "f4"), ("n", "i4")])
    for array in (cs.to_device(pairs), cs.zeros(3, ">f4"), cs.zeros(3, "M8[s]")):
        with pytest.raises(BufferError, match="no elements of dtype"):
            array.__dlpack__()
    closed = cs.zeros(3)
    closed.close()
    with pytest.raises(ValueError, match="closed"):
        closed.__dlpack__()


@pytest.mark.parametrize("version", [None, (1, 0)])
def test_capsules_that_are_never_consumed_free_their_memory(
    device: cs.Device, settled, version: tuple[int, int] | None
) -> None:
    from cuscope import _core

    before = _core.live()["device_memory"]
    for _ in range(10):
        array = cs.zeros(3)
        capsules = [array.__dlpack__(max_version=version, copy=copy) for copy in (None, True)]
        capsules.append(array.__dlpack__(max_version=version, dl_device=(CPU, 0)))
        del array
    del capsules
    settled()
    assert _core.live()["device_memory"] == before


def test_a_deleter_on_a_thread_without_python(device: cs.Device, settled) -> None:
    """Consumers give back the content of capsules from their own threads."""
    from cuscope import _core

    before = _core.live()["device_memory"]
    capsule = cs.zeros(3).__dlpack__(max_version=(1, 0))
    managed = content(capsule)
    set_name = ctypes.pythonapi.PyCapsule_SetName
    set_name.argtypes = (ctypes.py_object, ctypes.c_char_p)
    used = b"used_dltensor_versioned"
    set_name(capsule, used)
    # ctypes releases the interpreter lock while a function of a CDLL runs.
    thread = threading.Thread(target=managed.deleter, args=(ctypes.addressof(managed),))
    thread.start()
    thread.join(10)
    assert not thread.is_alive()
    settled()
    assert _core.live()["device_memory"] == before


def test_objects_handed_out_survive_the_end_of_the_interpreter(device: cs.Device, run_python) -> None:
    """Capsules, buffers and foreign arrays that still exist when the interpreter ends."""
    done = run_python("""
        import numpy as np, cuscope as cs
        array = cs.zeros(4, np.int32)
        capsule, versioned = array.__dlpack__(), array.__dlpack__(max_version=(1, 0))
        seen = cs.from_dlpack(array)
        class OnHost:
            def __dlpack__(self, **asked): return array.__dlpack__(dl_device=(1, 0))
            def __dlpack_device__(self): return (1, 0)
        host = np.from_dlpack(OnHost())
        view = memoryview(cs.empty_managed(3))
        stream = cs.Stream()
        class Theirs:
            def __cuda_stream__(self): return (0, stream.handle)
        theirs = cs.as_stream(Theirs())
        other = cs.from_dlpack(np.arange(3))
        print("here")
    """)
    assert (done.returncode, done.stdout, done.stderr) == (0, "here\n", "")
