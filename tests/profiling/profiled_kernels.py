"""The kernels that these tests profile, in one source, because each source is compiled twice."""

from __future__ import annotations

import cuscope as cs

SOURCE = r"""
__global__ void strided(const float* x, float* y, int stride) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    y[i] = x[i * stride];
}
__global__ void gather(const int* at, const float* x, float* y) {
    y[threadIdx.x] = x[at[threadIdx.x]];
}
__global__ void shuffled(const int* at, float* y) {
    __shared__ float s[1024];
    s[threadIdx.x] = threadIdx.x;
    __syncthreads();
    y[threadIdx.x] = s[at[threadIdx.x]];
}
__global__ void column(const float* x, float* y) {
    __shared__ float tile[32][WIDTH];
    tile[threadIdx.y][threadIdx.x] = x[threadIdx.y * 32 + threadIdx.x];
    __syncthreads();
    y[threadIdx.y * 32 + threadIdx.x] = tile[threadIdx.x][threadIdx.y];
}
__global__ void matmul(const float* A, const float* B, float* C, int n) {
    int row = blockIdx.y * blockDim.y + threadIdx.y, column = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = 0;
    for (int i = 0; i < n; ++i)
        sum += A[row * n + i] * B[i * n + column];
    C[row * n + column] = sum;
}
__global__ void bytes(const unsigned char* x, unsigned char* y) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    y[i] = x[i];
}
__global__ void histogram(const int* x, int* counts, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        atomicAdd(&counts[x[i]], 1);
}
__global__ void branch(float* x, int period) {
    float v = x[threadIdx.x];
    if (threadIdx.x / period % 2)
        for (int i = 0; i < 20; ++i) v = v * 1.5f + 0.5f;
    else
        for (int i = 0; i < 20; ++i) v = v * 0.5f - 1.5f;
    x[threadIdx.x] = v;
}
__global__ void one_in(float* x, int step) {
    float v = 1;
    if (threadIdx.x % step == 0)
        for (int i = 0; i < 50; ++i) v = v * 1.5f + 0.5f;
    x[threadIdx.x] = v;
}
__global__ void half(float* x, float by) {
    float v = x[threadIdx.x];
    v = v * by + v * v * by;
    x[threadIdx.x] = v;
}
__global__ void half_doubles(float* x, float by) {
    float v = x[threadIdx.x];
    v = v * (by * 0.5) + v * 0.25;
    x[threadIdx.x] = v;
}
__global__ void uneven(float* x, int busy) {
    float v = 1;
    if (blockIdx.x < busy)
        for (int i = 0; i < 2000; ++i) v = v * 1.5f + 0.5f;
    x[threadIdx.x] = v;
}
__global__ void twice(float* x) { x[blockIdx.x * blockDim.x + threadIdx.x] *= 2; }
"""


def number_of(text: str) -> int:
    """The number of the first line with this text."""
    return next(i for i, line in enumerate(SOURCE.splitlines(), 1) if text in line)


def found(profile: cs.Profile, rule: str) -> list[cs.ProfileFinding]:
    return [finding for finding in profile.findings if finding.rule == rule]


VARIABLE = r"""
__device__ int total;
__global__ void add_up(const int* x) { atomicAdd(&total, x[threadIdx.x]); }
"""
