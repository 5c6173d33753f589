"""Races in shared and global memory."""

from __future__ import annotations

import numpy as np
from planted import RACE, Planted, floats, ints

import cuscope as cs

TABLE = [
    Planted("neighbour", RACE, """
__global__ void neighbour(int* x) {
    __shared__ int s[64];
    int t = threadIdx.x;
    s[t] = t;
    __syncthreads();
    int left = s[(t + 63) % 64];  // other
    RIGHT(__syncthreads();)
    s[t] = left + 100;  // here
    __syncthreads();
    x[t] = s[t];
}""", lambda: (ints(64),), block=64, says="__sync"),
    Planted("reduction", RACE, """
__global__ void reduction(const float* x, float* y) {
    __shared__ float s[256];
    int t = threadIdx.x;
    s[t] = x[t] + t;
    __syncthreads();
    for (int d = 128; d > 0; d /= 2) {
        if (t < d) s[t] += s[t + d];  // here
        RIGHT(__syncthreads();)
    }
    if (t == 0) y[0] = s[0];
}""", lambda: (floats(256), floats(1)), block=256),
    Planted("last_steps", RACE, """
__global__ void last_steps(const float* x, float* y) {
    __shared__ float s[64];
    int t = threadIdx.x;
    s[t] = x[t] + t;
    s[t + 32] = t;
    __syncwarp();
    for (int d = 32; d > 0; d /= 2) {
        float v = s[t] + s[t + d];  // here
        RIGHT(__syncwarp();)
        if (t < d) s[t] = v;  // other
        RIGHT(__syncwarp();)
    }
    if (t == 0) y[0] = s[0];
}""", lambda: (floats(64), floats(1)), says="__syncwarp()"),
    Planted("volatile_warp", RACE, """
__global__ void volatile_warp(float* y) {
    __shared__ float s[64];
    volatile float* v = s;
    int t = threadIdx.x;
    v[t] = t;
    v[t + 32] = t;
    RIGHT(__syncwarp();)
    float a = v[t ^ 1];  // here
    y[t] = a;
}""", lambda: (floats(32),), says="Lanes of a warp do not run in step"),
    Planted("two_tiles", RACE, """
__global__ void two_tiles(const float* x, float* y, int n) {
    __shared__ float tile[64];
    float s = 0;
    for (int k = 0; k < n; k += 64) {
        tile[threadIdx.x] = x[k + threadIdx.x];  // here
        __syncthreads();
        for (int j = 0; j < 64; ++j) s += tile[j];  // other
        RIGHT(__syncthreads();)
    }
    y[threadIdx.x] = s;
}""", lambda: (cs.to_device(np.arange(256, dtype=np.float32)), floats(64), 256), block=64),
    Planted("one_counter", RACE, """
__global__ void one_counter(int* x) {
    RIGHT(atomicAdd(x, 1);) WRONG(x[0] = x[0] + 1;)  // here
}""", lambda: (ints(1),), block=64, says="argument 'x'"),
    Planted("histogram", RACE, """
__global__ void histogram(const int* x, int* bins, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) RIGHT(atomicAdd(&bins[x[i]], 1);) WRONG(bins[x[i]]++;)  // here
}""", lambda: (cs.to_device((np.arange(128) % 5).astype(np.int32)), ints(5), 128), grid=2, block=64),
    Planted("shared_histogram", RACE, """
__global__ void shared_histogram(int* out) {
    __shared__ int bins[8];
    if (threadIdx.x < 8) bins[threadIdx.x] = 0;  // other
    RIGHT(__syncthreads();)
    atomicAdd(&bins[(threadIdx.x + 1) % 8], 1);  // here
    __syncthreads();
    if (threadIdx.x < 8) out[threadIdx.x] = bins[threadIdx.x];
}""", lambda: (ints(8),), block=64),
    Planted("overlap", RACE, """
__global__ void overlap(int* x) {
    int i = blockIdx.x * RIGHT(32) WRONG(31) + threadIdx.x;
    x[i] = blockIdx.x * 100 + threadIdx.x;  // here
}""", lambda: (ints(64),), grid=2, says="Blocks of a launch run in any order"),
    Planted("neighbour_block", RACE, """
__global__ void neighbour_block(const int* x, int* y) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    y[i] = i;  // other
    __syncthreads();
    if (i > 0) y[64 + i] = RIGHT(i - 1;) WRONG(y[i - 1];)  // here
}""", lambda: (ints(128), ints(128)), grid=2),
    Planted("in_place_shift", RACE, """
__global__ void in_place_shift(int* x, int* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i + 1 < n) RIGHT(y) WRONG(x)[i] = x[i + 1];  // here
}""", lambda: (cs.to_device(np.arange(64, dtype=np.int32)), ints(64), 64), grid=2),
    Planted("in_place_transpose", RACE, """
__global__ void in_place_transpose(float* x, float* y) {
    int r = threadIdx.y, c = threadIdx.x;
    float v = x[c * 8 + r];
    RIGHT(__syncthreads();)
    x[r * 8 + c] = v;  // here
    y[r * 8 + c] = v;
}""", lambda: (cs.to_device(np.arange(64, dtype=np.float32)), floats(64)), block=(8, 8)),
    Planted("last_block", RACE, """
__device__ unsigned arrived_blocks = 0;
__global__ void last_block(int* partial, int* out) {
    __shared__ bool last;
    if (threadIdx.x == 0) {
        partial[blockIdx.x] = blockIdx.x;  // other
        RIGHT(__threadfence();)
        last = atomicInc(&arrived_blocks, gridDim.x - 1) == gridDim.x - 1;
    }
    __syncthreads();
    if (last && threadIdx.x < gridDim.x) atomicAdd(out, partial[threadIdx.x]);  // here
}""", lambda: (ints(4), ints(1)), grid=4),
    Planted("last_block_of_all_threads", RACE, """
__device__ unsigned finished_blocks = 0;
__global__ void last_block_of_all_threads(int* partial, int* out) {
    __shared__ bool last;
    partial[blockIdx.x * blockDim.x + threadIdx.x] = 1;  // other
    RIGHT(__threadfence();)
    __syncthreads();
    if (threadIdx.x == 0) last = atomicInc(&finished_blocks, gridDim.x - 1) == gridDim.x - 1;
    __syncthreads();
    if (!last) return;
    for (int i = 0; i < gridDim.x; ++i) atomicAdd(out, partial[i * blockDim.x + threadIdx.x]);  // here
}""", lambda: (ints(256), ints(1)), grid=4, block=64),
    Planted("last_warp", RACE, """
__device__ unsigned finished_warps = 0;
__global__ void last_warp(int* partial, int* out) {
    int i = blockIdx.x * blockDim.x + threadIdx.x, n = gridDim.x * blockDim.x;
    partial[i] = 1;  // other
    RIGHT(__threadfence();)
    __syncwarp();
    unsigned before = 0;
    if (i % 32 == 0) before = atomicInc(&finished_warps, n / 32 - 1);
    if (__shfl_sync(~0u, before, 0) != n / 32 - 1) return;
    for (int k = i % 32; k < n; k += 32) atomicAdd(out, partial[k]);  // here
}""", lambda: (ints(256), ints(1)), grid=4, block=64),
    Planted("flag", RACE, """
__device__ volatile int ready = 0;
__global__ void flag(int* x, int* y) {
    if (blockIdx.x == 0) {
        x[0] = 42;  // other
        RIGHT(__threadfence();)
        ready = 1;
    } else {
        while (ready == 0) {}
        RIGHT(__threadfence();)
        y[0] = x[0];  // here
    }
}""", lambda: (ints(1), ints(1)), grid=2, block=1),
    Planted("lock", RACE, """
__device__ int taken = 0;
__global__ void lock(int* x) {
    if (threadIdx.x == 0) {
        RIGHT(while (atomicCAS(&taken, 0, 1) != 0) {} __threadfence();)
        x[0] = x[0] + 1;  // here
        RIGHT(__threadfence(); atomicExch(&taken, 0);)
    }
}""", lambda: (ints(1),), grid=4),
    Planted("plain_read_of_counter", RACE, """
__global__ void plain_read_of_counter(int* x, int* y) {
    atomicAdd(x, 1);  // other
    RIGHT(__syncthreads();)
    y[threadIdx.x] = x[0];  // here
}""", lambda: (ints(1), ints(64)), block=64),
    Planted("whole_grid", RACE, """
__global__ void whole_grid(int* x, int* y) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    x[i] = i;  // other
    RIGHT(cooperative_groups::this_grid().sync();)
    y[i] = x[63 - i];  // here
}""", lambda: (ints(64), ints(64)), grid=2, cooperative=True),
    Planted("tile_of_a_warp", RACE, """
__global__ void tile_of_a_warp(int* x) {
    __shared__ int s[64];
    auto tile = cooperative_groups::tiled_partition<16>(cooperative_groups::this_thread_block());
    s[threadIdx.x] = threadIdx.x;  // other
    RIGHT(tile.sync();)
    x[threadIdx.x] = s[threadIdx.x ^ 1];  // here
}""", lambda: (ints(64),), block=64),
    Planted("scan", RACE, """
__global__ void scan(int* x) {
    __shared__ int s[64];
    int t = threadIdx.x;
    s[t] = x[t];
    __syncthreads();
    for (int d = 1; d < 64; d *= 2) {
        int v = t >= d ? s[t - d] : 0;  // other
        RIGHT(__syncthreads();)
        s[t] += v;  // here
        __syncthreads();
    }
    x[t] = s[t];
}""", lambda: (cs.to_device(np.arange(64, dtype=np.int32)),), block=64),
    Planted("bitonic_sort", RACE, """
__global__ void bitonic_sort(int* x) {
    __shared__ int s[64];
    int t = threadIdx.x;
    s[t] = x[t];
    __syncthreads();
    for (int k = 2; k <= 64; k *= 2)
        for (int j = k / 2; j > 0; j /= 2) {
            int o = t ^ j;
            if (o > t && (s[t] > s[o]) == ((t & k) == 0)) { int v = s[t]; s[t] = s[o]; s[o] = v; }  // here
            RIGHT(__syncthreads();) WRONG(if (j > 32) __syncthreads();)
        }
    x[t] = s[t];
}""", lambda: (cs.to_device(np.arange(64, dtype=np.int32)[::-1].copy()),), block=64),
    Planted("warp_of_four", RACE, """
__global__ void warp_of_four(int* x) {
    __shared__ int s[128];
    int t = threadIdx.x;
    s[t] = t;  // other
    __syncwarp();
    x[t] = s[RIGHT(t ^ 1) WRONG((t + 32) % 128)];  // here
}""", lambda: (ints(128),), block=128, says="__syncthreads()"),
    Planted("total_of_a_block", RACE, """
__global__ void total_of_a_block(const int* x, int* y) {
    __shared__ int total;
    if (threadIdx.x == 0) total = 0;
    __syncthreads();
    RIGHT(atomicAdd(&total, x[threadIdx.x]);) WRONG(total += x[threadIdx.x];)  // here
    __syncthreads();
    if (threadIdx.x == 0) y[0] = total;
}""", lambda: (cs.to_device(np.arange(64, dtype=np.int32)), ints(1)), block=64, says="'total'"),
    Planted("largest_of_all", RACE, """
__global__ void largest_of_all(const int* x, int* best) {
    RIGHT(atomicMax(best, x[threadIdx.x]);) WRONG(if (x[threadIdx.x] > *best) *best = x[threadIdx.x];)  // here
}""", lambda: (cs.to_device(np.arange(64, dtype=np.int32)), ints(1)), block=64),
    Planted("counter_of_results", RACE, """
__global__ void counter_of_results(const int* x, int* found, int* count) {
    if (x[threadIdx.x] % 3 == 0) {
        int at = RIGHT(atomicAdd(count, 1)) WRONG((*count)++);  // here
        found[at] = threadIdx.x;
    }
}""", lambda: (cs.to_device(np.arange(64, dtype=np.int32)), ints(64), ints(1)), block=64),
    Planted("result_in_the_block_with_the_last_number", RACE, """
__global__ void result_in_the_block_with_the_last_number(const int* x, int* bins, int* out) {
    atomicAdd(&bins[x[blockIdx.x * blockDim.x + threadIdx.x]], 1);
    __syncthreads();
    if (blockIdx.x == gridDim.x - 1 && threadIdx.x < 5)
        out[threadIdx.x] = RIGHT(atomicAdd(&bins[threadIdx.x], 0)) WRONG(bins[threadIdx.x]);  // here
}""", lambda: (cs.to_device((np.arange(192) % 5).astype(np.int32)), ints(5), ints(5)), grid=3, block=64,
        says="which a thread of another block writes"),
    Planted("counter_of_all_blocks_behind_two_barriers", RACE, """
__global__ void counter_of_all_blocks_behind_two_barriers(int* count, int* out) {
    atomicAdd(count, 1);
    __syncthreads();
    if (threadIdx.x % 2 == 0) atomicAdd(count, 1);
    __syncthreads();
    if (blockIdx.x == 1 && threadIdx.x == 40) out[0] = RIGHT(atomicAdd(count, 0)) WRONG(*count);  // here
}""", lambda: (ints(1), ints(1)), grid=2, block=64, says="which a thread of another block writes"),
    Planted("queue_without_a_barrier", RACE, """
__global__ void queue_without_a_barrier(int* x) {
    __shared__ int queue[64], length;
    if (threadIdx.x == 0) length = 0;
    __syncthreads();
    queue[atomicAdd(&length, 1)] = threadIdx.x;
    RIGHT(__syncthreads();)
    if (threadIdx.x == 63) x[0] = length;  // here
}""", lambda: (ints(1),), block=64),
    Planted("reset_for_one_warp", RACE, """
__global__ void reset_for_one_warp(int* x) {
    __shared__ int count;
    if (threadIdx.x == 0) count = 0;
    RIGHT(__syncthreads();) WRONG(__syncwarp();)
    atomicAdd(&count, 1);  // here
    __syncthreads();
    x[threadIdx.x] = count;
}""", lambda: (ints(64),), block=64, says="which another thread of the block writes"),
    Planted("game_of_life", RACE, """
__global__ void game_of_life(int* now, int* next, int n) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    int alive = 0;
    for (int dy = -1; dy <= 1; ++dy)
        for (int dx = -1; dx <= 1; ++dx) alive += now[(y + dy + n) % n * n + (x + dx + n) % n];  // other
    RIGHT(next) WRONG(now)[y * n + x] = alive == 3;  // here
}""", lambda: (cs.to_device(np.arange(256, dtype=np.int32) % 2), ints(256), 16), grid=(2, 2), block=(8, 8)),
    Planted("broadcast", RACE, """
__global__ void broadcast(const int* x, int* y) {
    __shared__ int value;
    for (int i = 0; i < 3; ++i) {
        if (threadIdx.x == 0) value = x[i];  // here
        __syncthreads();
        y[i * 64 + threadIdx.x] = value;  // other
        RIGHT(__syncthreads();)
    }
}""", lambda: (cs.to_device(np.arange(3, dtype=np.int32)), ints(192)), block=64, says="'value'"),
    Planted("tail_of_a_warp", RACE, """
__global__ void tail_of_a_warp(int* x) {
    __shared__ int s[32];
    int t = threadIdx.x;
    s[t] = t;
    __syncwarp();
    if (t < 16) {
        s[t] += s[t + 16];  // other
        RIGHT(__syncwarp(0xffff);)
        x[t] = s[t ^ 8];  // here
    }
}""", lambda: (ints(32),)),
    Planted("copy_by_threads", RACE, """
__global__ void copy_by_threads(const int* x, int* y) {
    __shared__ int s[64];
    if (threadIdx.x < 32) memcpy(s + 2 * threadIdx.x, x + 2 * threadIdx.x, 8);  // other
    RIGHT(__syncthreads();)
    y[threadIdx.x] = s[threadIdx.x];  // here
}""", lambda: (cs.to_device(np.arange(64, dtype=np.int32)), ints(64)), block=64),
    Planted("columns_that_overlap", RACE, """
__global__ void columns_that_overlap(int* x, int width) {
    for (int k = 0; k < width; ++k) x[threadIdx.x * RIGHT(width) WRONG((width - 1)) + k] = threadIdx.x;  // here
}""", lambda: (ints(128), 4), says="argument 'x'"),
    Planted("mixed_sizes", RACE, """
__global__ void mixed_sizes(unsigned char* x) {
    x[threadIdx.x RIGHT(+ 0) WRONG(/ 2)] = threadIdx.x;  // here
}""", lambda: (cs.zeros(64, np.uint8),), block=64),
    Planted("same_value", RACE, """
__global__ void same_value(int* x) {
    RIGHT(if (threadIdx.x == 0)) x[0] = 7;  // here
}""", lambda: (ints(1),), severity="note"),
]  # fmt: skip
