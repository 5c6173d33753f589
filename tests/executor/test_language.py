"""The language of kernels: built-in variables, math, vector types, printf, clocks, variables, and unsupported features."""

from __future__ import annotations

import ctypes
import re

import numpy as np
import pytest

import cuscope as cs
from support import module

MATH = {
    # name: NumPy's function, low, high, tolerance in units of the last place of a float
    "sinf": (np.sin, -3, 3, 4),
    "cosf": (np.cos, -3, 3, 4),
    "tanf": (np.tan, -1, 1, 6),
    "expf": (np.exp, -10, 10, 4),
    "exp2f": (np.exp2, -10, 10, 4),
    "logf": (np.log, 0.01, 100, 4),
    "log2f": (np.log2, 0.01, 100, 4),
    "log10f": (np.log10, 0.01, 100, 4),
    "sqrtf": (np.sqrt, 0, 100, 1),
    "rsqrtf": (lambda x: 1 / np.sqrt(x), 0.01, 100, 4),
    "cbrtf": (np.cbrt, -8, 8, 4),
    "fabsf": (np.abs, -5, 5, 0),
    "floorf": (np.floor, -5, 5, 0),
    "ceilf": (np.ceil, -5, 5, 0),
    "truncf": (np.trunc, -5, 5, 0),
    "rintf": (np.rint, -5, 5, 0),
    "tanhf": (np.tanh, -3, 3, 6),
    "asinf": (np.arcsin, -1, 1, 8),
    "atanf": (np.arctan, -5, 5, 4),
}
INTRINSICS = {
    "__popc": lambda x: (x & 0xFFFFFFFF).bit_count(),
    "__clz": lambda x: 32 - (x & 0xFFFFFFFF).bit_length(),
    "__ffs": lambda x: (x & -x).bit_length() if x & 0xFFFFFFFF else 0,
    "__brev": lambda x: int(f"{x & 0xFFFFFFFF:032b}"[::-1], 2),
}


def run_map(
    device, expression: str, x: np.ndarray, c_in="float", c_out="float", dtype=np.float32
) -> np.ndarray:
    source = f"""__global__ void map(const {c_in}* in, {c_out}* out, int n) {{
        int i = blockIdx.x * blockDim.x + threadIdx.x;
        if (i < n) {{ {c_in} x = in[i]; out[i] = {expression}; }}
    }}"""
    out = cs.zeros(x.size, dtype)
    module(device, source).map[-(-x.size // 64), 64](cs.to_device(x), out, x.size)
    return out.to_host()


def test_distances_of_bytes_are_summed_by_inline_ptx(device):
    source = """__global__ void f(unsigned* out, unsigned a, unsigned b, unsigned c) {
        unsigned d;
        asm("vabsdiff4.u32.u32.u32.add %0, %1, %2, %3;" : "=r"(d) : "r"(a), "r"(b), "r"(c));
        *out = d;
    }"""
    out = cs.zeros(1, np.uint32)
    module(device, source).f[1, 1](out, 0x01FF0380, 0x0400037F, 1000)

    assert out.to_host()[0] == 1000 + 3 + 255 + 0 + 1


def test_built_in_variables_may_touch_an_operator(device):
    source = """__global__ void f(int* out, bool which) {
        int n=100;
        out[0]=n%blockDim.x;
        out[1]=which?n:blockDim.x;
        out[2]=n<blockDim.x;
        out[3]=which?n:threadIdx.x<blockDim.x;
        n%=blockDim.x;
        out[4]=n;
    }"""
    out = cs.zeros(5, np.int32)
    module(device, source).f[1, 32](out, False)

    assert out.to_host().tolist()[:3] == [4, 32, 0]
    assert out.to_host().tolist()[3:] == [1, 4]


@pytest.mark.parametrize(
    "element",
    [
        "pair[1].bits",
        "table[i][2 * i - 1].inner.bits",
        "pair[threadIdx.x + i].bits",
        "table[(i + 1) / 2][(int)blockDim.x].inner.bits",
        "(*(pair + i)).bits",
        "(pair[i].bits)",
    ],
)
def test_bit_field_of_an_element_is_shifted(device, element):
    source = f"""struct Packed {{ unsigned bits : 12; unsigned rest : 20; }};
    struct Cell {{ Packed inner; }};
    __global__ void f(unsigned* out, int i, int amount) {{
        Packed pair[2] = {{}};
        Cell table[2][2] = {{}};
        {element} = 5;
        {element} <<= amount;
        out[0] = {element};
        {element} >>= amount - 1;
        out[1] = {element};
        out[2] = pair[0].bits + pair[1].rest + table[1][0].inner.bits + table[1][1].inner.rest;
    }}"""
    out = cs.zeros(3, np.uint32)
    module(device, source).f[1, 1](out, 1, 3)

    assert out.to_host().tolist() == [40, 10, 0]


def test_all_bits_are_shifted_out_behind_an_increment(device):
    source = """__global__ void f(int* out, int amount) {
        unsigned u = 7, v[2] = {9, 9}, *p = v;
        int x = -4;
        out[0] = u++ << amount;
        out[1] = u-- >> amount;
        out[2] = x++ >> amount;
        out[3] = *p++ << amount;
        p = v;
        *p++ >>= amount;
        out[4] = v[0];
        out[5] = 1 + +x << amount;
        out[6] = u;
    }"""
    out = cs.zeros(7, np.int32)
    module(device, source).f[1, 1](out, 33)

    assert out.to_host().tolist() == [0, 0, -1, 0, 0, 0, 7]


def test_variables_of_a_namespace_may_be_defined_outside_of_it(device):
    source = """namespace a { extern __device__ int x; namespace b { extern __constant__ float y[2]; } }
    __device__ int a::x = 3;
    namespace a { __constant__ float b::y[2] = {4, 5}; }
    __global__ void f(int* out) { *out = a::x + a::b::y[1]; }"""
    made, out = module(device, source), cs.zeros(1, np.int32)
    made.f[1, 1](out)

    assert out.to_host().tolist() == [8]
    assert made.symbol("a::x").nbytes == 4
    assert made.symbol("a::b::y").nbytes == 8
    assert made.symbol("_ZN1a1xE").nbytes == 4


def test_a_macro_of_one_letter_may_be_an_option(device):
    letters = "ABCDEFGHIJKLMNOPQRSVWXYZ"  # CUDA's own headers use T and U
    out = cs.zeros(1, np.int32)

    made = cs.Module(
        f"__global__ void f(int* out) {{ *out = {' + '.join(letters)}; }}",
        options=[f"-D{letter}=1" for letter in letters],
    )
    made.f[1, 1](out)

    assert out.to_host().tolist() == [len(letters)]


def test_constants_and_functions_of_the_math_headers(device):
    source = """#include <math_constants.h>
    __global__ void f(double* out) {
        out[0] = CUDART_PI_HI + CUDART_PI_LO - CUDART_PIO4_HI * 4;
        out[1] = CUDART_LN2_X_1024 / 1024;
        out[2] = CUDART_TWO_TO_52 + CUDART_TWO_TO_M54 * CUDART_TWO_TO_54;
        out[3] = CUDART_SQRT_2PI * CUDART_SQRT_2OPI;
        out[4] = CUDART_REMQUO_MASK_F;
        out[5] = fdivide(1.0, 8.0);
        out[6] = __fmaf_ieee_ru(1.0f, 1.0f, 1e-20f) - __fmaf_ieee_rd(1.0f, 1.0f, 1e-20f);
        out[7] = __fmaf_ieee_rn(2.0f, 3.0f, 4.0f) + __fmaf_ieee_rz(1.0f, 1.0f, 1.0f);
    }"""
    out = cs.zeros(8, np.float64)
    module(device, source).f[1, 1](out)

    expected = [0, np.log(2), 2.0**52 + 1, 2, 7, 0.125, np.finfo(np.float32).eps, 12]
    np.testing.assert_allclose(out.to_host(), expected, rtol=1e-15)


def test_member_of_a_threads_element_is_shifted(device):
    source = """struct Cell { unsigned value; };
    __global__ void f(Cell* cells, int amount) {
        __shared__ Cell own[32];
        own[threadIdx.x].value = cells[threadIdx.x].value;
        own[threadIdx.x].value <<= amount;
        cells[threadIdx.x].value = own[threadIdx.x].value;
    }"""
    values = cs.to_device(np.arange(32, dtype=np.uint32))
    module(device, source).f[1, 32](values, 3)

    assert np.array_equal(values.to_host(), 8 * np.arange(32))


def test_math_agrees_with_numpy(device):
    names = list(MATH)
    body = "".join(f"case {k}: y = {name}(x); break;" for k, name in enumerate(names))
    source = f"__global__ void map(const float* in, float* out, int f) {{ int i = threadIdx.x; float x = in[i], y = 0; switch (f) {{ {body} }} out[i] = y; }}"
    kernel = module(device, source).map
    for k, name in enumerate(names):
        reference, low, high, ulps = MATH[name]
        x = np.random.default_rng(k).uniform(low, high, 256).astype(np.float32)
        out = cs.zeros(256)
        kernel[1, 256](cs.to_device(x), out, k)
        expected = reference(x.astype(np.float64))
        error = np.abs(out.to_host() - expected)
        bound = np.maximum(np.spacing(np.abs(expected).astype(np.float32)), 1e-7) * max(ulps, 0.5)
        assert (error <= bound).all(), name


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("powf(x, 2.5f)", lambda x: x**2.5),
        ("fmaf(x, x, 1.0f)", lambda x: x * x + 1),
        ("fminf(x, 2.0f) + fmaxf(x, 2.0f)", lambda x: x + 2),
        ("fmodf(x, 0.75f)", lambda x: np.fmod(x, 0.75)),
        ("hypotf(x, 3.0f)", lambda x: np.hypot(x, 3)),
        ("atan2f(x, 2.0f)", lambda x: np.arctan2(x, 2)),
        ("__fdividef(x, 3.0f) + __expf(x) + __sinf(x)", lambda x: x / 3 + np.exp(x) + np.sin(x)),
        ("max(x, 1.0f) + min(x, 1.0f) + abs(-x)", lambda x: 2 * x + 1),
        ("(float)(exp((double)x) + pow((double)x, 3.0))", lambda x: np.exp(x) + x**3),
        ("copysignf(x, -1.0f)", lambda x: -x),
        ("isnan(x / 0.0f - x / 0.0f) ? 1.0f : 0.0f", np.ones_like),
        ("isinf(x / 0.0f) ? 1.0f : 0.0f", np.ones_like),
        ("__int_as_float(__float_as_int(x)) + __saturatef(x)", lambda x: x + np.clip(x, 0, 1)),
    ],
)
def test_more_math_agrees_with_numpy(device, expression, expected):
    x = np.random.default_rng(8).uniform(0.1, 4, 200).astype(np.float32)

    np.testing.assert_allclose(run_map(device, expression, x), expected(x.astype(np.float64)), rtol=3e-5)


@pytest.mark.parametrize("name", INTRINSICS)
def test_integer_intrinsics(device, name):
    x = np.array([0, 1, -1, 2, 1 << 30, -(1 << 31), 12345, -98765, 0x00FF00FF], np.int32)

    got = run_map(device, f"{name}(x)", x, "int", "unsigned", np.uint32)

    assert got.tolist() == [INTRINSICS[name](int(v)) for v in x]


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("__umulhi(x, 0x12345678u)", lambda x: x * 0x12345678 >> 32),
        ("__byte_perm(x, 0, 0x0123)", lambda x: int.from_bytes(x.to_bytes(4, "little"), "big")),
        ("__funnelshift_l(x, x, 8)", lambda x: (x << 8 | x >> 24) & 0xFFFFFFFF),
        ("__funnelshift_r(x, x, 8)", lambda x: (x >> 8 | x << 24) & 0xFFFFFFFF),
        ("(unsigned)__popcll((unsigned long long)x << 32 | x)", lambda x: 2 * x.bit_count()),
        ("__umul24(x & 0xffff, 3)", lambda x: (x & 0xFFFF) * 3),
        ("x / 7 + x % 7", lambda x: x // 7 + x % 7),
    ],
)
def test_unsigned_intrinsics(device, expression, expected):
    x = np.array([0, 1, 0xFFFFFFFF, 0xDEADBEEF, 0x80000000, 77], np.uint32)

    got = run_map(device, expression, x, "unsigned", "unsigned", np.uint32)

    assert got.tolist() == [expected(int(v)) for v in x]


def test_conversions_round_in_the_direction_of_their_name(device):
    x = np.array([-2.5, -1.5, -0.5, 0.5, 1.5, 2.5, 2.7, -2.7], np.float32)
    for name, reference in (
        ("__float2int_rn", np.rint),
        ("__float2int_rz", np.trunc),
        ("__float2int_rd", np.floor),
        ("__float2int_ru", np.ceil),
        ("(int)", np.trunc),
    ):
        got = run_map(device, f"{name}(x)", x, "float", "int", np.int32)
        assert got.tolist() == reference(x).astype(int).tolist(), name


def test_built_in_variables_have_the_indices_of_the_thread(device):
    mod = module(
        device,
        """__global__ void where(uint3* out) {
            int b = blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z);
            int t = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
            int i = b * blockDim.x * blockDim.y * blockDim.z + t;
            out[3 * i] = blockIdx; out[3 * i + 1] = threadIdx;
            out[3 * i + 2] = make_uint3(gridDim.x * 100 + gridDim.y * 10 + gridDim.z, blockDim.x, warpSize);
        }""",
    )
    three = np.dtype([("x", "u4"), ("y", "u4"), ("z", "u4")])
    out = cs.zeros(3 * 24 * 8, three)
    mod.where[(2, 3, 4), (4, 2, 1)](out)

    got = out.to_host().reshape(24, 8, 3)
    assert got[23, 7, 0].item() == (1, 2, 3)
    assert got[23, 7, 1].item() == (3, 1, 0)
    assert {g.item() for g in got[:, :, 2].ravel()} == {(234, 4, 32)}
    assert len({g.item() for g in got[:, 0, 0]}) == 24


def test_vector_types_have_the_elements_and_sizes_of_cuda(device):
    mod = module(
        device,
        """
        __global__ void vectors(const float4* in, float4* out, int2* pairs, uchar4* bytes, double2* doubles) {
            float4 v = in[threadIdx.x];
            out[threadIdx.x] = make_float4(v.w, v.z, v.y, v.x);
            pairs[threadIdx.x] = make_int2((int)v.x, sizeof(float3) * 100 + alignof(float4));
            bytes[threadIdx.x] = make_uchar4(1, 2, 3, (unsigned char)v.y);
            doubles[threadIdx.x] = make_double2(v.x, sizeof(longlong2));
        }""",
    )
    x = np.arange(32, dtype=np.float32).reshape(8, 4)
    out, pairs = cs.zeros((8, 4)), cs.zeros((8, 2), np.int32)
    bytes_, doubles = cs.zeros((8, 4), np.uint8), cs.zeros((8, 2), np.float64)
    mod.vectors[1, 8](cs.to_device(x), out, pairs, bytes_, doubles)

    assert np.array_equal(out.to_host(), x[:, ::-1])
    assert pairs.to_host().tolist() == [[int(r[0]), 1216] for r in x]
    assert bytes_.to_host()[2].tolist() == [1, 2, 3, 9]
    assert doubles.to_host()[3].tolist() == [12, 16]


def test_kernels_may_use_templates_classes_and_lambdas_of_cpp(device):
    mod = module(
        device,
        """
        template <typename T> struct Stack { T items[8]; int n = 0; __device__ void push(T x) { items[n++] = x; } __device__ T pop() { return items[--n]; } };
        template <typename F> __device__ int apply(F f, int x) { return f(x); }
        template <typename... Ts> __device__ int add(Ts... xs) { return (0 + ... + xs); }
        struct Base { int k; __host__ __device__ constexpr explicit Base(int k) : k(k) {} };
        enum class Colour : int { red = 3, green = 4 };
        namespace deep { namespace inside { __device__ __forceinline__ int seven() { return 7; } } }
        __device__ __noinline__ int fib(int n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }
        __global__ void cpp(int* out) {
            Stack<int> s; s.push(1); s.push(2);
            out[0] = s.pop();
            int captured = 10;
            out[1] = apply([captured] (int x) { return x + captured; }, 5);
            out[2] = add(1, 2, 3, 4);
            if constexpr (sizeof(int) == 4) out[3] = Base(9).k;
            out[4] = static_cast<int>(Colour::green) + deep::inside::seven();
            out[5] = fib(10);
            constexpr int table[] = {5, 6, 7};
            out[6] = table[out[0] % 3];
            auto [a, b] = make_int2(20, 22);
            out[7] = a + b;
        }""",
    )
    out = cs.zeros(8, np.int32)
    mod.cpp[1, 1](out)

    assert out.to_host().tolist() == [2, 15, 10, 9, 11, 55, 7, 42]


def test_architecture_is_the_devices(device):
    mod = module(device, "__global__ void arch(int* p) { *p = __CUDA_ARCH__; }")
    p = cs.zeros(1, np.int32)
    mod.arch[1, 1](p)
    major, minor = device.compute_capability

    assert p.to_host().tolist() == [major * 100 + minor * 10]


# printf, assert, trap


def printed(capfd) -> list[str]:
    ctypes.CDLL(None).fflush(None)  # a driver prints through the C library, which buffers output to a file
    return capfd.readouterr().out.splitlines()


@pytest.mark.parametrize("synchronize", ["stream", "device", "copy"])
def test_printf_is_seen_after_a_synchronisation(device, capfd, synchronize):
    mod = module(
        device,
        r'__global__ void say(int* p) { printf("%d %s %5.2f %c %llx %%\n", threadIdx.x, "text", 1.5, 90, 255ll); *p = 1; }',
    )
    p = cs.zeros(1, np.int32)
    s = cs.Stream()
    device.synchronize()
    mod.say[1, 3, s](p)
    {"stream": s.synchronize, "device": device.synchronize, "copy": lambda: p.to_host(stream=s)}[
        synchronize
    ]()
    device.synchronize()

    assert sorted(printed(capfd)) == [f"{i} text  1.50 Z ff %" for i in range(3)]


@pytest.mark.host_only("a GPU prints in any order")
def test_printf_is_in_the_order_of_blocks_and_threads(device, capfd):
    mod = module(device, r'__global__ void say() { printf("%d:%d\n", blockIdx.x, threadIdx.x); }')
    mod.say[20, 5]()
    device.synchronize()

    assert printed(capfd) == [f"{b}:{t}" for b in range(20) for t in range(5)]


def test_printf_returns_the_number_of_arguments(device, capfd):
    mod = module(device, r'__global__ void say(int* p) { p[0] = printf("%d %d\n", 1, 2); }')
    p = cs.zeros(1, np.int32)
    mod.say[1, 1](p)

    assert p.to_host().tolist() == [2]


RUN = """
import numpy as np
import cuscope as cs
mod = cs.Module({source!r}, file_name="user.cu")
p = cs.zeros(64, np.int32)
cs.synchronize()
mod.k[2, 32](p)
for _ in range(2):
    try:
        cs.synchronize()
        print("no error")
    except cs.CudaError as error:
        print(error.name, "|", str(error).replace(chr(10), " "))
"""
FAULTS = {
    "an assertion": ("__global__ void k(int* p) {\n  assert(threadIdx.x != 7);\n}", "cudaErrorAssert"),
    "a trap": ("__global__ void k(int* p) { if (threadIdx.x == 3) __trap(); }", "cudaErrorLaunchFailure"),
    "a null pointer": (
        "__global__ void k(int* p) { *(volatile int*)nullptr = 1; }",
        "cudaErrorIllegalAddress",
    ),
    "a read far away": ("__global__ void k(int* p) { p[0] = p[1LL << 40]; }", "cudaErrorIllegalAddress"),
    "a non-canonical address": (
        "__global__ void k(int* p) { *(int*)0xdeadbeefdeadbee0ull = 1; }",
        "cudaErrorIllegalAddress",
    ),
    "a misaligned address": (
        "__global__ void k(int* p) { *(int*)((char*)p + 1) = 1; }",
        "cudaErrorMisalignedAddress",
    ),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_fault_of_a_kernel_is_the_error_that_a_gpu_gives_and_stays(device, run_python, fault):
    source, name = FAULTS[fault]
    done = run_python(RUN.format(source=source))

    assert done.returncode == 0, done.stderr
    lines = [x for x in done.stdout.splitlines() if "|" in x or "no error" in x]
    assert [x.split(" | ")[0] for x in lines] == [name] * 2


HOST_FAULTS = {
    "endless recursion": r"""
__device__ __noinline__ int down(volatile int* p, int n) {
    volatile int a[64];
    a[n % 64] = n;
    return down(p, n + 1) + a[n % 64] + *p;
}
__global__ void k(int* p) { p[0] = down(p, 0); }
""",
    "a large local array": r"""
__global__ void k(int* p) {
    volatile char big[1 << 24];
    big[p[0]] = 1;
    big[(1 << 24) - 1] = 1;
    p[0] = big[5];
}
""",
    "a jump to nowhere": "__global__ void k(int* p) { ((void (*)())(p[0] + 0x123450ull))(); }",
    "a division by zero": "__global__ void k(int* p) { volatile int zero = p[0]; p[1] = 5 / zero; }",
}


@pytest.mark.host_only("of the CPU's own kinds of faults")
@pytest.mark.parametrize("fault", HOST_FAULTS)
def test_fault_of_the_cpu_never_takes_the_process_down(device, run_python, fault):
    done = run_python(RUN.format(source=HOST_FAULTS[fault]))

    assert done.returncode == 0, done.stderr
    if fault != "a division by zero":  # on a GPU the result is undefined, without a fault
        assert done.stdout.startswith("cudaError")


def test_assertion_names_expression_line_block_and_thread(device, run_python):
    done = run_python(RUN.format(source=FAULTS["an assertion"][0]))

    text = done.stdout + done.stderr
    found = re.search(
        r"user\.cu:2: void k\(int ?\*\): block: \[\d,0,0\], thread: \[7,0,0\] Assertion `threadIdx.x != 7` failed\.",
        text,
    )
    assert found, text


@pytest.mark.host_only("memory of a real device may be mapped")
def test_access_to_freed_memory_is_an_illegal_address(device, run_python):
    done = run_python(
        """
        import numpy as np
        from cuscope import _core
        c = _core.contract("host:0")
        _, image, names, _ = c.compile("__global__ void store(int* p) { *p = 1; }")
        _, library = c.library_load_data(image)
        _, kernel = c.library_get_kernel(library, dict(names)["store"])
        _, p = c.malloc(1 << 20)
        c.free(p)
        print(c.launch_kernel(kernel, 1, 1, [np.uint64(p).tobytes()]), c.device_synchronize())
        """
    )

    assert done.stdout.split() == ["cudaSuccess", "cudaErrorIllegalAddress"], done.stderr


@pytest.mark.host_only("other devices go on with a real GPU too, but there is one")
def test_a_lost_device_does_not_lose_the_others(device, run_python):
    done = run_python(
        """
        import numpy as np
        import cuscope as cs
        other = cs.add_host_device("h200")
        cs.Module("__global__ void k(int* p) { p[1LL << 40] = 1; }").k[1, 1](cs.zeros(1, np.int32))
        try:
            cs.synchronize()
        except cs.CudaError as error:
            print(error.name)
        with other:
            print(cs.full(2, 3, np.int32).to_host().tolist())
        """
    )

    assert done.stdout.splitlines() == ["cudaErrorIllegalAddress", "[3, 3]"], done.stderr


# Clocks


def test_clock_counts_cycles(device):
    mod = module(
        device,
        """__global__ void time(long long* out) {
            long long a = clock64(); unsigned c = clock();
            __nanosleep(10000);
            out[0] = clock64() - a; out[1] = clock() - c;
        }""",
    )
    out = cs.zeros(2, np.int64)
    mod.time[1, 1](out)

    assert (out.to_host() > 0).all()


@pytest.mark.host_only("a real kernel takes longer than it sleeps")
def test_nanosleep_takes_its_time_on_the_device(device):
    mod = module(device, "__global__ void sleep() { __nanosleep(500000); __nanosleep(500000); }")
    s = cs.Stream()
    start = s.record()
    mod.sleep[1, 32, s]()
    stop = s.record()
    s.synchronize()

    assert stop - start == pytest.approx(1, abs=0.1)


def test_globaltimer_of_two_kernels_goes_on(device):
    mod = module(
        device,
        """__global__ void now(unsigned long long* p) { unsigned long long t; asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(t)); *p = t; }""",
    )
    out = cs.zeros(2, np.uint64)
    mod.now[1, 1](out[0:1])
    device.synchronize()
    cs.host_work(0.002)
    mod.now[1, 1](out[1:2])
    first, second = out.to_host().tolist()

    assert second - first >= 1_900_000


# Features that are not supported are refused by name when the source is compiled

UNSUPPORTED = {
    "texture": "__global__ void k(cudaTextureObject_t t, float* p) { float4 d = {}; *p = texCubemapGrad<float>(t, 0, 0, 0, d, d); }",
    "asm": '__global__ void k(int* p) { int x; asm("vadd4.s32.s32.s32 %0, %1, %2, %3;" : "=r"(x) : "r"(1), "r"(2), "r"(3)); *p = x; }',
    "launch": "__global__ void a() {} __global__ void k() { a<<<1, 1>>>(); }",
}


@pytest.mark.host_only("a GPU has it")
@pytest.mark.parametrize("what", UNSUPPORTED)
def test_unsupported_feature_fails_at_compile_time_by_name(device, what):
    with pytest.raises(cs.CompileError) as caught:
        cs.Module(UNSUPPORTED[what])

    names = {"texture": r"texCubemapGrad", "asm": r"vadd4|asm", "launch": r"<<<|launch"}
    assert re.search(names[what], str(caught.value))


def test_host_only_name_in_a_kernel_does_not_compile(device):
    with pytest.raises(cs.CompileError):
        cs.Module("__global__ void k(int* p) { *p = some_host_only_name(); }")
