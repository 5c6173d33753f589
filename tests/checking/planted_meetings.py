"""Barriers, shuffles, and errors that end a kernel."""

from __future__ import annotations

from planted import ABSENT, BARRIER, Planted, floats, ints

TABLE = [
    Planted("half_a_warp", BARRIER, """
__global__ void half_a_warp(int* x) {
    if (threadIdx.x < 16) {
        x[threadIdx.x] = 1;
        RIGHT(__syncwarp(0xffff);) WRONG(__syncthreads();)  // here
    }
    __syncthreads();
    x[threadIdx.x] += 1;
    WRONG(if (threadIdx.x >= 16) __syncthreads();)
}""", lambda: (ints(32),)),
    Planted("two_branches", BARRIER, """
__global__ void two_branches(int* x) {
    if (threadIdx.x % 2 == 0) {
        x[threadIdx.x] = 1;
        WRONG(__syncthreads();)  // here
    } else {
        x[threadIdx.x] = 2;
        WRONG(__syncthreads();)
    }
    RIGHT(__syncthreads();)
}""", lambda: (ints(32),)),
    Planted("wrong_mask", BARRIER, """
__global__ void wrong_mask(int* x) {
    int t = threadIdx.x;
    if (t < 16) x[t] = __shfl_sync(0x0000ffffu, t, 0);
    else x[t] = __shfl_sync(RIGHT(0xffff0000u) WRONG(0xffffffffu), t, 16);  // here
    __syncthreads();
}""", lambda: (ints(32),)),
    Planted("loop_of_barriers", BARRIER, """
__global__ void loop_of_barriers(int* x) {
    for (int i = 0; i < RIGHT(3) WRONG(1 + (threadIdx.x % 2)); ++i) {
        x[threadIdx.x] = i;
        __syncthreads();  // here
    }
    RIGHT(__syncthreads();) WRONG(__syncthreads();)
    x[threadIdx.x] = 5;
}""", lambda: (ints(32),)),
    Planted("two_barriers_on_one_line", BARRIER, """
__global__ void two_barriers_on_one_line(int* x) {
    WRONG(if (threadIdx.x % 2 == 0) { __syncthreads(); } else { __syncthreads(); })  // here
    RIGHT(__syncthreads();)
    x[threadIdx.x] = 1;
}""", lambda: (ints(32),), says="another barrier of that line"),
    Planted("barriers_of_a_macro", BARRIER, """
#define MEET_IF(condition) if (condition) __syncthreads(); else __syncthreads()
__global__ void barriers_of_a_macro(int* x, int n) {
    x[threadIdx.x] = 1;
    MEET_IF(RIGHT(n) WRONG(threadIdx.x) < 7);  // here
}""", lambda: (ints(32), 5), says="another barrier of that line"),
    Planted("mask_of_a_branch", BARRIER, """
__global__ void mask_of_a_branch(int* x) {
    int v = threadIdx.x;
    if (v < 16) v = __shfl_down_sync(RIGHT(0xffffu) WRONG(0xffffffffu), v, 1, 16);  // here
    __syncthreads();
    x[threadIdx.x] = v;
}""", lambda: (ints(32),), says="wait at __shfl_down_sync()"),
    Planted("warp_barrier_in_a_branch", BARRIER, """
__global__ void warp_barrier_in_a_branch(int* x) {
    if (threadIdx.x % 4 == 0) {
        x[threadIdx.x] = 1;
        __syncwarp(RIGHT(0x11111111u));  // here
    }
    __syncthreads();
}""", lambda: (ints(32),)),
    Planted("vote_in_a_loop", BARRIER, """
__global__ void vote_in_a_loop(int* x) {
    int n = 0;
    for (int i = 0; i < RIGHT(32) WRONG(threadIdx.x); ++i)
        n += __popc(__ballot_sync(0xffffffffu, i > 3));  // here
    __syncwarp();
    x[threadIdx.x] = n;
}""", lambda: (ints(32),)),
    Planted("own_lane_not_named", BARRIER, """
__global__ void own_lane_not_named(int* x) {
    x[threadIdx.x] = __any_sync(RIGHT(0xffffffffu) WRONG(0x7fffffffu), threadIdx.x == 3);  // here
}""", lambda: (ints(32),), says="which does not name the caller's own lane 31"),
    Planted("named_barrier", BARRIER, """
__global__ void named_barrier(int* x) {
    x[threadIdx.x] = 1;
    if (threadIdx.x < 32) asm volatile("bar.sync 1, RIGHT(32) WRONG(64);" ::: "memory");  // here
    __syncthreads();
}""", lambda: (ints(64),), block=64),
    Planted("tile_in_a_branch", BARRIER, """
__global__ void tile_in_a_branch(int* x) {
    auto tile = cooperative_groups::tiled_partition<16>(cooperative_groups::this_thread_block());
    x[threadIdx.x] = 1;
    RIGHT(if (threadIdx.x < 16)) WRONG(if (threadIdx.x < 8)) tile.sync();  // here
    __syncthreads();
}""", lambda: (ints(32),)),
    Planted("one_block_does_not_come", BARRIER, """
__global__ void one_block_does_not_come(int* x) {
    x[blockIdx.x] = 1;
    WRONG(if (blockIdx.x == 0)) cooperative_groups::this_grid().sync();  // here
}""", lambda: (ints(2),), grid=2, block=1, cooperative=True),
    Planted("count_of_a_barrier", BARRIER, """
#include <cuda/barrier>
__global__ void count_of_a_barrier(int* x) {
    __shared__ cuda::barrier<cuda::thread_scope_block> bar;
    if (threadIdx.x == 0) init(&bar, blockDim.x WRONG(+ 1));
    __syncthreads();
    x[threadIdx.x] = 1;
    bar.arrive_and_wait();  // here
}""", lambda: (ints(32),)),
    Planted("different_functions", BARRIER, """
__global__ void different_functions(int* x) {
    WRONG(if (threadIdx.x < 32)) x[threadIdx.x] = __syncthreads_count(1);  // here
    WRONG(else x[threadIdx.x] = __syncthreads_or(0);)
}""", lambda: (ints(64),), block=64, says="different answers"),
    Planted("from_the_next_segment", ABSENT, """
__global__ void from_the_next_segment(int* x) {
    if (threadIdx.x < 24) x[threadIdx.x] = __shfl_sync(0xffffffu, threadIdx.x, (threadIdx.x + 8) RIGHT(% 24));  // here
}""", lambda: (ints(32),), severity="warning"),
    Planted("leader_of_a_branch", ABSENT, """
__global__ void leader_of_a_branch(int* x) {
    unsigned mask = __ballot_sync(0xffffffffu, threadIdx.x >= 4);
    if (threadIdx.x >= 4) x[threadIdx.x] = __shfl_sync(mask, threadIdx.x, RIGHT(__ffs(mask) - 1) WRONG(0));  // here
}""", lambda: (ints(32),), severity="warning", says="lane 0"),
    Planted("lane_not_there", ABSENT, """
__global__ void lane_not_there(int* x) {
    int t = threadIdx.x;
    if (t < 8) x[t] = __shfl_down_sync(0xffu, t, 4, RIGHT(8) WRONG(16));  // here
}""", lambda: (ints(32),), severity="warning", says="asks for the value of lane"),
    Planted("small_block", ABSENT, """
__global__ void small_block(float* x) {
    float v = threadIdx.x;
    for (int d = RIGHT(4) WRONG(16); d > 0; d /= 2) v += __shfl_xor_sync(0xffffffffu, v, d);  // here
    x[threadIdx.x] = v;
}""", lambda: (floats(8),), block=8, severity="warning"),
    Planted("deep", "stack overflow", """
__device__ __noinline__ int down(int n, volatile int* x) {
    volatile int room[256];
    room[n % 256] = n;
    return n == 0 ? room[0] : down(n - 1, x) + room[n % 256];
}
__global__ void deep(int* x, int n) {
    x[0] = down(RIGHT(3) WRONG(n), x);
}""", lambda: (ints(1), 1 << 20), block=1),
    Planted("asserted", "assertion", """
#include <cassert>
__global__ void asserted(int* x, int n) {
    assert(n RIGHT(>) WRONG(<) 0);  // here
    x[0] = n;
}""", lambda: (ints(1), 1), block=1),
]  # fmt: skip
