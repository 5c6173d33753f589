"""The simulated time of a kernel comes from counts of some of its blocks; nothing else about a launch changes."""

from __future__ import annotations

import os
import subprocess
import sys

import numpy as np
import pytest

import cuscope as cs

pytestmark = [
    pytest.mark.host_only("a real GPU measures times"),
    pytest.mark.usefixtures("times_from_counts"),
]

SOURCE = r"""
__global__ void copy(const float* in, float* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = in[i];
}
__global__ void gather(const float* in, float* out, int n, int stride) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = in[(long long)i * stride % n];
}
"""

VARIED = r"""
__constant__ float factors[4] = {1, 2, 3, 4};

__global__ void scale(float* x, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[i] *= factors[i % 4];
}
__global__ void add_all(const float* x, float* sum) {
    atomicAdd(sum, x[blockIdx.x * blockDim.x + threadIdx.x]);
}
__global__ void turn(const float* in, float* out, int n) {
    __shared__ float tile[32][33];
    extern __shared__ float more[];
    int column = blockIdx.x * 32 + threadIdx.x, row = blockIdx.y * 32 + threadIdx.y;
    tile[threadIdx.y][threadIdx.x] = in[row * n + column];
    more[threadIdx.y * 32 + threadIdx.x] = 1;
    __syncthreads();
    out[(blockIdx.x * 32 + threadIdx.y) * n + blockIdx.y * 32 + threadIdx.x] =
        tile[threadIdx.x][threadIdx.y] + more[threadIdx.x];
}
__global__ void sum_of_warp(int* out) {
    int value = threadIdx.x;
    for (int d = 16; d > 0; d /= 2) value += __shfl_down_sync(~0u, value, d);
    if (threadIdx.x % 32 == 0) out[blockIdx.x * blockDim.x / 32 + threadIdx.x / 32] = value;
}
__global__ void ticket(int* log, int* count) { if (threadIdx.x == 0) log[atomicAdd(count, 1)] = blockIdx.x; }
"""


@pytest.fixture
def model():
    """A device of its own, whose clock begins at 0."""
    with cs.add_host_device("h200") as device:
        yield device


def seconds(kernel: cs.Kernel, grid: object, block: object, *arguments: object, **others: object) -> float:
    stream = cs.Stream()
    cs.synchronize()
    start = stream.record()
    kernel.launch(*arguments, grid=grid, block=block, stream=stream, **others)
    stop = stream.record()
    stream.synchronize()
    return (stop - start) / 1e3


def test_distant_elements_take_longer_than_neighbours(model):
    n = 1 << 22
    x, y = cs.zeros(n, np.float32), cs.zeros(n, np.float32)
    gather = cs.Module(SOURCE).gather

    times = [seconds(gather, n // 256, 256, x, y, n, stride) for stride in (1, 2, 8, 32)]

    assert times == sorted(times)
    assert times[-1] > 2 * times[0]


def test_later_launches_of_a_shape_take_the_same_time(model):
    n = 1 << 20
    x, y = cs.zeros(n, np.float32), cs.zeros(n, np.float32)
    copy = cs.Module(SOURCE).copy

    times = {seconds(copy, n // 256, 256, x, y, n) for _ in range(3)}

    assert len(times) == 1


def test_every_run_gives_the_same_times(model):
    n = 1 << 20
    times = []
    for _ in range(4):
        with cs.add_host_device("h200"):
            x, y = cs.zeros(n, np.float32), cs.zeros(n, np.float32)
            kernel = cs.Module(SOURCE).gather
            began = cs.clock()
            # Without a wait between them: the second launch is issued before the first one has been counted.
            start = cs.Event().record()
            for stride in (1, 1, 32, 1):
                kernel.launch(x, y, n, stride, grid=n // 256, block=256)
            stop = cs.Event().record()
            stop.synchronize()
            times.append((stop - start, round(cs.clock() - began, 9)))

    # Work of earlier tests may delay the first run.
    assert times[1:] == [times[1]] * 3


def test_numbers_among_the_arguments_make_shapes(model):
    x, y = cs.zeros(1 << 20, np.float32), cs.zeros(1 << 20, np.float32)
    copy = cs.Module(SOURCE).copy

    few, all_ = (seconds(copy, 4096, 256, x, y, n) for n in (1, 1 << 20))

    assert few < all_


@pytest.mark.parametrize("source", ["counts", "bytes"])
def test_results_do_not_depend_on_the_source_of_times(model, monkeypatch, source):
    monkeypatch.setenv("CUSCOPE_KERNEL_TIME", source)
    module = cs.Module(VARIED)
    data = np.random.default_rng(0).random(1 << 16, dtype=np.float32)

    x = cs.to_device(data)
    module.scale[256, 256](x, x.size)
    total = cs.zeros(1, np.float32)
    module.add_all[256, 256](cs.to_device(data), total)
    square = cs.to_device(data.reshape(256, 256))
    turned = cs.zeros((256, 256), np.float32)
    module.turn.launch(square, turned, 256, grid=(8, 8), block=(32, 32), shared=4096)
    sums = cs.zeros(512, np.int32)
    module.sum_of_warp[256, 64](sums)
    log, count = cs.zeros(256, np.int32), cs.zeros(1, np.int32)
    module.ticket[256, 32](log, count)

    expected = np.float32(0)
    for value in data:  # atomic operations take the blocks and threads in order
        expected += value
    assert np.array_equal(x.to_host(), data * np.tile(np.float32([1, 2, 3, 4]), data.size // 4))
    assert total.to_host()[0] == expected
    assert np.array_equal(turned.to_host(), data.reshape(256, 256).T + 1)
    assert np.array_equal(sums.to_host().reshape(-1, 2), np.tile([496, 496 + 1024], (256, 1)))
    assert np.array_equal(log.to_host(), np.arange(256))


def test_constants_of_the_host_reach_counted_blocks(model):
    module = cs.Module(VARIED)
    module.symbol("factors", np.float32, 4).copy_from(np.float32([5, 6, 7, 8]))
    x = cs.full(1024, 1, np.float32)

    module.scale[4, 256](x, x.size)

    assert np.array_equal(x.to_host(), np.tile(np.float32([5, 6, 7, 8]), 256))


def test_given_duration_wins(model):
    x = cs.zeros(1 << 20, np.float32)
    copy = cs.Module(SOURCE).copy

    assert 0.25 <= seconds(copy, 4096, 256, x, x, x.size, duration=0.25) < 0.2501


def test_bytes_of_arguments_give_times_on_request(model, monkeypatch):
    monkeypatch.setenv("CUSCOPE_KERNEL_TIME", "bytes")
    n = 1 << 22
    x, y = cs.zeros(n, np.float32), cs.zeros(n, np.float32)
    gather = cs.Module(SOURCE).gather

    assert len({seconds(gather, n // 256, 256, x, y, n, stride) for stride in (1, 2, 8, 32)}) == 1


def test_unknown_source_of_times_is_refused(model, monkeypatch):
    monkeypatch.setenv("CUSCOPE_KERNEL_TIME", "ideas")
    x = cs.zeros(256, np.float32)

    with pytest.raises(ValueError, match="CUSCOPE_KERNEL_TIME is 'ideas': allowed are 'counts'"):
        cs.Module(SOURCE).copy[1, 256](x, x, 256)


def test_kernels_of_graphs_take_as_long_as_launches(model):
    n = 1 << 22
    x, y = cs.zeros(n, np.float32), cs.zeros(n, np.float32)
    gather = cs.Module(SOURCE).gather
    stream = cs.Stream()
    with stream.capture() as captured:
        for _ in range(10):
            gather[n // 256, 256, stream](x, y, n, 32)
    graph = captured.instantiate()

    def time_of_graph() -> float:
        start = stream.record()
        graph.launch(stream)
        stop = stream.record()
        stream.synchronize()
        return (stop - start) / 1e3

    first = time_of_graph()
    alone = seconds(gather, n // 256, 256, x, y, n, 32)

    assert first == pytest.approx(10 * alone, rel=0.1)
    assert time_of_graph() == pytest.approx(first, rel=0.01)


def test_kernels_of_a_graph_take_the_same_time_in_each_launch(model):
    """Also in the first one, which has to run each kernel to find the time, and in graphs that are made later."""
    n = 1 << 12
    x, y, stream = cs.zeros(n, np.float32), cs.empty(n, np.float32), cs.Stream()
    copy = cs.Module(SOURCE).copy[n // 256, 256, stream]

    def graph() -> cs.GraphExec:
        with stream.capture() as captured:
            for _ in range(5):
                copy(x, y, n)
        return captured.instantiate()

    def kernels(executable: cs.GraphExec) -> list[list[int]]:
        with cs.trace() as t:
            executable.launch(stream)
            stream.synchronize()
        found = t.spans[t.spans["kind"] == "kernel"]
        return np.stack([found["end"] - found["start"], found["start"] - found["start"][0]]).tolist()

    before = graph()
    first, second = kernels(before), kernels(before)
    copy(x, y, n)
    stream.synchronize()
    after = kernels(graph())
    least = cs.model("h200").graph_kernel_ns  # of a kernel in a graph; this one waits for memory once
    assert least < first[0][0] < least + 500
    assert first[0] == [first[0][0]] * 5
    assert second == after == first


def times_of_streams_and_graphs() -> bytes:
    """Begins and ends of kernels whose times are found while other launches of them are under way."""
    n = 1 << 14
    streams = [cs.Stream() for _ in range(4)]
    arrays = [cs.zeros(n, np.float32) for _ in range(5)]
    module = cs.Module(SOURCE)
    with cs.trace() as t:
        for i in range(20):
            for stream, x in zip(streams, arrays, strict=False):
                module.copy[1 + i % 5, 64, stream](x, arrays[4], 64)
                module.gather[n // 256, 256, stream](x, arrays[4], n, 7)
        with streams[0].capture() as graph:
            for _ in range(10):
                module.copy[4, 32, streams[0]](arrays[0], arrays[4], 100)
        executable = graph.instantiate()
        for stream in streams[:2]:
            executable.launch(stream)
        cs.synchronize()
    work = t.spans[t.spans["kind"] == "kernel"]
    return np.stack([work["start"], work["end"]]).tobytes()


def test_times_that_are_found_meanwhile_are_the_same_on_every_run():
    found = set()
    for _ in range(4):
        with cs.add_host_device("h200"):
            found.add(times_of_streams_and_graphs())
    assert len(found) == 1


def test_kernel_that_is_added_to_a_graph_takes_as_long_as_a_launch(model):
    n = 1 << 22
    x, y = cs.zeros(n, np.float32), cs.zeros(n, np.float32)
    gather = cs.Module(SOURCE).gather
    stream = cs.Stream()
    graph = cs.Graph()
    last = graph.add_kernel(gather[n // 256, 256], args=(x, y, n, 32))
    for _ in range(9):
        last = graph.add_kernel(gather[n // 256, 256], args=(x, y, n, 32), after=[last])
    executable = graph.instantiate()
    cs.synchronize()

    start = stream.record()
    executable.launch(stream)
    stop = stream.record()
    stream.synchronize()

    alone = seconds(gather, n // 256, 256, x, y, n, 32)
    assert (stop - start) / 1e3 == pytest.approx(10 * alone, rel=0.1)


def test_kernel_of_an_image_takes_the_time_of_its_bytes(model, tmp_path):
    n = 1 << 22
    x, y = cs.zeros(n, np.float32), cs.zeros(n, np.float32)
    path = tmp_path / "kernels.image"
    path.write_bytes(cs.Module(SOURCE).image)
    gather = cs.Module.from_file(path).gather

    assert len({seconds(gather, n // 256, 256, x, y, n, stride) for stride in (1, 32)}) == 1


def test_fault_in_a_counted_block_names_the_line(model):
    module = cs.Module("__global__ void f(int* p) {\n    if (blockIdx.x == 0)\n        p[1LL << 40] = 1;\n}")
    x = cs.zeros(64, np.int32)
    module.f[64, 32](x)

    with pytest.raises(cs.CudaError, match=r"kernel 'f', block \(0,0,0\), thread .*kernel.cu:3"):
        cs.synchronize()


def test_blocks_that_wait_for_each_other_are_counted_too(model):
    module = cs.Module(r"""
    __global__ void meet(unsigned* arrived, int* out) {
        if (threadIdx.x == 0) {
            atomicAdd(arrived, 1);
            while (atomicAdd(arrived, 0) < gridDim.x) { }
        }
        __syncthreads();
        out[blockIdx.x * blockDim.x + threadIdx.x] = 1;
    }""")
    arrived, out = cs.zeros(1, np.uint32), cs.zeros(64 * 32, np.int32)

    module.meet[64, 32](arrived, out)

    assert out.to_host().all()


PROGRAM = r"""
import numpy as np, cuscope as cs
with cs.Device("host:0"):
    x = cs.zeros(1 << 20, np.float32)
    start = cs.Event().record()
    mod = cs.Module("__global__ void f(float* x) { x[blockIdx.x * 256 + threadIdx.x] += 1; }")
    mod.f[4096, 256](x)
    stop = cs.Event().record()
    stop.synchronize()
    print(stop - start, cs.clock())
"""


@pytest.mark.own_process
def test_times_do_not_depend_on_how_long_compiling_takes(tmp_path):
    def run() -> str:
        environment = {**os.environ, "CUSCOPE_CACHE_DIR": str(tmp_path)}
        command = [sys.executable, "-c", PROGRAM]
        return subprocess.run(command, env=environment, check=True, capture_output=True, text=True).stdout

    compiled, kept = run(), run()

    assert compiled == kept
