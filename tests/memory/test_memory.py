"""DeviceArray and page-locked arrays: making, copying, filling, slicing, lifetime."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as npst

import cuscope as cs
from support import MS, module, spin

DTYPES = [
    np.dtype(x)
    for x in [
        "bool",
        "int8",
        "uint8",
        "int16",
        "uint16",
        "int32",
        "uint32",
        "int64",
        "uint64",
        "float16",
        "float32",
        "float64",
        "complex64",
        "complex128",
    ]
]
arrays = npst.arrays(
    dtype=st.sampled_from(DTYPES), shape=npst.array_shapes(min_dims=1, max_dims=4, min_side=0, max_side=9)
)
quick = settings(max_examples=100, deadline=None, suppress_health_check=list(HealthCheck))


def same(a: np.ndarray, b: np.ndarray) -> bool:
    return a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes()


# Round trips


@quick
@given(array=arrays)
def test_array_comes_back_as_it_went(device, array):
    assert same(cs.to_device(array).to_host(), array)


@quick
@given(array=arrays, data=st.data())
def test_slice_is_numpys_slice(device, array, data):
    start, stop = sorted(data.draw(st.tuples(*[st.integers(0, array.shape[0])] * 2)))

    assert same(cs.to_device(array)[start:stop].to_host(), array[start:stop])


@quick
@given(array=arrays, data=st.data())
def test_assigned_slice_is_numpys(device, array, data):
    start, stop = sorted(data.draw(st.tuples(*[st.integers(0, array.shape[0])] * 2)))
    new = np.ones_like(array[start:stop])
    there = cs.to_device(array)

    there[start:stop] = new
    array[start:stop] = new

    assert same(there.to_host(), array)


@quick
@given(dtype=st.sampled_from(DTYPES), count=st.integers(0, 5000), data=st.data())
def test_full_fills_every_element(device, dtype, count, data):
    value = data.draw(npst.from_dtype(dtype, allow_nan=False, allow_infinity=False))

    assert same(cs.full(count, value, dtype).to_host(), np.full(count, value, dtype))


@pytest.mark.parametrize("pinned", [False, True])
@pytest.mark.parametrize("nbytes", [0, 1, 3, 4096, 65536, 65537, (1 << 22) + 5])
def test_bytes_of_any_number_are_copied(device, pinned, nbytes):
    source = np.random.default_rng(nbytes).integers(0, 256, nbytes, np.uint8)
    if pinned:
        locked = cs.pinned_empty(nbytes, np.uint8)
        locked[:] = source
    there = cs.to_device(locked if pinned else source)
    back = cs.pinned_empty(nbytes, np.uint8) if pinned else np.empty(nbytes, np.uint8)
    there.copy_to(back)
    device.synchronize()

    assert np.array_equal(back, source)


def test_array_that_is_not_contiguous_is_copied_as_numpy_sees_it(device):
    a = np.arange(24).reshape(4, 6)

    for view in (a.T, a[::2], a[:, ::-1], np.broadcast_to(a[0], (3, 6)), np.asfortranarray(a)):
        assert np.array_equal(cs.to_device(view).to_host(), view)


def test_lists_and_scalars_are_arrays_too(device):
    assert cs.to_device([1.5, 2.5]).to_host().tolist() == [1.5, 2.5]
    assert cs.to_device(np.float32(3)).shape == ()


def test_big_endian_or_object_arrays_are_refused(device):
    with pytest.raises(TypeError, match="object"):
        cs.to_device(np.array([None, 1], dtype=object))


def test_structured_arrays_are_bytes_of_their_layout(device):
    dtype = np.dtype([("x", np.float32), ("n", np.int32)])
    array = np.array([(1.5, 2), (3.5, 4)], dtype)

    assert np.array_equal(cs.to_device(array).to_host(), array)


# Making


@pytest.mark.parametrize("shape", [5, (5,), (2, 3), (), (0,), (3, 0, 2), [2, 2], np.int64(4)])
def test_shape_is_numpys(device, shape):
    expected = np.empty(tuple(shape) if isinstance(shape, list) else shape, np.int16)
    made = cs.empty(shape, np.int16)

    for name in ("shape", "size", "nbytes", "ndim", "itemsize", "dtype"):
        assert getattr(made, name) == getattr(expected, name), name
    if expected.size:  # without elements there is nothing to stride over
        assert made.strides == expected.strides


def test_default_type_is_float32(device):
    assert cs.empty(3).dtype == cs.zeros(3).dtype == np.float32


@pytest.mark.parametrize("dtype", ["float64", float, np.int8, np.dtype("<u2")])
def test_types_are_spelt_as_numpy_does(device, dtype):
    assert cs.zeros(3, dtype).dtype == np.dtype(dtype)


def test_full_takes_its_type_from_the_value(device):
    assert cs.full(2, 1.5).dtype == np.full(2, 1.5).dtype
    assert cs.full(2, np.int8(3)).dtype == np.int8


def test_like_takes_shape_and_type(device):
    x = cs.empty((3, 2), np.int16)

    assert (cs.empty_like(x).shape, cs.empty_like(x).dtype) == ((3, 2), np.int16)
    assert cs.zeros_like(np.ones((2, 2), np.float64)).to_host().tolist() == [[0, 0], [0, 0]]


def test_zeros_are_zero_in_memory_that_was_used(device):
    for _ in range(5):
        dirty = cs.full(10000, 7, np.int32)
        dirty.close()
        assert not cs.zeros(10000, np.int32).to_host().any()


def test_pointers_are_aligned_and_do_not_overlap(device):
    arrays_ = [cs.empty(100, np.uint8) for _ in range(50)]
    spans = sorted((a.pointer, a.pointer + a.nbytes) for a in arrays_)

    assert all(start % 256 == 0 for start, _ in spans)
    assert all(stop <= start for (_, stop), (start, _) in itertools.pairwise(spans))


def test_length_and_iteration_are_of_the_leading_axis(device):
    x = cs.to_device(np.arange(6).reshape(3, 2))

    assert len(x) == 3
    assert [row.to_host().tolist() for row in x] == [[0, 1], [2, 3], [4, 5]]


def test_zero_dimensions_have_no_length(device):
    with pytest.raises(TypeError):
        len(cs.empty(()))


# Views


def test_slice_shares_memory(device):
    x = cs.zeros(10, np.int32)
    view = x[4:6]
    view.fill(9)

    assert view.pointer == x.pointer + 16
    assert x.to_host().tolist() == [0] * 4 + [9, 9] + [0] * 4


@pytest.mark.parametrize("index", [0, 2, -1, -3, np.int64(1)])
def test_index_is_numpys(device, index):
    a = np.arange(6).reshape(3, 2)

    assert cs.to_device(a)[index].to_host().tolist() == a[index].tolist()


@pytest.mark.parametrize("key", [slice(None), slice(-2, None), slice(1, 100), slice(5, 2), slice(None, -1)])
def test_slice_bounds_are_numpys(device, key):
    a = np.arange(4)

    assert cs.to_device(a)[key].to_host().tolist() == a[key].tolist()


@pytest.mark.parametrize("index", [3, -4, 10**30])
def test_index_out_of_range_is_an_index_error(device, index):
    with pytest.raises(IndexError):
        cs.zeros(3)[index]


@pytest.mark.parametrize("key", ["a", 1.0, (0, 0), (..., ...), [0, 1], np.array([True] * 4)])
def test_other_keys_are_refused(device, key):
    with pytest.raises((TypeError, IndexError)):
        cs.zeros(4)[key]


@pytest.mark.parametrize("dtype", [np.uint8, np.uint16, np.uint32])
def test_fills_of_any_length_set_every_element_and_no_other(device, dtype):
    for count in (1, 2, 63, 64, 65, 4095, 4096, 4097, 8193, 30001):
        x = cs.full(count + 2, 1, dtype)

        x[1:-1].fill(77)

        assert x.to_host().tolist() == [1, *[77] * count, 1]


def test_assignment_of_a_scalar_fills(device):
    x = cs.zeros(5, np.float64)
    x[1:3] = 2.5

    assert x.to_host().tolist() == [0, 2.5, 2.5, 0, 0]


def test_view_keeps_the_memory(device):
    view = cs.to_device(np.arange(1000))[10:13]
    others = [cs.full(1000, -1, np.int64) for _ in range(5)]

    assert view.to_host().tolist() == [10, 11, 12]
    assert len(others) == 5


# Copies


def test_copy_between_device_arrays(device):
    a, b = cs.to_device(np.arange(10)), cs.zeros(10, np.int64)
    b.copy_from(a)
    c = cs.zeros(10, np.int64)
    b.copy_to(c)

    assert c.to_host().tolist() == list(range(10))


def test_copy_between_devices_arrives():
    with cs.Device("host:0"):
        a = cs.to_device(np.arange(10))
    with cs.add_host_device("h200"):
        b = cs.zeros(10, np.int64)
        b.copy_from(a)

        assert b.to_host().tolist() == list(range(10))


def test_pageable_source_may_be_changed_after_the_call(device):
    s = cs.Stream()
    source = np.arange(1 << 20, dtype=np.int32)
    spin(device, 20 * MS, s)
    there = cs.to_device(source, stream=s)
    source[:] = -1

    assert np.array_equal(there.to_host(stream=s), np.arange(1 << 20))


@pytest.mark.host_only("a real device may be quick enough")
def test_page_locked_target_keeps_its_bytes_until_the_copy_ends(device):
    s = cs.Stream()
    target = cs.pinned_empty(4, np.int32)
    target[:] = -1
    ones = cs.full(4, 1, np.int32)
    device.synchronize()
    spin(device, 20 * MS, s)
    ones.copy_to(target, stream=s)

    assert target.tolist() == [-1] * 4
    s.synchronize()
    assert target.tolist() == [1] * 4


def test_page_locked_copies_are_asynchronous(device):
    s = cs.Stream()
    source = cs.pinned_empty(1 << 26, np.uint8)
    target = cs.empty(1 << 26, np.uint8)
    device.synchronize()
    spin(device, 50 * MS, s)
    target.copy_from(source, stream=s)

    assert s.query() is False
    s.synchronize()


def test_read_only_source_is_fine(device):
    source = np.arange(5)
    source.flags.writeable = False

    assert cs.to_device(source).to_host().tolist() == [0, 1, 2, 3, 4]


@pytest.mark.parametrize(
    ("target", "error", "text"),
    [
        (np.zeros(5, np.float64), TypeError, "float64"),
        (np.zeros(6, np.float32), ValueError, "6"),
        (np.zeros((5, 1), np.float32), ValueError, r"\(5, 1\)"),
        ([0.0] * 5, TypeError, "list"),
        (None, TypeError, "None"),
    ],
)
def test_wrong_target_is_refused_and_nothing_is_copied(device, target, error, text):
    x = cs.full(5, 7, np.float32)

    with pytest.raises(error, match=text):
        x.copy_to(target)

    assert target is None or not np.any(target)


def test_read_only_target_is_refused(device):
    target = np.zeros(5, np.float32)
    target.flags.writeable = False

    with pytest.raises(ValueError, match="read-only"):
        cs.full(5, 7, np.float32).copy_to(target)

    assert not target.any()


@pytest.mark.parametrize(
    ("source", "error", "text"),
    [
        (np.ones(5, np.int32), TypeError, "int32"),
        (np.ones(4, np.float32), ValueError, "4"),
        (np.ones((1, 5), np.float32), ValueError, r"\(1, 5\)"),
        ("abcde", (TypeError, ValueError), "source|abcde|float32"),
    ],
)
def test_wrong_source_is_refused_and_nothing_changes(device, source, error, text):
    x = cs.full(5, 7, np.float32)

    with pytest.raises(error, match=text):
        x.copy_from(source)

    assert x.to_host().tolist() == [7] * 5


def test_numpy_is_told_to_use_to_host(device):
    x = cs.zeros(3)

    for use in (np.asarray, np.array, lambda y: np.add(y, 1)):
        with pytest.raises(TypeError, match="to_host"):
            use(x)


@pytest.mark.parametrize("value", ["x", None, 1 + 2j, [1, 2]])
def test_fill_with_a_value_that_is_no_element_is_refused(device, value):
    x = cs.full(3, 7, np.int32)

    with pytest.raises((TypeError, ValueError)):
        x.fill(value)

    assert x.to_host().tolist() == [7] * 3


def test_fill_out_of_range_is_refused(device):
    x = cs.full(3, 7, np.int8)

    with pytest.raises((OverflowError, ValueError), match="300"):
        x.fill(300)

    assert x.to_host().tolist() == [7] * 3


# The largest number of each dtype, one that is rounded to it, and the least that is too large.
LARGEST = {
    "float16": (65504, 65519.0, 65520.0),
    "bfloat16": (3.3895313892515355e38, 3.39e38, 3.4e38),
    "float8_e4m3fn": (448, 464.0, 465.0),
    "float8_e5m2": (57344, 61439.0, 61440.0),
    "float8_e4m3": (240, 247.0, 248.0),
    "float8_e4m3fnuz": (240, 247.0, 248.0),
    "float4_e2m1fn": (6, 6.0, 7.0),
    "int4": (7, 7, 8),
}


def narrow_dtype(name):
    if name == "float16":
        return np.dtype(name)
    ml_dtypes = pytest.importorskip("ml_dtypes")
    if not hasattr(ml_dtypes, name):
        pytest.skip("this version of ml_dtypes lacks the dtype")
    return np.dtype(getattr(ml_dtypes, name))


@pytest.mark.parametrize("name", LARGEST)
def test_a_number_that_a_narrow_dtype_cannot_hold_is_refused(device, name):
    dtype = narrow_dtype(name)
    largest, rounded, too_large = LARGEST[name]
    x = cs.full(3, 1, dtype)
    for value in (
        too_large,
        -too_large - 1,
        float(too_large),
        np.float64(too_large),
        10**30,
        10**400,
        1 + 2j,
    ):
        if name == "bfloat16" and value == 10**30:
            continue
        with pytest.raises((OverflowError, TypeError), match=name):
            x.fill(value)
        with pytest.raises((OverflowError, TypeError), match=name):
            cs.full(3, value, dtype)
        with pytest.raises((OverflowError, TypeError), match=name):
            cs.Graph().add_memset(x, value)
    assert x.to_host().astype(float).tolist() == [1] * 3

    for value in (largest, rounded):
        x.fill(value)
        np.testing.assert_allclose(x.to_host().astype(float), largest)


@pytest.mark.parametrize("name", LARGEST)
def test_infinity_and_nan_are_taken_by_the_dtypes_that_have_them(device, name):
    dtype = narrow_dtype(name)
    has_nan, has_infinity = (
        name not in ("float4_e2m1fn", "int4"),
        name in ("float16", "bfloat16", "float8_e5m2", "float8_e4m3"),
    )
    for value, is_there in (
        (float("inf"), has_infinity),
        (float("-inf"), has_infinity),
        (float("nan"), has_nan),
    ):
        if is_there:
            np.testing.assert_equal(cs.full(2, value, dtype).to_host().astype(float), [value] * 2)
        else:
            with pytest.raises((OverflowError, TypeError), match=name):
                cs.full(2, value, dtype)


# Page-locked arrays


@pytest.mark.parametrize("shape", [0, 5, (2, 3), ()])
def test_pinned_is_an_ndarray_that_can_be_written(device, shape):
    x = cs.pinned_empty(shape, np.float64)
    x[...] = 1.5

    assert isinstance(x, np.ndarray)
    assert x.shape == np.empty(shape).shape
    assert x.flags.writeable
    assert x.flags.c_contiguous
    assert (x == 1.5).all()


@pytest.mark.parametrize("flags", [{}, {"portable": True}, {"mapped": True}, {"write_combined": True}])
def test_pinned_of_every_kind_is_copied_both_ways(device, flags):
    x = cs.pinned_empty(100, np.int32, **flags)
    x[:] = range(100)
    x_back = cs.pinned_empty(100, np.int32, **flags)
    cs.to_device(x).copy_to(x_back)
    device.synchronize()

    assert np.array_equal(x, x_back)


def test_kernel_reads_and_writes_pinned_memory(device):
    x = cs.pinned_empty(1, np.int32, mapped=True)
    x[0] = 41
    module(device).add_one[1, 1](x)
    device.synchronize()

    assert x.tolist() == [42]


def test_slices_of_pinned_arrays_are_page_locked_too(device):
    x = cs.pinned_empty((4, 1000), np.int32)
    x[:] = np.arange(4000).reshape(4, 1000)
    s = cs.Stream()
    spin(device, 50 * MS, s)
    there = cs.to_device(x[2], stream=s)

    assert s.query() is False
    assert np.array_equal(there.to_host(stream=s), x[2])


# Lifetime


def test_closed_array_says_so(device):
    x = cs.zeros(3)
    x.close()
    x.close()

    assert x.closed
    for use in (x.to_host, lambda: x.fill(1), lambda: x[0], lambda: x.copy_from(np.zeros(3, np.float32))):
        with pytest.raises(ValueError, match="closed"):
            use()


def test_memory_waits_for_every_stream_that_used_it(device, settled):
    s = cs.Stream(non_blocking=True)
    out = cs.zeros(1, np.int32)
    x = cs.full(1, 41, np.int32)
    device.synchronize()
    spin(device, 50 * MS, s)
    out.copy_from(x, stream=s)
    del x
    trash = [cs.full(1, -1, np.int32) for _ in range(100)]
    s.synchronize()

    assert out.to_host().tolist() == [41]
    assert len(trash) == 100


def test_with_closes_the_array(device):
    with cs.Stream() as s:
        assert not s.closed


@pytest.mark.parametrize("count", [1 << 45, 1 << 60])
@pytest.mark.counts_memory
def test_too_much_is_an_out_of_memory_error_with_numbers(device, count):
    before = tuple(device.memory_info())

    with pytest.raises(cs.OutOfMemoryError) as caught:
        cs.empty(count, np.float32)

    assert isinstance(caught.value, MemoryError)
    assert caught.value.name == "cudaErrorMemoryAllocation"
    assert str(4 * count) in str(caught.value).replace(",", "") or "iB" in str(caught.value)
    assert tuple(device.memory_info()) == before


@pytest.mark.parametrize("shape", [1 << 62, (1 << 40, 1 << 40), (2, 1 << 63), 10**40])
def test_shape_too_large_for_an_address_is_refused(device, shape):
    with pytest.raises((ValueError, MemoryError, OverflowError)):
        cs.empty(shape, np.float64)


@pytest.mark.parametrize("shape", [-1, (2, -3), 1.5, "3", None, (1, None)])
def test_shape_that_is_none_is_refused(device, shape):
    with pytest.raises((ValueError, TypeError)):
        cs.empty(shape)


@pytest.mark.parametrize("dtype", ["float33", object, 17])
def test_type_that_is_none_is_refused(device, dtype):
    with pytest.raises(TypeError):
        cs.empty(3, dtype)


def test_copies_into_existing_arrays(device):
    x, host, stream = cs.to_device(np.arange(6, dtype=np.int32)), np.zeros(6, np.int32), cs.Stream()
    y, z = cs.zeros(6, np.int32), cs.zeros(6, np.int32)
    device.synchronize()

    assert x.to_host(out=host, stream=stream) is host
    x.copy_to(y, stream=stream)
    z.copy_from(x[::-1], stream=stream)
    x[:3].copy_to(x[3:], stream=stream)
    assert host.tolist() == list(range(6))
    assert y.to_host(out=None, stream=stream).tolist() == list(range(6))
    assert z.to_host(stream=stream).tolist() == [5, 4, 3, 2, 1, 0]
    assert x.to_host(out=host[:], stream=None).tolist() == [0, 1, 2, 0, 1, 2]

    host.flags.writeable = False
    for wrong, error in [(host, "read-only"), (np.zeros(5, np.int32), "shape")]:
        with pytest.raises(ValueError, match=error):
            x.to_host(out=wrong)
    for wrong in [np.zeros(6, np.int64), [0] * 6]:
        with pytest.raises(TypeError):
            x.to_host(out=wrong)
    with pytest.raises(ValueError, match="shape"):
        x.copy_to(y[:3])
    with pytest.raises(TypeError, match="dtype"):
        x.copy_to(cs.zeros(6))
