"""Kernel.count(): the counts of a launch's accesses, on simulated devices."""

from __future__ import annotations

import functools
from pathlib import Path

import numpy as np
import pytest

import cuscope as cs
from support import IS_CLANG, built_in, module

KERNELS = Path(__file__).resolve().parents[2] / "cuda_kernels"
# Clang splits a float4, and counts no copy of a structure.
HOST = pytest.mark.host_only("a real GPU does not count")

SMALL = r"""
struct Matrix { int width; float* elements; };
__device__ unsigned hits;
__constant__ float factors[32];

__global__ void copy(const float* a, float* b, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) b[i] = a[i];
}
__global__ void copy4(const float4* a, float4* b) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    b[i] = a[i];
}
__global__ void strided(const float* a, float* b, int stride) { b[threadIdx.x] = a[threadIdx.x * stride]; }
__global__ void twice(Matrix m) { m.elements[threadIdx.x] *= 2; }
__global__ void halves(const float* a, float* b) {
    if (threadIdx.x % 2 == 0) b[threadIdx.x] = a[threadIdx.x];
    else b[threadIdx.x] = -a[threadIdx.x];
}
__global__ void hit(const int* a) { if (a[threadIdx.x] > 0) atomicAdd(&hits, 1u); }
__global__ void add_all(const float* a, float* sum) { atomicAdd(sum, a[threadIdx.x]); }
__global__ void scale(float* a) { a[threadIdx.x] *= factors[threadIdx.x % 32]; }
__global__ void local_only(float* a, int n) {
    float own[16];
    for (int i = 0; i < 16; ++i) own[i] = i * 0.5f;
    a[threadIdx.x] = own[n & 15];
}
__global__ void long_walk(const float* a, float* b, int n) {
    float sum = 0;
    for (int i = 0; i < n; ++i) sum += a[i * 32 + threadIdx.x % 32];
    b[threadIdx.x] = sum;
}
template <class T> __global__ void pairs(T* out) {
    __shared__ T buffer[256];
    buffer[threadIdx.x] = T{};
    __syncthreads();
    out[threadIdx.x] = buffer[threadIdx.x];
}
template __global__ void pairs<float>(float*);
template __global__ void pairs<double>(double*);
template __global__ void pairs<char>(char*);
__global__ void same_word(float* out) {
    __shared__ float buffer[32];
    buffer[threadIdx.x] = threadIdx.x;
    __syncthreads();
    out[threadIdx.x] = buffer[5];
}
__global__ void dynamic(float* out, int stride) {
    extern __shared__ float buffer[];
    buffer[threadIdx.x * stride] = 1;
    __syncthreads();
    out[threadIdx.x] = buffer[threadIdx.x * stride];
}
__global__ void warp_sum(const float* a, float* out) {
    float sum = a[threadIdx.x];
    for (int d = 16; d > 0; d /= 2) sum += __shfl_down_sync(0xffffffff, sum, d);
    if (threadIdx.x % 32 == 0) out[threadIdx.x / 32] = sum;
}
__global__ void beyond(float* a) { a[1LL << 40] = 1; }
__global__ void half_barrier(float* a) { if (threadIdx.x < 16) __syncthreads(); else __syncwarp(); a[0] = 1; }
__global__ void say(const float* a) { if (threadIdx.x == 3) printf("it is %g\n", a[3]); }
"""


@functools.cache
def from_file(device: cs.Device, path: str, **arguments) -> cs.Module:
    return cs.Module.from_file(KERNELS / path, device=device, **arguments)


def floats(*shape: int) -> np.ndarray:
    return np.random.default_rng(1).random(shape, np.float32)


class Matmul:
    """One launch of a rung of cuda_kernels/matmul, and its counts."""

    PROBLEM = np.dtype(
        [(name, np.int32) for name in "mnk"]
        + [(name, np.int64) for x in ("row", "batch") for name in (f"a_{x}", f"b_{x}", f"c_{x}")]
        + [(name, np.int64) for name in ("k_batch", "a_column", "c_column")],
        align=True,
    )

    def __init__(self, device: cs.Device, rung: str, n: int) -> None:
        a, b = floats(n, n), floats(n, n)
        problem = np.array([(n, n, n, n, n, n, 0, 0, 0, 0, 1, 1)], self.PROBLEM)[0]
        self.c = cs.zeros((n, n), np.float32)
        kernel = from_file(device, f"matmul/{rung}.cu")[f"{rung[3:]}<float>"]
        self.counts = kernel.count(
            cs.to_device(a), cs.to_device(b), self.c, problem, grid=(n // 16) ** 2, block=(16, 16)
        )
        self.expected = a @ b


@HOST
def test_naive_matmul_reads_each_matrix_n_times(device):
    n = 32

    run = Matmul(device, "01_naive", n)

    by_argument = run.counts.by_argument
    assert (by_argument["a"].loads, by_argument["b"].loads) == (n**3, n**3)
    assert (by_argument["c"].loads, by_argument["c"].stores) == (0, n**2)
    assert run.counts.global_loads == 2 * n**3
    np.testing.assert_allclose(run.c.to_host(), run.expected, rtol=1e-5)


@HOST
def test_shared_tiles_read_each_matrix_a_sixteenth_as_often(device):
    n = 32

    run = Matmul(device, "03_shared_tiles", n)

    by_argument = run.counts.by_argument
    assert by_argument["a"].loads == by_argument["b"].loads == n**3 // 16
    assert run.counts.shared_stores == 2 * n**3 // 16
    assert run.counts.bank_conflicts == 0
    np.testing.assert_allclose(run.c.to_host(), run.expected, rtol=1e-5)


# Nsight Compute's counts on an H200: requests and sectors of loads and of stores, bank conflicts of loads and of
# stores.
def counters(counts: cs.Counts) -> tuple[int, ...]:
    return (
        counts.global_load_requests,
        counts.global_load_sectors,
        counts.global_store_requests,
        counts.global_store_sectors,
        counts.shared_load_bank_conflicts,
        counts.shared_store_bank_conflicts,
    )


@HOST
@pytest.mark.parametrize(
    ("rung", "measured"),
    [
        ("02_coalesced", (131072, 262144, 512, 2048, 0, 0)),
        ("03_shared_tiles", (8192, 32768, 512, 2048, 0, 0)),
    ],
)
def test_matmul_counts_are_those_of_the_hardware(device, rung, measured):
    assert counters(Matmul(device, rung, 128).counts) == measured


@HOST
@pytest.mark.parametrize(
    ("rung", "measured"),
    [
        ("01_interleaved_modulo", (2048, 8192, 256, 256, 0, 0)),
        ("02_interleaved_strided", (2048, 8192, 256, 256, 17920, 8960)),
        ("03_sequential", (2048, 8192, 256, 256, 0, 0)),
    ],
)
def test_reduction_counts_are_those_of_the_hardware(device, rung, measured):
    x = np.arange(65536, dtype=np.int32)
    out = cs.zeros(256, np.int32)
    kernel = from_file(device, f"reduce_ladder/{rung}.cu")[f"{rung[3:]}<int, Sum>"]

    counts = kernel.count(cs.to_device(x), out, x.size, grid=256, block=256)

    assert counters(counts) == measured
    assert np.array_equal(out.to_host(), x.reshape(256, 256).sum(axis=1))


@HOST
@pytest.mark.parametrize(
    ("rung", "measured"),
    [
        ("01_straight", (2048, 8192, 2048, 65536, 0, 0)),
        ("02_tiled", (2048, 8192, 2048, 8192, 63488, 0)),
        ("03_padded", (2048, 8192, 2048, 8192, 0, 0)),
    ],
)
def test_transpose_counts_are_those_of_the_hardware(device, rung, measured):
    x = floats(256, 256)
    out = cs.zeros((256, 256), np.float32)
    kernel = from_file(device, f"transpose/{rung}.cu")[f"{rung[3:]}<unsigned int>"]

    counts = kernel.count(cs.to_device(x), out, 256, 256, grid=(8, 8), block=(32, 8))

    assert counters(counts) == measured
    assert np.array_equal(out.to_host(), x.T)


@HOST
def test_divergence_keeps_more_warps_busy_with_fewer_threads(device):
    x = cs.zeros(4096, np.int32)
    counts = [
        from_file(device, f"reduce_ladder/{rung}.cu")[f"{rung[3:]}<int, Sum>"].count(
            x, cs.zeros(16, np.int32), x.size, grid=16, block=256
        )
        for rung in ("01_interleaved_modulo", "03_sequential")
    ]

    modulo, sequential = counts
    assert modulo.warp_steps > sequential.warp_steps
    assert modulo.active_threads_per_warp < sequential.active_threads_per_warp <= 32


@HOST
def test_lanes_side_by_side_share_sectors(device):
    x = floats(96)
    y = cs.zeros(96, np.float32)

    counts = module(device, SMALL)["copy"].count(cs.to_device(x), y, 96, grid=1, block=96)

    assert counters(counts)[:4] == (3, 12, 3, 12)
    assert (counts.global_load_bytes, counts.global_store_bytes) == (384, 384)
    assert np.array_equal(y.to_host(), x)


@HOST
@pytest.mark.parametrize(("stride", "sectors"), [(1, 4), (2, 8), (8, 32), (33, 32)])
def test_lanes_apart_take_a_sector_each(device, stride, sectors):
    x = cs.zeros(32 * stride, np.float32)

    counts = module(device, SMALL).strided.count(x, cs.zeros(32, np.float32), stride, grid=1, block=32)

    assert (counts.global_load_requests, counts.global_load_sectors) == (1, sectors)


@HOST
def test_asynchronous_copies_load_and_store(device):
    source = """
    __global__ void copies(const float* x) {
        __shared__ float s[64];
        const unsigned to = static_cast<unsigned>(__cvta_generic_to_shared(&s[threadIdx.x]));
        for (int i = 0; i < 5; ++i)
            asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(to), "l"(x + i * 64 + threadIdx.x) : "memory");
    }"""

    counts = module(device, source).copies.count(cs.zeros(5 * 64), grid=1, block=64)

    assert (counts.global_load_requests, counts.global_load_sectors) == (10, 40)
    assert counts.shared_store_requests == 10


@HOST
@pytest.mark.skipif(IS_CLANG, reason="Clang takes a float4 apart")
def test_load_of_four_floats_is_one_request(device):
    x = floats(64, 4)
    y = cs.zeros((64, 4), np.float32)

    counts = module(device, SMALL).copy4.count(cs.to_device(x), y, grid=2, block=32)

    assert counters(counts)[:4] == (2, 32, 2, 32)
    assert np.array_equal(y.to_host(), x)


@HOST
def test_threads_that_are_not_there_count_nothing(device):
    x = cs.zeros(40, np.float32)

    counts = module(device, SMALL)["copy"].count(x, cs.zeros(40, np.float32), 40, grid=2, block=32)

    assert (counts.global_loads, counts.global_load_requests, counts.global_load_sectors) == (40, 2, 5)


@HOST
def test_both_branches_are_issued(device):
    counts = module(device, SMALL).halves.count(
        cs.to_device(floats(32)), cs.zeros(32, np.float32), grid=1, block=32
    )

    assert counts.global_store_requests in (1, 2)  # the compiler may store after the branches have met
    assert counts.global_stores == 32
    assert counts.active_threads_per_warp < 32


@HOST
def test_uniform_threads_are_all_active(device):
    x = cs.zeros(64, np.float32)

    counts = module(device, SMALL).strided.count(x, cs.zeros(64, np.float32), 1, grid=1, block=64)

    assert counts.active_threads_per_warp == 32
    assert counts.thread_steps == 32 * counts.warp_steps > 0


@HOST
def test_pointer_in_a_structure_is_the_argument_s(device):
    matrix = np.dtype([("width", np.int32), ("elements", np.uintp)], align=True)
    x = cs.to_device(np.ones(32, np.float32))
    value = np.array([(32, x.pointer)], matrix)[0]

    counts = module(device, SMALL).twice.count(value, grid=1, block=32)

    assert (counts.by_argument["m"].loads, counts.by_argument["m"].stores) == (32, 32)


@HOST
def test_two_arguments_in_one_allocation_are_told_apart(device):
    x = cs.to_device(floats(64))

    counts = module(device, SMALL)["copy"].count(x[32:], x[:32], 32, grid=1, block=32)

    by_argument = counts.by_argument
    assert (by_argument["a"].loads, by_argument["a"].stores) == (32, 0)
    assert (by_argument["b"].loads, by_argument["b"].stores) == (0, 32)


@HOST
def test_one_array_twice_is_counted_for_both_arguments(device):
    x = cs.to_device(floats(32))

    counts = module(device, SMALL)["copy"].count(x, x, 32, grid=1, block=32)

    assert counts.by_argument["a"].stores == counts.by_argument["b"].loads == 32
    assert (counts.global_loads, counts.global_stores) == (32, 32)


@HOST
def test_variables_are_the_module_s_own(device):
    mod = cs.Module(SMALL, device=device)
    hits = mod.symbol("hits", np.uint32)
    hits.copy_from(np.full(1, 5, np.uint32))

    counts = mod.hit.count(cs.to_device(np.arange(32, dtype=np.int32)), grid=1, block=32)
    mod.hit[1, 32](cs.to_device(np.arange(32, dtype=np.int32)))

    assert counts.global_atomics == 31
    assert int(hits.to_host()[0]) == 5 + 31 + 31


@HOST
def test_atomic_of_a_float_is_one(device):
    x = np.ones(64, np.float32)
    total = cs.zeros(1, np.float32)

    counts = module(device, SMALL).add_all.count(cs.to_device(x), total, grid=1, block=64)

    assert (counts.global_atomics, counts.global_loads, counts.global_stores) == (64, 64, 0)
    assert counts.by_argument["sum"].atomics == 64
    assert float(total.to_host()[0]) == 64


@HOST
def test_constants_and_local_memory_are_not_counted(device):
    mod = module(device, SMALL)
    x = cs.zeros(32, np.float32)

    scaled = mod.scale.count(x, grid=1, block=32)
    local = mod.local_only.count(x, 3, grid=1, block=32)

    assert (scaled.global_loads, scaled.global_stores) == (32, 32)
    assert (local.global_loads, local.global_stores) == (0, 32)


@HOST
def test_variables_may_hold_addresses_of_others(device):
    mod = cs.Module(
        """
        __device__ int value = 3;
        __device__ int* place = &value;
        __device__ const int limit = 40;
        __global__ void increase() { if (*place < limit) ++*place; }
        """,
        device=device,
    )

    counts = mod.increase.count(grid=1, block=1)
    mod.increase[1, 1]()

    assert int(mod.symbol("value", np.int32).to_host()[0]) == 5
    assert counts.global_stores == 1


@HOST
def test_a_long_loop_is_counted_in_pieces(device):
    n = 10_000
    x = cs.to_device(np.ones(n * 32, np.float32))
    y = cs.zeros(64, np.float32)

    counts = module(device, SMALL).long_walk.count(x, y, n, grid=1, block=64)

    assert counts.global_loads == 64 * n
    assert (counts.global_load_requests, counts.global_load_sectors) == (2 * n, 8 * n)
    assert np.array_equal(y.to_host(), np.full(64, n, np.float32))


@HOST
@pytest.mark.parametrize(
    ("name", "dtype", "wavefronts"),
    [("pairs<float>", np.float32, 1), ("pairs<double>", np.float64, 2), ("pairs<char>", np.int8, 1)],
)
def test_neighbours_in_shared_memory_do_not_conflict(device, name, dtype, wavefronts):
    counts = module(device, SMALL)[name].count(cs.zeros(256, dtype), grid=1, block=256)

    assert (counts.shared_stores, counts.shared_store_requests) == (256, 8)
    assert counts.shared_load_wavefronts == 8 * wavefronts
    assert counts.bank_conflicts == 0


@HOST
def test_one_word_is_for_all_lanes_at_once(device):
    counts = module(device, SMALL).same_word.count(cs.zeros(32, np.float32), grid=1, block=32)

    assert (counts.shared_loads, counts.shared_load_wavefronts) == (32, 1)


@HOST
@pytest.mark.parametrize(("stride", "wavefronts"), [(1, 1), (2, 2), (3, 1), (16, 16), (32, 32), (33, 1)])
def test_strides_in_dynamic_shared_memory(device, stride, wavefronts):
    counts = module(device, SMALL).dynamic.count(
        cs.zeros(32, np.float32), stride, grid=1, block=32, shared=4 * 32 * stride
    )

    assert counts.shared_load_wavefronts == counts.shared_store_wavefronts == wavefronts
    assert counts.bank_conflicts == 2 * (wavefronts - 1)


@HOST
def test_warp_operations_keep_requests_together(device):
    x = floats(64)
    out = cs.zeros(2, np.float32)

    counts = module(device, SMALL).warp_sum.count(cs.to_device(x), out, grid=1, block=64)

    assert counters(counts)[:4] == (2, 8, 2, 2)
    np.testing.assert_allclose(out.to_host(), x.reshape(2, 32).sum(axis=1), rtol=1e-5)


@HOST
def test_the_same_program_counts_the_same(device):
    x = cs.zeros(1 << 16, np.int32)
    kernel = from_file(device, "reduce_ladder/02_interleaved_strided.cu")["interleaved_strided<int, Sum>"]

    answers = {
        (*counters(counts), counts.thread_steps, counts.warp_steps)
        for counts in (
            kernel.count(x, cs.zeros(256, np.int32), x.size, grid=256, block=256) for _ in range(3)
        )
    }

    assert len(answers) == 1


@HOST
def test_count_is_in_stream_order_and_takes_as_long_as_a_launch(device):
    kernel = module(device, SMALL)["copy"]
    x = cs.to_device(floats(1 << 16))
    y = cs.zeros(1 << 16, np.float32)
    stream = cs.Stream()
    times = []

    for launch in (kernel.launch, kernel.count):
        start = cs.Event().record(stream)
        launch(x, y, x.size, grid=256, block=256, stream=stream, duration=0.003)
        stop = cs.Event().record(stream)
        stop.synchronize()
        times.append(stop - start)

    assert times[1] == pytest.approx(times[0], abs=0.05)  # ms: the host comes back to it in between
    assert cs.clock() > 0.006


@HOST
def test_output_of_a_counted_kernel_is_printed(device, capfd):
    module(device, SMALL).say.count(cs.to_device(np.full(32, 2.5, np.float32)), grid=1, block=32)

    assert capfd.readouterr().out == "it is 2.5\n"


@HOST
def test_counts_show_themselves(device):
    counts = module(device, SMALL)["copy"].count(
        cs.zeros(32, np.float32), cs.zeros(32, np.float32), 32, grid=1, block=32
    )

    assert repr(counts) == (
        "<Counts of copy: global 32 loads in 4 sectors, 32 stores in 4 sectors; 32 active threads per warp>"
    )
    assert repr(counts.by_argument["a"]) == "<GlobalCounts 32 loads in 4 sectors, 0 stores in 0 sectors>"


@HOST
@pytest.mark.parametrize("kernel", ["beyond", "half_barrier"])
def test_a_fault_is_that_of_a_launch(run_python, kernel):
    program = f"""
        import sys, numpy as np, cuscope as cs
        with cs.Device("host:0") as device:
            kernel = cs.Module({SMALL!r}).{kernel}
            try:
                getattr(kernel, sys.argv[1])(cs.zeros(32, np.float32), grid=1, block=32)
                device.synchronize()
            except cs.CudaError as failure:
                print(failure.name, failure.detail)
        """

    counted, launched = (run_python(program, how).stdout.strip() for how in ("count", "launch"))

    name, what = launched.split(maxsplit=1)
    assert counted.startswith(name)
    assert what in counted


@HOST
def test_a_refused_count_changes_nothing(device):
    kernel = module(device, SMALL)["copy"]
    y = cs.zeros(32, np.float32)

    with pytest.raises(TypeError, match="takes 3"):
        kernel.count(y, grid=1, block=32)
    with pytest.raises(cs.CudaError, match="block"):
        kernel.count(cs.zeros(32, np.float32), y, 32, grid=1, block=4096)

    assert not y.to_host().any()


@HOST
def test_kernels_without_source_are_refused(device, tmp_path):
    path = tmp_path / "saved.image"
    path.write_bytes(built_in(device, "transpose/01_straight").image)
    kernel = cs.Module.from_file(path)["straight<unsigned int>"]
    x = cs.zeros((32, 32), np.uint32)

    with pytest.raises(ValueError, match=r"takes its source.*Module.from_file"):
        kernel.count(x, x, 32, 32, grid=1, block=(32, 8))


@pytest.mark.gpu_only("the host counts")
def test_a_gpu_does_not_count(device):
    kernel = module(device, SMALL)["copy"]
    x = cs.zeros(32, np.float32)

    with pytest.raises(cs.CudaError, match=r"host:0.*Nsight Compute") as failure:
        kernel.count(x, x, 32, grid=1, block=32)

    assert failure.value.name == "cudaErrorNotSupported"


@HOST
def test_the_image_that_counts_is_kept_on_disk(run_python, tmp_path):
    program = """
        import numpy as np, cuscope as cs
        with cs.Device("host:0"):
            mod = cs.Module("__global__ void f(float* x) { x[threadIdx.x] += 1; }")
            print(mod.f.count(cs.zeros(32, np.float32), grid=1, block=32))
        """
    environment = {"CUSCOPE_CACHE_DIR": str(tmp_path / "cache")}

    first = run_python(program, env=environment)
    second = run_python(program, env=environment)

    files = [path for path in (tmp_path / "cache").rglob("*") if path.is_file()]
    assert first.stdout == second.stdout != ""
    assert len(files) == 5  # two images, the preprocessed header for each, and the functions that count
