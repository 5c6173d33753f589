"""Memory nodes, programmatic edges, and memory that is freed while a graph needs it."""

from __future__ import annotations

import gc
import threading

import numpy as np
import pytest

import cuscope as cs
from support import module

SOURCE = r"""
__global__ void add(int* x, int v) { x[threadIdx.x] += v; }
__global__ void set(int* x, int v) { x[threadIdx.x] = v; }
__global__ void append(int* log, int* count, int id) { log[atomicAdd(count, 1)] = id; }
__global__ void spin(long long ns) {
  unsigned long long t0, t;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(t0));
  do { asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(t)); } while ((long long)(t - t0) < ns);
}
"""


@pytest.fixture
def kernels(device):
    return module(device, SOURCE)


@pytest.fixture
def x(device):
    return cs.zeros(4, np.int32)


# ---- memory of graphs


def test_memory_of_a_node_is_for_the_nodes_behind_it(device, kernels):
    y = cs.zeros(4, np.int32)
    g = cs.Graph()
    made, x = g.add_alloc(4, np.int32)
    filled = g.add_memset(x, 0, after=made)
    added = g.add_kernel(kernels.add[1, 4], args=(x, 5), after=filled)
    copied = g.add_copy(y, x, after=added)
    freed = g.add_free(x, after=copied)
    assert (made.type, made.params["nbytes"], freed.params["pointer"]) == ("alloc", 16, x.pointer)
    exe = g.instantiate()
    for _ in range(3):
        y.fill(0)
        exe.launch()
        assert y.to_host()[0] == 5


def test_memory_that_is_not_freed_forbids_another_launch(device):
    g, freeing = cs.Graph(), cs.Graph()
    made, x = g.add_alloc(4, np.int32)
    g.add_memset(x, 7, after=made)
    freeing.add_free(x)
    exe, free = g.instantiate(), freeing.instantiate()
    exe.launch()
    assert x.to_host()[0] == 7
    with pytest.raises(cs.CudaError, match="cudaErrorInvalidValue"):
        exe.launch()
    free.launch()
    exe.launch()
    free.launch()
    device.synchronize()


def test_memory_is_freed_by_itself_where_the_executable_says_so(device):
    g = cs.Graph()
    g.add_alloc(1 << 20)
    exe = g.instantiate(auto_free_on_launch=True)
    assert exe.flags == 1
    for _ in range(5):
        exe.launch()
    device.synchronize()


def test_invalid_frees_allocations_and_clones_of_memory_nodes_are_refused(device):
    g = cs.Graph()
    made, x = g.add_alloc(4)
    g.add_free(x, after=made)
    with pytest.raises(cs.CudaError):
        g.add_free(x, after=made)
    with pytest.raises(cs.CudaError):
        g.add_free(cs.zeros(4))
    with pytest.raises(cs.CudaError):
        g.add_alloc(0)
    with pytest.raises(cs.CudaError):
        g.clone()
    with pytest.raises(cs.CudaError):
        made.destroy()


def test_a_graph_that_allocates_or_decides_has_one_executable_at_a_time(device):
    allocates, decides = cs.Graph(), cs.Graph()
    allocates.add_alloc(4)
    decides.add_if(decides.conditional_handle())
    for g in (allocates, decides):
        exe = g.instantiate()
        with pytest.raises(cs.CudaError):
            g.instantiate()
        exe.close()
        g.instantiate()


def test_captured_allocations_are_nodes(device, kernels):
    y, stream = cs.zeros(4, np.int32), cs.Stream()
    with stream.capture() as g:
        x = stream.malloc_async(4, np.int32)
        kernels.set[1, 4](x, 5)
        y.copy_from(x)
        stream.free_async(x)
    assert [node.type for node in g.nodes] == ["alloc", "kernel", "copy", "free"]
    assert g.nodes[3].dependencies == [g.nodes[2]]
    exe = g.instantiate()
    for _ in range(3):
        y.fill(0, stream=stream)
        exe.launch(stream)
        assert y.to_host(stream=stream).tolist() == [5] * 4


def test_memory_that_a_launch_allocated_is_freed_in_a_stream(device):
    stream = cs.Stream()
    with stream.capture() as g:
        x = stream.malloc_async(4, np.int32)
        x.fill(3)
    exe = g.instantiate()
    for _ in range(3):
        exe.launch(stream)
        assert x.to_host(stream=stream).tolist() == [3] * 4
        stream.free_async(x)


def test_captured_memory_can_be_freed_by_another_capture(device):
    stream = cs.Stream()
    with stream.capture() as allocating:
        x = stream.malloc_async(4, np.int32)
        x.fill(3)
    with stream.capture() as freeing:
        stream.free_async(x)
    allocate, free = allocating.instantiate(), freeing.instantiate()
    for _ in range(3):
        allocate.launch(stream)
        free.launch(stream)
    stream.synchronize()


def test_allocations_of_a_forked_stream_are_nodes_of_the_graph(device):
    stream, other = cs.Stream(), cs.Stream()
    with stream.capture() as g:
        other.wait(stream)
        x = other.malloc_async(4)
        other.free_async(x)
        stream.wait(other)
    assert [node.type for node in g.nodes] == ["alloc", "free"]


def test_streams_allocate_in_captures_alone_and_free_memory_of_graphs_alone(device):
    stream = cs.Stream()
    with pytest.raises(ValueError, match=r"not being captured; cs\.empty"):
        stream.malloc_async(4)
    with pytest.raises(ValueError, match="frees only memory that a node of a graph allocates"):
        stream.free_async(cs.empty(4))
    with stream.capture() as g:
        with pytest.raises(ValueError, match="one byte or more"):
            stream.malloc_async(0)
        x = stream.malloc_async(4)
        with pytest.raises(ValueError, match="a part of its allocation"):
            stream.free_async(x[1:])
        stream.free_async(x)
    assert len(g.nodes) == 2


def test_memory_is_not_freed_twice(device):
    stream = cs.Stream()
    with stream.capture() as g:
        x = stream.malloc_async(4)
    exe = g.instantiate()
    with pytest.raises(cs.CudaError, match="cudaErrorInvalidValue"):
        stream.free_async(x)  # no launch has allocated the memory yet
    exe.launch(stream)
    stream.free_async(x)
    with pytest.raises(cs.CudaError, match="cudaErrorInvalidValue"):
        stream.free_async(x)
    exe.launch(stream)
    stream.free_async(x)


@pytest.mark.host_only("the address is the simulation's choice")
def test_memory_of_nodes_comes_back(device, settled):
    before = device.memory_info().free
    for _ in range(50):
        g = cs.Graph()
        g.add_alloc(1 << 20)
        exe = g.instantiate(auto_free_on_launch=True)
        exe.launch()
        del g, exe
    settled()
    cs.Graph().add_alloc(4)
    gc.collect()
    assert before - device.memory_info().free <= 1 << 21


# ---- programmatic edges


TRIGGERS = r"""
__global__ void first(int* x) { x[0] += 1; cudaTriggerProgrammaticLaunchCompletion(); }
__global__ void second(int* x) { cudaGridDependencySynchronize(); x[1] = x[0]; }
"""


def test_a_programmatic_launch_is_captured_as_such_an_edge(device):
    mod = module(device, TRIGGERS)
    x, s = cs.zeros(2, np.int32), cs.Stream()
    with s.capture() as graph:
        mod.first[1, 1](x)
        mod.second.launch(x, grid=1, block=1, programmatic=True)
    assert graph.programmatic_edges == graph.edges == [tuple(graph.nodes)]
    exe = graph.instantiate()
    for i in range(3):
        exe.launch(s)
        assert x.to_host(stream=s).tolist() == [i + 1, i + 1]


@pytest.mark.host_only("a simulated device's times show the overlap")
def test_a_programmatic_edge_overlaps_in_simulated_time(device):
    mod = module(device, TRIGGERS)
    x, s = cs.zeros(2, np.int32), cs.Stream()

    def time(programmatic):
        g = cs.Graph()
        a = g.add_kernel(mod.first.configure(grid=1, block=1, duration=100e-6), args=(x,))
        b = g.add_kernel(mod.second.configure(grid=1, block=1, duration=100e-6), args=(x,))
        g.add_dependency(a, b, programmatic=programmatic)
        exe = g.instantiate()
        exe.launch(s)
        s.synchronize()
        begin = cs.clock()
        exe.launch(s)
        s.synchronize()
        return cs.clock() - begin

    assert time(True) < time(False)


def test_a_host_node_runs_while_the_program_waits_for_it_without_a_call(device):
    done, g = threading.Event(), cs.Graph()
    g.add_host(done.set, after=g.add_empty())
    g.instantiate().launch(cs.Stream())
    assert done.wait(20)


@pytest.mark.host_only("a GPU would be lost, and is not asked twice")
def test_memory_that_was_freed_under_a_graph_is_an_illegal_address(run_python):
    source = """
    import ctypes
    from cuscope import _core
    c = _core.contract("host:0")
    _, p = c.malloc(1 << 20)
    _, h = c.host_alloc(1 << 20)
    _, g = c.graph_create(0)
    c.graph_add_node(g, {"type": 1, "destination": p, "source": h, "bytes": 1 << 20})
    _, exe, *_ = c.graph_instantiate(g, 0)
    print(c.graph_launch(exe, 0), c.device_synchronize())
    c.free(p)
    print(c.graph_launch(exe, 0), c.device_synchronize())
    """
    process = run_python(source)
    assert process.stdout.split() == [
        "cudaSuccess", "cudaSuccess", "cudaSuccess", "cudaErrorIllegalAddress",
    ], process.stderr  # fmt: skip


def test_a_reset_takes_graphs_and_their_memory_along(run_python, device):
    source = f"""
    import gc
    import cuscope as cs
    device = cs.Device("{device.name}")
    with device:
        g = cs.Graph()
        made, x = g.add_alloc(1 << 20)
        g.add_memset(x, 1, after=made)
        exe = g.instantiate()
        exe.launch()
        device.reset()
        for use in (lambda: g.nodes, exe.launch, lambda: made.params, lambda: exe.update(cs.Graph())):
            try:
                use()
            except ValueError as error:
                assert "reset" in str(error), error
            else:
                raise AssertionError("it was used")
        del g, exe, made, x
        gc.collect()
        for _ in range(3):
            g = cs.Graph()
            made, x = g.add_alloc(1 << 20)
            g.add_memset(x, 3, after=made)
            exe = g.instantiate(auto_free_on_launch=True)
            exe.launch()
            assert (x.to_host() == 3).all()
            del g, exe
    print("done")
    """
    process = run_python(source)
    assert process.stdout.split() == ["done"], process.stderr
