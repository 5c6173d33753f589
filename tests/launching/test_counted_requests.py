"""Kernel.count() puts the accesses of lanes together to requests: compared with NumPy, for many patterns."""

from __future__ import annotations

import numpy as np
import pytest

import cuscope as cs
from support import module

pytestmark = pytest.mark.host_only("a real GPU does not count")

SOURCE = r"""
__global__ void gather(const float* x, const int* index, float* y) {
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    y[t] = x[index[t]];
}
__global__ void gather2(const float2* x, const int* index, float2* y) { y[threadIdx.x] = x[index[threadIdx.x]]; }
__global__ void ragged(const float* x, const int* trips, int stride, float* y) {
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = 0;
    for (int i = 0; i < trips[t]; ++i) sum += x[i + t * stride];
    y[t] = sum;
}
__global__ void from_shared(const int* index, float* y) {
    __shared__ float s[1024];
    for (int i = threadIdx.x; i < 1024; i += blockDim.x) s[i] = i;
    __syncthreads();
    y[threadIdx.x] = s[index[threadIdx.x]];
}
__global__ void warp_by_warp(const float* x, float* y, int rounds) {
    int t = threadIdx.x, warp = t / 32;
    float sum = 0;
    for (int i = 0; i < rounds; ++i) {
        if (warp == 1) sum += x[t];
        if (warp == 2) sum -= x[t + i];
        if (i % 2) __syncthreads();
    }
    y[t] = sum;
}
"""
lanes = np.arange(32)
random = np.random.default_rng(3)
PATTERNS = {
    "one word": np.zeros(32),
    "neighbours": lanes,
    "neighbours that begin in a sector": lanes + 3,
    "descending": 31 - lanes,
    "two rows": lanes % 16 + lanes // 16 * 500,
    "two rows that overlap": lanes % 16 + lanes // 16 * 9,
    "one row twice": lanes % 16,
    "two words": lanes // 16 * 700,
    "four rows": lanes % 8 + lanes // 8 * 100,
    "stride 2": lanes * 2,
    "stride 8": lanes * 8,
    "stride 9": lanes * 9,
    "stride 31": lanes * 31,
    "descending by 8": 800 - lanes * 8,
    "descending and ascending": np.where(lanes < 16, 400 - lanes, lanes * 7),
    "near, in no order": random.permutation(64)[:32],
    "far, in no order": random.permutation(1024)[:32],
    "one lane apart": np.where(lanes == 13, 900, lanes),
}


def sectors(first_bytes: np.ndarray, size: int) -> int:
    return len(np.unique(np.concatenate([first_bytes // 32, (first_bytes + size - 1) // 32])))


@pytest.mark.parametrize("pattern", PATTERNS)
def test_the_sectors_of_a_request_are_those_that_its_lanes_touch(device, pattern):
    index = PATTERNS[pattern].astype(np.int32)
    x = cs.to_device(np.arange(1024, dtype=np.float32))

    counts = module(device, SOURCE).gather.count(
        x, cs.to_device(index), cs.zeros(32, np.float32), grid=1, block=32
    )

    its = counts.by_argument["x"]
    assert (its.loads, its.load_requests, its.load_sectors) == (32, 1, sectors(index * 4, 4))


@pytest.mark.parametrize("pattern", ["neighbours", "stride 2", "two rows", "far, in no order"])
def test_words_of_8_bytes_touch_their_sectors(device, pattern):
    index = PATTERNS[pattern].astype(np.int32)
    x, y = cs.zeros((1024, 2), np.float32), cs.zeros((32, 2), np.float32)

    counts = module(device, SOURCE).gather2.count(x, cs.to_device(index), y, grid=1, block=32)

    assert counts.by_argument["x"].load_sectors == sectors(index * 8, 8)


@pytest.mark.parametrize("pattern", PATTERNS)
def test_the_wavefronts_of_a_request_are_the_most_words_of_one_bank(device, pattern):
    index = PATTERNS[pattern].astype(np.int32)
    words = np.unique(index)

    counts = module(device, SOURCE).from_shared.count(
        cs.to_device(index), cs.zeros(32, np.float32), grid=1, block=32
    )

    assert counts.shared_load_wavefronts == np.bincount(words % 32).max()


@pytest.mark.parametrize("most", [10, 16, 17, 100, 1025, 3000])
@pytest.mark.parametrize("threads", [40, 96])
def test_lanes_with_different_numbers_of_iterations(device, most, threads):
    stride = 3
    trips = (np.arange(2 * threads) * 37 % (most + 1)).astype(np.int32)
    x = cs.zeros(most + 2 * threads * stride, np.float32)

    counts = module(device, SOURCE).ragged.count(
        x, cs.to_device(trips), stride, cs.zeros(2 * threads, np.float32), grid=2, block=threads
    )

    requests = touched = 0
    for block in np.arange(2 * threads).reshape(2, threads):
        for warp in np.array_split(block, range(32, threads, 32)):
            requests += trips[warp].max()
            for i in range(trips[warp].max()):
                touched += sectors((i + warp[trips[warp] > i] * stride) * 4, 4)
    its = counts.by_argument["x"]
    assert (its.loads, its.load_requests, its.load_sectors) == (trips.sum(), requests, touched)


@pytest.mark.parametrize("rounds", [1, 7, 40])
def test_warps_that_do_different_things_between_barriers(device, rounds):
    x = cs.zeros(96 + rounds, np.float32)

    counts = module(device, SOURCE).warp_by_warp.count(x, cs.zeros(96, np.float32), rounds, grid=3, block=96)

    sectors_of_moving = sum(sectors((np.arange(64, 96) + i) * 4, 4) for i in range(rounds))
    its = counts.by_argument["x"]
    assert (its.loads, its.load_requests) == (3 * 64 * rounds, 3 * 2 * rounds)
    assert its.load_sectors == 3 * (4 * rounds + sectors_of_moving)
    assert counts.by_argument["y"].store_requests == 9


def test_each_block_is_counted_like_the_first(device):
    index = np.tile(PATTERNS["far, in no order"], 40).astype(np.int32)
    x = cs.zeros(1024, np.float32)

    counts = module(device, SOURCE).gather.count(
        x, cs.to_device(index), cs.zeros(index.size, np.float32), grid=10, block=128
    )

    assert counts.by_argument["x"].load_sectors == 40 * sectors(index[:32] * 4, 4)
    assert counts.thread_steps % counts.warp_steps == 0
    assert counts.active_threads_per_warp == 32
