"""Accesses like the one before at the same instruction are settled in the image. A mistake among them is found."""

from __future__ import annotations

import numpy as np
import pytest

import cuscope as cs

SOURCE = """
__global__ void changed_between(int* x, int* y) {
    int t = threadIdx.x;
    int value = x[0];
    if (t == 16) x[0] = value + 1;
    y[t] = value;
}
__global__ void read_at(long long address, int* y) { y[threadIdx.x] = ((const int*)address)[threadIdx.x]; }
__global__ void smaller_pieces(int* x, int* y) {
    y[blockIdx.x] = x[0];
    if (blockIdx.x == 0) ((char*)x)[2] = 1;
}
__global__ void one_of_four(float4* x, float* y) {
    int t = threadIdx.x;
    if (t == 0) ((float*)x)[4 * 3 + 2] = 1;
    float4 v = x[t];
    y[t] = v.x + v.y + v.z + v.w;
}
__global__ void fill_but(int* x, int n, int gap) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n && i % gap != 0) x[i] = 1;
}
__global__ void add_up(const int* x, int n, int* y) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = x[i];
}
__global__ void neighbour(int* x, int* y) {
    __shared__ int s[64];
    int t = threadIdx.x;
    for (int i = 0; i < 4; ++i) {
        s[t] = x[t] + i;
        if (i != 2) __syncthreads();
        y[t] = s[63 - t];
        __syncthreads();
    }
}
__global__ void from_either(const int* x, const int* z, int* y) {
    int t = threadIdx.x;
    const int* from = t % 2 ? x : z;
    y[t] = from[t];
}
__global__ void behind_a_meeting(int* x, int n) {
    int t = threadIdx.x, value = 0;
    for (int i = 0; i < n; ++i) {
        if (t == i) value = x[0];
        if (i == 0) __syncwarp();
    }
    if (t == 0) x[0] = value + 1;
}
"""

# Lanes run in ascending order in a source with atomic operations, so this kernel is apart.
WITH_A_FLAG = """
__global__ void behind_a_flag(int* x, int n, int* flag, int other) {
    int t = threadIdx.x, value = x[0];
    if (t == other) atomicExch(flag, 1);
    if (t != 0) return;
    while (atomicAdd(flag, 0) == 0) {}
    for (int i = n - 1; i >= 0; --i) x[i] = value;
}
"""


@pytest.fixture(scope="module")
def module():
    with cs.Device("host:0"):
        yield cs.Module(SOURCE, file_name="fast.cu")


def race_counts(report, line):
    return [f.count for f in report.findings if f.kind == "race" and f.line == f"fast.cu:{line}"]


def test_a_write_between_the_reads_of_one_instruction_races_with_each_later_read(module):
    with cs.check() as report:
        module.changed_between[1, 32](cs.zeros(1, np.int32), cs.empty(32, np.int32))
    # The lanes run from 31 down to 0, so 16 of them read what lane 16 has written.
    assert race_counts(report, 4) == [16]
    assert race_counts(report, 5) == [1]


def test_memory_that_was_freed_after_a_launch_is_not_known_to_the_next_one(module):
    y = cs.empty(32, np.int32)
    with cs.check() as report:
        x = cs.zeros(32, np.int32)
        address = x.pointer
        module.read_at[1, 32](address, y)
        cs.synchronize()
        del x
        module.read_at[1, 32](address, y)
    (finding,) = report.findings
    assert (finding.kind, finding.count) == ("out of bounds", 32)
    assert "freed memory" in finding.text


def test_a_smaller_access_of_another_instruction_is_compared_with_larger_ones(module):
    with cs.check() as report:
        module.smaller_pieces[3, 1](cs.zeros(1, np.int32), cs.empty(3, np.int32))
    assert race_counts(report, 10) == [2]


def test_each_part_of_a_vector_is_compared(module):
    with cs.check() as report:
        module.one_of_four[1, 32](cs.zeros((32, 4), np.float32), cs.empty(32, np.float32))
    # Thread 3 has read the vector before thread 0 writes the third part of it.
    assert race_counts(report, 15) == [1]
    assert len(report.findings) == 1


@pytest.mark.parametrize("gap", [256, 255, 7])
def test_each_element_has_a_cell_of_its_own(module, gap):
    n = 5000
    with cs.check() as report:
        x = cs.empty(n, np.int32)
        module.fill_but[20, 256](x, n, gap)
        module.add_up[20, 256](x, n, cs.empty(n, np.int32))
    (finding,) = report.findings
    assert (finding.kind, finding.count) == ("never written", len(range(0, n, gap)))


def test_an_iteration_without_a_barrier_is_found_among_others_with_it(module):
    with cs.check() as report:
        module.neighbour[1, 64](cs.zeros(64, np.int32), cs.empty(64, np.int32))
    # Without the barrier a whole warp runs after the other one, and reads and writes what that one uses.
    assert (race_counts(report, 31), race_counts(report, 33)) == ([32], [32])
    assert len(report.findings) == 2


def test_an_instruction_that_accesses_two_arrays_is_compared_with_the_bounds_of_each(module):
    with cs.check() as report:
        module.from_either[1, 32](cs.zeros(32, np.int32), cs.zeros(16, np.int32), cs.empty(32, np.int32))
    (finding,) = report.findings
    assert (finding.kind, finding.count) == ("out of bounds", 8)
    assert "the argument 'z'" in finding.text


def test_a_read_behind_a_meeting_of_the_warp_takes_the_place_of_one_before_it(module):
    with cs.check() as report:
        module.behind_a_meeting[1, 32](cs.zeros(1, np.int32), 2)
    # Lane 0 has met lane 1 before that one reads, and writes without another meeting.
    assert race_counts(report, 48) == [1]
    assert len(report.findings) == 1


@pytest.mark.parametrize("other", [1, 32])
def test_a_write_of_the_first_reader_races_with_the_other_readers(other):
    with cs.Device("host:0"), cs.check() as report:
        kernel = cs.Module(WITH_A_FLAG, file_name="fast.cu").behind_a_flag
        kernel[1, other + 1](cs.zeros(2, np.int32), 2, cs.zeros(1, np.int32), other)
    # Without a fence the flag orders nothing. The same instruction has written element 1 before, which is right.
    assert race_counts(report, 7) == [1]
    assert len(report.findings) == 1
