"""Branches and divergence of random data, compared with numbers that NumPy finds."""

from __future__ import annotations

import numpy as np
import pytest

import cuscope as cs

pytestmark = pytest.mark.host_only("a real GPU does not count")

SOURCE = r"""
__global__ void guarded(const unsigned char* wanted, float* x, int steps) {
    int t = threadIdx.x;
    for (int i = 0; i < steps; ++i) {
        float v = x[t];
        if (wanted[i * blockDim.x + t])
            x[t] = v * 1.5f + 1.0f / v;
        if (i % 4 == 3) __syncthreads();
    }
}
__global__ void trips(const int* counts, float* x) {
    int t = threadIdx.x;
    float v = 1;
    for (int i = 0; i < counts[t]; ++i)
        v = v * 1.5f + x[i];
    x[t] = v;
}
"""
GUARD = 6


@pytest.fixture(scope="module")
def module():
    with cs.Device("host:0"):
        return cs.Module(SOURCE)


@pytest.mark.parametrize("seed", range(4))
def test_a_branch_diverges_if_lanes_of_a_warp_want_different_things(module, seed):
    rng = np.random.default_rng(seed)
    threads, steps = int(rng.integers(33, 200)), int(rng.integers(1, 40))
    wanted = rng.random((steps, threads)) < rng.choice([0.02, 0.5, 0.98])
    x = cs.to_device(np.ones(threads, np.float32))

    profile = module.guarded.profile(cs.to_device(wanted.astype(np.uint8)), x, steps, grid=1, block=threads)

    warps = [wanted[:, first : first + 32] for first in range(0, threads, 32)]
    line = profile.line(GUARD)
    assert line.branches == steps * len(warps)
    assert line.divergent_branches == sum(int((w.any(axis=1) & ~w.all(axis=1)).sum()) for w in warps)
    # The guarded store: between two barriers, which are 4 steps apart, the n-th stores of the lanes are one request.
    assert profile.line(GUARD + 1).store_requests == sum(
        int(w[first : first + 4].sum(axis=0).max()) for w in warps for first in range(0, steps, 4)
    )
    assert sum(one.threads for one in profile.line(GUARD + 1).accesses if one.kind == "store") == wanted.sum()


@pytest.mark.parametrize("seed", range(4))
def test_a_loop_diverges_each_time_that_lanes_leave_it_and_others_stay(module, seed):
    rng = np.random.default_rng(seed)
    threads = int(rng.integers(1, 130))
    counts = rng.integers(1, 20, threads, dtype=np.int32)

    profile = module.trips.profile(
        cs.to_device(counts), cs.zeros(max(threads, 32), np.float32), grid=1, block=threads
    )

    warps = [counts[first : first + 32] for first in range(0, threads, 32)]
    divergent = sum(line.divergent_branches for line in profile.lines)
    assert divergent == sum(len(np.unique(warp)) - 1 for warp in warps)
    loop = profile.line(GUARD + 9)
    assert loop.executions == sum(int(warp.max()) for warp in warps)
    assert loop.thread_executions == counts.sum()
