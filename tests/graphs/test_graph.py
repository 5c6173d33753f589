"""Graphs built node by node, calls that they refuse, and their executables."""

from __future__ import annotations

import os
import threading

import numpy as np
import pytest

import cuscope as cs
from support import module

SCALE = float(os.environ.get("CUSCOPE_TEST_SCALE", "1"))
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
CONDITIONS = r"""
__global__ void down(cudaGraphConditionalHandle h, int* left) {
  *left -= 1;
  cudaGraphSetConditional(h, *left > 0);
}
__global__ void choose(cudaGraphConditionalHandle h, const int* which) { cudaGraphSetConditional(h, *which); }
__global__ void add(int* x, int v) { *x += v; }
"""


@pytest.fixture
def kernels(device):
    return module(device, SOURCE)


@pytest.fixture
def conditions(device):
    return module(device, CONDITIONS)


@pytest.fixture
def x(device):
    return cs.zeros(4, np.int32)


def test_every_node_has_its_type_and_parameters(device, kernels, x):
    g, event = cs.Graph(), cs.Event()
    host = np.zeros(4, np.int32)
    child = cs.Graph()
    child.add_empty()
    nodes = [
        g.add_kernel(kernels.add, grid=2, block=4, args=(x, 1), shared=16),
        g.add_copy(x, host),
        g.add_memset(x, 7),
        g.add_host(print),
        g.add_empty(),
        g.add_event_record(event),
        g.add_event_wait(event),
        g.add_child(child),
        g.add_batch_mem_op([cs.MemoryBarrier()]),
    ]
    assert [n.type for n in nodes] == [
        "kernel", "copy", "memset", "host", "empty", "event_record", "event_wait", "child", "batch_mem_op",
    ]  # fmt: skip
    assert nodes[0].params == {"kernel": "add", "grid": (2, 1, 1), "block": (4, 1, 1), "shared": 16}
    assert nodes[1].params["extent"] == (16, 1, 1)
    assert nodes[2].params["value"] == 7
    assert nodes[5].params == nodes[6].params == {"event": event.handle}
    assert [n.type for n in nodes[7].bodies[0].nodes] == ["empty"]
    assert nodes[8].params == {"operations": [{"operation": "barrier", "scope": "system"}]}
    assert g.nodes == nodes
    assert all(n.graph.nodes == nodes for n in nodes)


def test_nodes_list_the_nodes_that_they_wait_for(device):
    g = cs.Graph()
    a = g.add_empty()
    b, c = g.add_empty(after=a), g.add_empty(after=[a])
    d = g.add_empty(after=(b, c))
    assert g.roots == [a]
    assert (a.dependencies, set(a.dependents)) == ([], {b, c})
    assert (set(d.dependencies), d.dependents) == ({b, c}, [])
    assert set(g.edges) == {(a, b), (a, c), (b, d), (c, d)}


def test_edges_come_and_go(device):
    g = cs.Graph()
    a, b = g.add_empty(), g.add_empty()
    g.add_dependency(a, b)
    assert g.edges == [(a, b)]
    g.remove_dependency(a, b)
    assert g.edges == []


def test_edges_that_close_a_cycle_exist_already_or_leave_the_graph_are_refused(device):
    g, other = cs.Graph(), cs.Graph()
    a = g.add_empty()
    b = g.add_empty(after=a)
    c = g.add_empty(after=b)
    foreign = other.add_empty()
    for before, later in [(a, a), (c, a), (b, a)]:
        with pytest.raises(ValueError, match="cycle"):
            g.add_dependency(before, later)
    with pytest.raises(cs.CudaError, match="cudaErrorInvalidValue"):
        g.add_dependency(a, b)
    with pytest.raises(cs.CudaError, match="cudaErrorInvalidValue"):
        g.remove_dependency(a, c)
    with pytest.raises(cs.CudaError, match="cudaErrorInvalidValue"):
        g.add_empty(after=[a, a])
    with pytest.raises(ValueError, match="another graph"):
        g.add_dependency(a, foreign)
    with pytest.raises(ValueError, match="another graph"):
        g.add_empty(after=foreign)
    assert set(g.edges) == {(a, b), (b, c)}


def test_a_destroyed_node_is_gone_with_its_edges(device):
    g = cs.Graph()
    a = g.add_empty()
    b = g.add_empty(after=a)
    c = g.add_empty(after=b)
    b.destroy()
    assert (g.nodes, g.edges) == ([a, c], [])
    with pytest.raises(ValueError, match="destroyed"):
        b.destroy()
    with pytest.raises(ValueError, match="destroyed"):
        g.add_empty(after=b)


def test_wrong_arguments_are_named(device, kernels, x):
    g = cs.Graph()
    with pytest.raises(TypeError, match="after"):
        g.add_empty(after=3)
    with pytest.raises(TypeError, match="kernel"):
        g.add_kernel(print, grid=1, block=1)
    with pytest.raises(TypeError, match="grid"):
        g.add_kernel(kernels.add, args=(x, 1))
    with pytest.raises(TypeError, match="add"):
        g.add_kernel(kernels.add[1, 1], args=(x,))
    with pytest.raises(TypeError, match="destination"):
        g.add_copy(3, x)
    with pytest.raises(ValueError, match="shape"):
        g.add_copy(x, np.zeros(5, np.int32))
    with pytest.raises(ValueError, match="dtype"):
        g.add_copy(x, np.zeros(4, np.float32))
    with pytest.raises(TypeError, match="callable"):
        g.add_host(3)
    assert g.nodes == []


@pytest.mark.host_only("when a GPU looks at a node's size was not asked of one")
def test_a_kernel_that_no_device_runs_is_no_node(device, kernels, x):
    g = cs.Graph()
    with pytest.raises(cs.CudaError, match="cudaErrorInvalidValue"):
        g.add_kernel(kernels.add, grid=1, block=5000, args=(x, 1))
    assert g.nodes == []


def test_an_executable_runs_on_its_device(device):
    other = cs.add_host_device("k20x")
    with pytest.raises(ValueError, match="use a stream of the executable's device"):
        cs.Graph().instantiate().launch(cs.Stream(device=other))


def test_a_clone_is_a_graph_of_its_own(device, kernels, x):
    g = cs.Graph()
    a = g.add_kernel(kernels.add[1, 4], args=(x, 1))
    copy = g.clone()
    g.add_empty(after=a)
    assert (len(g.nodes), len(copy.nodes)) == (2, 1)
    twin = copy.find_clone(a)
    assert twin == copy.nodes[0]
    assert twin != a
    g.close()
    copy.instantiate().launch()
    assert x.to_host()[0] == 1


def test_copies_of_one_two_and_three_dimensions(device):
    rng = np.random.default_rng(0)
    for shape, part in [
        ((40,), np.s_[4:30]),
        ((12, 20), np.s_[2:7, 3:11]),
        ((5, 8, 12), np.s_[1:4, 2:6, 4:9]),
    ]:
        host = rng.integers(0, 100, shape).astype(np.int32)
        array = cs.zeros(shape, np.int32)
        back = np.zeros(shape, np.int32)
        device.synchronize()
        g = cs.Graph()
        up = g.add_copy(array[part], host[part])
        g.add_copy(back, array, after=up)
        g.instantiate().launch()
        device.synchronize()
        expected = np.zeros(shape, np.int32)
        expected[part] = host[part]
        assert np.array_equal(back, expected)


def test_a_module_variable_is_copied_to(device):
    mod = cs.Module(
        "__device__ int var[4]; __global__ void read(int* x) { x[threadIdx.x] = var[threadIdx.x]; }"
    )
    x = cs.zeros(4, np.int32)
    g = cs.Graph()
    copy = g.add_copy(mod.symbol("var", np.int32), np.arange(4, dtype=np.int32))
    g.add_kernel(mod.read[1, 4], args=(x,), after=copy)
    g.instantiate().launch()
    assert x.to_host().tolist() == [0, 1, 2, 3]


@pytest.mark.parametrize("dtype", [np.int8, np.int16, np.int32, np.float32])
def test_memsets_of_every_width(device, dtype):
    x = cs.zeros(33, dtype)
    g = cs.Graph()
    g.add_memset(x, 5)
    g.instantiate().launch()
    assert (x.to_host() == 5).all()


def test_a_while_runs_until_a_kernel_says_stop(device, conditions):
    left, rounds = cs.full(1, 5, np.int32), cs.zeros(1, np.int32)
    g = cs.Graph()
    handle = g.conditional_handle(default=1)
    loop = g.add_while(handle)
    body = loop.bodies[0]
    a = body.add_kernel(conditions.add[1, 1], args=(rounds, 1))
    body.add_kernel(conditions.down[1, 1], args=(handle, left), after=a)
    g.add_kernel(conditions.add[1, 1], args=(rounds, 100), after=loop)
    exe = g.instantiate()
    exe.launch()
    assert (left.to_host()[0], rounds.to_host()[0]) == (0, 105)
    left.fill(3)
    exe.launch()
    assert (left.to_host()[0], rounds.to_host()[0]) == (0, 208)


def test_an_if_runs_one_of_two(device, conditions):
    which, x = cs.zeros(1, np.int32), cs.zeros(1, np.int32)
    g = cs.Graph()
    handle = g.conditional_handle()
    look = g.add_kernel(conditions.choose[1, 1], args=(handle, which))
    node = g.add_if(handle, with_else=True, after=look)
    node.bodies[0].add_kernel(conditions.add[1, 1], args=(x, 1))
    node.bodies[1].add_kernel(conditions.add[1, 1], args=(x, 10))
    exe = g.instantiate()
    exe.launch()
    which.fill(1)
    exe.launch()
    exe.launch()
    assert x.to_host()[0] == 12


def test_a_switch_runs_the_one_of_the_number_or_none(device, conditions):
    which, x = cs.zeros(1, np.int32), cs.zeros(1, np.int32)
    g = cs.Graph()
    handle = g.conditional_handle()
    look = g.add_kernel(conditions.choose[1, 1], args=(handle, which))
    node = g.add_switch(handle, 3, after=look)
    for i, body in enumerate(node.bodies):
        body.add_kernel(conditions.add[1, 1], args=(x, 10**i))
    exe = g.instantiate()
    for number in (0, 2, 7, 1, 2):
        which.fill(number)
        exe.launch()
    assert x.to_host()[0] == 211


def test_the_drawing_names_kernels_and_copies(device, kernels, x):
    g = cs.Graph()
    copy = g.add_copy(x, np.zeros(4, np.int32))
    a = g.add_kernel(kernels.add[2, 4], args=(x, 1), after=copy)
    b = g.add_kernel(kernels.add[2, 4], args=(x, 1))
    g.add_dependency(a, b, programmatic=True)
    text = g.to_dot()
    assert 'label="copy host to device\\n16 bytes"' in text
    assert 'label="add\\n[2, 4]"' in text
    assert "n1 -> n2 [style=dashed];" in text


def test_a_graph_with_a_node_of_every_type_is_launched_many_times(device, kernels, conditions, x):
    seen, host, flag = [], np.zeros(4, np.int32), cs.pinned_empty(1, np.uint32)
    g, inner, event = cs.Graph(), cs.Graph(), cs.Event()
    inner.add_kernel(kernels.add[1, 4], args=(x, 1))
    handle = g.conditional_handle(default=1)
    node = g.add_kernel(kernels.add[1, 4], args=(x, 1))
    node = g.add_child(inner, after=node)
    choice = g.add_if(handle, after=node)
    choice.bodies[0].add_kernel(kernels.add[1, 4], args=(x, 1))
    made, scratch = g.add_alloc(4, np.int32, after=choice)
    node = g.add_memset(scratch, 0, after=made)
    node = g.add_copy(host, x, after=node)
    node = g.add_free(scratch, after=node)
    node = g.add_host(lambda: seen.append(int(host[0])), after=node)
    node = g.add_event_record(event, after=node)
    node = g.add_event_wait(event, after=node)
    node = g.add_batch_mem_op([cs.WriteValue(flag, 1), cs.WaitValue(flag, 1, "eq")], after=node)
    semaphores = set()
    if device.simulated:  # on a GPU a semaphore comes from another interface
        semaphore = cs.ExternalSemaphore(os.eventfd(0))
        node = g.add_external_semaphore_signal(semaphore, after=node)
        node = g.add_external_semaphore_wait(semaphore, after=node)
        semaphores = {"external_semaphore_signal", "external_semaphore_wait"}
    node = g.add_empty(after=node)
    assert {n.type for n in g.nodes} == semaphores | {
        "kernel", "child", "conditional", "alloc", "memset", "copy", "free", "host", "event_record", "event_wait",
        "batch_mem_op", "empty",
    }  # fmt: skip
    exe, s = g.instantiate(), cs.Stream()
    launches = max(50, round(1000 * SCALE))
    for _ in range(launches):
        exe.launch(s)
    s.synchronize()
    assert seen == list(range(3, 3 * launches + 3, 3))


def test_closed_graphs_and_executables_say_so(device):
    g = cs.Graph()
    exe = g.instantiate()
    g.close()
    exe.close()
    with pytest.raises(ValueError, match="Graph is closed"):
        g.add_empty()
    with pytest.raises(ValueError, match="GraphExec is closed"):
        exe.launch()
    assert (repr(g), repr(exe)) == (
        f"<Graph of {device.name}, closed>",
        f"<GraphExec of {device.name}, closed>",
    )


def test_threads_launch_one_executable(device, kernels, x):
    g = cs.Graph()
    g.add_kernel(kernels.add[1, 4], args=(x, 1))
    exe = g.instantiate()
    device.synchronize()

    def launch():
        with cs.Device(device.name):
            s = cs.Stream()
            for _ in range(50):
                exe.launch(s)
            s.synchronize()

    threads = [threading.Thread(target=launch) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert x.to_host()[0] == 200
