"""Measures how much longer kernels take that are counted: python benchmarks/counting.py [--quick] [--json].

Milliseconds of one processor for a plain launch, for ``kernel.count()`` and for ``kernel.profile()``, and the ratios.
All kinds of launches take turns, after one of each. The numbers are medians of several rounds. They count processor
time, and the process stays on one processor, because a profile of a small grid uses others.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import time
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

import cuscope as cs
import executor

MORE = """
__global__ void mandelbrot(int* out, int n, int most) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    float cr = -2 + 3.0f * x / n, ci = -1.5f + 3.0f * y / n, zr = 0, zi = 0;
    int i = 0;
    for (; i < most && zr * zr + zi * zi < 4; ++i) {
        float next = zr * zr - zi * zi + cr;
        zi = 2 * zr * zi + ci;
        zr = next;
    }
    out[y * n + x] = i;
}
__global__ void copy(const float* x, float* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = x[i];
}
__global__ void axpy(float a, const float* x, float* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] += a * x[i];
}
__global__ void gather(const float* x, const unsigned* index, float* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = x[index[i]];
}
__global__ void strided_sums(const float* x, float* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = 0;
    for (int k = 0; k < 16; ++k) sum += x[i * 16 + k];
    y[i] = sum;
}
__global__ void stencil(const float* in, float* out, int n) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x == 0 || y == 0 || x == n - 1 || y == n - 1) return;
    const float* at = in + y * n + x;
    out[y * n + x] = 0.2f * (at[0] + at[-1] + at[1] + at[-n] + at[n]);
}
__global__ void transpose(const float* in, float* out, int n) {
    int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
    for (int k = 0; k < 32; k += 8) out[x * n + y + k] = in[(y + k) * n + x];
}
__global__ void shared_transpose(const float* in, float* out, int n) {
    __shared__ float tile[32][33];
    int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
    for (int k = 0; k < 32; k += 8) tile[threadIdx.y + k][threadIdx.x] = in[(y + k) * n + x];
    __syncthreads();
    x = blockIdx.y * 32 + threadIdx.x, y = blockIdx.x * 32 + threadIdx.y;
    for (int k = 0; k < 32; k += 8) out[(y + k) * n + x] = tile[threadIdx.x][threadIdx.y + k];
}
__global__ void histogram(const unsigned* in, unsigned* bins, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) atomicAdd(&bins[in[i] & 255], 1u);
}
__global__ void shared_histogram(const unsigned* in, unsigned* bins, int n) {
    __shared__ unsigned mine[256];
    mine[threadIdx.x] = 0;
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        atomicAdd(&mine[in[i] & 255], 1u);
    __syncthreads();
    atomicAdd(&bins[threadIdx.x], mine[threadIdx.x]);
}
"""


class Launch(NamedTuple):
    kernel: str
    arguments: tuple[Any, ...]
    grid: int | tuple[int, int]
    block: int | tuple[int, int]


def launches(quick: bool) -> list[Launch]:
    """Every kernel for a square of so many elements; the products for a quarter of its width."""
    width = 64 if quick else 1024
    side = width // 4 if not quick else 32
    size = width * width
    random = np.random.default_rng(0)
    x = cs.to_device(random.random(size, dtype=np.float32))
    y, bins = cs.zeros(size, np.float32), cs.zeros(256, np.uint32)
    numbers = cs.to_device(random.integers(0, size, size, dtype=np.uint32))
    a, b = x[: side * side], x[size - side * side :]
    blocks = size // 256
    plane = (width // 16, width // 16)
    image = cs.zeros(side * side, np.int32)
    return [
        Launch("mandelbrot", (image, side, 200), (side // 16, side // 16), (16, 16)),
        Launch("tree_reduction", (x, y), blocks, 256),
        Launch("naive_product", (a, b, y, side), (side // 16, side // 16), (16, 16)),
        Launch("tiled_product<32>", (a, b, y, side), (side // 32, side // 32), (32, 32)),
        Launch("copy", (x, y, size), blocks, 256),
        Launch("axpy", (2.0, x, y, size), blocks, 256),
        Launch("gather", (x, numbers, y, size), blocks, 256),
        Launch("strided_sums", (x, y, size), blocks // 16, 256),
        Launch("stencil", (x, y, width), plane, (16, 16)),
        Launch("transpose", (x, y, width), (width // 32, width // 32), (32, 8)),
        Launch("shared_transpose", (x, y, width), (width // 32, width // 32), (32, 8)),
        Launch("histogram", (numbers, bins, size), blocks, 256),
        Launch("shared_histogram", (numbers, bins, size), max(1, blocks // 32), 256),
    ]


def processor_ms(work: Callable[[], object]) -> float:
    begin = time.process_time_ns()
    work()
    cs.synchronize()
    return (time.process_time_ns() - begin) / 1e6


def measure(quick: bool, repeats: int) -> dict[str, dict[str, float]]:
    """Milliseconds by kernel, for a launch, a count and a profile."""
    result = {}
    made = launches(quick)
    module = cs.Module(executor.SOURCE + MORE, name_expressions=[launch.kernel for launch in made])
    for launch in made:
        kernel = module[launch.kernel]
        kinds = {
            kind: (lambda call=call, it=launch: call(*it.arguments, grid=it.grid, block=it.block))
            for kind, call in (
                ("launch", kernel.launch),
                ("count", kernel.count),
                ("profile", kernel.profile),
            )
        }
        for work in kinds.values():
            processor_ms(work)
        rounds = [{kind: processor_ms(work) for kind, work in kinds.items()} for _ in range(repeats)]
        result[launch.kernel] = {kind: statistics.median(r[kind] for r in rounds) for kind in kinds}
    return result


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--quick", action="store_true", help="tiny sizes, which say nothing about speed")
    parser.add_argument("--repeats", type=int, default=7)
    options = parser.parse_args()
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    with cs.Device("host:0"):
        result = measure(options.quick, options.repeats)
    if options.json:
        print(json.dumps(result, indent=2))
        return 0
    print("host:0, milliseconds of one processor, and times as long as a launch")
    print(f"  {'':<18}{'launch':>9}{'count':>10}{'':>8}{'profile':>12}")
    for name, its in result.items():
        plain, counted, profiled = its["launch"], its["count"], its["profile"]
        print(
            f"  {name:<18}{plain:9.2f}{counted:10.2f}{counted / plain:7.1f}x{profiled:11.2f}{profiled / plain:7.1f}x"
        )
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
