"""Structures, vectors and large values as arguments, and kernels that share a name."""

from __future__ import annotations

import ctypes

import numpy as np
import pytest

import cuscope as cs
from support import module

SOURCE = r"""
struct Mixed { char c; double d; short s; };
struct Arrays { int n; float values[5]; unsigned char tail[3]; };
struct Nested { Mixed inner[2]; int last; };
struct Pointers { float* data; int n; };
struct Large { int values[1000]; };
struct Larger { int values[8000]; };
__global__ void mixed(double* out, Mixed m) { out[0] = m.c; out[1] = m.d; out[2] = m.s; }
__global__ void arrays(float* out, Arrays a) {
    out[0] = a.n;
    for (int i = 0; i < 5; ++i) out[1 + i] = a.values[i];
    for (int i = 0; i < 3; ++i) out[6 + i] = a.tail[i];
}
__global__ void nested(double* out, Nested n) { out[0] = n.inner[0].d; out[1] = n.inner[1].s; out[2] = n.last; }
__global__ void scale(Pointers p, float by) { for (int i = 0; i < p.n; ++i) p.data[i] *= by; }
__global__ void large(int* out, Large a, int at) { *out = a.values[at]; }
__global__ void larger(int* out, Larger a, int at) { *out = a.values[at + threadIdx.x]; }
__global__ void vectors(float* out, float4 a, int3 b, uchar2 c, double2 d, dim3 e) {
    out[0] = a.x; out[1] = a.w; out[2] = b.z; out[3] = c.y; out[4] = d.x; out[5] = e.y;
}
__global__ void one_vector(float* out, float2 v) { out[0] = v.x; out[1] = v.y; }
"""
MIXED = np.dtype([("c", "i1"), ("d", "f8"), ("s", "i2")], align=True)


@pytest.fixture
def mod(device):
    return module(device, SOURCE)


class CMixed(ctypes.Structure):
    _fields_ = (("c", ctypes.c_char), ("d", ctypes.c_double), ("s", ctypes.c_short))


@pytest.mark.parametrize("form", ["scalar", "zero_dimensional", "one_element", "bytes", "ctypes", "record"])
def test_structure_arrives_by_value(mod, form):
    array = np.array((3, 1.5, -7), MIXED)
    value = {
        "scalar": array[()],
        "zero_dimensional": array,
        "one_element": array.reshape(1),
        "bytes": array.tobytes(),
        "ctypes": CMixed(b"\x03", 1.5, -7),
        "record": array.view(np.recarray)[()],
    }[form]
    out = cs.zeros(3, np.float64)
    mod.mixed[1, 1](out, value)

    assert out.to_host().tolist() == [3, 1.5, -7]


def test_arrays_in_structures_arrive(mod):
    dtype = np.dtype([("n", "i4"), ("values", "f4", (5,)), ("tail", "u1", (3,))], align=True)
    value = np.array((2, [1, 2, 3, 4, 5], [7, 8, 9]), dtype)
    out = cs.zeros(9, np.float32)
    mod.arrays[1, 1](out, value)

    assert out.to_host().tolist() == [2, 1, 2, 3, 4, 5, 7, 8, 9]


def test_structures_in_structures_arrive(mod):
    dtype = np.dtype([("inner", MIXED, (2,)), ("last", "i4")], align=True)
    value = np.array(([(1, 2.5, 3), (4, 5.5, 6)], 7), dtype)
    out = cs.zeros(3, np.float64)
    mod.nested[1, 1](out, value)

    assert out.to_host().tolist() == [2.5, 6, 7]


def test_pointers_in_structures_are_addresses(mod):
    x = cs.to_device(np.arange(4, dtype=np.float32))
    value = np.array((x.pointer, 4), np.dtype([("data", "u8"), ("n", "i4")], align=True))
    mod.scale[1, 1](value, 3.0)

    assert x.to_host().tolist() == [0, 3, 6, 9]


def test_structures_beyond_four_kilobytes_arrive(mod):
    out = cs.zeros(1, np.int32)
    values = np.arange(8000, dtype=np.int32)
    mod.large[1, 1](out, values[:1000].tobytes(), 999)
    assert out.to_host().tolist() == [999]
    mod.larger[1, 1](out, values.tobytes(), 7999)
    assert out.to_host().tolist() == [7999]
    mod.larger[1, 1](out, values.view(np.dtype([("values", "i4", (8000,))])), 5)
    assert out.to_host().tolist() == [5]


def test_large_structures_stay_with_threads_that_wait(device):
    # Kernels that are not optimised copy the structure four times, which fills the stack of a simulated thread.
    length = 4000 if cs.build_config["sanitize"] else 8000
    mod = module(
        device,
        """
        struct Large { int values[LENGTH]; };
        __device__ int pick(Large all, int i) { return all.values[i]; }
        __global__ void turn(int* out, Large all) {
            __shared__ int s[256];
            s[threadIdx.x] = all.values[threadIdx.x * (LENGTH / 256)];
            __syncthreads();
            out[threadIdx.x] = s[255 - threadIdx.x] + pick(all, threadIdx.x);
            all.values[threadIdx.x] = 1;  // a thread's own
        }
        """.replace("LENGTH", str(length)),
    )
    out, i = cs.zeros(256, np.int32), np.arange(256)
    mod.turn[2, 256](out, np.arange(length, dtype=np.int32).tobytes())

    assert np.array_equal(out.to_host(), (255 - i) * (length // 256) + i)


def test_parameters_that_are_too_large_do_not_compile(device):
    with pytest.raises(cs.CompileError, match=r"32764|parameter"):
        cs.Module("struct S { int v[8192]; }; __global__ void huge(int* out, S s) { *out = s.v[5]; }")


@pytest.mark.parametrize("form", ["tuples", "lists", "arrays", "bytes", "scalars"])
def test_vectors_from_tuples_and_arrays(mod, form):
    values = [(1.5, 0, 0, 2.5), (3, 4, 5), (6, 7), (8.5, 9), (10, 11, 12)]
    dtypes = [np.float32, np.int32, np.uint8, np.float64, np.uint32]
    arrays = [np.array(v, d) for v, d in zip(values, dtypes, strict=True)]
    given = {
        "tuples": values,
        "lists": [list(v) for v in values],
        "arrays": arrays,
        "bytes": [a.tobytes() for a in arrays],
        "scalars": [tuple(a) for a in arrays],
    }[form]
    out = cs.zeros(6, np.float32)
    mod.vectors[1, 1](out, *given)

    assert out.to_host().tolist() == [1.5, 2.5, 5, 7, 8.5, 11]


def test_page_locked_array_is_a_vector_s_value(mod):
    value = cs.pinned_empty(2, np.float32)
    value[:] = 3, 4
    out = cs.zeros(2)
    mod.one_vector[1, 1](out, value)

    assert out.to_host().tolist() == [3, 4]


@pytest.mark.parametrize(
    ("kernel", "value", "error", "texts"),
    [
        (
            "mixed",
            np.zeros((), [("c", "i1"), ("d", "f8"), ("s", "i2")]),
            TypeError,
            ["24", "11", "align=True"],
        ),
        ("mixed", np.zeros((), [("c", "i1"), ("d", "f8"), ("s", "i2")])[()], TypeError, ["24", "align=True"]),
        ("mixed", np.zeros(2, MIXED), TypeError, ["24", "48"]),
        ("mixed", (3, 1.5, -7), TypeError, ["24", "tuple of 3"]),
        ("mixed", bytearray(24), TypeError, ["24", "bytearray"]),
        ("mixed", 3, TypeError, ["24"]),
        ("mixed", np.zeros(3), TypeError, ["24", "NumPy array of float64"]),
        ("mixed", {"c": 1}, TypeError, ["24", "dict"]),
        ("one_vector", (1.0, 2.0, 3.0), TypeError, ["tuple of 2", "tuple of 3"]),
        ("one_vector", (1.0,), TypeError, ["tuple of 2", "tuple of 1"]),
        ("one_vector", (1.0, "2"), TypeError, ["number", "str"]),
        ("one_vector", (1.0, 1e300), OverflowError, ["float32"]),
        ("one_vector", ((1.0, 2.0), 3.0), TypeError, ["number"]),
        ("one_vector", np.zeros(2), TypeError, ["float32", "float64"]),
        ("one_vector", np.zeros(4, np.float32)[::2], TypeError, ["contiguous"]),
        ("one_vector", np.zeros(3, np.float32), TypeError, ["float32", "12 bytes"]),
        ("one_vector", 1.0, TypeError, ["tuple of 2"]),
        ("one_vector", b"1234", TypeError, ["8 bytes"]),
    ],
)
def test_refused_value_names_the_parameter(mod, kernel, value, error, texts):
    out = cs.zeros(3, np.float64 if kernel == "mixed" else np.float32)
    with pytest.raises(error) as caught:
        mod[kernel][1, 1](out, value)
    for text in ["m" if kernel == "mixed" else "v", *texts]:
        assert text in str(caught.value)
    assert not out.to_host().any()


# Kernels that share a name

OVERLOADED = r"""
namespace ns {
__global__ void put(int* x, int v) { *x = v; }
__global__ void put(float* x, float v) { *x = v + 0.5f; }
}
__global__ void put(double* x) { *x = 7; }
extern "C" __global__ void plain(int* x) { *x = 9; }
template <class T> __global__ void set(T* x, T v) { *x = v; }
"""


@pytest.fixture
def overloaded(device):
    return module(device, OVERLOADED, name_expressions=("set<int>", "set<float>"))


def test_overloads_are_named_by_their_parameters(overloaded):
    x, y, z = cs.zeros(1, np.int32), cs.zeros(1, np.float32), cs.zeros(1, np.float64)
    overloaded["ns::put(int*, int)"][1, 1](x, 5)
    overloaded["ns::put(float *,float)"][1, 1](y, 5)
    overloaded["put"][1, 1](z)

    assert [a.to_host()[0] for a in (x, y, z)] == [5, 5.5, 7]
    assert {"ns::put(int*, int)", "ns::put(float*, float)", "put", "plain"} <= set(overloaded.kernels)


def test_ambiguous_name_lists_the_candidates(overloaded):
    with pytest.raises(KeyError) as caught:
        overloaded["ns::put"]
    for text in ("2 kernels", "ns::put(int*, int)", "ns::put(float*, float)", "_ZN2ns3putEPii"):
        assert text in str(caught.value)


@pytest.mark.parametrize(
    ("name", "dtype"),
    [
        ("_ZN2ns3putEPii", np.int32),
        ("_ZN2ns3putEPff", np.float32),
        ("_Z3setIiEvPT_S0_", np.int32),
        ("set<float>", np.float32),
    ],
)
def test_mangled_names_are_names(overloaded, name, dtype):
    x = cs.zeros(1, dtype)
    overloaded[name][1, 1](x, 4)

    assert int(x.to_host()[0]) == 4


def test_extern_c_name_is_its_own(overloaded):
    x = cs.zeros(1, np.int32)
    overloaded.plain[1, 1](x)

    assert x.to_host().tolist() == [9]


def test_parameters_of_overloads_are_their_own(overloaded):
    assert [p.element for p in overloaded["ns::put(int*, int)"].parameters] == ["int32", "int32"]
    assert [p.element for p in overloaded["ns::put(float*, float)"].parameters] == ["float32", "float32"]
    with pytest.raises(TypeError, match="float32"):
        overloaded["ns::put(float*, float)"][1, 1](cs.zeros(1, np.int32), 1.0)


def test_overloads_of_a_saved_image(overloaded, device, tmp_path):
    path = tmp_path / ("saved.image" if device.simulated else "saved.cubin")
    path.write_bytes(overloaded.image)
    mod = cs.Module.from_file(path)
    x = cs.zeros(1, np.int32)
    mod["ns::put(int*, int)"][1, 1](x, 6)

    assert x.to_host().tolist() == [6]
    with pytest.raises(KeyError, match="2 kernels"):
        mod["ns::put"]
