"""A launch is either checked or sampled: a checked one takes the time that an earlier launch found, or that of the bytes."""

from __future__ import annotations

import numpy as np
import pytest

import cuscope as cs

pytestmark = [
    pytest.mark.host_only("a real GPU measures times, and its kernels are not checked"),
    pytest.mark.usefixtures("times_from_counts"),
]

SOURCE = r"""
__global__ void fill(float* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = i;
}
__global__ void gather(const float* in, float* out, int n, int stride) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = in[(long long)i * stride % n];
}
"""
N = 1 << 20


@pytest.fixture
def module():
    with cs.Device("host:0"):
        yield cs.Module(SOURCE)


def duration(launch) -> float:
    cs.synchronize()
    stream = cs.current_stream()
    start = stream.record()
    launch()
    stop = stream.record()
    stop.synchronize()
    return stop - start


def gather(module):
    x, y = cs.zeros(N, np.float32), cs.zeros(N, np.float32)
    return lambda: module.gather[N // 256, 256](x, y, N, 32)


def test_checked_launch_of_an_unknown_shape_takes_the_time_of_its_bytes(module, monkeypatch):
    launch = gather(module)
    with cs.check() as report:
        checked = duration(launch)
    sampled = duration(launch)

    monkeypatch.setenv("CUSCOPE_KERNEL_TIME", "bytes")
    of_bytes = duration(gather(cs.Module(SOURCE)))

    assert report.launches == 1
    assert not report
    assert checked == of_bytes
    assert sampled > 1.2 * checked


def test_checked_launch_of_a_known_shape_takes_the_same_time(module):
    launch = gather(module)
    sampled = [duration(launch), duration(launch)]
    with cs.check() as report:
        checked = duration(launch)

    assert report.launches == 1
    assert checked == pytest.approx(sampled[1], rel=0.02)


def test_mistake_is_found_in_a_launch_whose_shape_is_unknown(module):
    with cs.check() as report:
        x, y = cs.empty(N, np.float32), cs.zeros(N, np.float32)
        module.gather[N // 256, 256](x, y, N, 32)

    assert {finding.kind for finding in report.errors} == {"never written"}


def test_explain_time_works_during_a_check_and_is_named_in_the_report(module):
    with cs.check() as report:
        x, y = cs.empty(N, np.float32), cs.zeros(N, np.float32)
        time = module.fill.explain_time(x, N, grid=N // 256, block=256)
        module.gather[N // 256, 256](x, y, N, 32)  # reads the memory that fill has written

    assert time.counted_blocks > 0
    assert not report
    assert report.launches == 1
    assert report.unchecked == ["fill: explain_time() counts what its blocks do instead"]
