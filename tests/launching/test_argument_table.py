"""Every type of a kernel's parameter against every kind of value: it arrives bit by bit, or is refused by name."""

from __future__ import annotations

import ctypes
import decimal
import enum
import fractions
import importlib.util
import struct
from typing import NamedTuple

import numpy as np
import pytest

import cuscope as cs
from support import module

SOURCE = """
#include <cuComplex.h>
#include <cuda_fp16.h>
#include <cuda_bf16.h>
#include <cuda/std/complex>
struct Plain { int n; float x; };
enum Colour { red, green, blue = 7 };
template <class T> __global__ void put(unsigned char* out, T v) { memcpy(out, &v, sizeof v); }
"""
# The elements of each type of parameter: NumPy's name of a number, and their count.
SCALARS = {
    "bool": "bool",
    "char": "int8",
    "signed char": "int8",
    "unsigned char": "uint8",
    "short": "int16",
    "unsigned short": "uint16",
    "int": "int32",
    "unsigned": "uint32",
    "long": "int64",
    "unsigned long": "uint64",
    "long long": "int64",
    "unsigned long long": "uint64",
    "wchar_t": "int32",
    "__half": "float16",
    "__nv_bfloat16": "bfloat16",
    "float": "float32",
    "double": "float64",
}
VECTORS = {
    "cuFloatComplex": ("float32", 2),
    "cuDoubleComplex": ("float64", 2),
    "cuda::std::complex<float>": ("float32", 2),
    "cuda::std::complex<double>": ("float64", 2),
    "float1": ("float32", 1),
    "float4": ("float32", 4),
    "int2": ("int32", 2),
    "uchar4": ("uint8", 4),
    "dim3": ("uint32", 3),
    "__half2": ("float16", 2),
    "__nv_bfloat162": ("bfloat16", 2),
}
STRUCTURES = {"Plain": 8, "Colour": 4}
POINTERS = {"const int*": "int32", "const float*": "float32", "const void*": None}
EVERY = [*SCALARS, *VECTORS, *STRUCTURES, *POINTERS]
BUFFERS = (bytes, np.void, ctypes.Structure, ctypes.Array, ctypes._SimpleCData, ctypes._Pointer)
BFLOAT16 = (np.arange(1 << 16, dtype=np.uint32) << 16).view(np.float32)


class Number(NamedTuple):
    value: object  # bool, int, float or complex
    dtype: str = ""  # NumPy's name of its type, where it has one
    raw: bytes = b""  # the bytes in memory, if the value has a type


class Seven(enum.IntEnum):
    SEVEN = 7


class Indexed:
    def __index__(self):
        return 9


class Floating(float):
    pass


class CPlain(ctypes.Structure):
    _fields_ = (("n", ctypes.c_int), ("x", ctypes.c_float))


# Values: a name, the argument, and the number that it stands for (None: no number)


def of_python():
    integers = [
        0,
        1,
        -1,
        127,
        -128,
        128,
        255,
        256,
        65504,
        65520,
        -(2**31),
        2**31,
        2**32,
        -(2**63),
        2**63,
        2**64 - 1,
    ]
    reals = [0.0, -0.0, 1.5, 0.1, 1e-45, 1e-8, 2049.0, 65519.99, 65520.0, 3.4e38, 3.3961775e38, 1e300]
    reals += [float("inf"), float("-inf"), float("nan"), -2.5e-7, 1.00390625, 1.01171875, 1.0000000001]
    numbers = [
        True,
        False,
        *integers,
        *reals,
        1 + 2j,
        -0.0 + 1e-3j,
        complex("nan+infj"),
        2**64,
        10**40,
        -(10**40),
    ]
    for number in numbers:
        yield repr(number), number, Number(number)
    yield "IntEnum", Seven.SEVEN, Number(7)
    yield "__index__", Indexed(), Number(9)
    yield "float's subclass", Floating(2.5), Number(2.5)
    for other in [
        "3",
        "",
        "x" * 1000,
        b"12",
        b"1234",
        bytes(8),
        bytes(16),
        bytearray(4),
        memoryview(b"1234"),
    ]:
        yield repr(other)[:20], other, None
    for other in [None, object(), {}, {1: 2}, set(), range(2), lambda: 0, int, fractions.Fraction(1, 2), ...]:
        yield repr(other), other, None
    yield "Decimal", decimal.Decimal(1), None
    for other in [
        (),
        (1,),
        (1, 2),
        [1.5, 2.5],
        (1, 2, 3),
        (1, 2, 3, 4),
        (1, "2"),
        ((1, 2), 3),
        (1, None),
        (1,) * 99,
    ]:
        yield repr(other)[:30], other, None


def of_numpy():
    # The quiet and the signalling NaN with bits of their own, and numbers that other types cannot represent.
    patterns = {
        "float16": [0x3E00, 0x8000, 0x7E01, 0x7C01, 0xFC00, 0x0001],
        "float32": [0x3FC00000, 0x80000000, 0x7FC12345, 0x7F812345, 0xFF800000, 0x00000001, 0x477FF000],
        "float64": [0x3FF8 << 48, 0x8000 << 48, 0x7FF8 << 48 | 12345, 0x7FF0 << 48 | 12345, 1, 0x7FE0 << 48],
    }
    for name, bits in patterns.items():
        for pattern in bits:
            size = np.dtype(name).itemsize
            scalar = np.array([pattern], f"u{size}").view(name)[0]
            yield f"{name} {pattern:#x}", scalar, Number(float(scalar), name, scalar.tobytes())
    for name in ["complex64", "complex128"]:
        part = "u4" if name == "complex64" else "u8"
        for pair in [(0x3FC00000, 0x80000000), (0x7F812345, 0x7FC54321)]:
            scalar = np.array(pair, part).view(name)[0]
            yield f"{name} {pair}", scalar, Number(complex(scalar), name, scalar.tobytes())
    for name in ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"]:
        for value in {np.iinfo(name).min, 5, np.iinfo(name).max}:
            scalar = np.dtype(name).type(value)
            yield f"{name} {value}", scalar, Number(int(value), name, scalar.tobytes())
    yield "np.True_", np.True_, Number(True, "bool", b"\1")
    yield "np.False_", np.False_, Number(False, "bool", b"\0")
    for other in [np.datetime64(1, "s"), np.timedelta64(1, "s"), np.str_("1"), np.array("1"), np.array(None)]:
        yield repr(other), other, None
    yield "1 of object", np.array(1, object), None
    yield "void", np.void(b"1234"), None


def of_arrays_without_dimensions():
    for name, scalar, number in of_numpy():
        if number is not None:
            yield f"array({name})", np.array(scalar), number
    yield "big-endian", np.array(258, ">i4"), Number(258, "int32", struct.pack("=i", 258))
    yield "read-only", np.broadcast_to(np.float32(1.5), ()), Number(1.5, "float32", struct.pack("=f", 1.5))


def of_other_arrays():
    for dtype in ["bool", "int32", "float32", "float64", "complex64"]:
        for shape in [(0,), (1,), (1, 1), (2,), (4,)]:
            yield f"{dtype}{shape}", np.zeros(shape, dtype), None
    yield "list of arrays", [np.zeros(2)], None


def of_ctypes():
    names = "c_bool c_byte c_ubyte c_short c_ushort c_int c_uint c_long c_ulong c_longlong c_ulonglong c_float c_double"
    for name in names.split():
        made = getattr(ctypes, name)
        dtype = np.dtype(made)
        values = {0, 1} if dtype.kind == "b" else {1.5, -0.0, 3e38} if dtype.kind == "f" else None
        for value in values or {np.iinfo(dtype).min, 3, np.iinfo(dtype).max}:
            yield f"{name}({value})", made(value), Number(made(value).value, dtype.name, bytes(made(value)))
    yield "c_char", ctypes.c_char(b"\xfe"), Number(-2, "int8", b"\xfe")
    yield "c_wchar", ctypes.c_wchar("ß"), Number(223, "int32", struct.pack("=i", 223))
    yield "c_void_p", ctypes.c_void_p(77), Number(77, "uint64", struct.pack("=Q", 77))
    yield "c_void_p(None)", ctypes.c_void_p(), Number(0, "uint64", bytes(8))
    yield "c_longdouble", ctypes.c_longdouble(1), None
    yield "c_char_p", ctypes.c_char_p(b"abc"), None
    yield "py_object", ctypes.py_object([]), None
    yield "pointer", ctypes.pointer(ctypes.c_int(1)), None
    yield "c_int * 2", (ctypes.c_int * 2)(1, 2), None
    yield "c_int * 1", (ctypes.c_int * 1)(1), None
    yield "Structure", CPlain(1, 2), None
    yield "big-endian c_int", ctypes.c_int.__ctype_be__(3), None


def of_ml_dtypes():
    if importlib.util.find_spec("ml_dtypes") is None:
        return
    import ml_dtypes

    for pattern in [0x3FC0, 0x8000, 0x7FC1, 0x7F81, 0xFF80, 0x0001, 0x7F7F]:
        scalar = np.array([pattern], np.uint16).view(ml_dtypes.bfloat16)[0]
        number = Number(float(scalar), "bfloat16", scalar.tobytes())
        yield f"bfloat16 {pattern:#x}", scalar, number
        yield f"array(bfloat16 {pattern:#x})", np.array(scalar), number
    for name in ["float8_e4m3fn", "float8_e5m2"]:
        scalar = getattr(ml_dtypes, name)(1.5)
        yield name, scalar, Number(1.5, name, scalar.tobytes())
        yield f"array({name})", np.array(scalar), Number(1.5, name, scalar.tobytes())
    yield "int4", ml_dtypes.int4(-3), Number(-3, "int4", ml_dtypes.int4(-3).tobytes())


def values():
    for group in (
        of_python,
        of_numpy,
        of_arrays_without_dimensions,
        of_other_arrays,
        of_ctypes,
        of_ml_dtypes,
    ):
        yield from group()


# The expected bytes, or None if the value is refused


def rounded_to_bfloat16(value: float) -> bytes:
    if np.isnan(value):
        bits = struct.unpack("=Q", struct.pack("=d", value))[0]
        return struct.pack("=H", bits >> 48 & 0x8000 | 0x7FC0 | bits >> 45 & 0x7F)
    candidates = BFLOAT16[:0x7F81].astype(np.float64)  # from 0 to infinity
    candidates[-1] = 2.0**128  # infinity begins here, if there were one more exponent
    at = int(np.searchsorted(candidates, min(abs(value), 2.0**128)))
    if candidates[at] != abs(value) and at > 0:
        below, above = abs(value) - candidates[at - 1], candidates[at] - abs(value)
        at -= below < above or (below == above and at % 2 == 1)
    return struct.pack("=H", at | (0x8000 if np.signbit(value) else 0))


def scalar_bytes(dtype: str, number: Number | None) -> bytes | None:
    if number is None:
        return None
    if number.dtype == dtype:
        return number.raw
    value = number.value
    if dtype == "bool":
        return bytes([value]) if isinstance(value, bool) else None
    if dtype.startswith(("int", "uint")):
        fits = isinstance(value, int) and np.iinfo(dtype).min <= value <= np.iinfo(dtype).max
        return np.dtype(dtype).type(value).tobytes() if fits else None
    if isinstance(value, complex) or (isinstance(value, int) and not -(2**63) <= value < 2**64):
        return None
    value = float(value)
    if np.isnan(value) and dtype == "float16":
        bits = struct.unpack("=Q", struct.pack("=d", value))[0]
        return struct.pack("=H", bits >> 48 & 0x8000 | 0x7E00 | bits >> 42 & 0x3FF)
    with np.errstate(over="ignore"):
        narrow = rounded_to_bfloat16(value) if dtype == "bfloat16" else np.dtype(dtype).type(value).tobytes()
    infinite = (
        struct.unpack("=H", narrow)[0] & 0x7FFF == 0x7F80
        if dtype == "bfloat16"
        else bool(np.isinf(np.frombuffer(narrow, dtype)[0]))
    )
    return None if infinite and not np.isinf(value) else narrow


def complex_bytes(dtype: str, number: Number) -> bytes | None:
    if number.dtype == {"float32": "complex64", "float64": "complex128"}[dtype]:
        return number.raw
    is_complex = isinstance(number.value, complex)
    real = Number(number.value.real) if is_complex else number
    parts = [scalar_bytes(dtype, real), scalar_bytes(dtype, Number(number.value.imag if is_complex else 0.0))]
    return None if None in parts else b"".join(parts)


def number_in(value: object) -> Number | None:
    """The number of an element of a tuple."""
    return Number(value) if isinstance(value, (bool, int, float)) else None


def array_bytes(value: object, dtype: str, count: int) -> bytes | None:
    same = isinstance(value, np.ndarray) and value.dtype.name == dtype and value.size == count
    return value.tobytes() if same else None


def vector_bytes(name: str, value: object, number: Number | None) -> bytes | None:
    dtype, lanes = VECTORS[name]
    size = lanes * {"bfloat16": 2}.get(dtype, 0) or lanes * np.dtype(dtype.replace("b", "u")).itemsize
    if number is not None and "omplex" in name and (isinstance(number.value, complex) or "std" in name):
        return complex_bytes(dtype, number)
    if isinstance(value, (tuple, list)) and len(value) == lanes:
        parts = [scalar_bytes(dtype, number_in(v)) for v in value]
        return None if None in parts else b"".join(parts)
    if number is None and isinstance(value, BUFFERS):
        return raw_bytes(value, size)
    return array_bytes(value, dtype, lanes)


def raw_bytes(value: object, size: int) -> bytes | None:
    made = bytes(value)
    return made if len(made) == size else None


def structure_bytes(name: str, value: object, number: Number | None) -> bytes | None:
    size = STRUCTURES[name]
    if number is not None and number.dtype:
        return number.raw if len(number.raw) == size else None
    if number is not None:
        whole = isinstance(number.value, int) and -(2 ** (8 * size - 1)) <= number.value < 2 ** (8 * size)
        return (number.value % 2 ** (8 * size)).to_bytes(size, "little") if whole else None
    if value is None and size == 8:
        return bytes(8)
    return raw_bytes(value, size) if isinstance(value, BUFFERS) else None


def pointer_bytes(name: str, value: object, number: Number | None) -> bytes | None:
    if value is None:
        return bytes(8)
    if POINTERS[name] is not None or number is None or isinstance(value, np.ndarray):
        return None
    address = type(number.value) is int and 0 <= number.value < 2**64
    return number.value.to_bytes(8, "little") if address else None


def arrives(name: str, value: object, number: Number | None) -> bytes | None:
    if name in SCALARS:
        as_bytes = name == "__nv_bfloat16" and isinstance(value, bytes) and len(value) == 2
        return value if as_bytes else scalar_bytes(SCALARS[name], number)
    if name in VECTORS:
        return vector_bytes(name, value, number)
    return (structure_bytes if name in STRUCTURES else pointer_bytes)(name, value, number)


@pytest.fixture
def kernels(device):
    return module(device, SOURCE, name_expressions=tuple(f"put<{name}>" for name in EVERY))


@pytest.mark.parametrize("name", EVERY)
def test_every_value_arrives_bit_by_bit_or_is_refused_with_the_parameter(kernels, name):
    put, wrong = kernels[f"put<{name}>"][1, 1], []
    for label, value, number in values():
        out = cs.full(16, 0xA5, np.uint8)
        expected = arrives(name, value, number)
        try:
            put(out, value)
        except (TypeError, OverflowError, ValueError) as error:
            text = str(error)
            named = ("argument 2" in text or "parameter 'v'" in text) and " takes " in text
            if expected is not None or not named or len(text) > 500:
                wrong.append(f"{label}: {type(error).__name__}: {text}")
            if out.to_host().tolist() != [0xA5] * 16:
                wrong.append(f"{label}: refused, and launched")
            continue
        came = out.to_host().tobytes()
        if expected is None:
            wrong.append(f"{label}: was taken as {came.hex()}")
        elif came != expected + b"\xa5" * (16 - len(expected)):
            wrong.append(f"{label}: {came.hex()} came, not {expected.hex()}")

    assert wrong == []


def message(kernels, name: str, value: object) -> str:
    with pytest.raises((TypeError, OverflowError)) as caught:
        kernels[f"put<{name}>"][1, 1](cs.zeros(16, np.uint8), value)
    return str(caught.value)


@pytest.mark.parametrize(
    ("name", "value", "texts"),
    [
        ("int", 1.5, ["an integer from -2147483648 to 2147483647", "1.5 (float)"]),
        ("int", 1 + 2j, ["an integer", "(1+2j) (complex)"]),
        ("int", "3", ["an integer", "'3' (str)"]),
        ("int", np.zeros(1, np.int32), ["array[0]"]),
        ("float", 1e300, ["a number that float32 can hold", "1e+300 (float)"]),
        ("__half", 65520.00000001, ["a number that float16 can hold", "65520.00000001 (float)"]),
        ("__nv_bfloat16", 1e39, ["a number that bfloat16 can hold", "1e+39 (float)"]),
        ("unsigned char", ctypes.c_int(300), ["from 0 to 255", "300 (c_int)"]),
        ("cuFloatComplex", 1.5, ["a complex number", "a tuple of 2 numbers", "1.5 (float)"]),
        ("cuda::std::complex<float>", 1e300j, ["a number that float32 can hold", "1e+300"]),
        ("Plain", 1 + 2j, ["8 bytes", "(1+2j) (complex)"]),
        ("float4", ([1], 2, 3, 4), ["a number", "list"]),
    ],
)
def test_message_has_the_value_and_the_allowed_values(kernels, name, value, texts):
    said = message(kernels, name, value)
    for text in ["parameter 'v'", *texts]:
        assert text in said


def test_number_on_the_device_is_refused_with_the_way_out(kernels):
    number = cs.full((), 3, np.int32)

    assert ".to_host()" in message(kernels, "int", number)


def test_page_locked_number_is_its_value_and_as_a_pointer_its_address(device):
    mod = module(
        device, "__global__ void both(int* out, const int* pointer, int v) { out[0] = *pointer; out[1] = v; }"
    )
    number, out = cs.pinned_empty((), np.int32), cs.zeros(2, np.int32)
    number[()] = 42
    mod.both[1, 1](out, number, number)

    assert out.to_host().tolist() == [42, 42]


def test_pointer_to_bfloat16_takes_arrays_that_have_the_bits(device):
    mod = module(
        device,
        "#include <cuda_bf16.h>\n"
        "__global__ void first(float* out, const __nv_bfloat16* x) { *out = __bfloat162float(*x); }",
    )
    out = cs.zeros(1, np.float32)
    mod.first[1, 1](out, cs.full(1, 0x3FC0, np.uint16))

    assert out.to_host().tolist() == [1.5]
