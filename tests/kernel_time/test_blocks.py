"""The start of many blocks, and the work after the last one has ended, beside the times of an NVIDIA H200."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import cuscope as cs
from support import IS_CLANG

pytestmark = [
    pytest.mark.host_only("a real GPU measures times"),
    pytest.mark.usefixtures("times_from_counts"),
]

LADDER = Path(__file__).parents[2] / "cuda_kernels" / "reduce_ladder"

SOURCE = r"""
__global__ void nothing() {}

__global__ void load_one(const float* x, float* out) {
    if (x[blockIdx.x * blockDim.x + threadIdx.x & 0xfffff] == 77.f) out[0] = 1;
}

// Each block leaves a number. The block that draws the last ticket adds all numbers if `adds`.
__global__ void tickets(float* parts, unsigned* ticket, float* out, bool adds) {
    __shared__ bool is_last;
    if (threadIdx.x == 0) {
        parts[blockIdx.x] = 1;
        if (adds) {
            __threadfence();
            is_last = atomicInc(ticket, gridDim.x - 1) == gridDim.x - 1;
            __threadfence();
        }
    }
    if (!adds) return;
    __syncthreads();
    if (!is_last) return;
    float sum = 0;
    for (unsigned i = threadIdx.x; i < gridDim.x; i += blockDim.x) sum += __ldcg(parts + i);
    atomicAdd(out, sum);
}

// Each thread sums up eight numbers. Then each warp adds its sum to one place.
__global__ void sum_of_warps(const float* x, float* out, bool adds) {
    float sum = 0;
    for (int i = 0; i < 8; ++i) sum += x[(blockIdx.x * 8 + i) * blockDim.x + threadIdx.x];
    for (int lanes = 16; lanes > 0; lanes /= 2) sum += __shfl_down_sync(~0u, sum, lanes);
    if (threadIdx.x % 32 == 0) {
        if (adds) atomicAdd(out, sum);
        else out[blockIdx.x * 8 + threadIdx.x / 32] = sum;
    }
}
"""


@pytest.fixture(scope="module")
def module():
    with cs.add_host_device("h200"):
        yield cs.Module(SOURCE)


def microseconds(kernel: cs.Kernel, *arguments: object, grid: int, block: int) -> float:
    with kernel.device:
        return kernel.explain_time(*arguments, grid=grid, block=block).seconds * 1e6


# Measured behind a kernel that held the stream, eight launches at a time, with all data in the L2 cache.
@pytest.mark.parametrize("block", [32, 256])
@pytest.mark.parametrize(
    ("grid", "measured"), [(1, 1.67), (1056, 2.5), (4224, 4.5), (16896, 12.2), (67584, 42.7)]
)
def test_blocks_begin_one_after_the_other_whatever_their_size(module, grid, measured, block):
    with module.device:
        x, out = cs.zeros(1 << 20, np.float32), cs.zeros(1, np.float32)

    time = microseconds(module.load_one, x, out, grid=grid, block=block)

    assert time == pytest.approx(measured, rel=0.35)


def time_of(rung: str, elements: int) -> cs.KernelTime:
    """Of the first launch of a sum."""
    with cs.add_host_device("h200"):
        kernel = cs.Module.from_file(LADDER / f"{rung}.cu")[f"{rung[3:]}<float, Sum>"]
        x, out = cs.zeros(elements, np.float32), cs.zeros(1056, np.float32)
        tickets = [cs.zeros(1056, np.float32), cs.zeros(1, np.uint32)] if rung >= "11" else []
        grid = min(528, elements // 1024) if rung == "12_vector_loads" else min(1056, elements // 256)
        return kernel.explain_time(x, out, elements, *tickets, grid=grid, block=256)


# Measured as a graph of 64 launches, less the time of such a graph of empty kernels, with all data in the L2 cache.
@pytest.mark.parametrize(("power", "measured"), [(18, 1.71), (20, 2.17), (22, 3.24)])
def test_last_block_of_a_wave_begins_when_all_others_have_begun(module, power, measured):
    empty = microseconds(module.nothing, grid=1, block=256)

    # Clang's code of the loop has more instructions.
    assert time_of("07_grid_stride", 1 << power).seconds * 1e6 - empty == pytest.approx(
        measured, rel=0.3 if IS_CLANG else 0.2
    )


def test_start_of_many_blocks_is_a_part_of_the_launch(module):
    with module.device:
        time = module.nothing.explain_time(grid=1 << 16, block=32)

    assert time.bound == "launch"
    assert "65536 blocks" in str(time)
    assert time.parts["launch"] == pytest.approx(2e-6 + 65536 * 0.6e-9, rel=0.02)


# The same kernels without the ticket took 1.6 us for 64 and for 256 blocks; with it, 2.9 and 3.1.
@pytest.mark.parametrize("grid", [64, 256])
def test_block_with_the_last_ticket_works_after_all_others(module, grid):
    with module.device:
        parts, ticket, out = cs.zeros(grid, np.float32), cs.zeros(1, np.uint32), cs.zeros(1, np.float32)

    without, with_ticket = (
        microseconds(module.tickets, parts, ticket, out, adds, grid=grid, block=256) for adds in (False, True)
    )

    assert 1.0 < with_ticket - without < 2.2


def test_additions_at_the_end_of_blocks_come_after_their_loads(module):
    grid, block = 1056, 256
    with module.device:
        x, out = cs.zeros(8 * grid * block, np.float32), cs.zeros(8 * grid, np.float32)

    without, added = (
        microseconds(module.sum_of_warps, x, out, adds, grid=grid, block=block) for adds in (False, True)
    )

    # Operations on one address take 2 cycles each, at 1.98 GHz.
    assert added - without > 0.9 * 8 * grid * 2 / 1.98e3


# Measured in a stream, with data that were not in the L2 cache.
@pytest.mark.parametrize(("power", "measured"), [(16, 4.3), (18, 5.9), (20, 7.4), (22, 10.1)])
def test_blocks_that_begin_one_after_the_other_draw_their_tickets_so(power, measured):
    assert time_of("11_last_block", 1 << power).cold_seconds * 1e6 == pytest.approx(measured, rel=0.08)


# Measured in a stream, with all data in the L2 cache. At 2^20, the last block has fewer elements than the others.
@pytest.mark.parametrize(("power", "measured"), [(16, 2.57), (18, 4.04), (20, 4.49)])
def test_last_block_with_fewer_elements_is_no_block_that_adds_the_results_of_others(power, measured):
    assert time_of("08_warp_shuffle", 1 << power).seconds * 1e6 == pytest.approx(measured, rel=0.12)


# On an H200, the additions make the kernel 0.69 us longer if the data are in the L2 cache, and 0.06 us if not.
def test_blocks_add_while_data_of_later_blocks_arrive_from_memory():
    added, stored = time_of("08_warp_shuffle", 1 << 20), time_of("10_two_kernels", 1 << 20)

    assert added.seconds - stored.seconds > 0.3e-6
    assert abs(added.cold_seconds - stored.cold_seconds) < 0.2e-6


# Measured in a stream, with data that were not in the L2 cache. The memset before 08 and the second launch of 07 and 10
# are added: an H200 takes 0.79 us for the former, and 2.6 us for the latter.
@pytest.mark.skipif(IS_CLANG, reason="the model was made with the instructions of GCC")
@pytest.mark.parametrize(
    ("power", "order"),
    [
        (16, ["08_warp_shuffle", "12_vector_loads", "11_last_block", "07_grid_stride"]),
        (18, ["12_vector_loads", "08_warp_shuffle", "11_last_block", "10_two_kernels"]),
        (20, ["12_vector_loads", "11_last_block", "07_grid_stride"]),
        (22, ["12_vector_loads", "11_last_block", "10_two_kernels"]),
    ],
)
def test_sums_come_in_the_order_of_an_h200(power, order):
    more = {"08_warp_shuffle": 0.79e-6, "07_grid_stride": 2.6e-6, "10_two_kernels": 2.6e-6}

    times = [time_of(rung, 1 << power).cold_seconds + more.get(rung, 0) for rung in order]

    assert times == sorted(times)
