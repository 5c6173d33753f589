"""Loads that nvcc joins, and latencies that a kernel hides: what the simulated time tells apart, as an H200 does."""

from __future__ import annotations

import numpy as np
import pytest

import cuscope as cs
from support import IS_CLANG, load_program

pytestmark = [
    pytest.mark.host_only("a real GPU measures times"),
    pytest.mark.usefixtures("times_from_counts"),
]

RUNGS = load_program("benchmarks/matmul_rungs.py")

ROWS = r"""
__global__ void rows(float* x, const float* y) {
    __shared__ float tile[8][34];
    for (int i = threadIdx.x; i < 8 * 34; i += 256) tile[i / 34][i % 34] = x[i];
    __syncthreads();
    float sums[8] = {};
    for (int turn = 0; turn < 64; ++turn) {
#pragma unroll 1
        for (int i = 0; i < 32; i += 2) {
#pragma unroll
            for (int r = 0; r < 8; ++r) sums[r] += tile[r][i + FIRST] + tile[r][i + FIRST + 1];
        }
    }
    for (int r = 0; r < 8; ++r) x[blockIdx.x * 256 + threadIdx.x] += sums[r] + y[r];
}
"""

WIDE = r"""
__global__ void wide(float* x) {
    __shared__ float4 s[32];
    s[threadIdx.x % 32] = make_float4(x[0], x[1], x[2], x[3]);
    __syncthreads();
    float sum = 0;
    for (int i = 0; i < 256; ++i) sum += s[(threadIdx.x % 32 / LANES + i) % 32].x;
    x[blockIdx.x * 256 + threadIdx.x] = sum;
}
"""

COPIES = r"""
__global__ void copies(const float* x, float* y) {
    __shared__ float s[256];
    unsigned to = static_cast<unsigned>(__cvta_generic_to_shared(&s[threadIdx.x]));
    for (int i = 0; i < 64; ++i) {
#ifdef ASYNCHRONOUS
        asm volatile("cp.async.ca.shared.global [%0], [%1], 4, 4;" ::"r"(to), "l"(x + i * 256 + threadIdx.x) : "memory");
#else
        s[threadIdx.x] = x[i * 256 + threadIdx.x];
#endif
    }
    y[threadIdx.x] = s[threadIdx.x];
}
"""


@pytest.fixture(scope="module")
def h200():
    with cs.add_host_device("h200") as device:
        yield device


def explained(source: str, define: str, name: str, *lengths: int, grid: int = 264) -> cs.KernelTime:
    kernel = getattr(cs.Module(source, options=[f"-D{define}"]), name)
    return kernel.explain_time(*(cs.zeros(n, np.float32) for n in lengths), grid=grid, block=256)


def test_neighbouring_words_at_a_multiple_of_their_size_are_loaded_together(h200):
    # A pair that begins at an odd element lies at no multiple of 8 bytes, so that nvcc cannot join its loads.
    joined, single = (explained(ROWS, f"FIRST={first}", "rows", 264 * 256, 64) for first in (0, 1))

    assert joined.parts["shared memory"] < 0.6 * single.parts["shared memory"]
    assert joined.instructions < 0.85 * single.instructions
    assert joined.seconds < single.seconds


def test_wide_load_that_is_the_same_for_half_a_warp_takes_half_the_time(h200):
    # Nsight Compute on an H200: 2 wavefronts for a load of 16 bytes that half a warp shares, otherwise 4.
    same, different = (explained(WIDE, f"LANES={lanes}", "wide", 264 * 256) for lanes in (16, 1))

    assert same.parts["shared memory"] < 0.6 * different.parts["shared memory"]


@pytest.mark.skipif(IS_CLANG, reason="with Clang, the kernel counts 1.7 times as many instructions")
def test_asynchronous_copy_is_about_one_instruction(h200):
    asynchronous, plain = (
        explained(COPIES, define, "copies", 64 * 256, 256, grid=1) for define in ("ASYNCHRONOUS", "PLAIN")
    )

    assert asynchronous.instructions < 1.5 * plain.instructions


def rung(number: str, n: int) -> cs.KernelTime:
    path = next(RUNGS.FOLDER.glob(f"{number}_*.cu"))
    name = f"{path.stem[3:]}<float>"
    shape = RUNGS.instance(number, name)
    assert shape is not None
    a, b, c = (cs.zeros((n, n), np.float32) for _ in range(3))
    problem = RUNGS.problem(n, n, n, n, n, n)
    blocks = (n // shape.tile[0]) * (n // shape.tile[1])
    return cs.Module.from_file(path)[name].explain_time(a, b, c, problem, grid=blocks, block=shape.block)


def test_wide_loads_and_two_slabs_each_make_a_product_faster(h200):
    # An H200 took 155, 88 and 57 us, with operands that were not in its L2 cache.
    square, vectorised, double_buffered = (rung(number, 512).cold_seconds for number in ("05", "06", "07"))

    assert square > 1.3 * vectorised > 1.3 * 1.1 * double_buffered


@pytest.mark.skipif(IS_CLANG, reason="the model was made with the instructions of GCC")
def test_rungs_of_the_product_come_in_the_order_of_the_device(h200):
    # An H200 took 110, 150, 172, 281 and 301 us.
    times = [rung(number, 1024).cold_seconds for number in ("07", "04", "06", "03", "05")]

    assert times == sorted(times)


def test_small_data_that_are_not_in_the_cache_take_longer(h200):
    time = explained(ROWS, "FIRST=0", "rows", 264 * 256, 64, grid=264)

    assert time.cold_seconds > time.seconds


def test_large_data_are_never_in_the_cache(h200):
    copy = cs.Module(
        "__global__ void copy(const float* x, float* y) { int i = blockIdx.x * 256 + threadIdx.x; y[i] = x[i]; }"
    ).copy
    n = 1 << 25
    x, y = cs.zeros(n, np.float32), cs.zeros(n, np.float32)

    time = copy.explain_time(x, y, grid=n // 256, block=256)

    assert time.cold_seconds == time.seconds
