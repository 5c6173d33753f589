"""Simulated times of kernels beside the times that an NVIDIA H200 took for the same launches, by events."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import pytest

import cuscope as cs

pytestmark = [
    pytest.mark.host_only("a real GPU measures times"),
    pytest.mark.usefixtures("times_from_counts"),
]

# The model was made with the instructions of GCC.
FARTHEST = 2 if "clang" in os.environ.get("CUSCOPE_CXX", "") else 1.5

SOURCE = r"""
#define T 16
__global__ void saxpy(float a, const float* x, float* y, int n) {
    int i = blockIdx.x*blockDim.x+threadIdx.x;
    if (i < n) y[i] = a*x[i] + y[i];
}
__global__ void naive_matmul(const float* A, const float* Bm, float* C, int n) {
    int r = blockIdx.y*blockDim.y+threadIdx.y, c = blockIdx.x*blockDim.x+threadIdx.x;
    float s = 0;
    for (int i = 0; i < n; i++) s += A[r*n+i]*Bm[i*n+c];
    C[r*n+c] = s;
}
__global__ void tiled_matmul(const float* A, const float* Bm, float* C, int n) {
    __shared__ float a[T][T], b[T][T];
    int r = blockIdx.y*T+threadIdx.y, c = blockIdx.x*T+threadIdx.x;
    float s = 0;
    for (int t = 0; t < n; t += T) {
        a[threadIdx.y][threadIdx.x] = A[r*n+t+threadIdx.x];
        b[threadIdx.y][threadIdx.x] = Bm[(t+threadIdx.y)*n+c];
        __syncthreads();
        for (int i = 0; i < T; i++) s += a[threadIdx.y][i]*b[i][threadIdx.x];
        __syncthreads();
    }
    C[r*n+c] = s;
}
__global__ void transpose_naive(const float* x, float* y, int n) {
    int c = blockIdx.x*32+threadIdx.x, r = blockIdx.y*32+threadIdx.y;
    for (int j = 0; j < 32; j += 8) y[c*n + r+j] = x[(r+j)*n + c];
}
__global__ void transpose_padded(const float* x, float* y, int n) {
    __shared__ float t[32][33];
    int c = blockIdx.x*32+threadIdx.x, r = blockIdx.y*32+threadIdx.y;
    for (int j = 0; j < 32; j += 8) t[threadIdx.y+j][threadIdx.x] = x[(r+j)*n + c];
    __syncthreads();
    c = blockIdx.y*32+threadIdx.x;
    r = blockIdx.x*32+threadIdx.y;
    for (int j = 0; j < 32; j += 8) y[(r+j)*n + c] = t[threadIdx.x][threadIdx.y+j];
}
__global__ void histogram_global(const int* x, int* h, int n) {
    int i = blockIdx.x*blockDim.x+threadIdx.x;
    if (i < n) atomicAdd(&h[x[i] & 255], 1);
}
__global__ void mandelbrot(int* o, int n, int most) {
    int c = blockIdx.x*blockDim.x+threadIdx.x, r = blockIdx.y*blockDim.y+threadIdx.y;
    float x0 = -2+3.f*c/n, y0 = -1.5f+3.f*r/n, x = 0, y = 0;
    int i = 0;
    while (i < most && x*x+y*y < 4) { float t = x*x-y*y+x0; y = 2*x*y+y0; x = t; i++; }
    o[r*n+c] = i;
}
"""


class Launch(NamedTuple):
    kernel: str
    grid: int | tuple[int, int]
    block: int | tuple[int, int]
    arguments: Callable[[], tuple[object, ...]]
    measured: float  # microseconds


def floats(*shape: int) -> cs.DeviceArray:
    return cs.to_device(np.random.default_rng(0).random(shape, dtype=np.float32))


def numbers(*shape: int) -> cs.DeviceArray:
    return cs.to_device(np.random.default_rng(0).integers(0, 1024, shape, dtype=np.int32))


def squares(n: int, count: int) -> Callable[[], tuple[object, ...]]:
    return lambda: (*(floats(n, n) for _ in range(count)), n)


LAUNCHES = (
    Launch("saxpy", 1 << 17, 256, lambda: (2.0, floats(1 << 25), floats(1 << 25), 1 << 25), 120.22),
    Launch("naive_matmul", (16, 16), (16, 16), squares(256, 3), 11.11),
    Launch("tiled_matmul", (16, 16), (16, 16), squares(256, 3), 8.95),
    Launch("transpose_naive", (16, 16), (32, 8), squares(512, 2), 7.59),
    Launch("transpose_padded", (16, 16), (32, 8), squares(512, 2), 7.27),
    Launch("histogram_global", 1024, 256, lambda: (numbers(1 << 18), numbers(256), 1 << 18), 34.54),
    Launch("mandelbrot", (32, 32), (16, 16), lambda: (numbers(512, 512), 512, 256), 16.56),
    Launch("mandelbrot", (128, 128), (16, 16), lambda: (numbers(2048, 2048), 2048, 256), 92.41),
)


@pytest.fixture(scope="module")
def module():
    with cs.add_host_device("h200"):
        yield cs.Module(SOURCE)


@pytest.mark.parametrize("launch", LAUNCHES, ids=lambda launch: f"{launch.kernel}-{launch.measured}")
def test_time_is_near_the_time_of_an_h200(module, launch):
    stream = cs.Stream(device=module.device)
    with module.device:
        arguments = launch.arguments()
        cs.synchronize()
        start = stream.record()
        module[launch.kernel].launch(*arguments, grid=launch.grid, block=launch.block, stream=stream)
        stop = stream.record()
        stream.synchronize()

    ratio = (stop - start) * 1e3 / launch.measured
    assert 1 / FARTHEST < ratio < FARTHEST


def test_products_come_in_the_order_of_the_device(module):
    n = 512
    with module.device:
        arrays = squares(n, 3)()
        naive, tiled = (
            module[name].explain_time(*arrays, grid=(n // 16, n // 16), block=(16, 16)).seconds
            for name in ("naive_matmul", "tiled_matmul")
        )

    # On an H200, at n = 1024: 416 and 277 us.
    assert 1.1 < naive / tiled < 2.2
