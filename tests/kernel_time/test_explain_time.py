"""Kernel.explain_time() names the part of the device that bounds a kernel."""

from __future__ import annotations

import numpy as np
import pytest

import cuscope as cs

pytestmark = [
    pytest.mark.host_only("a real GPU measures times"),
    pytest.mark.usefixtures("times_from_counts"),
]

SOURCE = r"""
__global__ void copy(const float* in, float* out) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = in[i];
}
__global__ void conflicts(float* x) {
    __shared__ float tile[32][32];
    float sum = 0;
    tile[threadIdx.y][threadIdx.x] = x[threadIdx.x];
    __syncthreads();
    for (int i = 0; i < 256; ++i) sum += tile[threadIdx.x][(threadIdx.y + i) % 32];
    x[blockIdx.x * 1024 + threadIdx.y * 32 + threadIdx.x] = sum;
}
__global__ void padded(float* x) {
    __shared__ float tile[32][33];
    float sum = 0;
    tile[threadIdx.y][threadIdx.x] = x[threadIdx.x];
    __syncthreads();
    for (int i = 0; i < 256; ++i) sum += tile[threadIdx.x][(threadIdx.y + i) % 32];
    x[blockIdx.x * 1024 + threadIdx.y * 32 + threadIdx.x] = sum;
}
__global__ void calculate(float* x) {
    float v = x[blockIdx.x * blockDim.x + threadIdx.x];
    for (int i = 0; i < 1000; ++i) v = v * 1.5f + 0.5f;
    x[blockIdx.x * blockDim.x + threadIdx.x] = v;
}
__global__ void one_chain(float* x) {
    float a = x[threadIdx.x];
    for (int i = 0; i < 4096; ++i) a = a * 1.5f + 0.5f;
    x[threadIdx.x] = a;
}
__global__ void eight_chains(float* x) {
    float a[8];
    for (int j = 0; j < 8; ++j) a[j] = x[threadIdx.x] + j;
    for (int i = 0; i < 512; ++i)
        for (int j = 0; j < 8; ++j) a[j] = a[j] * 1.5f + 0.5f;
    for (int j = 0; j < 8; ++j) x[threadIdx.x] += a[j];
}
__global__ void one_thread(const float* x, float* out, int n) {
    float sum = 0;
    for (int i = 0; i < n; ++i) sum += x[i];
    *out = sum;
}
__global__ void count_all(int* count) { atomicAdd(count + threadIdx.x % 8, 1); }
__global__ void nothing() { }
"""


@pytest.fixture
def module():
    with cs.add_host_device("h200"):
        yield cs.Module(SOURCE)


def test_copy_of_much_memory_is_bound_by_memory(module):
    n = 1 << 25
    x, y = cs.zeros(n, np.float32), cs.zeros(n, np.float32)

    time = module.copy.explain_time(x, y, grid=n // 512, block=512)

    assert time.bound == "DRAM"
    assert time.footprint_bytes == pytest.approx(8 * n, rel=0.01)
    assert time.dram_bytes == pytest.approx(8 * n, rel=0.01)
    assert time.seconds == pytest.approx(8 * n / 4.1e12, rel=0.25)


def test_copy_that_fits_into_the_cache_is_not_bound_by_memory(module):
    x, y = cs.zeros(1 << 20, np.float32), cs.zeros(1 << 20, np.float32)

    time = module.copy.explain_time(x, y, grid=4096, block=256)

    assert time.dram_bytes == 0
    assert time.parts["L2"] > 0


def test_bank_conflicts_are_bound_by_shared_memory_and_padding_mends_it(module):
    x = cs.zeros(264 * 1024, np.float32)

    conflicts, padded = (
        module[name].explain_time(x, grid=264, block=(32, 32)) for name in ("conflicts", "padded")
    )

    assert conflicts.bound == "shared memory"
    assert conflicts.seconds > 4 * padded.seconds


def test_instructions_that_need_no_results_of_each_other_wait_less(module):
    x = cs.zeros(32, np.float32)

    chain, chains = (module[name].explain_time(x, grid=1, block=32) for name in ("one_chain", "eight_chains"))

    assert chain.bound == "latency"
    # On an H200, a warp gets the result of an operation with floats after 4 cycles, of 1.98 GHz.
    assert chain.parts["latency"] == pytest.approx(2 * 4096 * 4 / 1.98e9, rel=0.6)
    assert chain.parts["latency"] > 2 * chains.parts["latency"]


def test_arithmetic_is_bound_by_issue(module):
    x = cs.zeros(1 << 18, np.float32)

    time = module.calculate.explain_time(x, grid=1024, block=256)

    assert time.bound == "issue"
    # 1000 fused instructions for each warp, and those of the loop
    assert 1 <= time.instructions / (1000 * (1 << 18) / 32) < 1.6


# NVIDIA's data sheets: teraflops with floats.
@pytest.mark.parametrize(
    ("model", "teraflops"), [("h200", 67), ("a100", 19.5), ("k20x", 3.95), ("fermi", 1.03)]
)
def test_arithmetic_takes_as_long_as_the_device_needs_for_it(model, teraflops):
    with cs.add_host_device(model):
        x = cs.zeros(1 << 18, np.float32)
        time = cs.Module(SOURCE).calculate.explain_time(x, grid=1024, block=256)

    needed = 2 * 1000 * x.size / (teraflops * 1e12)
    # The instructions of the loop come on top, and no device issues as many as a K20X could calculate.
    assert 0.95 * needed < time.parts["issue"] < 2.5 * needed


def test_one_thread_is_bound_by_latency(module):
    x, out = cs.zeros(1 << 16, np.float32), cs.zeros(1, np.float32)

    time = module.one_thread.explain_time(x, out, x.size, grid=1, block=1)

    assert time.bound == "latency"
    assert time.seconds > 100 * module.copy.explain_time(x, cs.empty_like(x), grid=256, block=256).seconds


def test_many_atomic_operations_on_few_words_are_bound_by_them(module):
    count = cs.zeros(8, np.int32)

    time = module.count_all.explain_time(count, grid=4096, block=256)

    assert time.bound == "atomics"
    assert count.to_host().sum() == 1 << 20


def test_empty_kernel_is_bound_by_its_launch(module):
    time = module.nothing.explain_time(grid=1, block=32)

    assert time.bound == "launch"
    assert time.seconds == pytest.approx(2e-6, rel=0.01)


def test_table_has_a_row_for_each_part(module):
    x, y = cs.zeros(1 << 20, np.float32), cs.zeros(1 << 20, np.float32)

    text = str(module.copy.explain_time(x, y, grid=4096, block=256))

    assert text.startswith("copy: ")
    assert "blocks counted" in text
    for row in ("L2", "shared memory", "issue", "latency", "launch"):
        assert f"\n  {row}" in text


def test_time_is_that_of_the_launch(module):
    n = 1 << 22
    x, y = cs.zeros(n, np.float32), cs.zeros(n, np.float32)

    time = module.copy.explain_time(x, y, grid=n // 256, block=256)
    start = cs.Event().record()
    for _ in range(10):
        module.copy[n // 256, 256](x, y)
    stop = cs.Event().record()
    stop.synchronize()

    assert (stop - start) / 1e4 == pytest.approx(time.seconds, rel=0.1)


@pytest.mark.parametrize(
    "source",
    [
        "__device__ int total; __global__ void f(int* x) { total = *x; }",
        "__global__ void __cluster_dims__(2) f(int* x) { *x = 1; }",
        "__global__ void f(int* x) { *x = clock64(); }",
    ],
    ids=["variable", "cluster", "clock"],
)
def test_kernels_whose_times_do_not_come_from_counts_are_named(source):
    with cs.add_host_device("h200"):
        kernel = cs.Module(source).f
        with pytest.raises(ValueError, match="the time of f does not come from counts"):
            kernel.explain_time(cs.zeros(1, np.int32), grid=2, block=32)


def test_kernel_without_source_cannot_be_explained(module, tmp_path):
    path = tmp_path / "kernels.image"
    path.write_bytes(module.image)
    with cs.add_host_device("h200"):
        kernel = cs.Module.from_file(path).nothing
        with pytest.raises(ValueError, match=r"takes its source.*cs\.Module\(source\)"):
            kernel.explain_time(grid=1, block=32)


def test_numbers_without_a_unit_have_one_space_behind_them(module):
    x = cs.zeros(2 * 1024, np.float32)

    text = str(module.padded.explain_time(x, grid=2, block=(32, 32)))

    _, _, cause = next(row for row in text.splitlines() if "shared memory" in row).partition("s  ")
    assert " wavefronts of the L1 cache, " in cause
    assert "  " not in cause
