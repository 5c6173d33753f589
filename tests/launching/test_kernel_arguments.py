"""A kernel's arguments are checked against its own signature, and the message names the parameter."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import cuscope as cs
from support import module

SOURCE = """
struct Pair { float x; int n; };
template <typename T> __global__ void put(T* target, T number) { *target = number; }
__global__ void copy(int* target, const int* origin) { *target = *origin; }
__global__ void is_null(int* answer, const float* pointer) { *answer = pointer == nullptr; }
__global__ void flags(int* answer, bool yes, char letter) { *answer = yes * 1000 + letter; }
__global__ void from_pair(float* answer, Pair pair) { *answer = pair.x * pair.n; }
__global__ void add_to(Pair& pair, const float& x, int n) { pair.x += x; pair.n += n; }
__global__ void raw(void* target, int number) { *(int*)target = number; }
__global__ void many(int* out, char a, short b, int c, long long d, float e, double f, char g) {
    out[0] = a; out[1] = b; out[2] = c; out[3] = (int)d; out[4] = (int)e; out[5] = (int)f; out[6] = g;
}
"""
TYPES = {
    "signed char": np.int8,
    "unsigned char": np.uint8,
    "short": np.int16,
    "unsigned short": np.uint16,
    "int": np.int32,
    "unsigned": np.uint32,
    "long long": np.int64,
    "unsigned long long": np.uint64,
    "float": np.float32,
    "double": np.float64,
    "bool": np.bool_,
}
INTEGERS = [n for n, t in TYPES.items() if np.issubdtype(t, np.integer)]


@pytest.fixture
def kernels(device):
    return module(device, SOURCE, name_expressions=tuple(f"put<{t}>" for t in TYPES))


def put(kernels, c_type: str, value) -> object:
    target = cs.zeros(1, TYPES[c_type])
    kernels[f"put<{c_type}>"][1, 1](target, value)
    return target.to_host()[0]


# Accepted arguments


@settings(max_examples=150, deadline=None, suppress_health_check=list(HealthCheck))
@given(c_type=st.sampled_from(INTEGERS), data=st.data())
def test_every_integer_of_the_range_arrives(kernels, c_type, data):
    info = np.iinfo(TYPES[c_type])
    value = data.draw(st.integers(int(info.min), int(info.max)))

    assert put(kernels, c_type, value) == value


@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(value=st.floats(allow_nan=False, width=64))
def test_every_double_arrives(kernels, value):
    assert put(kernels, "double", value) == value


@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(value=st.floats(allow_nan=False, width=32))
def test_every_float_arrives(kernels, value):
    assert put(kernels, "float", value) == np.float32(value)


@pytest.mark.parametrize("value", [True, False, np.True_, np.False_])
def test_booleans_arrive_as_they_are(kernels, value):
    assert put(kernels, "bool", value) == bool(value)


@pytest.mark.parametrize("c_type", INTEGERS)
def test_numpy_scalars_of_the_type_are_taken(kernels, c_type):
    assert put(kernels, c_type, TYPES[c_type](100)) == 100


def test_integer_is_taken_for_a_floating_point_parameter(kernels):
    assert put(kernels, "float", 3) == 3
    assert put(kernels, "double", -3) == -3


def test_arguments_of_every_size_are_where_they_belong(kernels):
    out = cs.zeros(7, np.int32)
    kernels.many[1, 1](out, -1, 2, -3, 4, 5.0, -6.0, 7)

    assert out.to_host().tolist() == [-1, 2, -3, 4, 5, -6, 7]


def test_mutable_array_is_taken_for_a_const_pointer(kernels):
    target, origin = cs.zeros(1, np.int32), cs.full(1, 5, np.int32)
    kernels.copy[1, 1](target, origin)

    assert target.to_host().tolist() == [5]


def test_slice_is_taken_where_it_begins(kernels):
    target, origin = cs.zeros(1, np.int32), cs.to_device(np.arange(10, dtype=np.int32))
    kernels.copy[1, 1](target, origin[6:])

    assert target.to_host().tolist() == [6]


def test_array_of_more_dimensions_is_its_memory(kernels):
    target, origin = cs.zeros((1, 1), np.int32), cs.full((2, 2), 9, np.int32)
    kernels.copy[1, 1](target, origin)

    assert target.to_host().tolist() == [[9]]


def test_none_is_a_null_pointer(kernels):
    answer = cs.zeros(1, np.int32)
    kernels.is_null[1, 1](answer, None)

    assert answer.to_host().tolist() == [1]


def test_reference_names_the_element_of_the_array(kernels):
    pair = np.zeros(2, np.dtype([("x", np.float32), ("n", np.int32)]))
    pairs, x = cs.to_device(pair.view(np.int32)), cs.to_device(np.array([2.5, 1], np.float32))
    kernels.add_to[1, 1](pairs[2:], x, 7)

    assert pairs.to_host().view(pair.dtype).tolist() == [(0, 0), (2.5, 7)]


def test_void_pointer_takes_any_array_and_an_address(kernels):
    x = cs.zeros(2, np.int32)
    kernels.raw[1, 1](x, 7)
    kernels.raw[1, 1](x.pointer + 4, 8)

    assert x.to_host().tolist() == [7, 8]


def test_bool_and_char_arrive_side_by_side(kernels):
    answer = cs.zeros(1, np.int32)
    kernels.flags[1, 1](answer, True, 42)

    assert answer.to_host().tolist() == [1042]


@pytest.mark.parametrize("form", ["bytes", "void"])
def test_struct_is_taken_by_its_bytes(kernels, form):
    pair = np.array([(1.5, 4)], np.dtype([("x", "f4"), ("n", "i4")]))[0]
    answer = cs.zeros(1, np.float32)
    kernels.from_pair[1, 1](answer, pair.tobytes() if form == "bytes" else pair)

    assert answer.to_host().tolist() == [6.0]


# Refused arguments: nothing is launched, and the message names the parameter


def refused(launch, *arguments, error, texts):
    with pytest.raises(error) as caught:
        launch(*arguments)
    for text in texts:
        assert text in str(caught.value)


@pytest.mark.parametrize("count", [0, 1, 3])
def test_wrong_number_of_arguments_is_refused(kernels, count):
    refused(
        kernels.copy[1, 1], *[cs.zeros(1, np.int32)] * count, error=TypeError, texts=["copy", "2", str(count)]
    )


def test_wrong_element_type_names_both(kernels):
    refused(
        kernels.copy[1, 1],
        cs.zeros(1, np.int32),
        cs.zeros(1, np.float32),
        error=TypeError,
        texts=["origin", "float32", "int32"],
    )


NARROW = """
#include <cuda_bf16.h>
#include <cuda_fp8.h>
__global__ void bf16(__nv_bfloat16* x, const __nv_bfloat16* y) { if (x) *x = *y; }
__global__ void e4m3(__nv_fp8_e4m3* x, const __nv_fp8_e4m3* y) { if (x) *x = *y; }
__global__ void e5m2(__nv_fp8_e5m2* x, const __nv_fp8_e5m2* y) { if (x) *x = *y; }
"""
NAMES = {"bf16": "bfloat16", "e4m3": "float8_e4m3fn", "e5m2": "float8_e5m2"}


@pytest.mark.parametrize("kernel", NAMES)
def test_pointer_to_a_narrow_type_takes_arrays_of_the_type_and_of_its_bits(device, kernel):
    size = 2 if kernel == "bf16" else 1
    launch = module(device, NARROW)[kernel][1, 1]
    for dtype in (f"u{size}", f"i{size}"):
        x, y = cs.zeros(1, dtype), cs.full(1, 7, dtype)
        launch(x, y)
        launch(None, None)
        assert x.to_host().tolist() == [7]
    for dtype in ("?", "i4", "f2", "f4", "f8", "c8", "u4", f"u{3 - size}", f"V{size}"):
        x, y = cs.zeros(1, dtype), cs.zeros(1, f"u{size}")
        with pytest.raises(
            TypeError,
            match=rf"takes a DeviceArray of {NAMES[kernel]}, not .*holds the bits as \.view\(numpy\.uint{8 * size}\)",
        ):
            launch(x, y)
        with pytest.raises(TypeError, match="parameter 'y'"):
            launch(y, x)


@pytest.mark.parametrize("kernel", NAMES)
def test_pointer_to_a_narrow_type_takes_its_dtype_of_ml_dtypes_alone(device, kernel):
    ml_dtypes = pytest.importorskip("ml_dtypes")
    launch = module(device, NARROW)[kernel][1, 1]
    for name in ("bfloat16", "float8_e4m3fn", "float8_e5m2", "float8_e4m3fnuz", "float8_e5m2fnuz"):
        dtype = np.dtype(getattr(ml_dtypes, name))
        x, y = cs.zeros(1, dtype), cs.full(1, 2, dtype)
        if name == NAMES[kernel]:
            launch(x, y)
            assert x.to_host().astype(float).tolist() == [2]
        else:
            with pytest.raises(TypeError, match=rf"ml_dtypes\.{NAMES[kernel]}"):
                launch(x, y)
            assert x.to_host().astype(float).tolist() == [0]
    with pytest.raises(TypeError, match="not a DeviceArray of bfloat16"):
        module(device, SOURCE).is_null[1, 1](cs.zeros(1, np.int32), cs.zeros(1, ml_dtypes.bfloat16))


def test_an_array_for_a_texture_is_told_to_make_one(device):
    kernel = module(device, "__global__ void reads(cudaTextureObject_t t) {}").reads
    array = cs.CudaArray((4, 4), np.float32)
    with pytest.raises(TypeError, match=r"takes a Texture, a Surface, or .*pass cuscope\.Texture\(array\)"):
        kernel[1, 1](array)
    with pytest.raises(TypeError, match=r"takes a Texture, a Surface, or an integer .*not None"):
        kernel[1, 1](None)


@pytest.mark.parametrize("value", [-1, 1 << 64])
def test_void_pointer_says_which_addresses_are_allowed(kernels, value):
    with pytest.raises(OverflowError, match=rf"an address from 0 to {2**64 - 1}, or None .*not {value}"):
        kernels.raw[1, 1](value, 1)


PAIR = np.dtype([("x", "f4"), ("n", "i4")])


@pytest.mark.parametrize(
    ("value", "said"),
    [
        (
            np.zeros(2, PAIR),
            r"takes 8 bytes, .*of 16 bytes: pass one of its 2 elements, such as array\.flat\[0\]",
        ),
        (np.zeros((), [("x", "f4"), ("n", "i1")]), "of 5 bytes: .*align=True"),
        (np.zeros((), [("x", "f8"), ("n", "i4")]), "of 12 bytes: the dtype of 12 bytes needs the fields"),
        (b"123", "takes 8 bytes, as bytes or .*not bytes of 3 bytes$"),
    ],
)
def test_a_structure_of_another_size_says_why(kernels, value, said):
    with pytest.raises(TypeError, match=said):
        kernels.from_pair[1, 1](cs.zeros(1), value)


@pytest.mark.parametrize("part", ["empty", "slice", "pinned"])
def test_an_empty_array_is_no_reference(kernels, part):
    pair = cs.zeros(1, PAIR)
    x = (
        cs.zeros(4)[4:]
        if part == "slice"
        else cs.zeros(0)
        if part == "empty"
        else cs.pinned_empty(4, mapped=True)[:0]
    )
    with pytest.raises((ValueError, TypeError), match=r"'x'.*takes a DeviceArray of float32"):
        kernels.add_to[1, 1](pair, x, 1)
    if part != "pinned":
        with pytest.raises(ValueError, match="one element or more, not an empty array"):
            kernels.add_to[1, 1](pair, x, 1)
    with pytest.raises(ValueError, match=r"'pair'.*not an empty array"):
        kernels.add_to.launch(cs.zeros(0, PAIR), cs.zeros(1), 1, grid=1, block=1)
    assert pair.to_host()["n"].tolist() == [0]


def test_numpy_array_is_told_to_use_to_device(kernels):
    refused(
        kernels.copy[1, 1],
        cs.zeros(1, np.int32),
        np.zeros(1, np.int32),
        error=TypeError,
        texts=["origin", "to_device"],
    )


@pytest.mark.parametrize("value", [1.5, "x", b"1234", [1], 0, 1 + 2j])
def test_pointer_does_not_take_other_values(kernels, value):
    refused(kernels.copy[1, 1], cs.zeros(1, np.int32), value, error=TypeError, texts=["origin"])


@pytest.mark.parametrize(
    ("value", "said"), [(None, "None"), (1.5, "1.5 (float)"), (np.float32(2), "2 (numpy.float32)")]
)
def test_reference_refuses_other_values_and_names_them(kernels, value, said):
    with pytest.raises(TypeError) as error:
        kernels.add_to[1, 1](cs.zeros(2), value, 7)

    assert str(error.value) == (
        f"add_to(): parameter 'x' (float const&) takes a DeviceArray of float32, not {said}: a reference names an "
        "element of the device's memory"
    )


@pytest.mark.parametrize("value", ["3", None, b"", [1], 1 + 2j, np.zeros(1, np.int32), np.zeros(2)])
@pytest.mark.parametrize("c_type", ["int", "float"])
def test_scalar_does_not_take_other_values(kernels, c_type, value):
    target = cs.full(1, 7, TYPES[c_type])

    refused(kernels[f"put<{c_type}>"][1, 1], target, value, error=(TypeError, ValueError), texts=["number"])
    assert target.to_host().tolist() == [7]


@pytest.mark.parametrize("c_type", INTEGERS)
@pytest.mark.parametrize("side", ["below", "above"])
def test_integer_out_of_range_says_the_range(kernels, c_type, side):
    info = np.iinfo(TYPES[c_type])
    value = int(info.min) - 1 if side == "below" else int(info.max) + 1
    target = cs.full(1, 7, TYPES[c_type])

    refused(
        kernels[f"put<{c_type}>"][1, 1],
        target,
        value,
        error=(OverflowError, ValueError),
        texts=["number", "64 bits" if abs(value) > 2**63 else str(value), str(info.min), str(info.max)],
    )
    assert target.to_host().tolist() == [7]


def test_integer_beyond_every_type_is_refused(kernels):
    refused(
        kernels["put<int>"][1, 1],
        cs.zeros(1, np.int32),
        10**40,
        error=(OverflowError, ValueError),
        texts=["number"],
    )


@pytest.mark.parametrize("value", [1.0, 1.5, np.float32(2), float("nan")])
def test_floating_point_for_an_integer_is_refused(kernels, value):
    refused(kernels["put<int>"][1, 1], cs.zeros(1, np.int32), value, error=TypeError, texts=["number", "int"])


def test_double_too_large_for_a_float_is_refused(kernels):
    refused(
        kernels["put<float>"][1, 1],
        cs.zeros(1, np.float32),
        1e300,
        error=(OverflowError, ValueError),
        texts=["number"],
    )


@pytest.mark.parametrize("value", [b"", b"1234", b"123456789"])
def test_struct_of_another_size_is_refused(kernels, value):
    refused(kernels.from_pair[1, 1], cs.zeros(1), value, error=(TypeError, ValueError), texts=["pair", "8"])


def test_closed_array_is_refused(kernels):
    closed = cs.zeros(1, np.int32)
    closed.close()

    refused(kernels.copy[1, 1], cs.zeros(1, np.int32), closed, error=ValueError, texts=["origin", "closed"])


def test_array_of_another_device_is_refused(device, kernels):
    other = cs.add_host_device("h200")
    with other:
        foreign = cs.zeros(1, np.int32)

    refused(
        kernels.copy[1, 1],
        cs.zeros(1, np.int32),
        foreign,
        error=ValueError,
        texts=["origin", device.name, other.name],
    )


def test_arguments_have_no_names(kernels):
    with pytest.raises(TypeError):
        kernels.copy[1, 1](target=cs.zeros(1, np.int32), origin=None)


def test_launch_needs_grid_and_block(kernels):
    with pytest.raises(TypeError, match="grid"):
        kernels.copy.launch(None, None)


@pytest.mark.parametrize("shared", [-1, 1.5, "0", 1 << 70])
def test_shared_memory_that_is_none_is_refused(kernels, shared):
    with pytest.raises((TypeError, ValueError, OverflowError, cs.CudaError)):
        kernels.copy.launch(None, None, grid=1, block=1, shared=shared)


@pytest.mark.parametrize("duration", [-1.0, float("nan"), float("inf"), "1"])
def test_duration_that_is_none_is_refused(kernels, duration):
    with pytest.raises((TypeError, ValueError), match="duration"):
        kernels.copy.launch(None, None, grid=1, block=1, duration=duration)


def test_read_only_pinned_array_is_refused_where_the_kernel_writes(kernels):
    x = cs.pinned_empty(1, np.int32)
    x[0] = 3
    x.flags.writeable = False

    refused(kernels.copy[1, 1], x, cs.zeros(1, np.int32), error=ValueError, texts=["target", "read-only"])
    assert x.tolist() == [3]
