"""Executables of graphs: launches, updates, changes of single nodes, order and overlap."""

from __future__ import annotations

import gc
import weakref

import numpy as np
import pytest

import cuscope as cs
from support import MS, module

SOURCE = r"""
__global__ void add(int* x, int v) { x[threadIdx.x] += v; }
__global__ void set(int* x, int v) { x[threadIdx.x] = v; }
__global__ void append(int* log, int* count, int id) { log[atomicAdd(count, 1)] = id; }
__global__ void meet(int* arrived) {
  atomicAdd(arrived, 1);
  while (*static_cast<volatile int*>(arrived) < 2) {}
}
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


def test_an_executable_keeps_the_objects_that_its_bodies_use(device, kernels):
    seen, y = cs.zeros(1, np.int32), cs.full(1 << 20, 3, np.int32)
    g = cs.Graph()
    body = g.add_if(g.conditional_handle(default=1)).bodies[0]
    body.add_copy(seen, y[:1])
    exe = g.instantiate()
    del g, body, y
    gc.collect()
    others = [cs.full(1 << 20, 7, np.int32) for _ in range(4)]
    exe.launch()
    assert seen.to_host()[0] == 3
    del others


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


def test_a_change_leaves_launches_alone_that_are_under_way(device, kernels, x):
    g = cs.Graph()
    a = g.add_kernel(kernels.add[1, 4], args=(x, 1))
    exe, s = g.instantiate(), cs.Stream()
    kernels.spin[1, 1, s](20_000_000)
    for _ in range(3):
        exe.launch(s)
    exe.set_kernel(a, kernels.add[1, 4], args=(x, 10))
    exe.launch(s)
    assert x.to_host(stream=s)[0] == 13


@pytest.mark.no_sanitizer("under it no stream goes on while another waits")
def test_executables_of_one_graph_run_beside_each_other(device, kernels):
    arrived = cs.zeros(1, np.int32)
    g = cs.Graph()
    g.add_kernel(kernels.meet[1, 1], args=(arrived,))
    one, other = g.instantiate(), g.instantiate()
    streams = [cs.Stream(non_blocking=True) for _ in range(2)]
    device.synchronize()
    one.launch(streams[0])
    other.launch(streams[1])
    device.synchronize()
    assert arrived.to_host()[0] == 2


def test_an_update_that_is_not_possible_gives_the_reason_and_changes_nothing(device, kernels, x):
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


@pytest.mark.parametrize("named", [False, True], ids=["by position", "by name"])
def test_changes_take_their_arguments_by_position_and_by_name(device, kernels, x, named):
    y, z, seen = cs.zeros(4, np.int32), cs.to_device(np.arange(4, dtype=np.int32)), []
    g, event = cs.Graph(), cs.Event()
    add = g.add_kernel(kernels.add[1, 4], args=(x, 1))
    clear, copy, call = g.add_memset(y, 3), g.add_copy(z, x, after=add), g.add_host(seen.append, 1)
    record = g.add_event_record(cs.Event())
    exe = g.instantiate()
    if named:
        exe.set_kernel(node=add, kernel=kernels.add, grid=1, block=4, args=[x, 10])
        exe.set_memset(node=clear, array=y, value=4)
        exe.set_copy(node=copy, destination=y, source=z)
        exe.set_host(node=call, callable=lambda: seen.append(2))
        exe.set_event(node=record, event=event)
        exe.set_enabled(node=clear, enabled=False)
    else:
        exe.set_kernel(add, kernels.add[1, 4], args=(x, 10))
        exe.set_memset(clear, y, 4)
        exe.set_copy(copy, y, z)
        exe.set_host(call, seen.append, 2)
        exe.set_event(record, event)
        exe.set_enabled(clear, False)
    exe.launch()
    device.synchronize()

    assert (x.to_host().tolist(), y.to_host().tolist(), seen) == ([10] * 4, [0, 1, 2, 3], [2])
    assert (exe.is_enabled(clear), event.query()) == (False, True)


def test_a_change_refuses_what_the_kernel_does_not_take(device, kernels, x):
    g = cs.Graph()
    node = g.add_kernel(kernels.add[1, 4], args=(x, 1))
    exe = g.instantiate()

    for args in [(x,), (x, 1, 2), (x, "1"), (np.zeros(4, np.int32), 1), (cs.zeros(4), 1)]:
        with pytest.raises((TypeError, ValueError)):
            exe.set_kernel(node, kernels.add[1, 4], args=args)
    exe.launch()
    assert x.to_host().tolist() == [1] * 4
    exe.close()
    with pytest.raises(ValueError, match="closed"):
        exe.set_kernel(node, kernels.add[1, 4], args=(x, 1))
    with pytest.raises(ValueError, match="closed"):
        exe.set_enabled(node, True)


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


@pytest.mark.parametrize("call", ["launch", "upload"])
def test_an_executable_is_not_captured_and_the_capture_goes_on(device, kernels, x, call):
    g, s = cs.Graph(), cs.Stream()
    g.add_kernel(kernels.add[1, 4], args=(x, 1))
    exe = g.instantiate()
    with s.capture() as outer:
        kernels.add[1, 4](x, 1)
        with pytest.raises(cs.CaptureError, match=r"cudaErrorStreamCaptureUnsupported.*add_child"):
            getattr(exe, call)(s)
    assert [n.type for n in outer.nodes] == ["kernel"]


def test_a_refused_graph_says_which_node_and_why(device, kernels):
    g = cs.Graph()
    go_on = g.conditional_handle(default=0)
    g.add_while(go_on).bodies[0].add_host(print)
    with pytest.raises(cs.CudaError, match=r"cudaErrorInvalidValue.*host"):
        g.instantiate()


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


def test_a_graph_waits_for_the_work_before_an_events_record(device, kernels, x):
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
