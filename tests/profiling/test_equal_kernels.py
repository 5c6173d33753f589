"""Kernels with equal code are told apart."""

from __future__ import annotations

import numpy as np
import pytest

import cuscope as cs

SOURCE = """
__global__ void first(float* x, int n) {
    for (int i = threadIdx.x; i < n; i += 32)
        x[i] += 1;
}
__global__ void second(float* x, int n) {
    for (int i = threadIdx.x; i < n; i += 32)
        x[i] += 1;
}
"""


@pytest.mark.host_only("the lines come from the simulation's own compiler")
@pytest.mark.parametrize("name", ["first", "second"])
def test_lines_of_a_profile_are_those_of_the_kernel_that_ran(device, name):
    x = cs.zeros(64, np.float32)

    profile = cs.Module(SOURCE)[name].profile(x, x.size, grid=1, block=32)

    lines = {line.number for line in profile.lines}
    assert (4 if name == "first" else 8) in lines
    assert not lines & ({6, 7, 8} if name == "first" else {2, 3, 4})
