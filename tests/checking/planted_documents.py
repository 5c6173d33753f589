"""Kernels of the README, the documents and the notebooks, with one mistake each."""

from __future__ import annotations

import numpy as np
from planted import BARRIER, NEVER, OUT, RACE, Planted, floats, ints, numbers, unwritten

import cuscope as cs

TABLE = [
    # ---- README.md and the first notebook
    Planted("vec_add_of_the_readme", OUT, """
__global__ void vec_add_of_the_readme(const float* a, const float* b, float* c, int n) {
    int i = blockDim.x * blockIdx.x + threadIdx.x;
    if (i RIGHT(<) WRONG(<=) n) c[i] = a[i] + b[i];  // here
}""", lambda: (floats(1000), floats(1000), floats(1000), 1000), grid=4, block=256,
            says="element 1000 of the argument"),
    Planted("vec_add_too_long", OUT, """
__global__ void vec_add_too_long(const float* a, const float* b, float* c, int n) {
    int i = blockDim.x * blockIdx.x + threadIdx.x;
    if (i < RIGHT(n) WRONG(n * sizeof(float))) c[i] = a[i] + b[i];  // here
}""", lambda: (floats(100), floats(100), floats(100), 100), grid=4, block=128),
    Planted("who", OUT, """
__global__ void who(int* block_of, int* thread_of, int width, int height) {
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < width RIGHT(&& y < height)) {
        block_of[y * width + x] = blockIdx.y * gridDim.x + blockIdx.x;  // here
        thread_of[y * width + x] = threadIdx.y * blockDim.x + threadIdx.x;
    }
}""", lambda: (cs.zeros((3, 8), np.int32), cs.zeros((3, 8), np.int32), 8, 3), grid=(2, 2), block=(4, 2),
            says="shape (3, 8)"),
    Planted("who_writes_twice", RACE, """
__global__ void who_writes_twice(int* block_of, int width, int height) {
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < width && y < height) block_of[y * width + RIGHT(x) WRONG(threadIdx.x)] = blockIdx.x;  // here
}""", lambda: (cs.zeros((4, 8), np.int32), 8, 4), grid=(2, 2), block=(4, 2),
            says="Blocks of a launch run in any order"),
    Planted("bad", OUT, """
__global__ void bad(int* p) {
    p[RIGHT(0) WRONG(1LL << 20)] = 1;  // here
}""", lambda: (ints(1),), block=1),
    Planted("half_of_the_notebook", BARRIER, """
__global__ void half_of_the_notebook(int* p) {
    WRONG(if (threadIdx.x < 16))
        __syncthreads();
    WRONG(else __syncwarp();)
    p[threadIdx.x] = 1;
}""", lambda: (ints(32),)),
    # ---- the notebook on memory
    Planted("twice", OUT, """
__global__ void twice(float* x, int n) {
    int i = blockDim.x * blockIdx.x + threadIdx.x;
    RIGHT(if (i < n)) x[i] *= 2;  // here
}""", lambda: (floats(1000), 1000), grid=4, block=256, says="reads and writes"),
    Planted("sum_rows", OUT, """
__global__ void sum_rows(const float* x, long long pitch, int width, int height, float* sums) {
    int row = blockDim.x * blockIdx.x + threadIdx.x;
    if (row >= height) return;
    const float* p = (const float*)(RIGHT((const char*))x + row * pitch);
    float sum = 0;
    for (int i = 0; i < width; i++) sum += p[i];  // here
    sums[row] = sum;
}""", lambda: (numbers(6, 16), 64, 16, 6, floats(6))),
    Planted("sum_columns_of_a_pitched_array", NEVER, """
__global__ void sum_columns_of_a_pitched_array(float* x, long long pitch, int width, int height, float* sums) {
    for (int y = 0; y < height; y++) ((float*)((char*)x + y * pitch))[threadIdx.x % width] = y;
    __syncwarp();
    float sum = 0;
    for (int y = 0; y < height; y++)
        sum += x[y * RIGHT(pitch / 4) WRONG((pitch / 4 - 1)) + threadIdx.x % width];  // here
    sums[threadIdx.x] = sum;
}""", lambda: (cs.empty((4, 16), np.float32), 64, 10, 4, floats(10)), block=10),
    Planted("blur", OUT, """
__constant__ float weights_of_blur[3];
__global__ void blur(const float* in, float* out, int n) {
    int i = blockDim.x * blockIdx.x + threadIdx.x;
    if (RIGHT(i > 0 &&) i < n - 1)
        out[i] = weights_of_blur[0] * in[i - 1] + weights_of_blur[1] * in[i] + weights_of_blur[2] * in[i + 1];  // here
}""", lambda: (floats(64), floats(64), 64), block=64, says="before its beginning"),
    Planted("blur_at_the_end", OUT, """
__global__ void blur_at_the_end(const float* in, float* out, int n) {
    int i = blockDim.x * blockIdx.x + threadIdx.x;
    if (i > 0 && i < n RIGHT(- 1)) out[i] = in[i - 1] + in[i] + in[i + 1];  // here
}""", lambda: (floats(64), floats(64), 64), block=64, says="element 64 of the argument 'in'"),
    Planted("blur_in_place", RACE, """
__global__ void blur_in_place(float* x, float* y, int n) {
    int i = blockDim.x * blockIdx.x + threadIdx.x;
    if (i > 0 && i < n - 1) RIGHT(y) WRONG(x)[i] = (x[i - 1] + x[i] + x[i + 1]) / 3;  // here
}""", lambda: (numbers(64), floats(64), 64), block=64),
    Planted("weights", OUT, """
__constant__ float weights_of_filter[5];
__global__ void weights(const float* in, float* out, int radius) {
    float sum = 0;
    for (int k = -radius; k <= radius; ++k)
        sum += weights_of_filter[k + radius WRONG(+ 1)] * in[threadIdx.x + k + radius];  // here
    out[threadIdx.x] = sum;
}""", lambda: (floats(36), floats(32), 2), says="index 5"),
    # ---- the notebook on patterns of memory, and docs/counting.md
    Planted("strided", OUT, """
__global__ void strided(const float* in, float* out, int stride, int offset) {
    out[threadIdx.x] = in[offset RIGHT(* 0) + threadIdx.x * stride];  // here
}""", lambda: (floats(64), floats(32), 2, 2)),
    Planted("matmul", OUT, """
__global__ void matmul(const float* A, const float* B, float* C, int n) {
    int row = blockIdx.y * blockDim.y + threadIdx.y, column = blockIdx.x * blockDim.x + threadIdx.x;
    RIGHT(if (row >= n || column >= n) return;)
    float sum = 0;
    for (int i = 0; i < n; ++i) sum += A[row * n + i] * B[i * n + column];
    C[row * n + column] = sum;  // here
}""", lambda: (floats(20 * 20), floats(20 * 20), floats(20 * 20), 20), grid=(2, 2), block=(16, 16)),
    Planted("turn", RACE, """
__global__ void turn(const float* in, float* out) {
    __shared__ float tile[32][33];
    tile[threadIdx.y][threadIdx.x] = in[threadIdx.y * 32 + threadIdx.x];  // other
    RIGHT(__syncthreads();) WRONG(__syncwarp();)
    out[threadIdx.y * 32 + threadIdx.x] = tile[threadIdx.x][threadIdx.y];  // here
}""", lambda: (numbers(1024), floats(1024)), block=(32, 32), says="__syncthreads()"),
    Planted("turn_too_narrow", OUT, """
__global__ void turn_too_narrow(const float* in, float* out) {
    __shared__ float tile[32][RIGHT(33) WRONG(31)];
    tile[threadIdx.y][threadIdx.x] = in[threadIdx.y * 32 + threadIdx.x];  // here
    __syncthreads();
    out[threadIdx.y * 32 + threadIdx.x] = tile[threadIdx.x][threadIdx.y];
}""", lambda: (numbers(1024), floats(1024)), block=(32, 32), says="index 31"),
    # ---- docs/graphs.md, docs/kernel-time.md, docs/kernels.md, docs/launching.md, docs/checking.md
    Planted("halve", RACE, """
__global__ void halve(float* x, float* y) { x[RIGHT(threadIdx.x) WRONG(0)] /= 2; }  // here
""", lambda: (floats(32), floats(1))),
    Planted("strides_of_a_gather", OUT, """
__global__ void strides_of_a_gather(const float* in, float* out, int n, int stride) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = in[(long long)i * stride RIGHT(% n)];  // here
}""", lambda: (floats(100), floats(100), 100, 7), grid=2, block=64),
    Planted("scale", OUT, """
template <class T>
__device__ void scale_one(T* x, int n, T factor) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    RIGHT(if (i < n)) x[i] *= factor;  // here
}
__global__ void scale(double* x, int n) { scale_one(x, n, 2.0); }
""", lambda: (cs.zeros(40, np.float64), 40), grid=2),
    Planted("total", RACE, """
__global__ void total(int* x, int n) {
    auto grid = cooperative_groups::this_grid();
    for (int step = 1; step < n; step *= 2) {
        int i = (blockIdx.x * blockDim.x + threadIdx.x) * 2 * step;
        if (i + step < n) x[i] += x[i + step];  // here
        RIGHT(grid.sync();) WRONG(__syncthreads();)
    }
}""", lambda: (cs.to_device(np.arange(100, dtype=np.int32)), 100), grid=2, cooperative=True,
            says="Blocks of a launch run in any order"),
    Planted("move", OUT, """
struct Body { double mass; float position[3]; };
__global__ void move(float* out, Body body, int dimensions) {
    for (int i = 0; i < dimensions RIGHT(- 1); ++i) out[i] = body.position[i] * (float)body.mass;  // here
}""", lambda: (floats(4), body(), 4), block=1, says="index 3"),
    Planted("reverse", RACE, """
__global__ void reverse(const float* x, float* y) {
    __shared__ float s[64];
    int t = threadIdx.x;
    s[t] = x[t];  // other
    RIGHT(__syncthreads();)
    y[t] = s[63 - t];  // here
}""", lambda: (numbers(64), floats(64)), block=64),
    Planted("reverse_before_it_is_written", NEVER, """
__global__ void reverse_before_it_is_written(const float* x, float* y) {
    __shared__ float s[64];
    int t = threadIdx.x;
    RIGHT(s[t] = x[t]; __syncthreads();)
    y[t] = s[63 - t];  // here
    WRONG(s[t] = x[t]; __syncthreads(); y[t] += s[t];)
}""", lambda: (numbers(64), floats(64)), block=64),
    Planted("reverse_one_behind", OUT, """
__global__ void reverse_one_behind(const float* x, float* y) {
    __shared__ float s[64];
    int t = threadIdx.x;
    s[t] = x[t];
    __syncthreads();
    y[t] = s[RIGHT(63) WRONG(64) - t];  // here
}""", lambda: (numbers(64), floats(64)), block=64, says="index 64"),
    Planted("total_of_unwritten_numbers", NEVER, """
__global__ void total_of_unwritten_numbers(const int* x, int* sum) {
    atomicAdd(sum, RIGHT(threadIdx.x) WRONG(x[threadIdx.x]));  // here
}""", lambda: (unwritten(32), ints(1)), says="cs.zeros"),
]  # fmt: skip


def body() -> np.void:
    value = np.zeros((), np.dtype([("mass", np.float64), ("position", np.float32, 3)], align=True))
    value["mass"] = 2
    return value[()]
