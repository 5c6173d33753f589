"""Warp operations: shuffles, votes, matches, reductions, partial masks, and wrong masks."""

from __future__ import annotations

import numpy as np
import pytest

import cuscope as cs
from support import module

LANES = np.arange(32)

SHUFFLE = r"""
template <typename T> __global__ void shuffles(const T* in, T* out, int operand, int width) {
    T v = in[threadIdx.x];
    out[threadIdx.x] = __shfl_sync(0xffffffff, v, operand, width);
    out[32 + threadIdx.x] = __shfl_up_sync(0xffffffff, v, operand, width);
    out[64 + threadIdx.x] = __shfl_down_sync(0xffffffff, v, operand, width);
    out[96 + threadIdx.x] = __shfl_xor_sync(0xffffffff, v, operand, width);
}
"""
TYPES = {
    "int": np.int32,
    "unsigned": np.uint32,
    "long long": np.int64,
    "unsigned long long": np.uint64,
    "float": np.float32,
    "double": np.float64,
}
OTHER = r"""
__global__ void votes(const int* in, unsigned* out) {
    int p = in[threadIdx.x];
    out[threadIdx.x] = __ballot_sync(0xffffffff, p);
    out[32 + threadIdx.x] = __any_sync(0xffffffff, p) != 0;
    out[64 + threadIdx.x] = __all_sync(0xffffffff, p) != 0;
    out[96 + threadIdx.x] = __activemask();
}
__global__ void matches(const int* in, unsigned* out) {
    int predicate = 7;
    out[threadIdx.x] = __match_any_sync(0xffffffff, in[threadIdx.x]);
    out[32 + threadIdx.x] = __match_all_sync(0xffffffff, in[threadIdx.x], &predicate);
    out[64 + threadIdx.x] = predicate != 0;
}
__global__ void reductions(const int* in, int* out, unsigned mask) {
    int v = in[threadIdx.x];
    if (mask >> threadIdx.x & 1) {
        out[threadIdx.x] = __reduce_add_sync(mask, v);
        out[32 + threadIdx.x] = __reduce_min_sync(mask, v);
        out[64 + threadIdx.x] = __reduce_max_sync(mask, v);
        out[96 + threadIdx.x] = __reduce_min_sync(mask, (unsigned)v);
        out[128 + threadIdx.x] = __reduce_max_sync(mask, (unsigned)v);
        out[160 + threadIdx.x] = __reduce_and_sync(mask, (unsigned)v);
        out[192 + threadIdx.x] = __reduce_or_sync(mask, (unsigned)v);
        out[224 + threadIdx.x] = __reduce_xor_sync(mask, (unsigned)v);
    }
}
__global__ void warp_sum(const int* in, int* out) {
    int v = in[blockIdx.x * blockDim.x + threadIdx.x];
    for (int d = 16; d > 0; d /= 2) v += __shfl_down_sync(0xffffffff, v, d);
    if (threadIdx.x % 32 == 0) out[(blockIdx.x * blockDim.x + threadIdx.x) / 32] = v;
}
__global__ void halves(int* out) {
    if (threadIdx.x < 16) out[threadIdx.x] = __ballot_sync(0x0000ffff, threadIdx.x % 2);
    else out[threadIdx.x] = __ballot_sync(0xffff0000, threadIdx.x % 3 == 0);
}
__global__ void last_warp(int* out) {
    unsigned mask = __ballot_sync(__activemask(), 1);
    if (threadIdx.x >= 32) out[0] = mask;
}
__global__ void ordered(volatile int* s, int* out) {
    for (int round = 0; round < 4; round++) {
        s[threadIdx.x] = threadIdx.x + round;
        __syncwarp();
        out[threadIdx.x] = s[(threadIdx.x + 1) % 32];
        __syncwarp();
    }
}
"""


@pytest.fixture
def kernels(device):
    return module(device, OTHER)


def model(name: str, x: np.ndarray, operand: int, width: int) -> np.ndarray:
    segment = LANES // width * width
    if name == "idx":
        source = segment + operand % width
    elif name == "up":
        source = np.where(LANES - operand >= segment, LANES - operand, LANES)
    elif name == "down":
        source = np.where(LANES + operand < segment + width, LANES + operand, LANES)
    else:
        source = LANES ^ operand
        # CUDA's documents up to 3.x say: a lane of a later segment may not be read, a lane of an earlier one may.
        source = np.where(source < segment + width, source, LANES)
    return x[source]


@pytest.mark.parametrize("c_type", TYPES)
@pytest.mark.parametrize(
    ("operand", "width"), [(0, 32), (1, 32), (5, 32), (31, 32), (3, 8), (1, 2), (16, 16), (9, 8)]
)
def test_shuffles_read_the_lane_that_cuda_says(device, c_type, operand, width):
    x = (np.random.default_rng(3).random(32) * 1e6).astype(TYPES[c_type])
    mod = module(device, SHUFFLE, name_expressions=tuple(f"shuffles<{t}>" for t in TYPES))
    out = cs.zeros(128, TYPES[c_type])
    mod[f"shuffles<{c_type}>"][1, 32](cs.to_device(x), out, operand, width)

    got = out.to_host().reshape(4, 32)
    for row, name in zip(got, ("idx", "up", "down", "xor"), strict=True):
        if name in ("up", "down", "xor") and operand >= width:
            continue
        assert row.tolist() == model(name, x, operand, width).tolist(), name


@pytest.mark.parametrize("values", [[0] * 32, [1] * 32, [0, 5] * 16, [0] * 31 + [1]])
def test_votes_see_the_values_of_all_lanes(kernels, values):
    x = np.array(values, np.int32)
    out = cs.zeros(128, np.uint32)
    kernels.votes[1, 32](cs.to_device(x), out)
    ballot = sum(1 << i for i in range(32) if values[i])

    got = out.to_host().reshape(4, 32)
    assert set(got[0]) == {ballot}
    assert set(got[1]) == {int(any(values))}
    assert set(got[2]) == {int(all(values))}


@pytest.mark.parametrize("values", [[3] * 32, list(range(32)), [1, 2, 3, 1] * 8])
def test_matches_give_the_lanes_with_the_same_value(kernels, values):
    out = cs.zeros(96, np.uint32)
    kernels.matches[1, 32](cs.to_device(np.array(values, np.int32)), out)
    same = len(set(values)) == 1

    got = out.to_host().reshape(3, 32)
    assert got[0].tolist() == [sum(1 << j for j in range(32) if values[j] == values[i]) for i in range(32)]
    assert set(got[1]) == {0xFFFFFFFF if same else 0}
    assert set(got[2]) == {int(same)}


@pytest.mark.parametrize("mask", [0xFFFFFFFF, 0x1, 0x80000000, 0x0F0F0F0F, 0x7])
def test_reductions_over_the_lanes_of_a_mask(kernels, mask):
    x = np.random.default_rng(mask).integers(-(2**31), 2**31, 32, np.int32)
    lanes = [i for i in range(32) if mask >> i & 1]
    out = cs.full(256, 99, np.int32)
    kernels.reductions[1, 32](cs.to_device(x), out, mask)

    chosen, unsigned = x[lanes], x[lanes].view(np.uint32)
    expected = [
        int(chosen.astype(np.int64).sum()),
        int(chosen.min()),
        int(chosen.max()),
        int(unsigned.min()),
        int(unsigned.max()),
        int(np.bitwise_and.reduce(unsigned)),
        int(np.bitwise_or.reduce(unsigned)),
        int(np.bitwise_xor.reduce(unsigned)),
    ]
    got = out.to_host().view(np.uint32).reshape(8, 32)
    for row, value in zip(got, expected, strict=True):
        assert {int(v) for v in row[lanes]} == {value % 2**32}
        assert all(row[i] == 99 for i in range(32) if i not in lanes)


def test_sum_by_shuffles_over_many_warps(kernels):
    x = np.random.default_rng(4).integers(0, 1000, 20 * 256, np.int32)
    out = cs.zeros(20 * 8, np.int32)
    kernels.warp_sum[20, 256](cs.to_device(x), out)

    assert out.to_host().tolist() == x.reshape(-1, 32).sum(1).tolist()


def test_two_halves_of_a_warp_run_different_branches(kernels):
    out = cs.zeros(32, np.int32)
    kernels.halves[1, 32](out)

    low = sum(1 << i for i in range(16) if i % 2)
    high = sum(1 << i for i in range(16, 32) if i % 3 == 0)
    assert out.to_host().view(np.uint32).tolist() == [low] * 16 + [high] * 16


def test_syncwarp_orders_memory_of_the_warp(kernels):
    s, out = cs.zeros(32, np.int32), cs.zeros(32, np.int32)
    kernels.ordered[1, 32](s, out)

    assert out.to_host().tolist() == [(i + 1) % 32 + 3 for i in range(32)]


# Wrong masks

RUN_BAD = """
import numpy as np
import cuscope as cs
mod = cs.Module({source!r}, file_name="bad.cu")
p = cs.zeros(64, np.int32)
mod.bad[1, 32](p)
try:
    cs.synchronize()
    print("no error")
except cs.CudaError as error:
    print(error.name, str(error).replace(chr(10), " "))
"""
MISTAKES = {
    "a lane outside of its own mask": (
        "__global__ void bad(int* p) {\n  p[threadIdx.x] = __ballot_sync(0xfffffffe, 1);\n}",
        2,
    ),
    "a lane of the mask that never comes": (
        "__global__ void bad(int* p) {\n  if (threadIdx.x < 16)\n    p[0] = __any_sync(0xffffffff, 1);\n  __syncthreads();\n}",
        3,
    ),
    "different operations in one rendezvous": (
        "__global__ void bad(int* p) {\n  if (threadIdx.x < 16)\n    p[0] = __any_sync(0xffffffff, 1);\n  else p[1] = __shfl_sync(0xffffffff, 1, 0);\n}",
        3,
    ),
}


@pytest.mark.host_only("a GPU hangs or gives any answer")
@pytest.mark.parametrize("mistake", MISTAKES)
def test_mistake_with_a_mask_is_an_error_that_names_its_line(device, run_python, mistake):
    source, line = MISTAKES[mistake]
    done = run_python(RUN_BAD.format(source=source))

    assert done.returncode == 0, done.stderr
    assert "no error" not in done.stdout
    assert f"bad.cu:{line}" in done.stdout or f"bad.cu:{line + 1}" in done.stdout
    assert "_sync" in done.stdout
