// Threads that return early: a barrier, and an operation of a warp, wait only for the others.
// launch barrier 2 100
// launch last_barrier 1 96
// launch barrier_in_loop 2 256
// launch all_but_one 1 1024
// launch counts 1 100
// launch one_after_another 1 1024
// launch block_object 1 100
// launch warp_operations 2 48
// launch warp_sync 1 64
// launch last_lanes 1 20
// launch spin_beside 1 64
#include <cooperative_groups.h>
#define CHECK(condition)                    \
    do {                                    \
        if (!(condition)) {                 \
            atomicAdd(&failures[0], 1u);    \
            failures[1] = __LINE__;         \
        }                                   \
    } while (0)

__global__ void barrier(unsigned* failures) {
    __shared__ int box[60];
    int i = threadIdx.x;
    if (i >= 60) return;
    box[i] = i;
    __syncthreads();
    CHECK(box[59 - i] == 59 - i);
}

// The threads with the lowest numbers end, after other threads have arrived.
__global__ void last_barrier(unsigned* failures) {
    __shared__ int box[96];
    int i = threadIdx.x;
    box[i] = 0;
    __syncthreads();
    if (i < 40) return;
    box[i] = i;
    __syncthreads();
    CHECK(box[135 - i] == 135 - i);
}

__global__ void barrier_in_loop(unsigned* failures) {
    __shared__ int sum[256];
    unsigned i = threadIdx.x, n = 200;
    if (i >= n) return;
    sum[i] = 1;
    __syncthreads();
    for (unsigned k = 1; k < n; k *= 2) {
        int other = i + k < n ? sum[i + k] : 0;
        __syncthreads();
        sum[i] += other;
        __syncthreads();
    }
    CHECK(sum[i] == n - i);
}

__global__ void all_but_one(unsigned* failures) {
    if (threadIdx.x != 777) return;
    for (int k = 0; k < 5; ++k) CHECK(__syncthreads_count(1) == 1);
}

__global__ void counts(unsigned* failures) {
    int i = threadIdx.x;
    if (i % 10 == 3) return;
    CHECK(__syncthreads_count(i % 2) == 40);
    CHECK(__syncthreads_and(i != 13) && !__syncthreads_and(i != 14));
    CHECK(!__syncthreads_or(i == 13) && __syncthreads_or(i == 14));
}

// Each warp waits at one barrier more than the warp before it.
__global__ void one_after_another(unsigned* failures) {
    __shared__ int rounds;
    if (threadIdx.x == 0) rounds = 0;
    __syncthreads();
    for (int k = 0; k < (int)threadIdx.x / 32; ++k) {
        __syncthreads();
        if (threadIdx.x == 1023) ++rounds;
    }
    if (threadIdx.x == 1023) CHECK(rounds == 31);
}

__global__ void block_object(unsigned* failures) {
    __shared__ int box[70];
    auto block = cooperative_groups::this_thread_block();
    int i = threadIdx.x;
    if (i >= 70) return;
    box[i] = i;
    block.sync();
    CHECK(box[69 - i] == 69 - i);
    auto token = block.barrier_arrive();
    block.barrier_wait(static_cast<decltype(token)&&>(token));
    box[i] = 2 * i;
    cooperative_groups::sync(block);
    CHECK(box[69 - i] == 2 * (69 - i));
}

__global__ void warp_operations(unsigned* failures) {
    int i = threadIdx.x, lane = i % 32;
    if (lane % 4 == 3) return;
    unsigned all = 0xffffffffu, here = i < 32 ? 0x77777777u : 0x7777u;
    CHECK(__ballot_sync(all, 1) == here);
    CHECK(__ballot_sync(all, lane % 2) == (here & 0xaaaaaaaau));
    CHECK(__all_sync(all, lane != 3) && !__all_sync(all, lane != 2));
    CHECK(!__any_sync(all, lane == 3) && __any_sync(all, lane == 2));
    CHECK(__uni_sync(all, 1) && __uni_sync(all, 0) && !__uni_sync(all, lane == 4));
    CHECK(__shfl_sync(all, i, 5) == i - lane + 5);
    CHECK(__reduce_add_sync(all, 1) == (i < 32 ? 24 : 12));
    CHECK(__match_any_sync(all, lane % 2) == (here & (lane % 2 ? 0xaaaaaaaau : 0x55555555u)));
}

__global__ void warp_sync(unsigned* failures) {
    __shared__ volatile int box[64];
    int i = threadIdx.x;
    if (i % 32 > 20) return;
    for (int k = 0; k < 3; ++k) {
        box[i] = i + k;
        __syncwarp();
        CHECK(box[i / 32 * 32 + 20 - i % 32] == i / 32 * 32 + 20 - i % 32 + k);
        __syncwarp();
    }
}

// Lanes that the block does not have.
__global__ void last_lanes(unsigned* failures) {
    CHECK(__uni_sync(0xffffffffu, 1) && __all_sync(0xffffffffu, 1) && __ballot_sync(0xffffffffu, 1) == 0xfffff);
}

// A thread of another warp reads in a loop until the remaining lanes have met.
__global__ void spin_beside(unsigned* failures) {
    __shared__ volatile int flag;
    int i = threadIdx.x;
    if (i == 0) flag = 0;
    __syncthreads();
    if (i == 3) return;
    if (i < 32) {
        __syncwarp();
        if (i == 0) flag = 1;
    } else if (i == 40) {
        while (flag == 0) {
        }
    }
    __syncthreads();
    CHECK(flag == 1);
}
