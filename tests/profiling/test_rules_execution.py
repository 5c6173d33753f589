"""The rules about threads and blocks: each with a kernel that makes it true and one that makes it false."""

from __future__ import annotations

import numpy as np
import pytest
from profiled_kernels import found, number_of

import cuscope as cs

pytestmark = pytest.mark.host_only("a real GPU does not count")


def test_lanes_that_go_different_ways_diverge(kernels):
    profile = kernels.branch.profile(cs.zeros(128, np.float32), 1, grid=1, block=128)

    (finding,) = found(profile, "divergent")
    assert finding.line == number_of("if (threadIdx.x / period % 2)")
    assert (finding.numbers["divergent_branches"], finding.numbers["branches"]) == (4, 4)
    assert 0.3 < finding.numbers["idle_share"] < 0.5


def test_warps_that_go_different_ways_do_not_diverge(kernels):
    profile = kernels.branch.profile(cs.zeros(128, np.float32), 32, grid=1, block=128)

    assert found(profile, "divergent") == []
    assert found(profile, "idle lanes") == []


def test_few_lanes_in_a_long_loop_leave_the_others_idle(kernels):
    profile = kernels.one_in.profile(cs.zeros(96, np.float32), 8, grid=1, block=96)

    findings = found(profile, "idle lanes")
    assert findings[0].line == number_of("for (int i = 0; i < 50; ++i)")
    assert findings[0].numbers["active_threads"] == pytest.approx(4, abs=0.2)


def test_all_lanes_in_the_loop_leave_none_idle(kernels):
    assert found(kernels.one_in.profile(cs.zeros(96, np.float32), 1, grid=1, block=96), "idle lanes") == []


def test_a_block_that_does_not_fill_its_warps(kernels):
    x = cs.zeros(48, np.float32)

    (finding,) = found(kernels.one_in.profile(x, 1, grid=1, block=48), "partial warp")

    assert finding.text == "blocks of 48 threads have 2 warps, of which the last has 16 of 32 lanes"
    assert finding.line == 0


def test_a_block_smaller_than_a_warp(kernels):
    (finding,) = found(kernels.one_in.profile(cs.zeros(1, np.float32), 1, grid=1, block=1), "partial warp")

    assert finding.text == "a block of 1 thread has 1 of the 32 lanes of a warp"


def test_a_block_of_whole_warps(kernels):
    assert found(kernels.one_in.profile(cs.zeros(64, np.float32), 1, grid=1, block=64), "partial warp") == []


def test_a_constant_without_f_computes_with_doubles(kernels):
    (finding,) = found(
        kernels.half_doubles.profile(cs.zeros(64, np.float32), 2.0, grid=1, block=64), "doubles"
    )

    assert finding.line == number_of("v = v * (by * 0.5)")
    assert finding.numbers["share"] > 0.5
    assert finding.numbers["slower"] == 2


def test_floats_alone_are_no_doubles(kernels):
    assert found(kernels.half.profile(cs.zeros(64, np.float32), 2.0, grid=1, block=64), "doubles") == []


def test_a_kernel_for_doubles_may_compute_with_them():
    kernel = cs.Module("__global__ void half(double* x) { x[threadIdx.x] *= 0.5; }").half

    assert found(kernel.profile(cs.zeros(64, np.float64), grid=1, block=64), "doubles") == []


def test_fewer_blocks_than_multiprocessors(kernels):
    x = cs.zeros(32 * 131, np.float32)

    (finding,) = found(kernels.twice.profile(x, grid=131, block=32), "small grid")

    assert finding.numbers == {"blocks": 131, "multiprocessors": 132}


def test_a_block_for_each_multiprocessor(kernels):
    x = cs.zeros(32 * 132, np.float32)

    assert found(kernels.twice.profile(x, grid=132, block=32), "small grid") == []


def test_one_long_block_makes_an_imbalance(kernels):
    x = cs.zeros(32, np.float32)

    (finding,) = found(kernels.uneven.profile(x, 2, grid=132, block=32), "imbalance")

    assert finding.numbers["imbalance"] > 10


def test_equal_blocks_are_balanced(kernels):
    assert found(kernels.uneven.profile(cs.zeros(32, np.float32), 0, grid=132, block=32), "imbalance") == []
