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
__global__ void walk(const float* x, const int* path, const int* trips, int most, int meet, float* y) {
    int t = blockIdx.x * blockDim.x + threadIdx.x, all = gridDim.x * blockDim.x;
    float sum = 0;
    for (int i = 0; i < most; ++i) {
        if (i < trips[t]) sum += x[path[i * all + t]];
        if ((i + 1) % meet == 0) __syncwarp();
    }
    y[t] = sum;
}
__global__ void shared_walk(const int* path, const int* trips, int most, int meet, float* y) {
    __shared__ float s[1024];
    for (int i = threadIdx.x; i < 1024; i += blockDim.x) s[i] = i;
    __syncthreads();
    int t = blockIdx.x * blockDim.x + threadIdx.x, all = gridDim.x * blockDim.x;
    float sum = 0;
    for (int i = 0; i < most; ++i) {
        if (i < trips[t]) sum += s[path[i * all + t]];
        if ((i + 1) % meet == 0) __syncwarp();
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


# The index that thread t reads at step i.
PATHS = {
    "equal steps": lambda i, t: i * 3 + t,
    "steps of a row": lambda i, t: i * 32 + t,
    "backwards": lambda i, t: 1000 - i * 5 - t,
    "steps that change": lambda i, t: np.where(i < 9, i * 2, 300 + i * 7) + t,
    "lanes at different steps": lambda i, t: i * (t % 5) + t,
    "rows that begin again": lambda i, t: i % 4 * 100 + i // 4 + t % 16,
    "every third step elsewhere": lambda i, t: np.where(i % 3 == 2, 700 - i, i * 4) + t,
    "in no order": lambda i, t: (i * 389 + t * 613 + i * t * 17) % 1024,
}


def paths(name: str, most: int, threads: int) -> np.ndarray:
    return (PATHS[name](np.arange(most)[:, None], np.arange(threads)[None, :]) % 1024).astype(np.int32)


def requests_of(path: np.ndarray, trips: np.ndarray, block: int) -> list[np.ndarray]:
    """The indices of each request: of the threads of a warp that come so far."""
    threads = np.arange(trips.size).reshape(-1, block)
    warps = [warp for its in threads for warp in np.array_split(its, range(32, block, 32))]
    return [path[i, warp[trips[warp] > i]] for warp in warps for i in range(trips[warp].max())]


WALKS = [(name, 60, meet) for name in PATHS for meet in (1, 7, 100)]
LONG_WALKS = [(name, 2600, 10_000) for name in ("equal steps", "steps that change", "in no order")]


@pytest.mark.parametrize("uneven", [False, True], ids=["together", "uneven"])
@pytest.mark.parametrize(("name", "most", "meet"), WALKS + LONG_WALKS)
def test_walks_touch_the_sectors_of_their_steps(device, name, most, meet, uneven):
    block, threads = 40, 80
    path = paths(name, most, threads)
    trips = (most - np.arange(threads) * 11 % most * uneven).astype(np.int32)
    x, y = cs.zeros(1024, np.float32), cs.zeros(threads, np.float32)

    counts = module(device, SOURCE).walk.count(
        x, cs.to_device(path), cs.to_device(trips), most, meet, y, grid=2, block=block
    )

    expected = requests_of(path, trips, block)
    its = counts.by_argument["x"]
    assert (its.loads, its.load_requests) == (trips.sum(), len(expected))
    assert its.load_sectors == sum(sectors(indices * 4, 4) for indices in expected)


@pytest.mark.parametrize("uneven", [False, True], ids=["together", "uneven"])
@pytest.mark.parametrize(("name", "most", "meet"), WALKS)
def test_walks_in_shared_memory_take_the_wavefronts_of_their_steps(device, name, most, meet, uneven):
    block, threads = 40, 80
    path = paths(name, most, threads)
    trips = (most - np.arange(threads) * 11 % most * uneven).astype(np.int32)

    counts = module(device, SOURCE).shared_walk.count(
        cs.to_device(path),
        cs.to_device(trips),
        most,
        meet,
        cs.zeros(threads, np.float32),
        grid=2,
        block=block,
    )

    wavefronts = [np.bincount(np.unique(its) % 32).max() for its in requests_of(path, trips, block)]
    assert counts.shared_load_requests == len(wavefronts)
    assert counts.shared_load_wavefronts == sum(wavefronts)


@pytest.mark.parametrize("meet", [1, 100])
def test_a_walk_from_one_argument_into_another_is_counted_for_both(device, meet):
    most, threads = 60, 32
    path = (np.arange(most)[:, None] * 8 + np.arange(threads)).astype(np.int32)
    both = cs.zeros(1024, np.float32)

    counts = module(device, SOURCE).walk.count(
        both[:256],
        cs.to_device(path),
        cs.full(threads, most, np.int32),
        most,
        meet,
        both[256:],
        grid=1,
        block=threads,
    )

    x, y = (counts.by_argument[name] for name in ("x", "y"))
    assert (x.loads, y.loads) == ((path < 256).sum(), (path >= 256).sum())
    assert (x.load_sectors, y.load_sectors) == tuple(
        sum(sectors(row[inside] * 4, 4) for row, inside in zip(path, where, strict=True))
        for where in (path < 256, path >= 256)
    )
