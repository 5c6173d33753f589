"""PTX's barriers in shared memory, and the instructions about clusters."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

import cuscope as cs
from support import module
from tensor_tiles import BASICS, needs_tensor_maps


@pytest.fixture(autouse=True)
def skip_older_devices(device):
    needs_tensor_maps(device)


def run(
    device, source: str, out: cs.DeviceArray, grid: int, block: int, options: Sequence[str] = (), **keywords
) -> list[int]:
    options = () if device.simulated else options
    module(device, BASICS + source, options=options).f.configure(grid=grid, block=block, **keywords)(out)
    return out.to_host().tolist()


def test_phase_ends_with_the_last_arrival(device):
    source = """
__global__ void f(int* out) {
    __shared__ alignas(8) unsigned long long barrier;
    if (threadIdx.x == 0) init(at(&barrier), 3);
    __syncthreads();
    auto over = [&](int parity) {
        unsigned done;
        asm volatile("{ .reg .pred p; mbarrier.test_wait.parity.shared::cta.b64 p, [%1], %2; selp.u32 %0, 1, 0, p; }"
                     : "=r"(done) : "r"(at(&barrier)), "r"(parity) : "memory");
        return int(done);
    };
    if (threadIdx.x != 0) return;
    *out++ = over(1), *out++ = over(0);
    asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(at(&barrier)) : "memory");
    *out++ = over(0);
    asm volatile("mbarrier.arrive.release.cta.shared::cta.b64 _, [%0], 2;" ::"r"(at(&barrier)) : "memory");
    *out++ = over(0), *out++ = over(1);
}"""
    assert run(device, source, cs.zeros(5, np.int32), 1, 32) == [1, 0, 0, 1, 0]


def test_state_of_an_arrival_names_its_phase(device):
    source = """
__global__ void f(int* out) {
    __shared__ alignas(8) unsigned long long barrier;
    if (threadIdx.x == 0) init(at(&barrier), blockDim.x);
    __syncthreads();
    unsigned long long state;
    unsigned done = 0;
    for (int round = 0; round < 5; ++round) {
        asm volatile("mbarrier.arrive.shared.b64 %0, [%1];" : "=l"(state) : "r"(at(&barrier)) : "memory");
        do
            asm volatile("{\\n.reg .pred done;\\nmbarrier.try_wait.shared.b64 done, [%1], %2, 1000;\\n"
                         "selp.b32 %0, 1, 0, done;\\n}"
                         : "=r"(done) : "r"(at(&barrier)), "l"(state) : "memory");
        while (!done);
    }
    atomicAdd(out, 1);
}"""
    assert run(device, source, cs.zeros(1, np.int32), 2, 96) == [192]


def test_pending_count_and_drop(device):
    source = """
__global__ void f(unsigned* out) {
    __shared__ alignas(8) unsigned long long barrier;
    unsigned long long state;
    init(at(&barrier), 5);
    asm volatile("mbarrier.arrive_drop.shared::cta.b64 %0, [%1];" : "=l"(state) : "r"(at(&barrier)) : "memory");
    asm volatile("mbarrier.pending_count.b64 %0, %1;" : "=r"(*out++) : "l"(state));
    asm volatile("mbarrier.arrive.shared::cta.b64 %0, [%1], 4;" : "=l"(state) : "r"(at(&barrier)) : "memory");
    asm volatile("mbarrier.pending_count.b64 %0, %1;" : "=r"(*out++) : "l"(state));
    asm volatile("mbarrier.arrive.shared::cta.b64 %0, [%1];" : "=l"(state) : "r"(at(&barrier)) : "memory");
    asm volatile("mbarrier.pending_count.b64 %0, %1;" : "=r"(*out++) : "l"(state));
    asm volatile("mbarrier.inval.shared::cta.b64 [%0];" ::"r"(at(&barrier)) : "memory");
}"""
    assert run(device, source, cs.zeros(3, np.uint32), 1, 1) == [5, 4, 4]


def test_bytes_may_be_expected_before_and_after_the_arrival(device):
    source = """
__device__ alignas(16) int numbers[8] = {1, 2, 3, 4, 5, 6, 7, 8};
__global__ void f(int* out) {
    __shared__ alignas(16) int copied[8];
    __shared__ alignas(8) unsigned long long barrier;
    if (threadIdx.x == 0) {
        init(at(&barrier), 1);
        asm volatile("mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [%0], 16;" ::"r"(at(&barrier)) : "memory");
        for (int i = 0; i < 8; i += 4)
            asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];"
                         ::"r"(at(copied + i)), "l"(numbers + i), "r"(16), "r"(at(&barrier)) : "memory");
        expect(at(&barrier), 16);
    }
    __syncthreads();
    wait(at(&barrier), 0);
    out[threadIdx.x] = copied[threadIdx.x];
}"""
    assert run(device, source, cs.zeros(8, np.int32), 1, 8) == [1, 2, 3, 4, 5, 6, 7, 8]


def test_bulk_copies_go_both_ways(device):
    source = """
__global__ void f(int* out) {
    __shared__ alignas(16) int values[64];
    values[threadIdx.x] = 3 * threadIdx.x;
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    __syncthreads();
    if (threadIdx.x == 0) {
        asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(out + 4), "r"(at(values)),
                     "r"(240) : "memory");
        asm volatile("cp.async.bulk.commit_group;\\ncp.async.bulk.wait_group.read 0;" ::: "memory");
        asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
    }
}"""
    assert (
        run(device, source, cs.zeros(68, np.int32), 1, 64) == [0] * 4 + [3 * i for i in range(60)] + [0] * 4
    )


def test_one_lane_of_the_mask_is_elected(device):
    source = """
__global__ void f(int* out) {
    unsigned leader = 99;
    int elected = 0;
    asm volatile("{\\n.reg .b32 %%rx;\\n.reg .pred %%px;\\nelect.sync %%rx|%%px, %2;\\n@%%px mov.s32 %1, 1;\\n"
                 "mov.s32 %0, %%rx;\\n}" : "=r"(leader), "+r"(elected) : "r"(0xffffffff));
    if (elected) out[threadIdx.x / 32] = leader == threadIdx.x % 32;
    atomicAdd(&out[2], elected);
}"""
    assert run(device, source, cs.zeros(3, np.int32), 1, 64) == [1, 1, 2]


def test_set_register_counts_change_no_result(device):
    source = """
__global__ void __launch_bounds__(256, 1) f(int* out) {
    if (threadIdx.x < 128)
        asm volatile("setmaxnreg.dec.sync.aligned.u32 40;");
    else
        asm volatile("setmaxnreg.inc.sync.aligned.u32 232;");
    if (threadIdx.x % 128 == 0) out[threadIdx.x / 128] = 1;
}"""
    assert run(device, source, cs.zeros(2, np.int32), 1, 256, ("--gpu-architecture=sm_90a",)) == [1, 1]


CLUSTER = """
__global__ void f(int* out) {
    __shared__ alignas(16) int given[4];
    __shared__ alignas(8) unsigned long long barrier;
    unsigned rank, blocks, home;
    asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
    asm("mov.u32 %0, %%cluster_nctarank;" : "=r"(blocks));
    if (threadIdx.x == 0) {
        init(at(&barrier), blocks - 1);
        if (rank == 0) asm volatile("mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [%0], %1;" ::"r"(at(&barrier)),
                                    "r"(4 * (blocks - 1)) : "memory");
    }
    asm volatile("barrier.cluster.arrive.release.aligned;\\nbarrier.cluster.wait.acquire.aligned;" ::: "memory");
    if (threadIdx.x == 0 && rank != 0)
        asm volatile("{\\n.reg .b32 there, value;\\n"
                     "mapa.shared::cluster.u32 value, %0, 0;\\n"
                     "mapa.shared::cluster.u32 there, %1, 0;\\n"
                     "st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.u32 [value], %2, [there];\\n"
                     "mbarrier.arrive.release.cluster.shared::cluster.b64 _, [there];\\n}"
                     ::"r"(at(given + rank)), "r"(at(&barrier)), "r"(10 * rank) : "memory");
    if (rank == 0 && threadIdx.x == 0) {
        wait(at(&barrier), 0);
        for (int i = 1; i < blocks; ++i) out[4 * (blockIdx.x / blocks) + i] = given[i];
    }
    asm("{\\n.reg .b32 there;\\nmapa.shared::cluster.u32 there, %1, %2;\\n"
        "getctarank.shared::cluster.u32 %0, there;\\n}" : "=r"(home) : "r"(at(given)), "r"(blocks - 1 - rank));
    if (threadIdx.x == 0) out[8 + blockIdx.x] = home;
    asm volatile("barrier.cluster.arrive.relaxed.aligned;\\nbarrier.cluster.wait.aligned;" ::: "memory");
}"""


def test_blocks_of_a_cluster_store_to_each_other(device):
    got = run(device, CLUSTER, cs.zeros(16, np.int32), 8, 32, cluster=4)

    assert got == [0, 10, 20, 30] * 2 + [3, 2, 1, 0] * 2


def test_bulk_copy_to_another_block(device):
    source = """
__global__ void __cluster_dims__(2, 1, 1) f(int* out) {
    __shared__ alignas(16) int mine[8], theirs[8];
    __shared__ alignas(8) unsigned long long barrier;
    const int rank = blockIdx.x % 2;
    mine[threadIdx.x] = 100 * rank + threadIdx.x;
    if (threadIdx.x == 0) init(at(&barrier), 1), expect(at(&barrier), 32);
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    asm volatile("barrier.cluster.arrive.release.aligned;\\nbarrier.cluster.wait.acquire.aligned;" ::: "memory");
    if (threadIdx.x == 0)
        asm volatile("{\\n.reg .b32 to, there;\\nmapa.shared::cluster.u32 to, %0, %3;\\n"
                     "mapa.shared::cluster.u32 there, %2, %3;\\n"
                     "cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [to], [%1], 32, [there];\\n}"
                     ::"r"(at(theirs)), "r"(at(mine)), "r"(at(&barrier)), "r"(1 - rank) : "memory");
    wait(at(&barrier), 0);
    out[8 * rank + threadIdx.x] = theirs[threadIdx.x];
    asm volatile("barrier.cluster.arrive.release.aligned;\\nbarrier.cluster.wait.acquire.aligned;" ::: "memory");
}"""
    assert run(device, source, cs.zeros(16, np.int32), 2, 8) == [*range(100, 108), *range(8)]
