"""Barriers, shuffles, and errors that end a kernel."""

from __future__ import annotations

from planted import Planted, Sources, floats, ints

BARRIER = "barrier"

TABLE = [
    Planted("half_a_warp", BARRIER, """
__global__ void half_a_warp(int* x) {
    if (threadIdx.x < 16) {
        x[threadIdx.x] = 1;
        RIGHT(__syncwarp(0xffff);) WRONG(__syncthreads();)
    }
    __syncthreads();
    x[threadIdx.x] += 1;
    WRONG(if (threadIdx.x >= 16) __syncthreads();)
}""", lambda: (ints(32),)),
    Planted("two_branches", BARRIER, """
__global__ void two_branches(int* x) {
    if (threadIdx.x % 2 == 0) {
        x[threadIdx.x] = 1;
        WRONG(__syncthreads();)
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
    else x[t] = __shfl_sync(RIGHT(0xffff0000u) WRONG(0xffffffffu), t, 16);
    __syncthreads();
}""", lambda: (ints(32),)),
    Planted("loop_of_barriers", BARRIER, """
__global__ void loop_of_barriers(int* x) {
    for (int i = 0; i < RIGHT(3) WRONG(1 + (threadIdx.x % 2)); ++i) {
        x[threadIdx.x] = i;
        __syncthreads();
    }
    RIGHT(__syncthreads();) WRONG(__syncthreads();)
    x[threadIdx.x] = 5;
}""", lambda: (ints(32),)),
    Planted("lane_not_there", "absent lane", """
__global__ void lane_not_there(int* x) {
    int t = threadIdx.x;
    if (t < 8) x[t] = __shfl_down_sync(0xffu, t, 4, RIGHT(8) WRONG(16));  // here
}""", lambda: (ints(32),), severity="warning", says="asks for the value of lane"),
    Planted("small_block", "absent lane", """
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
    assert(n RIGHT(>) WRONG(<) 0);
    x[0] = n;
}""", lambda: (ints(1), 1), block=1),
]  # fmt: skip

SOURCES = Sources(TABLE)
