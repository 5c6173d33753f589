"""Measures the cost of kernels on a simulated device: python benchmarks/executor.py [--quick] [--json].

Nanoseconds of one core: for a thread that passes a barrier, in blocks of 32 to 1,024 threads; for an addition to shared
memory by ``atomicAdd``; for a multiply-add of a matrix product without and with tiles in shared memory; for an element
of a tree reduction. The numbers are medians of several runs. They count processor time, not elapsed time, because all
cores run blocks.
"""

from __future__ import annotations

import argparse
import json
import statistics
import time
from collections.abc import Callable

import numpy as np

import cuscope as cs

SOURCE = """
__global__ void barriers(int* out, int count) {
    int sum = 0;
    for (int i = 0; i < count; ++i) {
        __syncthreads();
        sum += i;
    }
    if (sum == 0) out[threadIdx.x] = sum;
}
__global__ void shared_atomics(unsigned* out, int count) {
    __shared__ unsigned bins[256];
    if (threadIdx.x < 256) bins[threadIdx.x] = 0;
    __syncthreads();
    for (int i = 0; i < count; ++i) atomicAdd(&bins[(threadIdx.x * 7 + i) & 255], 1u);
    __syncthreads();
    if (threadIdx.x < 256) out[threadIdx.x] = bins[threadIdx.x];
}
__global__ void shared_float_atomics(float* out, int count) {
    __shared__ float bins[256];
    if (threadIdx.x < 256) bins[threadIdx.x] = 0;
    __syncthreads();
    for (int i = 0; i < count; ++i) atomicAdd(&bins[(threadIdx.x * 7 + i) & 255], 1.0f);
    __syncthreads();
    if (threadIdx.x < 256) out[threadIdx.x] = bins[threadIdx.x];
}
__global__ void naive_product(const float* a, const float* b, float* c, int n) {
    int row = blockIdx.y * blockDim.y + threadIdx.y, column = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = 0;
    for (int k = 0; k < n; ++k) sum += a[row * n + k] * b[k * n + column];
    c[row * n + column] = sum;
}
template <int tile>
__global__ void tiled_product(const float* a, const float* b, float* c, int n) {
    __shared__ float left[tile][tile], right[tile][tile];
    int x = threadIdx.x, y = threadIdx.y, row = blockIdx.y * tile + y, column = blockIdx.x * tile + x;
    float sum = 0;
    for (int first = 0; first < n; first += tile) {
        left[y][x] = a[row * n + first + x];
        right[y][x] = b[(first + y) * n + column];
        __syncthreads();
        for (int k = 0; k < tile; ++k) sum += left[y][k] * right[k][x];
        __syncthreads();
    }
    c[row * n + column] = sum;
}
__global__ void tree_reduction(const float* in, float* out) {
    __shared__ float sums[256];
    unsigned t = threadIdx.x;
    sums[t] = in[blockIdx.x * blockDim.x + t];
    __syncthreads();
    for (unsigned stride = blockDim.x / 2; stride > 0; stride /= 2) {
        if (t < stride) sums[t] += sums[t + stride];
        __syncthreads();
    }
    if (t == 0) out[blockIdx.x] = sums[0];
}
"""
TILES = (16, 32)
BLOCKS = (32, 64, 128, 256, 512, 1024)


def processor_ns(launch: Callable[[], object], operations: int, repeats: int) -> float:
    """Nanoseconds of processor time for one operation, of a launch that does so many."""

    def run() -> int:
        begin = time.process_time_ns()
        launch()
        cs.synchronize()
        return time.process_time_ns() - begin

    run()
    return statistics.median(run() for _ in range(repeats)) / operations


def barrier(module: cs.Module, threads: int, total: int, repeats: int) -> float:
    blocks = max(1, 16384 // threads)
    count = max(1, total // (blocks * threads))
    out = cs.zeros(threads, np.int32)
    return processor_ns(
        lambda: module.barriers[blocks, threads](out, count), blocks * threads * count, repeats
    )


def shared_atomic(module: cs.Module, kernel: str, dtype: type, total: int, repeats: int) -> float:
    threads, blocks = 256, 16
    count = max(1, total // (blocks * threads))
    out = cs.zeros(256, dtype)
    return processor_ns(
        lambda: module[kernel][blocks, threads](out, count), blocks * threads * count, repeats
    )


def product(module: cs.Module, tile: int, kernel: str, n: int, repeats: int) -> float:
    a, b = (np.arange(n * n, dtype=np.float32).reshape(n, n) % size for size in (7, 5))
    d_a, d_b, d_c = cs.to_device(a), cs.to_device(b), cs.empty((n, n), np.float32)
    grid = (n // tile, n // tile)
    result = processor_ns(lambda: module[kernel][grid, (tile, tile)](d_a, d_b, d_c, n), n**3, repeats)
    if not np.array_equal(d_c.to_host(), a @ b):
        raise RuntimeError(f"{kernel} gave a wrong product")
    return result


def reduction(module: cs.Module, n: int, repeats: int) -> float:
    blocks = max(1, n // 256)
    d_in, d_out = cs.full(blocks * 256, 1, np.float32), cs.empty(blocks, np.float32)
    return processor_ns(lambda: module.tree_reduction[blocks, 256](d_in, d_out), blocks * 256, repeats)


def measure(quick: bool, repeats: int) -> dict[str, float]:
    """Nanoseconds of one core, by the name of the operation."""
    size = 64 if quick else 512
    total = 1 << 14 if quick else 1 << 22
    names = ["barriers", "shared_atomics", "shared_float_atomics", "naive_product", "tree_reduction"]
    module = cs.Module(SOURCE, name_expressions=[*names, *(f"tiled_product<{tile}>" for tile in TILES)])
    result = {f"barrier, block of {threads}": barrier(module, threads, total, repeats) for threads in BLOCKS}
    result["shared atomicAdd, unsigned"] = shared_atomic(module, "shared_atomics", np.uint32, total, repeats)
    result["shared atomicAdd, float"] = shared_atomic(
        module, "shared_float_atomics", np.float32, total, repeats
    )
    result[f"product of {size}x{size}, naive"] = product(module, 16, "naive_product", size, repeats)
    for tile in TILES:
        kernel = f"tiled_product<{tile}>"
        result[f"product of {size}x{size}, tiles of {tile}"] = product(module, tile, kernel, size, repeats)
    result["tree reduction"] = reduction(module, total, repeats)
    return result


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--quick", action="store_true", help="tiny sizes, which say nothing about speed")
    parser.add_argument("--repeats", type=int, default=5)
    options = parser.parse_args()
    with cs.Device("host:0"):
        result = measure(options.quick, options.repeats)
    if options.json:
        print(json.dumps(result, indent=2))
        return 0
    print("host:0, nanoseconds of one core for one operation")
    for name, nanoseconds in result.items():
        print(f"  {name:<36}{nanoseconds:8.2f}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
