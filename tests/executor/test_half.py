"""Numbers of 16 bits: __half and __nv_bfloat16, their conversions, arithmetic, functions, shuffles and atomics."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

import cuscope as cs
from support import module

ALL = np.arange(65536, dtype=np.uint32).astype(np.uint16)
HALVES = ALL.view(np.float16)
OTHERS = np.array(
    [0, -0.0, 1, -1, 3.140625, 0.333251953125, 6e-8, -6.1e-5, 65504, -2048, np.inf, -np.inf, np.nan],
    np.float16,
)


def same(got: np.ndarray, expected: np.ndarray) -> bool:
    """Equality bit for bit, except that all NaN are equal."""
    nan = np.isnan(got) & np.isnan(expected)
    return bool(((got.view(np.uint16) == expected.view(np.uint16)) | nan).all())


def steps_apart(got: np.ndarray, expected: np.ndarray) -> np.ndarray:
    """The distance of the two results, counted in numbers of the format."""

    def order(x: np.ndarray) -> np.ndarray:
        bits = x.view(np.int16).astype(np.int32)
        return np.where(bits < 0, -(bits & 0x7FFF), bits)

    both_nan = np.isnan(got) & np.isnan(expected)
    return np.where(both_nan, 0, np.abs(order(got) - order(expected)))


def run_all(device, header: str, c_in: str, c_out: str, expressions, x: np.ndarray, out_dtype, *extra):
    """For each expression of x = in[i], the array of its values: a kernel each, in one module.

    `extra` has (type, name, array) of each further operand.
    """
    parameters = "".join(f", const {t}* {name}_" for t, name, _ in extra)
    operands = "".join(f"{t} {name} = {name}_[i]; " for t, name, _ in extra)
    kernels = [
        f"""
    __global__ void map{number}(const {c_in}* in, {c_out}* out, int n{parameters}) {{
        int i = blockIdx.x * blockDim.x + threadIdx.x;
        if (i < n) {{ {c_in} x = in[i]; {operands} out[i] = {expression}; }}
    }}"""
        for number, expression in enumerate(expressions)
    ]
    mod = module(device, f"#include <{header}>" + "".join(kernels))
    d_x, arrays = cs.to_device(x), [cs.to_device(np.ascontiguousarray(a)) for _, _, a in extra]
    for number in range(len(kernels)):
        out = cs.zeros(x.shape, out_dtype)
        getattr(mod, f"map{number}")[-(-len(x) // 256), 256](d_x, out, len(x), *arrays)
        yield out.to_host()


def run(device, header: str, c_in: str, c_out: str, expression: str, x: np.ndarray, out_dtype, *extra):
    (result,) = run_all(device, header, c_in, c_out, [expression], x, out_dtype, *extra)
    return result


def all_of_half(device, expressions, x: np.ndarray, *extra, c_out: str = "__half", dtype=np.float16):
    return run_all(device, "cuda_fp16.h", "__half", c_out, expressions, x, dtype, *extra)


def of_half(device, expression: str, x: np.ndarray, *extra, c_out: str = "__half", dtype=np.float16):
    return run(device, "cuda_fp16.h", "__half", c_out, expression, x, dtype, *extra)


# conversions


def test_every_half_is_its_float(device):
    expressions = ("__half2float(x)", "float(x)", "static_cast<float>(x)")
    for got in all_of_half(device, expressions, HALVES, c_out="float", dtype=np.float32):
        assert np.array_equal(got, HALVES.astype(np.float32), equal_nan=True)


def samples() -> np.ndarray:
    """Floats at, between and just beside halves, and far from them."""
    exact = HALVES[np.isfinite(HALVES)].astype(np.float32)
    middle = (exact[:-1] / 2 + exact[1:] / 2)[::3]
    beside = [np.nextafter(middle, s * np.inf).astype(np.float32) for s in (-1, 1)]
    far = np.array([65519.9, 65520, 7e4, 1e38, 1e-8, 3e-8, 1e-45, np.inf, np.nan], np.float32)
    return np.concatenate([exact[::5], middle, *beside, far, -far])


def rounded(x: np.ndarray, mode: str) -> np.ndarray:
    near = x.astype(np.float16)
    if mode == "rn":
        return near
    wide, exact = near.astype(np.float64), x.astype(np.float64)
    down, up = np.nextafter(near, np.float16(-np.inf)), np.nextafter(near, np.float16(np.inf))
    result = near.copy()
    lower = (wide > exact) & ((exact > 0) if mode == "rz" else mode == "rd")
    higher = (wide < exact) & ((exact < 0) if mode == "rz" else mode == "ru")
    result[lower] = down[lower]
    result[higher] = up[higher]
    zero = result == 0
    result[zero] = np.copysign(result[zero], x[zero]).astype(np.float16)
    return result


@pytest.mark.parametrize("mode", ["rn", "rz", "rd", "ru"])
@pytest.mark.filterwarnings("ignore:overflow")
def test_floats_round_to_halves_in_the_direction_of_the_functions_name(device, mode):
    x = samples()

    got = run(device, "cuda_fp16.h", "float", "__half", f"__float2half_{mode}(x)", x, np.float16)

    assert same(got, rounded(x, mode))


@pytest.mark.filterwarnings("ignore:overflow")
def test_a_double_is_rounded_once(device):
    x = samples().astype(np.float64)
    x = np.concatenate([x, np.nextafter(x, np.inf), np.nextafter(x, -np.inf)])

    got = run(device, "cuda_fp16.h", "double", "__half", "__double2half(x)", x, np.float16)

    assert same(got, x.astype(np.float16))


@pytest.mark.parametrize(
    ("mode", "reference"), [("rn", np.rint), ("rz", np.trunc), ("rd", np.floor), ("ru", np.ceil)]
)
def test_halves_become_integers(device, mode, reference):
    x = HALVES[np.isfinite(HALVES)]
    for name, c_type, dtype in (("int", "int", np.int32), ("ll", "long long", np.int64)):
        got = of_half(device, f"__half2{name}_{mode}(x)", x, c_out=c_type, dtype=dtype)
        assert np.array_equal(got, reference(x.astype(np.float64)).astype(dtype))
    got = of_half(device, f"__half2ushort_{mode}(x)", x, c_out="unsigned short", dtype=np.uint16)
    assert np.array_equal(got, np.clip(reference(x.astype(np.float64)), 0, 65535).astype(np.uint16))


def test_integers_become_halves(device):
    x = np.random.default_rng(1).integers(-70000, 70000, 4096).astype(np.int32)
    x[:6] = [0, 2049, 2051, -65519, 65519, 65520]
    with np.errstate(over="ignore"):
        expected = x.astype(np.float64).astype(np.float16)
    for got in run_all(
        device, "cuda_fp16.h", "int", "__half", ["__int2half_rn(x)", "__half(x)"], x, np.float16
    ):
        assert same(got, expected)


def test_bits_stay_bits(device):
    expressions = ("__half_as_ushort(x)", "(unsigned short)__half_as_short(x)", "__half_raw(x).x")
    finite = ~np.isnan(HALVES)
    for got in all_of_half(device, expressions, HALVES, c_out="unsigned short", dtype=np.uint16):
        assert np.array_equal(got[finite], ALL[finite])


# arithmetic

ARITHMETIC = {
    "__hadd(x, y)": np.add,
    "__hsub_rn(x, y)": np.subtract,
    "__hmul(x, y)": np.multiply,
    "x + y": np.add,
    "x - y": np.subtract,
    "x * y": np.multiply,
    "__hmax(x, y)": np.fmax,
    "__hmin(x, y)": np.fmin,
    "__hmax_nan(x, y)": np.maximum,
    "__hmin_nan(x, y)": np.minimum,
}


def test_arithmetic_on_every_half_is_rounded_once(device):
    x, y = np.tile(HALVES, len(OTHERS)), np.repeat(OTHERS, len(HALVES))

    results = all_of_half(device, ARITHMETIC, x, ("__half", "y", y))

    for (expression, reference), got in zip(ARITHMETIC.items(), results, strict=True):
        with np.errstate(all="ignore"):
            expected = reference(x.astype(np.float64), y.astype(np.float64)).astype(np.float16)
        if "max" in expression or "min" in expression:
            # NumPy returns a zero of either sign.
            assert np.array_equal(got, expected, equal_nan=True), expression
        else:
            assert same(got, expected), expression


def test_division_is_rounded_once(device):
    x, y = np.tile(HALVES, len(OTHERS)), np.repeat(OTHERS, len(HALVES))
    with np.errstate(all="ignore"):
        expected = (x.astype(np.float64) / y.astype(np.float64)).astype(np.float16)

    got = of_half(device, "__hdiv(x, y)", x, ("__half", "y", y))

    assert steps_apart(got, expected).max() <= (0 if device.simulated else 1)


def nearest_half(value: Fraction) -> np.float16:
    """The reference: of the two neighbours the nearer one, or the even one."""
    if value == 0:
        return np.float16(0)
    size = abs(value)
    exponent = max(int(np.floor(np.log2(float(size)))), -14)
    while size >= Fraction(2) ** (exponent + 1):
        exponent += 1
    unit = Fraction(2) ** (exponent - 10)
    count, rest = divmod(size, unit)
    if rest * 2 > unit or (rest * 2 == unit and count % 2):
        count += 1
    result = float(count * unit)
    with np.errstate(over="ignore"):
        return np.float16(-result if value < 0 else result)


def test_fma_is_rounded_once(device):
    rng = np.random.default_rng(3)
    finite = HALVES[np.isfinite(HALVES)]
    a, b, c = (rng.choice(finite, 3000) for _ in range(3))
    # Products whose last bits decide the rounding, and a summand of a very different size.
    a[:500], b[:500] = np.float16(1 + 2**-10), rng.choice(finite[np.abs(finite) < 1], 500)
    c[:500] = (2.0 ** rng.integers(-10, 10, 500)).astype(np.float16)

    got = of_half(device, "__hfma(x, y, z)", a, ("__half", "y", b), ("__half", "z", c))

    expected = [
        nearest_half(Fraction(float(p)) * Fraction(float(q)) + Fraction(float(r)))
        for p, q, r in zip(a, b, c, strict=True)
    ]
    assert np.array_equal(got, np.array(expected, np.float16))


COMPARISONS = {
    "==": np.equal,
    "!=": np.not_equal,
    "<": np.less,
    "<=": np.less_equal,
    ">": np.greater,
    ">=": np.greater_equal,
}


def test_comparisons_give_numpys_truth_values(device):
    x, y = np.tile(HALVES[::7], len(OTHERS)), np.repeat(OTHERS, len(HALVES[::7]))
    bits = " | ".join(f"(x {op} y) << {k}" for k, op in enumerate(COMPARISONS))
    got = of_half(device, bits, x, ("__half", "y", y), c_out="int", dtype=np.int32)
    expected = sum(f(x, y).astype(np.int32) << k for k, f in enumerate(COMPARISONS.values()))
    assert np.array_equal(got, expected)

    # Comparisons without an order: false with a NaN, or true if the name ends with u.
    names = ("eq", "lt", "le", "gt", "ge")
    bits = " | ".join(f"__h{n}(x, y) << {k} | __h{n}u(x, y) << {k + 8}" for k, n in enumerate(names))
    got = of_half(device, bits, x, ("__half", "y", y), c_out="int", dtype=np.int32)
    nan = np.isnan(x) | np.isnan(y)
    references = (np.equal, np.less, np.less_equal, np.greater, np.greater_equal)
    expected = sum(
        (f(x, y).astype(np.int32) << k) | ((f(x, y) | nan).astype(np.int32) << (k + 8))
        for k, f in enumerate(references)
    )
    assert np.array_equal(got, expected)


FUNCTIONS = {
    "hsqrt": (np.sqrt, 0, 65504, 0),
    "hrsqrt": (lambda x: 1 / np.sqrt(x), 1e-4, 65504, 1),
    "hrcp": (lambda x: 1 / x, 1e-3, 65504, 1),
    "hexp": (np.exp, -8, 10, 1),
    "hexp2": (np.exp2, -12, 15, 1),
    "hexp10": (lambda x: 10.0**x, -4, 4, 1),
    "hlog": (np.log, 1e-4, 65504, 1),
    "hlog2": (np.log2, 1e-4, 65504, 1),
    "hlog10": (np.log10, 1e-4, 65504, 1),
    "hsin": (np.sin, -3, 3, 1),
    "hcos": (np.cos, -1.5, 1.5, 1),
    "hceil": (np.ceil, -65504, 65504, 0),
    "hfloor": (np.floor, -65504, 65504, 0),
    "htrunc": (np.trunc, -65504, 65504, 0),
    "hrint": (np.rint, -65504, 65504, 0),
    "__habs": (np.abs, -65504, 65504, 0),
    "__hneg": (np.negative, -65504, 65504, 0),
}


def test_functions_of_every_half(device):
    x = HALVES[np.isfinite(HALVES)]

    results = all_of_half(device, [f"{name}(x)" for name in FUNCTIONS], x)

    for (name, (reference, low, high, steps)), got in zip(FUNCTIONS.items(), results, strict=True):
        within = (x >= np.float16(low)) & (x <= np.float16(high))
        with np.errstate(all="ignore"):
            expected = reference(x[within].astype(np.float64)).astype(np.float16)
        allowed = steps if device.simulated else 2 * steps
        assert steps_apart(got[within], expected).max() <= allowed, name


# pairs


def test_pairs_compute_each_half_as_a_single_one(device):
    rng = np.random.default_rng(4)
    x, y = rng.choice(HALVES[np.isfinite(HALVES)], (2, 512, 2)).astype(np.float16)
    cases = {
        "__hadd2(x, y)": lambda a, b: a + b,
        "x - y": lambda a, b: a - b,
        "__hmul2(x, y)": lambda a, b: a * b,
        "__hmax2(x, y)": np.fmax,
        "__hneg2(x)": lambda a, b: -a,
        "__lows2half2(x, y)": lambda a, b: np.stack([a[:, 0], b[:, 0]], 1),
        "__highs2half2(x, y)": lambda a, b: np.stack([a[:, 1], b[:, 1]], 1),
        "__lowhigh2highlow(x)": lambda a, b: a[:, ::-1],
        "__halves2half2(__low2half(x), __high2half(y))": lambda a, b: np.stack([a[:, 0], b[:, 1]], 1),
        "__half2half2(y.x)": lambda a, b: np.stack([b[:, 0], b[:, 0]], 1),
        "__floats2half2_rn(__low2float(x), __high2float(x))": lambda a, b: a,
        "__float22half2_rn(__half22float2(x))": lambda a, b: a,
        "__hgt2(x, y)": lambda a, b: a > b,
        "make_half2(x.y, __float2half(1.0f))": lambda a, b: np.stack([a[:, 1], np.ones(512)], 1),
    }
    results = run_all(device, "cuda_fp16.h", "half2", "half2", cases, x, np.float16, ("half2", "y", y))
    for (expression, reference), got in zip(cases.items(), results, strict=True):
        with np.errstate(all="ignore"):
            expected = np.asarray(reference(x.astype(np.float64), y.astype(np.float64))).astype(np.float16)
        assert same(got, expected), expression


# other threads


def test_halves_travel_between_lanes(device):
    source = """#include <cuda_fp16.h>
    __global__ void total(const __half* in, __half* sum, __half2* pair) {
        __half x = in[threadIdx.x];
        for (int d = 16; d > 0; d /= 2) x = __hadd(x, __shfl_down_sync(0xffffffffu, x, d));
        if (threadIdx.x == 0) *sum = x;
        __half2 p = __halves2half2(in[threadIdx.x], __float2half(1.0f));
        for (int d = 16; d > 0; d /= 2) p = __hadd2(p, __shfl_xor_sync(~0u, p, d));
        if (threadIdx.x == 5) *pair = __shfl_sync(1u << 5, p, 5);
    }"""
    x = np.arange(32).astype(np.float16)
    total, pair = cs.zeros(1, np.float16), cs.zeros(2, np.float16)
    module(device, source).total[1, 32](cs.to_device(x), total, pair)

    assert total.to_host().tolist() == [496]
    assert pair.to_host().tolist() == [496, 32]


def test_atomic_additions_of_16_bits(device):
    source = """#include <cuda_fp16.h>
    #include <cuda_bf16.h>
    __global__ void add(__half* h, __half2* h2, __nv_bfloat16* b, __nv_bfloat162* b2) {
        atomicAdd(h + 1, __float2half(1.0f));
        atomicAdd(h2, __floats2half2_rn(1.0f, 2.0f));
        atomicAdd(b + 1, __float2bfloat16(1.0f));
        atomicAdd(b2, __floats2bfloat162_rn(1.0f, 2.0f));
    }"""
    h, h2 = cs.zeros(4, np.float16), cs.zeros(2, np.float16)
    b, b2 = cs.zeros(4, np.uint16), cs.zeros(2, np.uint16)
    module(device, source).add[4, 50](h, h2, b, b2)

    assert h.to_host().tolist() == [0, 200, 0, 0]
    assert h2.to_host().tolist() == [200, 400]
    assert from_bf16(b.to_host()).tolist() == [0, 200, 0, 0]
    assert from_bf16(b2.to_host()).tolist() == [200, 400]


def test_parameters_of_half_are_float16(device):
    mod = module(
        device, "#include <cuda_fp16.h>\n__global__ void k(__half* p, const half* q, __half s) { *p = s; }"
    )
    assert [p.element for p in mod.k.parameters] == ["float16"] * 3
    p = cs.zeros(2, np.float16)
    mod.k[1, 1](p, p, 1.5)
    assert p.to_host().tolist() == [1.5, 0]
    with pytest.raises(TypeError, match="float16"):
        mod.k[1, 1](cs.zeros(2), p, 1.5)


# bfloat16


def from_bf16(bits: np.ndarray) -> np.ndarray:
    return (bits.astype(np.uint32) << 16).view(np.float32)


def to_bf16(x: np.ndarray) -> np.ndarray:
    """The reference, for doubles that stay normal numbers."""
    bits = x.astype(np.float64).view(np.int64)
    sign, rest = bits < 0, bits & 0x7FFF_FFFF_FFFF_FFFF
    kept, dropped, half = rest >> 45, rest & ((1 << 45) - 1), 1 << 44
    kept = kept + ((dropped > half) | ((dropped == half) & (kept & 1 == 1)))
    kept = kept - ((1023 - 127) << 7)
    kept = np.where(np.abs(x) == 0, 0, np.minimum(kept, 0x7F80))
    return (kept | (sign.astype(np.int64) << 15)).astype(np.uint16)


def of_bf16(device, expression: str, x: np.ndarray, *extra, c_out="__nv_bfloat16", dtype=np.uint16):
    return run(device, "cuda_bf16.h", "__nv_bfloat16", c_out, expression, x, dtype, *extra)


def test_every_bfloat16_is_its_float(device):
    got = of_bf16(device, "__bfloat162float(x)", ALL, c_out="float", dtype=np.float32)
    assert np.array_equal(got, from_bf16(ALL), equal_nan=True)


def test_floats_and_doubles_round_to_bfloat16(device):
    exact = from_bf16(ALL)
    exact = exact[np.isfinite(exact)].astype(np.float64)
    exact = exact[(np.abs(exact) > 1e-37) & (np.abs(exact) < 1e38)]
    middle = exact * (1 + 2.0**-9)
    x = np.concatenate(
        [exact, middle, np.nextafter(middle, 0), np.nextafter(middle, np.inf * np.sign(middle))]
    )
    got = run(device, "cuda_bf16.h", "double", "__nv_bfloat16", "__double2bfloat16(x)", x, np.uint16)
    assert np.array_equal(got, to_bf16(x))
    x = x.astype(np.float32)
    got = run(device, "cuda_bf16.h", "float", "__nv_bfloat16", "__float2bfloat16(x)", x, np.uint16)
    assert np.array_equal(got, to_bf16(x.astype(np.float64)))


def test_arithmetic_of_bfloat16_is_rounded_once(device):
    rng = np.random.default_rng(5)
    values = from_bf16(ALL)
    values = values[np.isfinite(values) & (np.abs(values) > 1e-15) & (np.abs(values) < 1e15)]
    x, y = to_bf16(rng.choice(values, (2, 20000)).astype(np.float64))
    a, b = from_bf16(x).astype(np.float64), from_bf16(y).astype(np.float64)
    cases = {"__hadd(x, y)": a + b, "x * y": a * b, "x - y": a - b}
    operand = ("__nv_bfloat16", "y", y)
    results = run_all(device, "cuda_bf16.h", "__nv_bfloat16", "__nv_bfloat16", cases, x, np.uint16, operand)
    for (expression, expected), got in zip(cases.items(), results, strict=True):
        small = np.abs(expected) < 1e-30
        assert np.array_equal(got[~small], to_bf16(expected[~small])), expression
    got = of_bf16(device, "x < y", x, ("__nv_bfloat16", "y", y), c_out="bool", dtype=np.bool_)
    assert np.array_equal(got, a < b)
