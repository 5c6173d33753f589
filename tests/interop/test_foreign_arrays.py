"""Arrays of other libraries by __cuda_array_interface__ and DLPack: used as described, refused if wrong."""

from __future__ import annotations

import gc
import re
import sys
import weakref

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import cuscope as cs
from others import CPU, CUDA, EXTENSION, READ_ONLY, Interface, Tensor, capsule_name, elements
from support import module, second

DTYPES = ["?", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f2", "f4", "f8", "c8", "c16"]
OTHERS = {"interface": Interface, "dlpack": Tensor}
BAD_INTERFACES = {
    "not a dict": (None, [1], TypeError, "takes a dict, not list"),
    "no shape": ({"shape": None}, None, TypeError, "shape"),
    "shape of floats": ({"shape": (1.5,)}, None, TypeError, "shape"),
    "negative extent": ({"shape": (-1,)}, None, ValueError, "negative"),
    "too many axes": ({"shape": (1,) * 65}, None, ValueError, "65 axes"),
    "more than memory": ({"shape": (1 << 40,)}, None, ValueError, "more than its memory"),
    "more than addresses": ({"shape": (1 << 40, 1 << 40)}, None, ValueError, "addresses"),
    "no typestr": ({"typestr": None}, None, TypeError, "typestr"),
    "a typestr of nothing": ({"typestr": "<q9"}, None, TypeError, None),
    "objects": ({"typestr": "|O"}, None, TypeError, "Python objects"),
    "strides of another length": ({"strides": (4, 4)}, None, ValueError, "2 entries for 1 axes"),
    "strides that are none": ({"strides": "no"}, None, TypeError, "strides"),
    "a stride of text": ({"strides": ("4",)}, None, TypeError, "strides"),
    "a stride behind the memory": ({"strides": (1 << 40,)}, None, ValueError, "more than its memory"),
    "a stride before the memory": ({"strides": (-(1 << 50),)}, None, ValueError, None),
    "a stride behind all addresses": ({"strides": (1 << 62,)}, None, ValueError, "addresses"),
    "a huge stride": ({"strides": (1 << 70,)}, None, ValueError, None),
    "no data": ({"data": None}, None, TypeError, "pointer, read_only"),
    "a pointer of text": ({"data": ("0", False)}, None, TypeError, "data"),
    "a negative pointer": ({"data": (-4096, False)}, None, ValueError, "negative"),
    "a null pointer": ({"data": (0, False)}, None, ValueError, "no device's memory"),
    "no pointer": ({"data": (None, False)}, None, ValueError, "no device's memory"),
    "a pointer to nothing": ({"data": (1 << 20, False)}, None, ValueError, "no device's memory"),
    "a pointer behind all": ({"data": (1 << 64, False)}, None, ValueError, "data"),
    "the last address": ({"data": ((1 << 63) - 1, False)}, None, ValueError, "addresses"),
    "a mask": ({"mask": True}, None, ValueError, "mask"),
    "stream 0": ({"stream": 0}, None, ValueError, "does not allow"),
    "a negative stream": ({"stream": -1}, None, ValueError, "negative"),
    "a stream of text": ({"stream": "1"}, None, TypeError, "stream"),
    "version 4": ({"version": 4}, None, ValueError, "understood are 0 to 3"),
    "no version": ({"version": None}, None, TypeError, "version"),
}
BAD_TENSORS = {
    "version 2": ({"version": (2, 0)}, BufferError, "DLPack 2.0"),
    "version 0 in a versioned capsule": ({"version": (0, 8)}, BufferError, "DLPack 0.8"),
    "a negative extent": ({"shape": (-4,)}, BufferError, "extent of -4"),
    "axes without a shape": ({"shape": None, "ndim": 3}, BufferError, "axes"),
    "negative axes": ({"ndim": -1}, BufferError, "-1 axes"),
    "too many axes": ({"ndim": 65}, BufferError, "65 axes"),
    "lanes": ({"dtype": (2, 32, 4)}, BufferError, "4 lanes"),
    "no lanes": ({"dtype": (2, 32, 0)}, BufferError, "0 lanes"),
    "odd bits": ({"dtype": (0, 4, 1)}, BufferError, "4 bits"),
    "an unknown code": ({"dtype": (99, 32, 1)}, BufferError, "code 99"),
    "half a complex": ({"dtype": (5, 32, 1)}, BufferError, "code 5"),
    "opaque": ({"dtype": (3, 64, 1)}, BufferError, "code 3"),
    "more than memory": ({"shape": (1 << 40,), "strides": None}, ValueError, "more than its memory"),
    "a stride out of it": ({"strides": (1 << 40,)}, ValueError, "more than its memory"),
    "a stride of all addresses": ({"strides": (1 << 62,)}, BufferError, "addresses"),
    "an offset out of it": ({"byte_offset": 1 << 40}, ValueError, "no device's memory"),
    "an offset of all addresses": ({"byte_offset": (1 << 64) - 1}, BufferError, "last address"),
    "no memory": ({"data": None}, ValueError, "no device's memory"),
    "a pointer to nothing": ({"data": 1 << 20}, ValueError, "no device's memory"),
    "a device that is not there": ({"device": (CUDA, 77)}, BufferError, "(2, 77)"),
    "a simulated device that is not there": ({"device": (EXTENSION, 7777)}, BufferError, "(12, 7777)"),
    "a device of others": ({"device": (10, 0)}, BufferError, "(10, 0)"),
    "another capsule": ({"name": b"something"}, TypeError, "'something'"),
}


def take(kind: str, array: cs.DeviceArray, **changes: object) -> cs.DeviceArray:
    return cs.asarray(OTHERS[kind](array, **changes))


@pytest.mark.parametrize("kind", OTHERS)
@pytest.mark.parametrize("dtype", DTYPES)
def test_an_array_of_another_library_has_the_same_memory(device: cs.Device, kind: str, dtype: str) -> None:
    content = elements((3, 4), dtype)
    theirs = cs.to_device(content)
    ours = take(kind, theirs)
    assert ours.pointer == theirs.pointer
    assert (ours.shape, ours.dtype, ours.strides) == ((3, 4), content.dtype, content.strides)
    assert ours.device is device
    assert not ours.read_only
    theirs.fill(content.dtype.type(1))
    assert np.array_equal(ours.to_host(), np.ones((3, 4), dtype))
    ours.fill(content.dtype.type(0))
    assert np.array_equal(theirs.to_host(), np.zeros((3, 4), dtype))


@pytest.mark.parametrize("kind", OTHERS)
@pytest.mark.parametrize("shape", [(), (0,), (3, 0, 2), (1,), (1, 1, 1)])
def test_arrays_without_axes_or_elements_are_taken(
    device: cs.Device, kind: str, shape: tuple[int, ...]
) -> None:
    content = elements(shape, np.int32)
    ours = take(kind, cs.to_device(content))
    assert ours.shape == shape
    assert np.array_equal(ours.to_host(), content)
    assert (
        take(
            kind, cs.zeros(0), shape=(0, 5), strides=None, data=(0, True) if kind == "interface" else None
        ).size
        == 0
    )


@pytest.mark.no_initcheck("it does not see the writes of copies between strided arrays")
@pytest.mark.parametrize("kind", OTHERS)
@given(data=st.data())
@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_arrays_of_any_strides_are_taken(device: cs.Device, kind: str, data: st.DataObject) -> None:
    shape = tuple(data.draw(st.lists(st.integers(0, 5), max_size=4)))
    index = tuple(data.draw(st.slices(extent) if extent else st.just(slice(None))) for extent in shape)
    content = elements(shape, data.draw(st.sampled_from(DTYPES)))
    axes = data.draw(st.permutations(range(len(shape))))
    theirs = cs.to_device(content)[index].transpose(*axes)
    expected = content[index].transpose(axes)
    ours = take(kind, theirs)
    assert ours.shape == expected.shape
    assert np.array_equal(ours.to_host(), expected)
    if expected.size:
        steps = [(ours.strides[i], expected.strides[i]) for i in range(ours.ndim) if ours.shape[i] > 1]
        assert all(step == wanted for step, wanted in steps)
        assert ours.pointer == theirs.pointer
    assert np.array_equal(cs.asarray(OTHERS[kind](theirs), copy=True).to_host(), expected)


def test_structures_are_taken_with_their_fields(device: cs.Device) -> None:
    dtype = np.dtype([("x", "f4"), ("n", "i2")])
    content = np.array([(1.5, 2), (3.5, 4)], dtype)
    ours = cs.asarray(Interface(cs.to_device(content), descr=dtype.descr))
    assert ours.dtype == dtype
    assert np.array_equal(ours.to_host(), content)


def test_byte_offset_is_added_to_the_address(device: cs.Device) -> None:
    ours = cs.asarray(Tensor(cs.to_device(np.arange(10, dtype=np.int32)), byte_offset=12, shape=(7,)))
    assert ours.to_host().tolist() == list(range(3, 10))


def test_missing_strides_mean_c_order(device: cs.Device) -> None:
    ours = cs.asarray(Tensor(cs.to_device(np.arange(6.0)), shape=(2, 3), strides=None))
    assert ours.to_host().tolist() == [[0, 1, 2], [3, 4, 5]]


def test_small_floats_without_ml_dtypes_name_the_package(
    device: cs.Device, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "ml_dtypes", None)
    with pytest.raises(BufferError, match=r"bfloat16.*pip install ml_dtypes"):
        cs.from_dlpack(Tensor(cs.zeros(4, np.uint16), dtype=(4, 16, 1)))


@pytest.mark.parametrize(
    ("name", "code", "bits"), [("bfloat16", 4, 16), ("float8_e4m3fn", 10, 8), ("float8_e5m2", 12, 8)]
)
def test_small_floats_have_the_dtypes_of_ml_dtypes(
    device: cs.Device, name: str, code: int, bits: int
) -> None:
    dtype = np.dtype(getattr(pytest.importorskip("ml_dtypes"), name))
    content = np.array([0, 1, -2, 0.5], np.float32).astype(dtype)
    ours = cs.from_dlpack(Tensor(cs.to_device(content.view(f"u{bits // 8}")), dtype=(code, bits, 1)))
    assert ours.dtype == dtype
    assert np.array_equal(ours.to_host(), content)
    assert cs.from_dlpack(ours).dtype == dtype


@pytest.mark.parametrize("kind", OTHERS)
def test_read_only_arrays_are_not_written(device: cs.Device, kind: str) -> None:
    theirs = cs.zeros(4, np.int32)
    changes = {"data": (theirs.pointer, True)} if kind == "interface" else {"flags": READ_ONLY}
    ours = take(kind, theirs, **changes)
    assert ours.read_only
    assert ours[1:].read_only
    for write in (
        lambda: ours.fill(1),
        lambda: ours.copy_from(np.ones(4, np.int32)),
        lambda: ours.__setitem__(0, 1),
        lambda: cs.zeros(4, np.int32).copy_to(ours),
        lambda: cs.copy_batch([(ours, theirs)]),
        lambda: module(device).store[1, 1](ours, 1),
    ):
        with pytest.raises(ValueError, match="read-only"):
            write()
    assert ours.to_host().tolist() == [0, 0, 0, 0]
    copy = ours.copy()
    assert not copy.read_only
    assert cs.from_dlpack(ours).read_only
    with pytest.raises(BufferError, match="read-only"):
        ours.__dlpack__()


@pytest.mark.parametrize("what", BAD_INTERFACES)
def test_wrong_interface_is_refused_with_the_reason(device: cs.Device, what: str) -> None:
    changes, instead, error, message = BAD_INTERFACES[what]
    theirs = Interface(cs.zeros(4), **(changes or {}))
    if instead is not None:
        theirs.said = instead
    destination = cs.zeros(4)
    for use in (cs.asarray, cs.to_device, destination.copy_from, destination.copy_to):
        with pytest.raises(error, match=message):
            use(theirs)
    with pytest.raises(error):
        module(device).vec_add[1, 1](theirs, destination, destination, 1)
    assert destination.to_host().tolist() == [0, 0, 0, 0]


@pytest.mark.parametrize("what", BAD_TENSORS)
def test_wrong_tensor_is_refused_and_given_back(device: cs.Device, what: str) -> None:
    changes, error, message = BAD_TENSORS[what]
    theirs = Tensor(cs.zeros(4), **changes)
    for use in (cs.from_dlpack, cs.asarray, cs.zeros(4).copy_from):
        with pytest.raises(error, match=re.escape(message)):
            use(theirs)
        gc.collect()
    assert theirs.deleted == (0 if "name" in changes else len(theirs.asked))
    with pytest.raises(error):
        module(device).vec_add[1, 1](theirs, theirs, theirs, 1)
    if "name" in changes:
        Tensor.alive.clear()  # capsules that no call has consumed


@pytest.mark.parametrize(
    "answer", [None, 2, (2,), (2, 0, 0), ("2", 0), (-2, 0), (2, -1), (1 << 40, 0), (1 << 70, 0)], ids=str
)
def test_wrong_answers_of_dlpack_device_are_refused(device: cs.Device, answer: object) -> None:
    theirs = Tensor(cs.zeros(4))
    theirs.__class__ = type("Other", (Tensor,), {"__dlpack_device__": lambda self: answer})
    for use in (cs.from_dlpack, cs.asarray, cs.to_device):
        with pytest.raises((TypeError, ValueError)):
            use(theirs)
    assert theirs.asked == []


def test_exceptions_of_a_protocol_method_are_raised(device: cs.Device) -> None:
    class Raising(Tensor):
        def __dlpack__(self, **asked: object) -> object:
            raise BufferError("needs a gradient")

    class RaisingInterface:
        @property
        def __cuda_array_interface__(self) -> object:
            raise RuntimeError("needs a gradient")

    for theirs in (Raising(cs.zeros(4)), RaisingInterface()):
        with pytest.raises((BufferError, RuntimeError), match="needs a gradient"):
            cs.asarray(theirs)


def test_every_version_of_the_interface_is_taken(device: cs.Device) -> None:
    for version in (0, 1, 2, 3):
        assert cs.asarray(Interface(cs.full(2, 7.0), version=version)).to_host().tolist() == [7, 7]


def test_interface_of_version_3_is_preferred_and_dlpack_otherwise(device: cs.Device) -> None:
    class Both(Interface, Tensor):
        def __init__(self, array: cs.DeviceArray, **changes: object) -> None:
            Tensor.__init__(self, array)
            Interface.__init__(self, array, **changes)

    new, old = Both(cs.full(2, 7.0)), Both(cs.full(2, 7.0), version=2)
    for theirs in (new, old):
        assert cs.asarray(theirs).to_host().tolist() == [7, 7]
    assert len(new.asked) == 0  # the interface of version 3 names its stream
    assert len(old.asked) == 1
    cs.from_dlpack(new)
    assert len(new.asked) == 1
    immutable = Both(cs.full(2, 7.0), version=2, data=(new.array.pointer, True))
    assert cs.asarray(immutable).read_only  # DLPack before 1.0 cannot say so


def test_dlpack_gets_our_stream(device: cs.Device) -> None:
    theirs, stream = Tensor(cs.zeros(2)), cs.Stream()
    with stream:
        cs.from_dlpack(theirs)
    cs.from_dlpack(theirs)
    cs.asarray(theirs, stream=stream)
    assert [asked["stream"] for asked in theirs.asked] == [stream.handle, 1, stream.handle]
    assert all(asked["max_version"] >= (1, 0) for asked in theirs.asked)
    old = Tensor(cs.full(2, 7.0), old=True)
    assert cs.from_dlpack(old).to_host().tolist() == [7, 7]
    assert old.asked[1] == {"stream": 1}


@pytest.mark.parametrize("versioned", [False, True])
def test_a_capsule_is_consumed_once(device: cs.Device, versioned: bool) -> None:
    theirs = Tensor(cs.full(2, 7.0))
    capsule = theirs.capsule(versioned=versioned)
    ours = cs.from_dlpack(capsule)
    assert capsule_name(capsule).startswith("used_dltensor")
    assert ours.to_host().tolist() == [7, 7]
    with pytest.raises(ValueError, match="consumed already"):
        cs.from_dlpack(capsule)
    del capsule
    assert theirs.deleted == 0
    del ours
    gc.collect()
    device.synchronize()
    assert theirs.deleted == 1


def test_capsule_without_a_deleter_is_taken(device: cs.Device) -> None:
    assert cs.from_dlpack(Tensor(cs.full(2, 7.0), no_deleter=True)).to_host().tolist() == [7, 7]
    Tensor.alive.clear()


def loaded(device: cs.Device) -> None:
    """Loads the kernels: a GPU that loads one may wait for kernels that run."""
    mod, scratch = module(device), cs.zeros(1, np.int32)
    mod.spin[1, 1](1)
    mod.add_one[1, 1](scratch)
    scratch.copy_from(scratch.copy())
    device.synchronize()


@pytest.mark.no_initcheck("it waits for every kernel")
@pytest.mark.parametrize("kind", OTHERS)
def test_array_is_given_back_after_the_work(device: cs.Device, kind: str) -> None:
    """An array that a stream still uses stays alive, although the program has dropped it."""
    mod = module(device)
    stream, result = cs.Stream(non_blocking=True), cs.zeros(1, np.int32)
    loaded(device)
    theirs = OTHERS[kind](cs.full(1, 41, np.int32))
    ours = cs.asarray(theirs)
    gone = weakref.ref(theirs.array)
    mod.spin[1, 1, stream](50_000_000)
    mod.add_one[1, 1, stream](ours)
    result.copy_from(ours, stream=stream)
    del theirs, ours
    gc.collect()
    assert gone() is not None
    stream.synchronize()
    gc.collect()
    assert gone() is None
    assert result.to_host().tolist() == [42]


@pytest.mark.parametrize("kind", OTHERS)
def test_arguments_are_given_back_after_the_kernel(device: cs.Device, kind: str) -> None:
    mod = module(device)
    loaded(device)
    stream, theirs = cs.Stream(non_blocking=True), cs.full(1, 1, np.int32)
    seen = OTHERS[kind](theirs)
    gone = weakref.ref(seen)
    mod.spin[1, 1, stream](50_000_000)
    mod.add_one[1, 1, stream](seen)
    del seen
    gc.collect()
    assert kind == "dlpack" or gone() is not None  # of DLPack's array only the content of the capsule stays
    stream.synchronize()
    gc.collect()
    assert gone() is None
    assert theirs.to_host().tolist() == [2]


def test_use_of_foreign_arrays_leaves_no_memory_behind(device: cs.Device, settled) -> None:
    from cuscope import _core

    before = _core.live()
    for kind, other in OTHERS.items():
        theirs = other(cs.full(3, 1, np.int32))
        for _ in range(20):
            stream = cs.Stream(non_blocking=True)
            ours = cs.asarray(theirs)
            module(device).add_one[1, 1, stream](ours[1:])
            module(device).add_one[1, 1, stream](theirs)
        device.synchronize()
        assert theirs.array.to_host().tolist() == [21, 21, 1], kind
        del theirs, ours, stream
    settled()
    assert _core.live() == before
    assert Tensor.alive == []


@pytest.mark.parametrize("kind", OTHERS)
def test_foreign_arrays_are_accepted_where_ours_are(device: cs.Device, kind: str) -> None:
    other = OTHERS[kind]
    content = np.arange(4, dtype=np.float32)
    theirs = other(cs.to_device(content))
    result = cs.empty(4)
    module(device).vec_add[1, 32](theirs, other(cs.full(4, 1.0, np.float32)), result, 4)
    assert result.to_host().tolist() == [1, 2, 3, 4]
    assert cs.to_device(theirs).to_host().tolist() == content.tolist()
    assert cs.to_device(theirs).pointer != theirs.array.pointer
    result.copy_from(theirs)
    assert result.to_host().tolist() == content.tolist()
    result[1:3] = other(cs.full(2, 9.0, np.float32))
    result.copy_to(theirs)
    assert theirs.array.to_host().tolist() == [0, 9, 9, 3]
    cs.copy_batch([(other(result), other(cs.full(4, 5.0, np.float32)))], stream=cs.Stream())
    device.synchronize()
    assert result.to_host().tolist() == [5, 5, 5, 5]
    assert cs.empty_like(theirs).shape == (4,)
    assert cs.zeros_like(theirs).dtype == np.float32
    assert cs.pointer_attributes(theirs).device_pointer == theirs.array.pointer


@pytest.mark.parametrize("kind", OTHERS)
def test_foreign_arrays_are_checked_as_ours_are(device: cs.Device, kind: str) -> None:
    mod, theirs = module(device), OTHERS[kind](cs.zeros((2, 3)))
    with pytest.raises(TypeError, match=r"parameter .p.*int"):
        mod.add_one[1, 1](theirs)
    with pytest.raises(TypeError, match="parameter 'v'"):
        mod.store[1, 1](cs.zeros(1, np.int32), theirs)
    transposed = OTHERS[kind](cs.zeros((2, 3)).T)
    with pytest.raises(ValueError, match="rows are contiguous"):
        mod.vec_add[1, 1](transposed, theirs, theirs, 1)
    with pytest.raises(ValueError, match="shape"):
        cs.zeros(2).copy_from(theirs)
    with pytest.raises(TypeError, match="dtype"):
        cs.zeros((2, 3), np.int32).copy_to(theirs)
    with pytest.raises(TypeError, match=r"takes one number|takes a number"):
        cs.zeros(1).fill(theirs)


def test_asarray_keeps_our_arrays_and_copies_host_data(device: cs.Device) -> None:
    array = cs.zeros(3)
    assert cs.asarray(array) is array
    assert cs.asarray(array, copy=True).pointer != array.pointer
    host = np.arange(3)
    assert np.array_equal(cs.asarray(host).to_host(), host)
    assert cs.asarray([1.5, 2.5]).dtype == np.float64
    with pytest.raises(ValueError, match="copy=False"):
        cs.asarray(host, copy=False)
    for wrong in (1, "yes", 0.5):
        with pytest.raises(TypeError, match="copy: takes True, False or None"):
            cs.asarray(array, copy=wrong)
    with pytest.raises(TypeError):
        cs.asarray("text")
    array.close()
    with pytest.raises(ValueError, match="closed"):
        cs.asarray(array)


def test_from_dlpack_copies_host_tensors_and_wraps_device_tensors(device: cs.Device) -> None:
    host = np.arange(3, dtype=np.int16)
    assert host.__dlpack_device__() == (CPU, 0)
    assert np.array_equal(cs.from_dlpack(host).to_host(), host)
    assert np.array_equal(cs.from_dlpack(host, device=device, stream=cs.Stream()).to_host(), host)
    with pytest.raises(BufferError, match="copy=False"):
        cs.from_dlpack(host, copy=False)
    theirs = Tensor(cs.full(2, 7.0))
    assert cs.from_dlpack(theirs, device=device, copy=False).pointer == theirs.array.pointer
    copy = cs.from_dlpack(theirs, copy=True)
    assert copy.pointer != theirs.array.pointer
    assert copy.to_host().tolist() == [7, 7]
    for wrong in (3, [1, 2], "text", None, Interface(cs.zeros(1))):
        with pytest.raises(TypeError, match="has no __dlpack__"):
            cs.from_dlpack(wrong)


def test_array_of_another_device_keeps_its_device(device: cs.Device) -> None:
    other = second(device)
    theirs = Tensor(cs.full(2, 7.0, np.float32))
    with other:  # the array stays on its device
        ours = cs.from_dlpack(theirs)
        assert ours.device is device
        assert cs.asarray(Interface(theirs.array)).device is device
    moved = cs.from_dlpack(theirs, device=other)
    assert moved.device is other
    assert moved.to_host().tolist() == [7, 7]
    with pytest.raises(BufferError, match="copy=False"):
        cs.from_dlpack(theirs, device=other, copy=False)
    with other:
        mod = cs.Module("__global__ void touch(float* p) { *p = 1; }")
        with pytest.raises(ValueError, match=device.name):
            mod.touch[1, 1](theirs)
