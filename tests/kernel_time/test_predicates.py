"""Short conditional code: nvcc gives it predicates, so that warps that skip it issue its instructions, too."""

from __future__ import annotations

import numpy as np
import pytest

import cuscope as cs

pytestmark = [
    pytest.mark.host_only("a real GPU measures times"),
    pytest.mark.usefixtures("times_from_counts"),
]

SHORT = r"""
__global__ void sums(float* out, int each) {
    __shared__ float s[512];
    const int t = threadIdx.x;
    s[t] = s[t + 256] = t;
    __syncthreads();
    for (int d = 128; d > 0; d /= 2) {
        if (t < d * each) s[t] += s[t + d];
        __syncthreads();
    }
    out[blockIdx.x * 256 + t] = s[t];
}
"""
LONG = SHORT.replace("s[t] += s[t + d];", "s[t] = expf(s[t]) + sinf(s[t]) + powf(s[t + d], s[t]);")


def instructions(source: str, device: cs.Device, each: int) -> float:
    """Of a launch in which `each` decides how many warps skip the conditional code: most (1), or none (256)."""
    with device:
        out = cs.zeros(4 * 256, np.float32)
        return cs.Module(source).sums.explain_time(out, each, grid=4, block=256).instructions


@pytest.fixture
def h200():
    with cs.add_host_device("h200") as device:
        yield device


def test_warps_issue_the_short_code_that_they_skip(h200):
    executed, skipped = (instructions(SHORT, h200, each) for each in (256, 1))

    assert skipped == pytest.approx(executed, rel=0.02)


def test_warps_jump_over_long_code(h200):
    executed, skipped = (instructions(LONG, h200, each) for each in (256, 1))

    assert skipped < 0.5 * executed
