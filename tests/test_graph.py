"""Graphs built node by node, what they refuse, and their executables."""

from __future__ import annotations

import gc
import threading
import weakref

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import cuscope as cs
from support import MS, module

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


def test_every_node_knows_what_it_is(device, kernels, x):
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
    ]
    assert [n.type for n in nodes] == [
        "kernel", "copy", "memset", "host", "empty", "event_record", "event_wait", "child",
    ]  # fmt: skip
    assert nodes[0].params == {"kernel": "add", "grid": (2, 1, 1), "block": (4, 1, 1), "shared": 16}
    assert nodes[1].params["extent"] == (16, 1, 1)
    assert nodes[2].params["value"] == 7
    assert nodes[5].params == nodes[6].params == {"event": event.handle}
    assert [n.type for n in nodes[7].bodies[0].nodes] == ["empty"]
    assert g.nodes == nodes
    assert all(n.graph.nodes == nodes for n in nodes)


def test_nodes_know_what_they_wait_for(device):
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


def test_edges_that_make_no_sense_are_refused(device):
    g, other = cs.Graph(), cs.Graph()
    a = g.add_empty()
    b = g.add_empty(after=a)
    c = g.add_empty(after=b)
    foreign = other.add_empty()
    for before, later in [(a, a), (a, b), (c, a), (b, a)]:
        with pytest.raises(cs.CudaError, match="cudaErrorInvalidValue"):
            g.add_dependency(before, later)
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
    others = [d for d in cs.devices() if d != device]
    if not others:
        others = [cs.add_host_device("k20x")]
    with pytest.raises(ValueError, match="use a stream of the executable's device"):
        cs.Graph().instantiate().launch(cs.Stream(device=others[0]))


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


def test_branches_without_edges_overlap(device, kernels):
    g = cs.Graph()
    for _ in range(4):
        g.add_kernel(kernels.spin[1, 1], args=(20_000_000,))
    exe, s = g.instantiate(), cs.Stream()
    exe.launch(s)
    s.synchronize()
    start, stop = cs.Event(), cs.Event()
    start.record(s)
    exe.launch(s)
    stop.record(s)
    stop.synchronize()
    assert stop - start < 60


def test_two_launches_of_an_executable_never_overlap(device, kernels):
    log, count = cs.zeros(64, np.int32), cs.zeros(1, np.int32)
    g = cs.Graph()
    first = g.add_kernel(kernels.append[1, 1], args=(log, count, 1))
    wait = g.add_kernel(kernels.spin[1, 1], args=(2_000_000,), after=first)
    g.add_kernel(kernels.append[1, 1], args=(log, count, 2), after=wait)
    exe = g.instantiate()
    streams = [cs.Stream(non_blocking=True) for _ in range(4)]
    device.synchronize()
    for s in streams * 2:
        exe.launch(s)
    device.synchronize()
    assert log.to_host()[:16].tolist() == [1, 2] * 8


def test_an_executable_outlives_graph_and_arguments(device, kernels):
    x = cs.zeros(4, np.int32)
    g = cs.Graph()
    g.add_kernel(kernels.add[1, 4], args=(x, 1))
    exe = g.instantiate()
    gone = weakref.ref(g)
    del g
    gc.collect()
    assert gone() is None
    exe.launch()
    exe.launch()
    assert x.to_host()[0] == 2


def test_host_nodes_run_at_every_launch(device):
    seen = []
    g = cs.Graph()
    a = g.add_host(seen.append, "a")
    g.add_host(lambda *args, **keywords: seen.append((args, keywords)), 1, after=a, b=2)
    exe = g.instantiate()
    for _ in range(3):
        exe.launch()
    device.synchronize()
    assert seen == ["a", ((1,), {"b": 2})] * 3


def test_an_update_takes_over_parameters(device, kernels):
    x, y = cs.zeros(4, np.int32), cs.zeros(4, np.int32)
    g, other = cs.Graph(), cs.Graph()
    g.add_kernel(kernels.add[1, 4], args=(x, 1))
    other.add_kernel(kernels.set[1, 2], args=(y, 9))
    exe = g.instantiate()
    update = exe.update(other)
    assert (bool(update), update.result, update.node) == (True, "success", None)
    exe.launch()
    assert (x.to_host().tolist(), y.to_host().tolist()) == ([0] * 4, [9, 9, 0, 0])


def test_an_update_that_cannot_be_says_why_and_changes_nothing(device, kernels, x):
    g, longer, other = cs.Graph(), cs.Graph(), cs.Graph()
    g.add_kernel(kernels.add[1, 4], args=(x, 1))
    a = longer.add_kernel(kernels.add[1, 4], args=(x, 10))
    longer.add_kernel(kernels.add[1, 4], args=(x, 10), after=a)
    node = other.add_memset(x, 5)
    exe = g.instantiate()
    assert exe.update(longer).result == "topology_changed"
    update = exe.update(other)
    assert (bool(update), update.result, update.node) == (False, "node_type_changed", node)
    exe.launch()
    assert x.to_host()[0] == 1


def test_single_nodes_of_an_executable_change(device, kernels, x):
    y = cs.zeros(4, np.int32)
    g = cs.Graph()
    a = g.add_kernel(kernels.add[1, 4], args=(x, 1))
    b = g.add_memset(y, 3, after=a)
    exe, unchanged = g.instantiate(), g.instantiate()
    exe.set_kernel(a, kernels.add[1, 2], args=(x, 10))
    exe.set_memset(b, y, 4)
    exe.launch()
    assert (x.to_host().tolist(), y.to_host()[0]) == ([10, 10, 0, 0], 4)
    unchanged.launch()
    assert (x.to_host().tolist(), y.to_host()[0]) == ([11, 11, 1, 1], 3)


def test_disabled_nodes_do_nothing_and_keep_the_order(device, kernels, x):
    g = cs.Graph()
    a = g.add_kernel(kernels.add[1, 4], args=(x, 1))
    b = g.add_kernel(kernels.add[1, 4], args=(x, 10), after=a)
    g.add_kernel(kernels.add[1, 4], args=(x, 100), after=b)
    exe = g.instantiate()
    exe.set_enabled(b, False)
    assert (exe.is_enabled(a), exe.is_enabled(b)) == (True, False)
    exe.launch()
    assert x.to_host()[0] == 101
    exe.set_enabled(b, True)
    exe.launch()
    assert x.to_host()[0] == 212
    with pytest.raises(cs.CudaError, match="cudaErrorInvalidValue"):
        exe.set_enabled(g.add_empty(), False)


def test_an_executable_captured_becomes_a_child(device, kernels, x):
    g, s = cs.Graph(), cs.Stream()
    g.add_kernel(kernels.add[1, 4], args=(x, 1))
    exe = g.instantiate()
    with s.capture() as outer:
        exe.launch(s)
        exe.launch(s)
    assert [n.type for n in outer.nodes] == ["child", "child"]
    exe.close()
    outer.instantiate().launch(s)
    assert x.to_host(stream=s)[0] == 2


def test_children_run_in_their_place(device, kernels):
    log, count = cs.zeros(8, np.int32), cs.zeros(1, np.int32)
    inner, g = cs.Graph(), cs.Graph()
    i = inner.add_kernel(kernels.append[1, 1], args=(log, count, 2))
    inner.add_kernel(kernels.append[1, 1], args=(log, count, 3), after=i)
    a = g.add_kernel(kernels.append[1, 1], args=(log, count, 1))
    c = g.add_child(inner, after=a)
    e = g.add_child(cs.Graph(), after=c)
    g.add_kernel(kernels.append[1, 1], args=(log, count, 4), after=e)
    g.instantiate().launch()
    assert log.to_host()[:4].tolist() == [1, 2, 3, 4]


def test_events_of_a_graph_order_streams_outside(device, kernels, x):
    event, s, t = cs.Event(), cs.Stream(non_blocking=True), cs.Stream(non_blocking=True)
    device.synchronize()
    g = cs.Graph()
    a = g.add_kernel(kernels.spin[1, 1], args=(20_000_000,))
    b = g.add_kernel(kernels.set[1, 4], args=(x, 5), after=a)
    g.add_event_record(event, after=b)
    g.instantiate().launch(s)
    t.wait(event)
    assert x.to_host(stream=t)[0] == 5


def test_a_graph_waits_for_what_an_event_was_recorded_behind(device, kernels, x):
    event, s, t = cs.Event(), cs.Stream(non_blocking=True), cs.Stream(non_blocking=True)
    device.synchronize()
    g = cs.Graph()
    w = g.add_event_wait(event)
    g.add_kernel(kernels.add[1, 4], args=(x, 1), after=w)
    exe = g.instantiate()
    kernels.spin[1, 1, s](20_000_000)
    kernels.set[1, 4, s](x, 10)
    event.record(s)
    exe.launch(t)
    assert x.to_host(stream=t)[0] == 11


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


def test_a_graph_with_a_node_of_every_type_is_launched_a_thousand_times(device, kernels, conditions, x):
    seen, host = [], np.zeros(4, np.int32)
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
    node = g.add_empty(after=node)
    assert {n.type for n in g.nodes} == {
        "kernel", "child", "conditional", "alloc", "memset", "copy", "free", "host", "event_record", "event_wait",
        "empty",
    }  # fmt: skip
    exe, s = g.instantiate(), cs.Stream()
    for _ in range(1000):
        exe.launch(s)
    s.synchronize()
    assert seen == list(range(3, 3003, 3))


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


# ---- any graph


@st.composite
def graphs(draw):
    """For each node the earlier ones that it waits for."""
    count = draw(st.integers(1, 12))
    return [sorted(draw(st.sets(st.integers(0, i - 1), max_size=4))) if i else [] for i in range(count)]


@settings(max_examples=40, deadline=None)
@given(shape=graphs(), data=st.data())
def test_any_graph_runs_in_an_order_that_its_edges_allow(shape, data):
    for name in [d.name for d in cs.devices() if d.name in ("host:0", "cuda:0")]:
        with cs.Device(name) as device:
            append = module(device, SOURCE).append
            log, count = cs.zeros(32, np.int32), cs.zeros(1, np.int32)
            g = cs.Graph()
            nodes = []
            for i, before in enumerate(shape):
                after = [nodes[b] for b in before]
                nodes.append(g.add_kernel(append[1, 1], args=(log, count, i), after=after))
            edges = {(b, i) for i, before in enumerate(shape) for b in before}
            assert {(nodes.index(a), nodes.index(b)) for a, b in g.edges} == edges
            # An edge against the order closes a cycle or is allowed, as the graph says; never anything else.
            a, b = data.draw(st.integers(0, len(shape) - 1)), data.draw(st.integers(0, len(shape) - 1))
            reachable = {b}
            for _ in shape:
                reachable |= {j for i, j in edges if i in reachable}
            if a in reachable or (a, b) in edges:
                with pytest.raises(cs.CudaError, match="cudaErrorInvalidValue"):
                    g.add_dependency(nodes[a], nodes[b])
            else:
                g.add_dependency(nodes[a], nodes[b])
                edges.add((a, b))
            exe = g.instantiate()
            exe.launch()
            exe.launch()
            written = log.to_host().tolist()
            for run in (written[: len(shape)], written[len(shape) : 2 * len(shape)]):
                assert sorted(run) == list(range(len(shape)))
                assert all(run.index(i) < run.index(j) for i, j in edges)


@settings(max_examples=40, deadline=None)
@given(
    program=st.lists(
        st.one_of(
            st.tuples(st.just("kernel"), st.integers(0, 2)),
            st.tuples(st.just("wait"), st.integers(0, 2), st.integers(0, 2)),
        ),
        max_size=14,
    )
)
def test_any_captured_program_runs_as_its_streams_would_have(program):
    """Three streams, of which the first is captured: kernels, and waits of one for another."""
    for name in [d.name for d in cs.devices() if d.name in ("host:0", "cuda:0")]:
        with cs.Device(name) as device:
            append = module(device, SOURCE).append
            log, count = cs.zeros(32, np.int32), cs.zeros(1, np.int32)
            streams = [cs.Stream() for _ in range(3)]
            device.synchronize()
            order: set[tuple[int, int]] = set()
            before: list[set[int]] = [set(), set(), set()]  # all kernels that a stream's next comes after
            joined, number = {0}, 0
            with streams[0].capture() as graph:
                for step in program:
                    if step[0] == "kernel":
                        (_, s) = step
                        if s not in joined:
                            continue
                        append[1, 1, streams[s]](log, count, number)
                        order |= {(b, number) for b in before[s]}
                        before[s].add(number)
                        number += 1
                    else:
                        (_, later, earlier) = step
                        if earlier not in joined:
                            continue
                        streams[later].wait(streams[earlier])
                        joined.add(later)
                        before[later] |= before[earlier]
                for s in sorted(joined - {0}):
                    streams[0].wait(streams[s])
            nodes = graph.nodes
            assert len(nodes) == number
            reach: set[tuple[int, int]] = set()
            for i, node in enumerate(nodes):
                for other in node.dependencies:
                    j = nodes.index(other)
                    reach |= {(j, i)} | {(k, i) for k, to in reach if to == j}
            assert reach == order
            graph.instantiate().launch(streams[0])
            written = log.to_host(stream=streams[0])[:number].tolist()
            assert all(written.index(i) < written.index(j) for i, j in order)


@pytest.mark.host_only("a simulated device's times are the same on every run")
def test_a_graph_takes_the_same_simulated_time_on_every_run(device, kernels, x):
    g = cs.Graph()
    node = None
    for _ in range(100):
        node = g.add_kernel(kernels.add[1, 4], args=(x, 1), after=node)
    exe, s = g.instantiate(), cs.Stream()
    exe.launch(s)
    s.synchronize()
    times = []
    for _ in range(3):
        begin = cs.clock()
        exe.launch(s)
        s.synchronize()
        times.append(round((cs.clock() - begin) * 1e9))
    assert len(set(times)) == 1
    assert times[0] == pytest.approx(56.0e3, rel=0.1)  # an H200 took 56.0 us: launch and synchronize
    assert times[0] * 1e-9 < MS


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


def test_memory_nodes_cannot_be_everything(device):
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


@pytest.mark.host_only("what one address holds is the simulation's own affair")
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
    _, exe = c.graph_instantiate(g, 0)
    print(c.graph_launch(exe, 0), c.device_synchronize())
    c.free(p)
    print(c.graph_launch(exe, 0), c.device_synchronize())
    """
    process = run_python(source)
    assert process.stdout.split() == [
        "cudaSuccess", "cudaSuccess", "cudaSuccess", "cudaErrorIllegalAddress",
    ], process.stderr  # fmt: skip
