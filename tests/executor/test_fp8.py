"""Numbers of 8 bits from <cuda_fp8.h>: __nv_fp8_e4m3, __nv_fp8_e5m2 and the scales __nv_fp8_e8m0."""

from __future__ import annotations

import importlib.util

import numpy as np
import pytest

import cuscope as cs
from support import module

SOURCE = r"""
#include <cuda_fp8.h>

// The layout, and which conversions are implicit: none.
template <class T> struct Layout { char before; T value; };
template <class T> __device__ T make();
template <class To> __device__ char (&takes(To))[2];
template <class To> __device__ char takes(...);
#define CHECK(name, bytes)                                                                          \
    static_assert(sizeof(name) == bytes && sizeof(Layout<name>) == 2 * bytes, "size and alignment"); \
    static_assert(__is_trivial(name) && __is_standard_layout(name), "may lie in shared memory");      \
    static_assert(sizeof(takes<float>(make<name>())) == 1, "no implicit conversion");                 \
    static_assert(sizeof(takes<name>(make<float>())) == 1, "no implicit constructor");
CHECK(__nv_fp8_e4m3, 1) CHECK(__nv_fp8x2_e4m3, 2) CHECK(__nv_fp8x4_e4m3, 4)
CHECK(__nv_fp8_e5m2, 1) CHECK(__nv_fp8x2_e5m2, 2) CHECK(__nv_fp8x4_e5m2, 4)
CHECK(__nv_fp8_e8m0, 1) CHECK(__nv_fp8x2_e8m0, 2) CHECK(__nv_fp8x4_e8m0, 4)
static_assert(sizeof(__nv_fp8_storage_t) == 1 && sizeof(__nv_fp8x2_storage_t) == 2, "storage");
static_assert(sizeof(__nv_fp8x4_storage_t) == 4, "storage");

#define INDEX                                                                                        \
    const int i = blockIdx.x * blockDim.x + threadIdx.x;                                             \
    if (i < n)

// ---- functions

#define NARROW(name, type)                                                                           \
    __global__ void from_##name(const type* x, unsigned char* out, int n, int saturate, int format) { \
        INDEX out[i] = __nv_cvt_##name##_to_fp8(x[i], static_cast<__nv_saturation_t>(saturate),      \
                                                static_cast<__nv_fp8_interpretation_t>(format));     \
    }
NARROW(float, float) NARROW(double, double) NARROW(halfraw, __half_raw) NARROW(bfloat16raw, __nv_bfloat16_raw)

__global__ void widen(const unsigned char* x, __half_raw* out, __half2_raw* two, int format) {
    const int i = threadIdx.x;
    const auto f = static_cast<__nv_fp8_interpretation_t>(format);
    out[i] = __nv_cvt_fp8_to_halfraw(x[i], f);
    two[i] = __nv_cvt_fp8x2_to_halfraw2(static_cast<__nv_fp8x2_storage_t>(x[i] | x[255 - i] << 8), f);
}

__global__ void pairs(const float2* x, unsigned short* out, int n, int saturate, int format) {
    INDEX {
        const auto s = static_cast<__nv_saturation_t>(saturate);
        const auto f = static_cast<__nv_fp8_interpretation_t>(format);
        const double2 wide = {x[i].x, x[i].y};
        out[i] = __nv_cvt_float2_to_fp8x2(x[i], s, f);
        out[n + i] = __nv_cvt_double2_to_fp8x2(wide, s, f);
        out[2 * n + i] = __nv_cvt_halfraw2_to_fp8x2(__float22half2_rn(x[i]), s, f);
        out[3 * n + i] = __nv_cvt_bfloat16raw2_to_fp8x2(__float22bfloat162_rn(x[i]), s, f);
    }
}

#define SCALE(name, type)                                                                            \
    __global__ void scale_##name(const type* x, unsigned char* out, int n, int saturate, int mode) { \
        INDEX out[i] = __nv_cvt_##name##_to_e8m0(x[i], static_cast<__nv_saturation_t>(saturate),     \
                                                 static_cast<cudaRoundMode>(mode));                  \
    }
SCALE(float, float) SCALE(double, double) SCALE(bfloat16raw, __nv_bfloat16_raw)

__global__ void scale_pairs(const float2* x, unsigned short* out, int n, int saturate, int mode) {
    INDEX {
        const auto s = static_cast<__nv_saturation_t>(saturate);
        const auto m = static_cast<cudaRoundMode>(mode);
        const double2 wide = {x[i].x, x[i].y};
        out[i] = __nv_cvt_float2_to_e8m0x2(x[i], s, m);
        out[n + i] = __nv_cvt_double2_to_e8m0x2(wide, s, m);
        out[2 * n + i] = __nv_cvt_bfloat162raw_to_e8m0x2(__float22bfloat162_rn(x[i]), s, m);
    }
}

__global__ void scales(const unsigned char* x, __nv_bfloat16_raw* out, __nv_bfloat162_raw* two) {
    const int i = threadIdx.x;
    out[i] = __nv_cvt_e8m0_to_bf16raw(x[i]);
    two[i] = __nv_cvt_e8m0x2_to_bf162raw(static_cast<__nv_fp8x2_storage_t>(x[i] | x[255 - i] << 8));
}

// ---- classes

struct Numbers {
    double f64;
    float f32;
    __half_raw f16;
    __nv_bfloat16_raw bf16;
    long long i64, il;
    unsigned long long u64, ul;
    int i32;
    unsigned u32;
    short i16;
    unsigned short u16;
    signed char i8;
    unsigned char u8;
    char c8;
    bool b;
};

#define OF(type) C(static_cast<type>(x[i])).__x
template <class C>
__device__ void all(const C* code, Numbers* to, const double* x, unsigned char* of, int n) {
    const int i = threadIdx.x;
    const C c = code[i];
    to[i] = {double(c),   float(c),   __half(c),   __nv_bfloat16(c),      (long long)c,
             long(c),     (unsigned long long)c,   (unsigned long)c,      int(c),
             unsigned(c), short(c),   (unsigned short)c, (signed char)c, (unsigned char)c,
             char(c),     bool(c)};
    if (i >= n) return;
    const unsigned char results[] = {OF(float), OF(double), C(__double2half(x[i])).__x,
                                     C(__double2bfloat16(x[i])).__x, OF(int), OF(long), OF(long long), OF(short)};
    for (int k = 0; k < 8; ++k) of[8 * i + k] = results[k];
}
template <class C>
__device__ void all_unsigned(const unsigned long long* x, unsigned char* of, int n) {
    const int i = threadIdx.x;
    if (i >= n) return;
    const unsigned char results[] = {OF(unsigned short), OF(unsigned), OF(unsigned long), OF(unsigned long long)};
    for (int k = 0; k < 4; ++k) of[4 * i + k] = results[k];
}
template <class C2, class C4>
__device__ void groups(const float4* x, unsigned* of, float* to, __half2_raw* halves) {
    const float4 v = x[threadIdx.x];
    const double4_16a d = {v.x, v.y, v.z, v.w};
    const double4_32a e = {v.x, v.y, v.z, v.w};
    const float2 low = {v.x, v.y}, high = {v.z, v.w};
    const double2 low64 = {v.x, v.y}, high64 = {v.z, v.w};
    const __half2 low16 = __float22half2_rn(low), high16 = __float22half2_rn(high);
    const __nv_bfloat162 low_b = __float22bfloat162_rn(low), high_b = __float22bfloat162_rn(high);
    const C4 four(v);
    const C2 one(low), two(high);
    unsigned* const results = of + 9 * threadIdx.x;
    results[0] = four.__x;
    results[1] = C4(d).__x;
    results[2] = C4(e).__x;
    results[3] = C4(low16, high16).__x;
    results[4] = C4(low_b, high_b).__x;
    results[5] = one.__x | two.__x << 16;
    results[6] = C2(low64).__x | C2(high64).__x << 16;
    results[7] = C2(low16).__x | C2(high16).__x << 16;
    results[8] = C2(low_b).__x | C2(high_b).__x << 16;
    const float4 back = float4(four);
    const float2 back1 = float2(one), back2 = float2(two);
    const float values[] = {back.x, back.y, back.z, back.w, back1.x, back1.y, back2.x, back2.y};
    for (int k = 0; k < 8; ++k) to[8 * threadIdx.x + k] = values[k];
    halves[2 * threadIdx.x] = __half2(one);
    halves[2 * threadIdx.x + 1] = __half2(two);
}
#define CLASS(name)                                                                                          \
    __global__ void name(const __nv_fp8_##name* c, Numbers* to, const double* x, unsigned char* of, int n) {  \
        all(c, to, x, of, n);                                                                                \
    }                                                                                                        \
    __global__ void unsigned_##name(const unsigned long long* x, unsigned char* of, int n) {                 \
        all_unsigned<__nv_fp8_##name>(x, of, n);                                                             \
    }                                                                                                        \
    __global__ void groups_##name(const float4* x, unsigned* of, float* to, __half2_raw* halves) {           \
        groups<__nv_fp8x2_##name, __nv_fp8x4_##name>(x, of, to, halves);                                     \
    }
CLASS(e4m3) CLASS(e5m2) CLASS(e8m0)

// ---- in use

__global__ void by_value(__nv_fp8_e4m3 a, __nv_fp8_e5m2 b, __nv_fp8x4_e4m3 c, float* out) {
    out[0] = float(a);
    out[1] = float(b);
    out[2] = float4(c).z;
}
__global__ void quantize(const float* x, __nv_fp8_e4m3* q, __nv_fp8_e8m0* scale) {
    __shared__ float largest[32];
    const int i = 32 * blockIdx.x + threadIdx.x;
    largest[threadIdx.x] = fabsf(x[i]);
    for (int k = 16; k > 0; k /= 2) {
        __syncthreads();
        if (threadIdx.x < k) largest[threadIdx.x] = fmaxf(largest[threadIdx.x], largest[threadIdx.x + k]);
    }
    __syncthreads();
    const __nv_fp8_e8m0 s(largest[0] / 448);
    if (threadIdx.x == 0) scale[blockIdx.x] = s;
    q[i] = __nv_fp8_e4m3(x[i] / float(s));
}
"""

E4M3, E5M2 = 0, 1  # __nv_fp8_interpretation_t
NAMES = {E4M3: "e4m3", E5M2: "e5m2"}
FORMATS = pytest.mark.parametrize("fmt", NAMES, ids=NAMES.values())
NOSAT, SATFINITE = 0, 1
ZERO, UP = 1, 2  # cudaRoundZero, cudaRoundPosInf
CODES = np.arange(256, dtype=np.uint8)
BITS = np.arange(65536, dtype=np.uint32).astype(np.uint16)
HALVES = BITS.view(np.float16)
with np.errstate(invalid="ignore"):  # signalling NaN
    BFLOATS = (BITS.astype(np.uint32) << 16).view(np.float32).astype(np.float64)


# The reference, by the definition of the formats. All values, and all points between two values, are exact in double.


def magnitudes(fmt: int) -> np.ndarray:
    """The finite values from zero up, and the value that would come next."""
    exponent_bits, fraction_bits, finite = {E4M3: (4, 3, 0x7F), E5M2: (5, 2, 0x7C)}[fmt]
    bias = 2 ** (exponent_bits - 1) - 1
    exponent, fraction = np.divmod(np.arange(finite + 1), 2**fraction_bits)
    significand = np.where(exponent == 0, 0, 1) + fraction / 2**fraction_bits
    return significand * 2.0 ** (np.maximum(exponent, 1) - bias)


def values(fmt: int) -> np.ndarray:
    """The value of each code."""
    known = magnitudes(fmt)[:-1]
    half = np.full(128, np.nan)
    half[: known.size] = known
    if fmt == E5M2:
        half[0x7C] = np.inf
    return np.concatenate([half, -half])


def rounded(x: np.ndarray, fmt: int, saturate: int = SATFINITE) -> np.ndarray:
    """The codes nearest to doubles: of two equally near ones the even code. A NaN gives 0x7f."""
    table = magnitudes(fmt)
    middle = (table[1:] + table[:-1]) / 2
    size = np.abs(x)
    code = np.searchsorted(middle, size)
    tie = middle[np.minimum(code, middle.size - 1)] == size
    code += tie & (code % 2 == 1)
    largest = table.size - 2
    # Beyond the largest number: infinity is the next code of E5M2, and NaN is the next code of E4M3.
    code = np.minimum(code, largest if saturate else largest + 1)
    code |= np.where(np.signbit(x), 0x80, 0)
    return np.where(np.isnan(x), 0x7F, code).astype(np.uint8)


def scale_of(x: np.ndarray, saturate: int, mode: int) -> np.ndarray:
    """The code of the power of two before or after |x|, within 2^-127 and 2^127."""
    significand, exponent = np.frexp(np.abs(x))  # 0.5 <= significand < 1
    exponent = exponent - 1 + ((significand > 0.5) & (mode == UP))
    exponent = np.where(x == 0, -127, np.clip(exponent, -127, 127 if mode == ZERO else 128))
    exponent = np.where(np.isinf(x), 128, exponent)
    code = np.minimum(exponent + 127, 254 if saturate else 255)
    return np.where(np.isnan(x), 255, code).astype(np.uint8)


def specials() -> np.ndarray:
    """Doubles at, between and just beside the values of both formats, in every size, and far from them."""
    exact = np.concatenate([magnitudes(E4M3), magnitudes(E5M2)])
    exact = np.concatenate([exact, (exact[1:] + exact[:-1]) / 2])
    # A float cannot hold the distance of these from a tie: rounding to float first gives another code.
    beside = [exact * (1 + s * 2.0**-k) for s in (-1, 1) for k in (52, 40, 25, 23, 12)]
    far = np.array(
        [464, 448.5, 61439, 61440, 65520, 1e5, 1e38, 1e39, 1e308, 1e-6, 2.0**-17, 1e-40, 5e-324, np.inf]
    )
    rng = np.random.default_rng(8)
    random = 2.0 ** rng.uniform(-20, 18, 20000)
    x = np.concatenate([exact, *beside, far, random])
    return np.concatenate([x, -x, [np.nan]])


def narrowed(device, name: str, x: np.ndarray, *options: int) -> np.ndarray:
    out = cs.zeros(x.size, np.uint8)
    module(device, SOURCE)[name][-(-x.size // 256), 256](cs.to_device(x), out, x.size, *options)
    return out.to_host()


def differences(got: np.ndarray, expected: np.ndarray, x: np.ndarray) -> list:
    wrong = np.flatnonzero(got != expected)[:5]
    return [(x[i], hex(got[i]), hex(expected[i])) for i in wrong]


# ---- E4M3 and E5M2: functions


@FORMATS
def test_every_code_is_its_half(device, fmt):
    one, two = cs.zeros(256, np.uint16), cs.zeros(512, np.uint16)
    module(device, SOURCE).widen[1, 256](cs.to_device(CODES), one, two, fmt)

    expected = values(fmt).astype(np.float16)
    got = one.to_host().view(np.float16)
    assert np.array_equal(got, expected, equal_nan=True)
    assert np.array_equal(np.signbit(got), np.signbit(expected) & ~np.isnan(expected))
    assert set(one.to_host()[np.isnan(expected)]) == {0x7FFF}
    assert np.array_equal(two.to_host(), np.stack([one.to_host(), one.to_host()[::-1]], 1).ravel())


@FORMATS
@pytest.mark.parametrize("saturate", [NOSAT, SATFINITE])
def test_every_half_and_bfloat16_becomes_the_nearest_code(device, fmt, saturate):
    for name, exact in (("halfraw", HALVES), ("bfloat16raw", BFLOATS)):
        got = narrowed(device, f"from_{name}", BITS, saturate, fmt)
        assert not differences(got, rounded(exact.astype(np.float64), fmt, saturate), exact), name


@FORMATS
@pytest.mark.parametrize("saturate", [NOSAT, SATFINITE])
def test_floats_and_doubles_are_rounded_once(device, fmt, saturate):
    x = specials()
    with np.errstate(over="ignore"):
        single = x.astype(np.float32)

    assert not differences(
        narrowed(device, "from_float", single, saturate, fmt),
        rounded(single.astype(np.float64), fmt, saturate),
        single,
    )
    x = x[~np.isnan(x)]
    assert not differences(narrowed(device, "from_double", x, saturate, fmt), rounded(x, fmt, saturate), x)


@pytest.mark.parametrize("name", ["float8_e4m3fn", "float8_e5m2"])
def test_halves_become_the_codes_of_ml_dtypes(device, name):
    # ml_dtypes keeps the sign of a NaN and gives E5M2 another NaN. It rounds doubles twice, so they are left out.
    dtype = np.dtype(getattr(pytest.importorskip("ml_dtypes"), name))
    fmt = E5M2 if "e5m2" in name else E4M3
    x = HALVES[~np.isnan(HALVES)]

    got = narrowed(device, "from_halfraw", x.view(np.uint16), NOSAT, fmt)

    with np.errstate(all="ignore"):
        assert not differences(got, x.astype(dtype).view(np.uint8), x)


def test_only_a_double_keeps_sign_and_first_bits_of_a_nan(device):
    bits = np.array([0x7FF8 << 48, 0xFFF8 << 48, 0x7FF4 << 48, 0xFFFC << 48, 0x7FF0000000000001], np.uint64)

    e4m3 = narrowed(device, "from_double", bits.view(np.float64), SATFINITE, E4M3)
    e5m2 = narrowed(device, "from_double", bits.view(np.float64), SATFINITE, E5M2)

    assert [hex(code) for code in e4m3] == ["0x7f", "0xff", "0x7f", "0xff", "0x7f"]
    assert [hex(code) for code in e5m2] == ["0x7e", "0xfe", "0x7f", "0xff", "0x7e"]
    nan = np.array([0x7FC00000, 0xFFC00000, 0xFF800001], np.uint32).view(np.float32)
    for fmt in NAMES:
        assert narrowed(device, "from_float", nan, NOSAT, fmt).tolist() == [0x7F] * 3


@FORMATS
@pytest.mark.parametrize("saturate", [NOSAT, SATFINITE])
def test_pairs_are_two_numbers_with_the_first_in_the_low_byte(device, fmt, saturate):
    x = np.array(
        [1, -2, 0.0625, 3.5, 1024, -(2.0**15), 2.0**-9, -0.0, np.inf, -np.inf, 0.15625, -96], np.float32
    )
    n = x.size // 2
    out = cs.zeros((4, n), np.uint16)

    module(device, SOURCE).pairs[1, 32](cs.to_device(x), out, n, saturate, fmt)

    low, high = rounded(x.astype(np.float64), fmt, saturate).astype(np.uint16).reshape(n, 2).T
    assert (out.to_host() == low | high << 8).all()


# ---- E8M0: functions


@pytest.mark.parametrize("saturate", [NOSAT, SATFINITE])
@pytest.mark.parametrize("mode", [ZERO, UP])
def test_scales_are_powers_of_two(device, saturate, mode):
    powers = 2.0 ** np.arange(-152, 131)
    x = np.concatenate(
        [powers, powers * (1 + 2.0**-52), powers * (1 - 2.0**-53), powers * 1.5, powers * (1 + 2.0**-23)]
    )
    x = np.concatenate([x, [0, 1e308, 5e-324, np.inf, np.nan]])
    x = np.concatenate([x, -x])
    with np.errstate(over="ignore"):
        single = x.astype(np.float32)
    for name, numbers, exact in (
        ("double", x, x),
        ("float", single, single.astype(np.float64)),
        ("bfloat16raw", BITS, BFLOATS),
    ):
        got = narrowed(device, f"scale_{name}", numbers, saturate, mode)
        assert not differences(got, scale_of(exact, saturate, mode), exact), name


def test_pairs_of_scales(device):
    x = np.array([1, 3, -0.75, 2.0**-127, 1.5 * 2.0**127, 0, np.inf, np.nan], np.float32)
    n = x.size // 2
    for mode in (ZERO, UP):
        out = cs.zeros((3, n), np.uint16)
        module(device, SOURCE).scale_pairs[1, 32](cs.to_device(x), out, n, NOSAT, mode)
        low, high = scale_of(x.astype(np.float64), NOSAT, mode).astype(np.uint16).reshape(n, 2).T
        assert (out.to_host() == low | high << 8).all()


def test_every_scale_is_its_bfloat16(device):
    one, two = cs.zeros(256, np.uint16), cs.zeros(512, np.uint16)
    module(device, SOURCE).scales[1, 256](cs.to_device(CODES), one, two)

    got = (one.to_host().astype(np.uint32) << 16).view(np.float32)
    assert np.array_equal(got[:255], 2.0 ** np.arange(-127, 128))
    assert one.to_host()[255] == 0x7FFF
    assert np.array_equal(two.to_host(), np.stack([one.to_host(), one.to_host()[::-1]], 1).ravel())


# ---- classes

FIELDS = (
    "f64:f8 f32:f4 f16:u2 bf16:u2 i64:i8 il:i8 u64:u8 ul:u8 i32:i4 u32:u4 i16:i2 u16:u2 i8:i1 u8:u1 c8:i1 b:?"
)
NUMBERS = np.dtype([tuple(field.split(":")) for field in FIELDS.split()], align=True)
INTEGERS = ("i64", "il", "u64", "ul", "i32", "u32", "i16", "u16", "i8", "u8", "c8")
SIGNED = np.array([0, 1, -1, 17, 19, -21, 30000, 448, 464, 465, -480, 29, 31000, -32768, 100, 72])
UNSIGNED = np.array(
    [0, 1, 17, 19, 21, 448, 465, 60000, 65535, 2**32 - 1, 2**32 + 1, 2**63 + 1, 2**64 - 1], np.uint64
)
CLASSES = pytest.mark.parametrize("name", ["e4m3", "e5m2", "e8m0"])


def values_of(name: str) -> np.ndarray:
    if name == "e8m0":
        return np.append(2.0 ** np.arange(-127, 128), np.nan)
    return values(E4M3 if name == "e4m3" else E5M2)


def codes_of(name: str, x: np.ndarray) -> np.ndarray:
    if name == "e8m0":
        return scale_of(x, SATFINITE, UP)
    return rounded(x, E4M3 if name == "e4m3" else E5M2)


def run_class(device, name: str, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    to, of = cs.zeros(256, NUMBERS), cs.zeros((x.size, 8), np.uint8)
    module(device, SOURCE)[name][1, 256](cs.to_device(CODES), to, cs.to_device(x), of, x.size)
    return to.to_host(), of.to_host()


@CLASSES
@pytest.mark.filterwarnings("ignore:overflow")
def test_every_number_converts_to_wider_types(device, name):
    expected = values_of(name)

    to, _ = run_class(device, name, SIGNED.astype(np.float64))

    assert np.array_equal(to["f64"], expected, equal_nan=True)
    assert np.array_equal(to["f32"], expected.astype(np.float32), equal_nan=True)
    assert np.array_equal(to["f16"].view(np.float16), expected.astype(np.float16), equal_nan=True)
    bfloats = (to["bf16"].astype(np.uint32) << 16).view(np.float32)
    assert np.array_equal(bfloats, expected, equal_nan=True)
    assert np.array_equal(to["b"], expected != 0)


@CLASSES
def test_every_number_converts_to_integers_towards_zero_within_their_range(device, name):
    expected = values_of(name)
    nan = np.isnan(expected)

    to, _ = run_class(device, name, SIGNED.astype(np.float64))

    for field in INTEGERS:
        limits = np.iinfo(NUMBERS[field])
        exact = [min(max(v, limits.min), limits.max) for v in expected[~nan].tolist()]
        assert to[field][~nan].tolist() == [int(v) for v in exact], field
        of_nan = 0 if limits.bits < 64 else limits.min or 2**63
        assert set(to[field][nan].tolist()) == {of_nan}, field


@CLASSES
def test_classes_are_made_of_every_type(device, name):
    _, of = run_class(device, name, SIGNED.astype(np.float64))

    bfloats = [codes_of(name, np.float64([bfloat16(v)]))[0] for v in SIGNED]
    expected = codes_of(name, SIGNED.astype(np.float64))
    for k, kind in enumerate(["float", "double", "half", "bfloat16", "int", "long", "long long", "short"]):
        wanted = np.array(bfloats) if kind == "bfloat16" else expected
        assert not differences(of[:, k], wanted, SIGNED), kind


@CLASSES
def test_classes_are_made_of_unsigned_integers(device, name):
    of = cs.zeros((UNSIGNED.size, 4), np.uint8)
    module(device, SOURCE)[f"unsigned_{name}"][1, 32](cs.to_device(UNSIGNED), of, UNSIGNED.size)

    for k, dtype in enumerate([np.uint16, np.uint32, np.uint64, np.uint64]):
        x = UNSIGNED.astype(dtype)
        # Not NumPy's double, which rounds 2**63 + 1 to a power of two.
        exact = x.astype(np.float64)
        beyond = np.array([int(e) < int(v) for e, v in zip(exact, x, strict=True)])
        exact = np.where(beyond, np.nextafter(exact, np.inf), exact)
        assert not differences(of.to_host()[:, k], codes_of(name, exact), x), dtype


def bfloat16(value: float) -> float:
    """The nearest bfloat16 of a small integer."""
    bits = int(np.float32(value).view(np.uint32))
    bits += 0x7FFF + (bits >> 16 & 1)
    return float(np.uint32(bits & 0xFFFF0000).view(np.float32))


@CLASSES
def test_groups_of_two_and_four_hold_the_first_number_in_the_low_byte(device, name):
    x = np.array([[1, -2, 0.5, 448], [0.75, 100, -(2.0**-9), 24], [np.inf, -np.inf, 0, -0.0]], np.float32)
    of, to, halves = cs.zeros((3, 9), np.uint32), cs.zeros((3, 2, 4), np.float32), cs.zeros((3, 4), np.uint16)

    module(device, SOURCE)[f"groups_{name}"][1, 3](cs.to_device(x), of, to, halves)

    codes = codes_of(name, x.astype(np.float64))
    assert (of.to_host() == codes.view(np.uint32)).all()
    exact = values_of(name)[codes]
    assert (to.to_host() == exact[:, None, :]).all()
    with np.errstate(over="ignore"):
        assert np.array_equal(halves.to_host().view(np.float16), exact.astype(np.float16))


# ---- arguments and use


def test_parameters_take_scalars_of_ml_dtypes(device):
    ml_dtypes = pytest.importorskip("ml_dtypes")
    out = cs.zeros(3)
    four = np.array([1, 2, 3, 4], ml_dtypes.float8_e4m3fn)

    module(device, SOURCE).by_value[1, 1](
        ml_dtypes.float8_e4m3fn(1.125), ml_dtypes.float8_e5m2(-57344), four.tobytes(), out
    )

    assert out.to_host().tolist() == [1.125, -57344, 3]


def test_blocks_are_quantized_with_a_common_scale(device):
    x = (np.random.default_rng(4).standard_normal((8, 32)) * 10.0 ** np.arange(-4, 4)[:, None]).astype(
        np.float32
    )
    q_type = s_type = np.dtype(np.uint8)
    if importlib.util.find_spec("ml_dtypes"):
        import ml_dtypes

        q_type, s_type = np.dtype(ml_dtypes.float8_e4m3fn), np.dtype(ml_dtypes.float8_e8m0fnu)
    q, scale = cs.zeros(x.shape, q_type), cs.zeros(8, s_type)

    module(device, SOURCE).quantize[8, 32](cs.to_device(x), q, scale)

    largest = np.abs(x).max(axis=1) / np.float32(448)
    scales = scale_of(largest.astype(np.float64), SATFINITE, UP)
    assert np.array_equal(scale.to_host().view(np.uint8), scales)
    factor = 2.0 ** (scales.astype(int) - 127)[:, None]
    assert np.array_equal(q.to_host().view(np.uint8), rounded(x / factor, E4M3))
    back = values(E4M3)[q.to_host().view(np.uint8)] * factor
    assert (np.abs(back - x) <= np.maximum(np.abs(x) / 16, factor * 2.0**-10)).all()
