"""Barriers of a block, shared memory, and progress of blocks beside each other."""

from __future__ import annotations

import numpy as np
import pytest

import cuscope as cs
from support import module

SOURCE = r"""
__global__ void reverse(int* p) {
    extern __shared__ int s[];
    s[threadIdx.x] = p[threadIdx.x];
    __syncthreads();
    p[threadIdx.x] = s[blockDim.x - 1 - threadIdx.x];
}
__global__ void sum(const int* in, int* out, int n) {
    __shared__ int s[256];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    s[threadIdx.x] = i < n ? in[i] : 0;
    __syncthreads();
    for (int k = blockDim.x / 2; k > 0; k /= 2) {
        if (threadIdx.x < k) s[threadIdx.x] += s[threadIdx.x + k];
        __syncthreads();
    }
    if (threadIdx.x == 0) out[blockIdx.x] = s[0];
}
__global__ void ask(const int* in, int* count, int* all, int* any) {
    int c = __syncthreads_count(in[threadIdx.x]);
    int a = __syncthreads_and(in[threadIdx.x]);
    int o = __syncthreads_or(in[threadIdx.x]);
    count[threadIdx.x] = c; all[threadIdx.x] = a != 0; any[threadIdx.x] = o != 0;
}
__global__ void from_function(int* p);
__device__ int exchange(int value) {
    __shared__ int s[64];
    s[threadIdx.x] = value;
    __syncthreads();
    int other = s[threadIdx.x ^ 1];
    __syncthreads();
    return other;
}
__global__ void from_function(int* p) { for (int i = 0; i < 3; i++) p[threadIdx.x] = exchange(p[threadIdx.x]) + i; }
__global__ void wait_for_the_last_block(volatile int* flag, int* out) {
    if (blockIdx.x == gridDim.x - 1) { __threadfence(); *flag = 1; }
    else while (*flag == 0) { }
    if (threadIdx.x == 0) atomicAdd(out, 1);
}
__global__ void chain(int* turn, int* order) {
    while (atomicAdd(turn, 0) != gridDim.x - 1 - blockIdx.x) { }
    order[gridDim.x - 1 - blockIdx.x] = blockIdx.x;
    __threadfence();
    atomicAdd(turn, 1);
}
__global__ void two_spin_in_a_block(volatile int* flag, int* out) {
    if (threadIdx.x == 0) { while (*flag == 0) { } *out = 5; }
    else { *flag = 1; }
}
__global__ void grid_barrier(int* arrived, int* out) {
    out[blockIdx.x] = blockIdx.x;
    __syncthreads();
    if (threadIdx.x == 0) {
        __threadfence();
        atomicAdd(arrived, 1);
        while (atomicAdd(arrived, 0) < gridDim.x) { }
    }
    __syncthreads();
    if (threadIdx.x == 0) out[gridDim.x + blockIdx.x] = ((volatile int*)out)[(blockIdx.x + 1) % gridDim.x];
}
"""


@pytest.fixture
def kernels(device):
    return module(device, SOURCE)


@pytest.mark.parametrize("threads", [1, 2, 31, 32, 33, 64, 100, 256, 1023, 1024])
def test_barrier_makes_shared_memory_visible(kernels, threads):
    p = cs.to_device(np.arange(threads, dtype=np.int32))
    kernels.reverse[1, threads, None, 4 * threads](p)

    assert p.to_host().tolist() == list(range(threads))[::-1]


@pytest.mark.parametrize("block", [(8, 4, 2), (2, 32), (1, 1, 64)])
def test_threads_of_every_dimension_meet(device, block):
    mod = module(
        device,
        """__global__ void meet(int* p) {
            __shared__ int s[64];
            int t = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
            s[t] = t;
            __syncthreads();
            p[t] = s[63 - t];
        }""",
    )
    p = cs.zeros(64, np.int32)
    mod.meet[1, block](p)

    assert p.to_host().tolist() == list(range(64))[::-1]


def test_reduction_over_many_blocks(kernels):
    x = np.random.default_rng(1).integers(-1000, 1000, 100_000, np.int32)
    blocks = -(-x.size // 256)
    out = cs.zeros(blocks, np.int32)
    kernels.sum[blocks, 256](cs.to_device(x), out, x.size)

    padded = np.zeros(blocks * 256, np.int32)
    padded[: x.size] = x
    assert out.to_host().tolist() == padded.reshape(blocks, 256).sum(1).tolist()


@pytest.mark.parametrize("values", [[0] * 48, [1] * 48, [7, 0] * 24, [0] * 47 + [-1]])
def test_barriers_that_count(kernels, values):
    x = np.array(values, np.int32)
    count, all_, any_ = (cs.zeros(48, np.int32) for _ in range(3))
    kernels.ask[1, 48](cs.to_device(x), count, all_, any_)

    assert set(count.to_host()) == {np.count_nonzero(x)}
    assert set(all_.to_host()) == {int(x.all())}
    assert set(any_.to_host()) == {int(x.any())}


def test_barrier_in_a_device_function_in_a_loop(kernels):
    p = cs.to_device(np.arange(64, dtype=np.int32))
    expected = np.arange(64)
    for i in range(3):
        expected = expected[np.arange(64) ^ 1] + i
    kernels.from_function[1, 64](p)

    assert p.to_host().tolist() == expected.tolist()


def test_shared_memory_belongs_to_a_block(device):
    mod = module(
        device,
        """__global__ void own(int* p) {
            __shared__ int s;
            if (threadIdx.x == 0) s = blockIdx.x;
            __syncthreads();
            p[blockIdx.x * blockDim.x + threadIdx.x] = s;
        }""",
    )
    p = cs.zeros(200 * 32, np.int32)
    mod.own[200, 32](p)

    assert np.array_equal(p.to_host(), np.repeat(np.arange(200), 32))


def test_extern_shared_arrays_begin_at_the_same_place(device):
    mod = module(
        device,
        """
        __global__ void both(int* p) {
            extern __shared__ char raw[];
            int* a = (int*)raw; float* b = (float*)(raw + 4 * blockDim.x);
            a[threadIdx.x] = threadIdx.x; b[threadIdx.x] = threadIdx.x * 0.5f;
            __syncthreads();
            p[threadIdx.x] = a[blockDim.x - 1 - threadIdx.x] + (int)(2 * b[threadIdx.x]);
        }""",
    )
    p = cs.zeros(32, np.int32)
    mod.both[1, 32, None, 256](p)

    assert p.to_host().tolist() == [31] * 32


def test_shared_memory_in_templates_is_of_each_instance(device):
    mod = module(
        device,
        """
        template <typename T, int N> __global__ void tile(T* p) {
            __shared__ T s[N][N + 1];
            s[threadIdx.y][threadIdx.x] = p[threadIdx.y * N + threadIdx.x];
            __syncthreads();
            p[threadIdx.y * N + threadIdx.x] = s[threadIdx.x][threadIdx.y];
        }""",
        name_expressions=("tile<float, 16>", "tile<short, 8>"),
    )
    for name, n, dtype in (("tile<float, 16>", 16, np.float32), ("tile<short, 8>", 8, np.int16)):
        a = np.arange(n * n, dtype=dtype).reshape(n, n)
        p = cs.to_device(a)
        mod[name][1, (n, n)](p)
        assert np.array_equal(p.to_host(), a.T)


SHARED = """
__device__ void fill(int* s, int n) { for (int i = threadIdx.x; i < n; i += blockDim.x) s[i] = i; }
__global__ void use(int* p) {
    __shared__ int s[COUNT];
    fill(s, COUNT);
    __syncthreads();
    p[threadIdx.x] = s[COUNT - 1 - threadIdx.x];
}
__global__ void small(int* p) { __shared__ int s[32]; s[threadIdx.x] = p[0]; __syncthreads(); *p = s[1]; }
"""


def test_static_shared_memory_of_48_kib_is_taken(device):
    p = cs.zeros(32, np.int32)
    module(device, SHARED.replace("COUNT", "12288")).use[1, 32](p)

    assert p.to_host().tolist() == [12287 - i for i in range(32)]


@pytest.mark.parametrize(("count", "taken"), [(12289, "0xc004"), (10_000_000, "0x2625a00")])
def test_static_shared_memory_beyond_48_kib_is_refused_with_the_kernel_named(device, count, taken):
    with pytest.raises(cs.CompileError) as caught:
        cs.Module(SHARED.replace("COUNT", str(count)), device=device)

    assert f"uses too much shared data ({taken} bytes, 0xc000 max)" in caught.value.log
    assert "use" in caught.value.log


def test_shared_variables_of_a_kernel_are_counted_together(device):
    source = SHARED.replace("__shared__ int s[COUNT];", "__shared__ int s[COUNT], t[COUNT]; fill(t, COUNT);")
    source = source.replace("p[threadIdx.x] = ", "p[threadIdx.x] = t[p[0]] + ")

    with pytest.raises(cs.CompileError) as caught:
        cs.Module(source.replace("COUNT", "8192"), device=device)

    assert "uses too much shared data (0x10000 bytes, 0xc000 max)" in caught.value.log


# Progress


@pytest.mark.parametrize("blocks", [2, 8, 64])
def test_block_may_wait_for_a_later_one(kernels, blocks):
    flag, out = cs.zeros(1, np.int32), cs.zeros(1, np.int32)
    kernels.wait_for_the_last_block[blocks, 32](flag, out)

    assert out.to_host().tolist() == [blocks]


def test_blocks_may_pass_a_turn_backwards(kernels):
    turn, order = cs.zeros(1, np.int32), cs.zeros(40, np.int32)
    kernels.chain[40, 1](turn, order)

    assert order.to_host().tolist() == list(range(40))[::-1]


def test_threads_of_a_block_may_wait_for_each_other(kernels):
    flag, out = cs.zeros(1, np.int32), cs.zeros(1, np.int32)
    kernels.two_spin_in_a_block[1, 64](flag, out)

    assert out.to_host().tolist() == [5]


def test_resident_blocks_may_meet_by_hand(kernels, device):
    blocks = min(100, device.properties.multiprocessor_count)
    arrived, out = cs.zeros(1, np.int32), cs.zeros(2 * blocks, np.int32)
    kernels.grid_barrier[blocks, 64](arrived, out)

    assert out.to_host()[blocks:].tolist() == [(i + 1) % blocks for i in range(blocks)]


NAMED = r"""
__device__ void meet(int id, int count) { asm volatile("bar.sync %0, %1;" ::"r"(id), "r"(count) : "memory"); }
__device__ void arrive(int id, int count) { asm volatile("bar.arrive %0, %1;" ::"r"(id), "r"(count) : "memory"); }

// One warp fills a place that three others read: barrier 1 says that it is full, barrier 2 that it is empty.
__global__ void hand_over(int* out, int rounds) {
    __shared__ volatile int place;
    if (threadIdx.x < 32) {
        for (int k = 0; k < rounds; ++k) {
            meet(2, 128);
            if (threadIdx.x == 0) place = k + 1;
            __threadfence_block();
            arrive(1, 128);
        }
    } else {
        int sum = 0;
        arrive(2, 128);
        for (int k = 0; k < rounds; ++k) {
            meet(1, 128);
            sum = sum * 10 + place;
            if (k + 1 < rounds) arrive(2, 128);
        }
        out[threadIdx.x - 32] = sum;
    }
}
// Each half of the block meets at a barrier of its own.
__global__ void halves(int* out) {
    __shared__ int s[128];
    int half = threadIdx.x / 64;
    s[threadIdx.x] = threadIdx.x;
    if (half == 0)
        asm volatile("barrier.sync 3, 64;" ::: "memory");
    else
        asm volatile("bar.sync 4, 64;" ::: "memory");
    out[threadIdx.x] = s[half * 64 + 63 - threadIdx.x % 64];
}
__global__ void all(int* out) {
    __shared__ int s[64];
    s[threadIdx.x] = threadIdx.x;
    asm volatile("bar.sync 5;" ::: "memory");
    out[threadIdx.x] = s[63 - threadIdx.x];
}
"""


@pytest.mark.no_racecheck("it does not follow bar.arrive")
def test_named_barriers_hand_values_from_a_warp_to_others(device):
    out = cs.zeros(96, np.int32)
    module(device, NAMED).hand_over[1, 128](out, 5)

    assert out.to_host().tolist() == [12345] * 96


def test_named_barriers_of_two_halves_do_not_wait_for_each_other(device):
    out = cs.zeros(128, np.int32)
    module(device, NAMED).halves[2, 128](out)

    assert out.to_host().tolist() == [*range(63, -1, -1), *range(127, 63, -1)]


def test_named_barrier_without_a_count_is_of_all_threads(device):
    out = cs.zeros(64, np.int32)
    module(device, NAMED).all[1, 64](out)

    assert out.to_host().tolist() == list(range(63, -1, -1))


BARRIER_FUNCTIONS = r"""
__global__ void halves(int* out) {
    __shared__ int s[128];
    int half = threadIdx.x / 64;
    s[threadIdx.x] = threadIdx.x;
    if (half == 0) __barrier_sync_count(3, 64);
    else __barrier_sync_count(4, 64);
    out[threadIdx.x] = s[half * 64 + 63 - threadIdx.x % 64];
}
__global__ void all(int* out) {
    __shared__ int s[128];
    s[threadIdx.x] = threadIdx.x;
    __barrier_sync(5);
    int other = s[127 - threadIdx.x];
    __barrier_sync(0);
    s[threadIdx.x] = other + 1;
    __barrier_sync(5);
    out[threadIdx.x] = s[127 - threadIdx.x];
}
"""


def test_functions_for_named_barriers_wait_as_the_instructions_do(device):
    out, whole = cs.zeros(128, np.int32), cs.zeros(128, np.int32)
    mod = module(device, BARRIER_FUNCTIONS)
    mod.halves[2, 128](out)
    mod.all[1, 128](whole)

    assert out.to_host().tolist() == [*range(63, -1, -1), *range(127, 63, -1)]
    assert whole.to_host().tolist() == list(range(1, 129))


@pytest.mark.host_only("a GPU hangs")
def test_named_barrier_to_which_too_few_come_is_an_error_that_names_its_line(run_python, device):
    source = '__global__ void bad(int* p) {\n  asm volatile("bar.sync 1, 64;");\n}'
    done = run_python(RUN_BAD.format(source=source))

    assert done.returncode == 0, done.stderr
    assert "CudaError" in done.stdout
    assert "bad.cu:2" in done.stdout


# Mistakes

MISTAKES = {
    "barriers of different functions at once": (
        "__global__ void bad(int* p) {\n  if (threadIdx.x < 16)\n    __syncthreads();\n  else\n    p[0] = __syncthreads_count(1);\n}",
        3,
    ),
    "a warp operation at which some of a barrier are wanted": (
        "__global__ void bad(int* p) {\n  if (threadIdx.x < 16)\n    __syncthreads();\n  else\n    __syncwarp();\n}",
        3,
    ),
    "a barrier in a loop of different length": (
        "__global__ void bad(int* p) {\n  for (int i = 0; i < threadIdx.x; i++)\n    __syncthreads();\n  __syncwarp();\n  __syncthreads();\n}",
        3,
    ),
}
RUN_BAD = """
import numpy as np
import cuscope as cs
mod = cs.Module({source!r}, file_name="bad.cu")
p = cs.zeros(1, np.int32)
mod.bad[1, 32](p)
try:
    cs.synchronize()
    print("no error")
except cs.CudaError as error:
    print(type(error).__name__, error.name, str(error).replace(chr(10), " "))
"""


@pytest.mark.host_only("a GPU hangs or goes on")
@pytest.mark.parametrize("mistake", MISTAKES)
def test_divergent_barrier_is_an_error_that_names_its_line(run_python, device, mistake):
    source, line = MISTAKES[mistake]
    done = run_python(RUN_BAD.format(source=source))

    assert done.returncode == 0, done.stderr
    assert "CudaError" in done.stdout
    assert f"bad.cu:{line}" in done.stdout.replace("bad.cu, line ", "bad.cu:")
    assert "__syncthreads" in done.stdout
