"""Atomic operations of every kind and type."""

from __future__ import annotations

import numpy as np
import pytest

import cuscope as cs
from support import module

TYPES = {
    "int": np.int32,
    "unsigned": np.uint32,
    "unsigned long long": np.uint64,
    "float": np.float32,
    "double": np.float64,
}
INTEGERS = ("int", "unsigned", "unsigned long long")
BLOCKS, THREADS = 8, 96
COUNT = BLOCKS * THREADS


def operation(device, name: str, c_type: str):
    source = f"""
    __global__ void run({c_type}* p, const {c_type}* in, {c_type}* old) {{
        int i = blockIdx.x * blockDim.x + threadIdx.x;
        old[i] = {name}(p, in[i]);
    }}"""
    return module(device, source).run


def values(c_type: str, seed: int) -> np.ndarray:
    rng = np.random.default_rng(seed)
    if c_type in ("float", "double"):
        return rng.integers(-1000, 1000, COUNT).astype(TYPES[c_type])
    info = np.iinfo(TYPES[c_type])
    return rng.integers(info.min, info.max, COUNT, TYPES[c_type], endpoint=True)


FOLDS = {
    "atomicAdd": np.add,
    "atomicSub": np.subtract,
    "atomicMin": np.minimum,
    "atomicMax": np.maximum,
    "atomicAnd": np.bitwise_and,
    "atomicOr": np.bitwise_or,
    "atomicXor": np.bitwise_xor,
}
CASES = (
    [("atomicAdd", t) for t in TYPES]
    + [("atomicSub", t) for t in ("int", "unsigned")]
    + [(f, t) for f in ("atomicMin", "atomicMax", "atomicAnd", "atomicOr", "atomicXor") for t in INTEGERS]
)


@pytest.mark.parametrize(("name", "c_type"), CASES)
def test_every_thread_has_its_effect_once(device, name, c_type):
    x = values(c_type, 5)
    start = x.dtype.type(12345)
    p = cs.full(1, start, x.dtype)
    old = cs.zeros(COUNT, x.dtype)
    operation(device, name, c_type)[BLOCKS, THREADS](p, cs.to_device(x), old)

    expected = start
    with np.errstate(over="ignore"):
        for v in x:
            expected = FOLDS[name](expected, v, dtype=x.dtype)
    assert p.to_host()[0] == expected
    assert (old.to_host() == start).any()


@pytest.mark.parametrize("c_type", ["int", "unsigned", "unsigned long long", "float"])
def test_exchange_hands_every_value_on(device, c_type):
    x = np.arange(1, COUNT + 1).astype(TYPES[c_type])
    p, old = cs.zeros(1, x.dtype), cs.zeros(COUNT, x.dtype)
    operation(device, "atomicExch", c_type)[BLOCKS, THREADS](p, cs.to_device(x), old)

    assert sorted([*old.to_host().tolist(), p.to_host()[0]]) == [0, *x.tolist()]


@pytest.mark.parametrize("c_type", ["unsigned short", "int", "unsigned", "unsigned long long"])
def test_compare_and_swap_makes_any_other_operation(device, c_type):
    dtype = TYPES.get(c_type, np.uint16)
    mod = module(
        device,
        f"""__global__ void multiply({c_type}* p) {{
            {c_type} seen = *p, before;
            do {{ before = seen; seen = atomicCAS(p, before, ({c_type})(before * 3 + 1)); }} while (seen != before);
        }}""",
    )
    p = cs.full(1, 1, dtype)
    mod.multiply[4, 32](p)

    expected = 1
    for _ in range(128):
        expected = expected * 3 + 1
    bits = np.dtype(dtype).itemsize * 8
    assert int(p.to_host()[0]) % 2**bits == expected % 2**bits


@pytest.mark.parametrize("c_type", ["float2", "float4"])
def test_vectors_of_floats_are_added(device, c_type):
    n = int(c_type[-1])
    mod = module(
        device,
        f"__global__ void add({c_type}* p, const {c_type}* in) {{ atomicAdd(p + 1, in[threadIdx.x]); }}",
    )
    x = np.random.default_rng(8).integers(-100, 100, (64, n)).astype(np.float32)
    p = cs.zeros((3, n))
    mod.add[3, 64](p, cs.to_device(x))

    assert np.array_equal(p.to_host(), [[0] * n, (3 * x.sum(axis=0)).tolist(), [0] * n])


def test_exchange_and_compare_of_16_bytes(device):
    mod = module(
        device,
        """struct alignas(16) Node { unsigned long long value, count; };
        __global__ void push(Node* p, ulonglong2* sum) {
            Node old = *p, seen;
            for (;;) {
                seen = atomicCAS(p, old, Node{old.value + threadIdx.x, old.count + 1});
                if (seen.value == old.value && seen.count == old.count) break;
                old = seen;
            }
        }
        __global__ void swap(uint4* p, uint4* out) {
            struct alignas(16) Word { uint4 v; };
            const unsigned i = blockIdx.x * blockDim.x + threadIdx.x + 1;
            out[i - 1] = atomicExch(reinterpret_cast<Word*>(p), Word{make_uint4(i, i, i, i)}).v;
        }""",
    )
    p = cs.zeros(2, np.uint64)
    mod.push[4, 64](p, p)
    assert p.to_host().tolist() == [4 * 64 * 63 // 2, 256]

    word, out = cs.zeros((1, 4), np.uint32), cs.zeros((128, 4), np.uint32)
    mod.swap[2, 64](word, out)
    rows = [*out.to_host().tolist(), *word.to_host().tolist()]
    assert sorted(rows) == [[i] * 4 for i in range(129)]


@pytest.mark.parametrize(
    ("name", "limit", "start", "expected"), [("atomicInc", 5, 0, 96 % 6), ("atomicDec", 5, 5, (5 - 96) % 6)]
)
def test_counters_wrap_at_their_limit(device, name, limit, start, expected):
    mod = module(device, f"__global__ void count(unsigned* p, unsigned limit) {{ {name}(p, limit); }}")
    p = cs.full(1, start, np.uint32)
    mod.count[3, 32](p, limit)

    assert p.to_host().tolist() == [expected]


@pytest.mark.parametrize("scope", ["_block", "_system"])
def test_atomics_of_other_scopes(device, scope):
    mod = module(device, f"__global__ void add(int* p) {{ atomicAdd{scope}(p, 2); }}")
    p = cs.zeros(1, np.int32)
    mod.add[1, 64](p)

    assert p.to_host().tolist() == [128]


def test_atomics_on_shared_memory(device):
    mod = module(
        device,
        """__global__ void histogram(const unsigned char* in, int n, int* out) {
            __shared__ int bins[256];
            for (int i = threadIdx.x; i < 256; i += blockDim.x) bins[i] = 0;
            __syncthreads();
            for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) atomicAdd(&bins[in[i]], 1);
            __syncthreads();
            for (int i = threadIdx.x; i < 256; i += blockDim.x) atomicAdd(&out[i], bins[i]);
        }""",
    )
    x = np.random.default_rng(6).integers(0, 256, 100_000, np.uint8)
    out = cs.zeros(256, np.int32)
    mod.histogram[16, 128](cs.to_device(x), x.size, out)

    assert np.array_equal(out.to_host(), np.bincount(x, minlength=256))


@pytest.mark.host_only("a GPU adds in any order")
def test_atomic_sum_of_floats_is_the_same_on_every_run(device):
    x = np.random.default_rng(7).random(COUNT, np.float32)
    sums = set()
    for _ in range(5):
        p, old = cs.zeros(1), cs.zeros(COUNT)
        operation(device, "atomicAdd", "float")[BLOCKS, THREADS](p, cs.to_device(x), old)
        sums.add((float(p.to_host()[0]), old.to_host().tobytes()))

    assert len(sums) == 1


def test_lock_of_blocks(device):
    mod = module(
        device,
        """__global__ void locked(int* lock, int* value) {
            if (threadIdx.x == 0) {
                while (atomicCAS(lock, 0, 1) != 0) { }
                __threadfence();
                *(volatile int*)value = *(volatile int*)value + 1;
                __threadfence();
                atomicExch(lock, 0);
            }
        }""",
    )
    lock, value = cs.zeros(1, np.int32), cs.zeros(1, np.int32)
    mod.locked[64, 32](lock, value)

    assert value.to_host().tolist() == [64]


def test_last_block_is_found_by_a_counter(device):
    mod = module(
        device,
        """
        __device__ unsigned finished;
        __global__ void total(const float* in, volatile float* partial, float* out) {
            __shared__ bool last;
            partial[blockIdx.x] = in[blockIdx.x] * 2;
            __threadfence();
            if (threadIdx.x == 0) last = atomicInc(&finished, gridDim.x - 1) == gridDim.x - 1;
            __syncthreads();
            if (last && threadIdx.x == 0) { float s = 0; for (unsigned i = 0; i < gridDim.x; i++) s += partial[i]; *out = s; }
        }""",
    )
    x = np.arange(50, dtype=np.float32)
    partial, out = cs.zeros(50), cs.zeros(1)
    for _ in range(2):
        mod.total[50, 32](cs.to_device(x), partial, out)

    assert out.to_host().tolist() == [2 * x.sum()]
