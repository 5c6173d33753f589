"""Measures the cost of the simulated device on this machine, as ratios: python benchmarks/host.py [--json].

Commands per second, enqueued from Python and retired; nodes per second of a graph that is replayed; ``vec_add`` over
2^24 elements compared with NumPy's ``a + b``; barriers per second that the simulated threads of one core pass. The
numbers are medians of several runs, and compared numbers are measured in turn.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import time
from collections.abc import Callable

import numpy as np

import cuscope as cs

SOURCE = """
__global__ void vec_add(const float* a, const float* b, float* c, int n) {
    int i = blockDim.x * blockIdx.x + threadIdx.x;
    if (i < n) c[i] = a[i] + b[i];
}
__global__ void barriers(int* out, int count) {
    int sum = 0;
    for (int i = 0; i < count; ++i) {
        __syncthreads();
        sum += i;
    }
    if (sum == 0) out[threadIdx.x] = sum;
}
"""

KINDS = ("event record", "stream wait", "memset of 256 bytes", "copy of 256 bytes", "launch of 32 threads")


def seconds(work: Callable[[], object]) -> float:
    begin = time.perf_counter()
    work()
    return time.perf_counter() - begin


def commands(kind: str, count: int, repeats: int) -> float:
    """Commands a second: enqueued one by one, then waited for."""
    stream, other, event = cs.Stream(), cs.Stream(), cs.Event()
    data, pinned = cs.zeros(256, np.uint8), cs.pinned_empty(256, np.uint8)
    nothing = cs.Module("__global__ void nothing(int n) {}").nothing[1, 32, stream]
    event.record(other)

    def record() -> None:
        for _ in range(count):
            event.record(stream)

    def wait() -> None:
        for _ in range(count):
            stream.wait(event)

    def fill() -> None:
        for _ in range(count):
            data.fill(1, stream=stream)

    def copy() -> None:
        for _ in range(count):
            data.copy_from(pinned, stream=stream)

    def launch() -> None:
        for _ in range(count):
            nothing(1)

    enqueue = dict(zip(KINDS, (record, wait, fill, copy, launch), strict=True))[kind]

    def run() -> None:
        enqueue()
        stream.synchronize()

    run()
    return count / statistics.median(seconds(run) for _ in range(repeats))


def nodes(count: int, launches: int, repeats: int) -> float:
    """Nodes a second: a chain of kernels as a graph, launched so often and waited for."""
    stream = cs.Stream()
    nothing = cs.Module("__global__ void nothing(int n) {}").nothing[1, 32, stream]
    stream.begin_capture()
    for _ in range(count):
        nothing(1)
    exe = stream.end_capture().instantiate()

    def run() -> None:
        for _ in range(launches):
            exe.launch(stream)
        stream.synchronize()

    run()
    return count * launches / statistics.median(seconds(run) for _ in range(repeats))


def vec_add(module: cs.Module, repeats: int) -> dict[str, float]:
    """Milliseconds of a launch and a synchronisation, of NumPy's a + b, and the median of their ratios."""
    n = 1 << 24
    a, b = np.random.default_rng(0).random((2, n), dtype=np.float32)
    d_a, d_b, d_c = cs.to_device(a), cs.to_device(b), cs.empty(n, np.float32)

    def ours() -> None:
        module.vec_add[n // 256, 256](d_a, d_b, d_c, n)
        cs.synchronize()

    ours()
    pairs = [(seconds(ours), seconds(lambda: a + b)) for _ in range(repeats)]
    return {
        "cuscope_ms": statistics.median(pair[0] for pair in pairs) * 1e3,
        "numpy_ms": statistics.median(pair[1] for pair in pairs) * 1e3,
        "ratio": statistics.median(ours / numpy for ours, numpy in pairs),
    }


def barriers(module: cs.Module, cores: int, repeats: int) -> float:
    """Thread-barriers a second a core: a thread that passes a barrier is one."""
    threads, blocks, count = 256, 16 * cores, 500
    out = cs.zeros(threads, np.int32)

    def run() -> None:
        module.barriers[blocks, threads](out, count)
        cs.synchronize()

    run()
    return threads * blocks * count / statistics.median(seconds(run) for _ in range(repeats)) / cores


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--repeats", type=int, default=7)
    options = parser.parse_args()
    cores = len(os.sched_getaffinity(0))
    with cs.Device("host:0"):
        module = cs.Module(SOURCE)
        result = {
            "cores": cores,
            "commands_per_second": {kind: commands(kind, 20_000, options.repeats) for kind in KINDS},
            "nodes_per_second": nodes(1000, 50, options.repeats),
            "vec_add_2^24": vec_add(module, options.repeats),
            "thread_barriers_per_second_per_core": barriers(module, cores, options.repeats),
        }
    if options.json:
        print(json.dumps(result, indent=2))
        return
    print(f"host:0 on {cores} cores")
    for kind, rate in result["commands_per_second"].items():
        print(
            f"  {kind:<22}{rate / 300e3:8.2f} x 300,000 commands a second, enqueued from Python and retired"
        )
    rate = result["nodes_per_second"]
    print(f"  {'nodes of a graph':<22}{rate / 1e6:8.2f} x 1,000,000 nodes a second, replayed and retired")
    print(f"  {'vec_add of 2^24':<22}{result['vec_add_2^24']['ratio']:8.2f} x the time of NumPy's a + b")
    rate = result["thread_barriers_per_second_per_core"]
    print(f"  {'barriers':<22}{rate / 20e6:8.2f} x 20 million thread-barriers a second a core")


if __name__ == "__main__":
    main()
