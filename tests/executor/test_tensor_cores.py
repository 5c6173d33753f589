"""Products by tensor cores in inline PTX: mma.sync of a warp, and wgmma of a warpgroup, for each type of factor."""

from __future__ import annotations

import numpy as np
import pytest

import cuscope as cs

ml_dtypes = pytest.importorskip("ml_dtypes", reason="ml_dtypes is not installed")

DTYPES = {
    "f16": np.float16,
    "bf16": ml_dtypes.bfloat16,
    "tf32": np.float32,
    "e4m3": ml_dtypes.float8_e4m3fn,
    "e5m2": ml_dtypes.float8_e5m2,
    "s8": np.int8,
    "u8": np.uint8,
}
PAIRS = [*((name, name) for name in DTYPES), ("e4m3", "e5m2"), ("e5m2", "e4m3"), ("s8", "u8"), ("u8", "s8")]
N = 16  # columns of B


def factors(a: str, b: str, rows: int, columns: int, k: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """A, B and A times B transposed. Every type holds the small integers, and all sums are exact."""
    rng = np.random.default_rng(1)
    small = [
        rng.integers(0 if name == "u8" else -4, 5, (count, k)).astype(DTYPES[name])
        for name, count in ((a, rows), (b, columns))
    ]
    product = small[0].astype(np.float64) @ small[1].astype(np.float64).T
    return small[0], small[1], product.astype(np.int32 if "8" in a and a[0] in "su" else np.float32)


def sum_type(a: str) -> tuple[str, str, str, type]:
    return ("s32", "int", "r", np.int32) if a in ("s8", "u8") else ("f32", "float", "f", np.float32)


def on(device: cs.Device, source: str, needs: int) -> cs.Module:
    major, minor = device.compute_capability
    if major * 10 + minor < needs:
        pytest.skip(f"needs compute capability {needs / 10}")
    # Only this architecture has wgmma, so NVRTC must be told its name.
    options = ["--gpu-architecture=sm_90a"] if needs == 90 and not device.simulated else []
    return cs.Module(source, device=device, options=options)


@pytest.mark.parametrize(("a", "b"), PAIRS)
def test_a_warp_multiplies(device, a, b):
    k = 256 // (8 * np.dtype(DTYPES[a]).itemsize)
    ptx, c_type, constraint, dtype = sum_type(a)
    source = f"""__global__ void f(const unsigned* a, const unsigned* b, {c_type}* d) {{
        // Rows of 8 words. Lane 4 * i + j has word j of rows i and i + 8, and word j + 4 of both.
        const int i = threadIdx.x / 4, j = threadIdx.x % 4;
        {c_type} s[4] = {{1, 1, 1, 1}};
        asm volatile("mma.sync.aligned.m16n8k{k}.row.col.{ptx}.{a}.{b}.{ptx} {{%0, %1, %2, %3}}, {{%4, %5, %6, %7}}, "
                     "{{%8, %9}}, {{%0, %1, %2, %3}};"
            : "+{constraint}"(s[0]), "+{constraint}"(s[1]), "+{constraint}"(s[2]), "+{constraint}"(s[3])
            : "r"(a[i * 8 + j]), "r"(a[(i + 8) * 8 + j]), "r"(a[i * 8 + j + 4]), "r"(a[(i + 8) * 8 + j + 4]),
              "r"(b[i * 8 + j]), "r"(b[i * 8 + j + 4]));
        for (int r = 0; r < 2; ++r)
            for (int c = 0; c < 2; ++c) d[(i + 8 * r) * 8 + 2 * j + c] = s[2 * r + c];
    }}"""
    module = on(device, source, 89 if a[0] == "e" else 80)
    x, y, product = factors(a, b, 16, 8, k)
    out = cs.zeros((16, 8), dtype)

    module.f[1, 32](cs.to_device(x.view(np.uint32)), cs.to_device(y.view(np.uint32)), out)

    np.testing.assert_array_equal(out.to_host(), product + 1)


@pytest.mark.parametrize("place", ["shared", "registers"])
@pytest.mark.parametrize(("a", "b"), PAIRS)
def test_a_warpgroup_multiplies(device, a, b, place):
    # Rows of 128 bytes, which four instructions take 32 bytes at a time.
    size = np.dtype(DTYPES[a]).itemsize
    ptx, c_type, constraint, dtype = sum_type(a)
    count = N // 2
    sums = ", ".join(f"%{i}" for i in range(count))
    of_a = (
        f"{{%{count + 2}, %{count + 3}, %{count + 4}, %{count + 5}}}"
        if place == "registers"
        else f"%{count + 2}"
    )
    signs = "" if ptx == "s32" else ", 1, 1"
    transposed = "" if size != 2 else ", 0" if place == "registers" else ", 0, 0"
    opcode = f"wgmma.mma_async.sync.aligned.m64n{N}k{32 // size}.{ptx}.{a}.{b}"
    registers = ", ".join(f'"+{constraint}"(s[{i}])' for i in range(count))
    words = ", ".join(f'"r"(a[(row + {r}) * 32 + k * 8 + j + {w}])' for w in (0, 4) for r in (0, 8))
    operand = words if place == "registers" else '"l"(descriptor(rows, k))'
    source = f"""
    // Stores rows of 128 bytes as wgmma wants them: the chunks of 16 bytes in another order in each row.
    __device__ void permute(unsigned* to, const unsigned* from, int rows) {{
        for (int i = threadIdx.x; i < rows * 32; i += blockDim.x) {{
            const int row = i / 32, chunk = i % 32 / 4;
            to[row * 32 + (chunk ^ row % 8) * 4 + i % 4] = from[i];
        }}
    }}
    __device__ unsigned long long descriptor(const unsigned* from, int k) {{
        const unsigned at = static_cast<unsigned>(__cvta_generic_to_shared(from)) + 32 * k;
        return at >> 4 | 1ull << 16 | 64ull << 32 | 1ull << 62;
    }}
    __global__ void f(const unsigned* a, const unsigned* b, {c_type}* d) {{
        extern __shared__ __align__(1024) unsigned rows[];
        unsigned* const columns = rows + 64 * 32;
        permute(rows, a, 64);
        permute(columns, b, {N});
        asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
        __syncthreads();
        const int i = threadIdx.x % 32 / 4, j = threadIdx.x % 4, row = threadIdx.x / 32 * 16 + i;
        {c_type} s[{count}];
        asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
        for (int k = 0; k < 4; ++k)
            asm volatile("{{ .reg .pred p; setp.ne.b32 p, %{count + 1}, 0; "
                         "{opcode} {{{sums}}}, {of_a}, %{count}, p{signs}{transposed}; }}"
                : {registers} : "l"(descriptor(columns, k)), "r"(k), {operand} : "memory");
        asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
        asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
        for (int c = 0; c < {count}; ++c) d[(row + c / 2 % 2 * 8) * {N} + c / 4 * 8 + 2 * j + c % 2] = s[c];
    }}"""
    module = on(device, source, 90)
    x, y, product = factors(a, b, 64, N, 128 // size)
    out = cs.zeros((64, N), dtype)

    module.f.configure(grid=1, block=128, shared=80 * 128)(
        cs.to_device(x.view(np.uint32)), cs.to_device(y.view(np.uint32)), out
    )

    np.testing.assert_array_equal(out.to_host(), product)
