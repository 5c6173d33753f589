"""The order of the lanes of a warp, in operations that make it visible."""

from __future__ import annotations

import numpy as np
import pytest

import cuscope as cs
from support import module

STORES = r"""
__global__ void to_global(int* p) { *p = threadIdx.x + blockDim.x * threadIdx.y; }
__global__ void to_shared(int* p) {
    __shared__ int s;
    s = threadIdx.x + blockDim.x * threadIdx.y;
    __syncthreads();
    if (threadIdx.x == 0) *p = s;
}
__global__ void after_a_branch(int* p) {
    int v = threadIdx.x;
    if (threadIdx.x % 32 >= 16) v = __shfl_xor_sync(0xffff0000u, v, 1) ^ 1;
    __syncthreads();
    p[0] = v;
    __syncwarp();
    p[1] = v;
}
"""
ATOMICS = r"""
__global__ void ranks(int* count, int* p) { p[threadIdx.x] = atomicAdd(count, 1); }
"""
PRINTS = r"""
__global__ void say() {
    printf("a%d ", threadIdx.x);
    printf("b%d ", threadIdx.x);
    __syncthreads();
    if (threadIdx.x % 2) printf("c%d ", threadIdx.x);
    __syncwarp();
    if (threadIdx.x == 3) printf("d ");
    __syncwarp();
    if (threadIdx.x == 1) printf("e ");
}
__global__ void place(int* p) {
    p[threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z)] =
        threadIdx.x + 100 * threadIdx.y + 10000 * threadIdx.z;
}
"""


# Which warp of a block is the last varies on a GPU.
@pytest.mark.no_racecheck("it is a race")
@pytest.mark.parametrize("block", [1, 5, 32, 33, 64, 256, (8, 4), (16, 16)])
@pytest.mark.parametrize("kernel", ["to_global", "to_shared"])
def test_of_a_warps_stores_to_one_address_lane_0s_is_the_last(device, kernel, block):
    p = cs.full(2, -1, np.int32)
    module(device, STORES)[kernel][1, block](p)

    assert p.to_host()[0] % 32 == 0


@pytest.mark.no_racecheck("it is a race")
def test_lane_0_stores_last_after_lanes_went_different_ways(device):
    p = cs.full(2, -1, np.int32)
    module(device, STORES).after_a_branch[1, 128](p)

    assert (p.to_host() % 32).tolist() == [0, 0]


@pytest.mark.host_only("on a GPU the order is not fixed")
def test_atomic_operations_of_a_warp_come_in_the_order_of_its_lanes(device):
    count, p = cs.zeros(1, np.int32), cs.zeros(64, np.int32)
    module(device, ATOMICS).ranks[1, 64](count, p)

    assert p.to_host().tolist() == list(range(64))


@pytest.mark.host_only("on a GPU the order is not fixed")
def test_lanes_print_in_their_order_between_two_meetings(device, capfd):
    module(device, PRINTS).say[1, 5]()
    device.synchronize()

    assert capfd.readouterr().out.strip() == "a0 b0 a1 b1 a2 b2 a3 b3 a4 b4 c1 c3 d e"


@pytest.mark.parametrize("block", [(8, 4, 2), (3, 5, 7), (33, 2, 1), (1, 1, 64), (100, 1, 1), (7, 9, 3)])
def test_every_thread_has_its_own_index_and_warp(device, block):
    x, y, z = block
    p = cs.zeros(x * y * z, np.int32)
    module(device, PRINTS).place[1, block](p)

    expected = [i + 100 * j + 10000 * k for k in range(z) for j in range(y) for i in range(x)]
    assert p.to_host().tolist() == expected
