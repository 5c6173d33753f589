"""Stream capture: the nodes that work becomes, work beside a capture, and the objects that a graph keeps."""

from __future__ import annotations

import gc
import itertools
import threading
import time
import weakref

import numpy as np
import pytest

import cuscope as cs
from others import Interface
from support import MS, in_threads, module, spin

ADD = "__global__ void add(int* x, int v) { x[threadIdx.x] += v; }"


@pytest.fixture
def add(device):
    return module(device, ADD).add


@pytest.fixture
def x(device):
    return cs.zeros(4, np.int32)


def types(graph):
    return [node.type for node in graph.nodes]


def test_nothing_runs_until_the_graph_is_launched(device, add, x):
    s = cs.Stream()
    with s.capture() as graph:
        add[1, 4](x, 1)
    s.synchronize()
    assert x.to_host().tolist() == [0] * 4

    graph.instantiate().launch(s)

    assert x.to_host(stream=s).tolist() == [1] * 4


def test_the_stream_is_the_current_one_inside(device):
    s = cs.Stream()
    with s.capture():
        assert cs.current_stream() is s
    assert cs.current_stream() is not s


@pytest.mark.parametrize("mode", ["global", "thread_local", "relaxed"])
def test_every_mode_captures(device, x, mode):
    s = cs.Stream()
    with s.capture(mode) as graph:
        x.fill(3)
    assert types(graph) == ["memset"]


def test_each_operation_becomes_its_node(device, add, x):
    s, event = cs.Stream(), cs.Event()
    pinned = cs.pinned_empty(4, np.int32)
    with s.capture() as graph:
        x.copy_from(pinned)
        add[1, 4](x, 1)
        x.fill(0)
        s.host_function(print)
        event.record(s, external=True)
        s.wait(event, external=True)
        x.copy_to(pinned)
    assert types(graph) == ["copy", "kernel", "memset", "host", "event_record", "event_wait", "copy"]
    nodes = graph.nodes
    assert set(graph.edges) == set(itertools.pairwise(nodes))


def test_streams_fork_and_join_through_events_and_streams(device, add, x):
    y = cs.zeros(4, np.int32)
    a, b = cs.Stream(), cs.Stream()
    x.to_host(stream=a), y.to_host(stream=b)
    with a.capture() as graph:
        add[1, 4](x, 1)
        b.wait(a)
        assert b.capture_status == "active"
        add[1, 4, b](y, 2)
        add[1, 4, a](x, 1)
        a.wait(b.record())
        add[1, 4](x, 1)
    assert (a.capture_status, b.capture_status) == ("none", "none")
    first, fork, middle, last = graph.nodes
    assert set(graph.edges) == {(first, fork), (first, middle), (fork, last), (middle, last)}
    graph.instantiate().launch(a)
    a.synchronize()
    assert (x.to_host()[0], y.to_host()[0]) == (3, 2)


def test_the_diamond_captured_equals_the_one_built(device, add):
    arrays = [cs.zeros(4, np.int32) for _ in range(4)]
    device.synchronize()
    g = cs.Graph()
    a = g.add_kernel(add[1, 4], args=(arrays[0], 1))
    b = g.add_kernel(add[1, 4], args=(arrays[1], 1), after=a)
    c = g.add_kernel(add[1, 4], args=(arrays[2], 1), after=a)
    g.add_kernel(add[1, 4], args=(arrays[3], 1), after=[b, c])
    s, t = cs.Stream(), cs.Stream()
    with s.capture() as captured:
        add[1, 4](arrays[0], 1)
        t.wait(s)
        add[1, 4](arrays[1], 1)
        add[1, 4, t](arrays[2], 1)
        s.wait(t)
        add[1, 4](arrays[3], 1)

    assert captured.to_dot() == g.to_dot()


def test_a_loop_of_kernels_captured_once_runs_as_often_as_launched(device, add, x):
    s = cs.Stream()
    with s.capture() as graph:
        for _ in range(20):
            add[1, 4](x, 1)
    exe = graph.instantiate()
    for _ in range(10):
        exe.launch(s)
    assert x.to_host(stream=s).tolist() == [200] * 4


def test_capture_adds_to_a_graph_behind_nodes_of_it(device, x):
    graph, s = cs.Graph(), cs.Stream()
    first = graph.add_empty()
    with s.capture(graph=graph, after=first) as same:
        x.fill(1)
    assert same is graph
    assert graph.edges == [(first, graph.nodes[1])]


def test_begin_and_end_capture_as_the_context_does(device, x):
    s = cs.Stream()
    s.begin_capture()
    assert s.capture_status == "active"
    x.fill(1, stream=s)
    assert types(s.end_capture()) == ["memset"]
    assert s.capture_status == "none"


def test_host_input_is_read_when_the_graph_runs(device, x):
    host, s = np.arange(4, dtype=np.int32), cs.Stream()
    with s.capture() as graph:
        x.copy_from(host)
    exe = graph.instantiate()
    host += 10
    exe.launch(s)
    assert x.to_host(stream=s).tolist() == [10, 11, 12, 13]


def test_memory_allocated_inside_is_there_at_once_and_stays(device, add):
    s = cs.Stream()
    with s.capture() as graph:
        made = cs.full(4, 5, np.int32)
        add[1, 4](made, 1)
    exe = graph.instantiate()
    graph.close()
    exe.launch(s)
    exe.launch(s)
    assert made.to_host(stream=s).tolist() == [6] * 4


# ---- work beside a capture


def test_other_threads_work_while_one_captures(device, add):
    s, t = cs.Stream(non_blocking=True), cs.Stream(non_blocking=True)
    mine, other = cs.zeros(4, np.int32), cs.zeros(4, np.int32)
    device.synchronize()
    failures = []

    def work():
        try:
            with cs.Device(device.name):
                for _ in range(20):
                    made = cs.zeros(1024, stream=t)
                    add[1, 4, t](other, 1)
                    t.synchronize()
                    cs.Event().record(t).query()
                    del made
        except cs.CudaError as error:
            failures.append(error)

    with s.capture() as graph:
        add[1, 4](mine, 1)
        thread = threading.Thread(target=work)
        thread.start()
        thread.join()
        add[1, 4](mine, 1)
    assert failures == []
    graph.instantiate().launch(s)
    assert (mine.to_host(stream=s)[0], other.to_host(stream=t)[0]) == (2, 20)


def test_cuscopes_own_calls_beside_a_capture_invalidate_nothing(device, add, x):
    seen = []

    def work():
        other = cs.Stream(non_blocking=True, device=device)
        with device, other:
            y = cs.to_device(np.arange(1 << 20, dtype=np.int32))
            z = cs.zeros_like(y)
            z.copy_from(y)
            add[1, 4](z, 1)
            seen.append(z.to_host()[:4].tolist())
            other.synchronize()

    s = cs.Stream(non_blocking=True)
    with s.capture("global") as graph:
        thread = threading.Thread(target=work)
        thread.start()
        thread.join()
        add[1, 4](x, 1)
    assert seen == [[1, 2, 3, 4]]
    assert types(graph) == ["kernel"]


def test_captures_that_begin_while_other_threads_wait_or_allocate_go_on(device, add):
    until, counts = time.monotonic() + 2, [0] * 4
    x = cs.zeros(4, np.int32)
    device.synchronize()

    def capture(stream, event):
        with stream.capture("global") as graph:
            add[1, 4](x, 1)
        assert len(graph.nodes) == 1

    def wait(stream, event):
        stream.synchronize()
        stream.query()
        event.synchronize()
        cs.empty(4, stream=stream)

    def work(index):
        with device:
            stream = cs.Stream(non_blocking=True)
            event = cs.Event().record(stream)
            while time.monotonic() < until:
                (capture if index == 0 else wait)(stream, event)
                counts[index] += 1

    assert in_threads(len(counts), work) == []
    assert min(counts) > 20


@pytest.mark.parametrize("what", ["stream", "event", "copy"])
def test_a_capture_that_begins_while_another_thread_waits_goes_on(device, add, x, what):
    busy, s = cs.Stream(non_blocking=True), cs.Stream(non_blocking=True)
    y, go_on, raised = cs.zeros(4, np.int32, stream=busy), threading.Event(), []
    add[1, 4, s](x, 1)
    device.synchronize()
    busy.host_function(go_on.wait)
    event = cs.Event().record(busy)

    def wait(index):
        with device:
            if what == "copy":
                y.to_host(stream=busy)
            else:
                (busy if what == "stream" else event).synchronize()

    thread = threading.Thread(target=lambda: raised.extend(in_threads(1, wait)))
    thread.start()
    try:
        time.sleep(0.05)  # the thread waits by now
        with s.capture("global") as graph:
            add[1, 4](x, 1)
            time.sleep(0.05)
            add[1, 4](x, 1)
    finally:
        go_on.set()
        thread.join()
    assert raised == []
    assert len(graph.nodes) == 2


def test_objects_dropped_during_a_capture_invalidate_nothing(device, add, x):
    s = cs.Stream()
    arrays = [cs.zeros(1 << 16, stream=s) for _ in range(8)]
    s.synchronize()
    with s.capture() as graph:
        add[1, 4](x, 1)
        arrays.clear()
        gc.collect()
        add[1, 4](x, 1)
    assert len(graph.nodes) == 2
    graph.instantiate().launch(s)
    assert x.to_host(stream=s)[0] == 2


# ---- objects that a graph keeps


def test_arrays_and_callables_live_as_long_as_an_executable(device, add):
    s, seen = cs.Stream(), []

    class Call:
        def __call__(self):
            seen.append(1)

    call = Call()
    gone = weakref.ref(call)
    array = cs.zeros(4, np.int32, stream=s)
    with s.capture() as graph:
        add[1, 4](array, 1)
        s.host_function(call)
    exe = graph.instantiate()
    del array, call, graph
    gc.collect()
    exe.launch(s)
    s.synchronize()
    assert seen == [1]
    assert gone() is not None
    exe.close()
    device.synchronize()
    gc.collect()
    device.synchronize()
    assert gone() is None


def test_a_launch_in_flight_outlives_its_executable(device, add, x):
    s = cs.Stream()
    with s.capture() as graph:
        spin(device, 20 * MS, s)
        add[1, 4](x, 1)
    exe = graph.instantiate()
    exe.launch(s)
    exe.close()
    graph.close()
    del exe, graph
    gc.collect()
    assert x.to_host(stream=s)[0] == 1


def test_an_exception_of_a_host_node_is_raised_by_the_stream_that_launched_it(device):
    s = cs.Stream()
    with s.capture() as graph:
        s.host_function(lambda: 1 / 0)
    exe = graph.instantiate()
    exe.launch(s)
    with pytest.raises(ZeroDivisionError):
        s.synchronize()
    exe.launch(s)
    with pytest.raises(ZeroDivisionError):
        s.synchronize()


def test_a_relaxed_thread_may_allocate_beside_a_global_capture(device, contract):
    s = cs.Stream()
    with s.capture():
        assert cs.exchange_capture_mode("relaxed") == "global"
        status, pointer = contract.malloc(16)
        assert cs.exchange_capture_mode("global") == "relaxed"
        assert s.capture_status == "active"
    assert status == "cudaSuccess"
    contract.free(pointer)


def test_a_stream_that_goes_takes_its_capture_along(device, x):
    s = cs.Stream()
    s.begin_capture()
    x.fill(1, stream=s)
    del s
    gc.collect()
    t = cs.Stream()
    t.begin_capture()
    x.fill(1, stream=t)
    t.close()
    device.synchronize()  # a capture under way would refuse this call
    assert x.to_host().tolist() == [0] * 4


def test_a_stream_that_only_the_capture_knows_is_captured(device, x):
    with cs.Stream().capture() as graph:
        assert cs.current_stream().capture_status == "active"
        gc.collect()
        x.fill(1)
    assert types(graph) == ["memset"]


def test_arrays_of_other_libraries_invalidate_no_capture_and_are_waited_for_at_the_launch(device, add):
    s, theirs = cs.Stream(), cs.Stream(non_blocking=True)
    array = cs.zeros(4, np.int32)
    device.synchronize()
    with s.capture() as graph:
        add[1, 4](Interface(array, stream=1), 1)
        add[1, 4](Interface(array, stream=theirs.handle), 1)
    assert types(graph) == ["kernel", "kernel"]
    exe = graph.instantiate()
    exe.launch(s)
    assert array.to_host(stream=s).tolist() == [2] * 4


def test_the_dependencies_of_the_next_captured_node_can_be_read_and_changed(device):
    arrays = [cs.zeros(4) for _ in range(4)]
    s = cs.Stream()
    assert (s.capture_dependencies, s.capture_id) == ([], 0)
    with s.capture() as graph:
        assert s.capture_dependencies == []
        assert s.capture_id > 0
        arrays[0].fill(1)
        (first,) = s.capture_dependencies
        arrays[1].fill(1)
        (second,) = s.capture_dependencies
        assert second.dependencies == [first]
        s.update_capture_dependencies([first], replace=True)
        arrays[2].fill(1)
        s.update_capture_dependencies([second])
        arrays[3].fill(1)
    a, b, c, d = graph.nodes
    assert (a, b) == (first, second)
    assert first.graph.nodes == graph.nodes
    assert set(graph.edges) == {(a, b), (a, c), (c, d), (b, d)}
    assert s.capture_dependencies == []


def test_nodes_of_a_capture_that_failed_are_gone(device, x):
    s, t = cs.Stream(), cs.Stream()
    kept = []

    def unjoined():
        with s.capture():
            x.fill(1)
            kept.extend(s.capture_dependencies)
            t.wait(s)
            x.fill(1, stream=t)

    with pytest.raises(cs.CaptureError):
        unjoined()
    with pytest.raises(ValueError, match="its capture failed"):
        _ = kept[0].dependencies
    assert repr(kept[0])
    with pytest.raises(ValueError, match="not being captured"):
        s.update_capture_dependencies(kept)


def test_nodes_of_other_graphs_are_nothing_to_wait_for(device):
    s, other = cs.Stream(), cs.Graph()
    foreign = other.add_empty()
    with s.capture(), pytest.raises(ValueError, match="not in the graph"):
        s.update_capture_dependencies(foreign)


def test_nodes_may_be_added_to_the_graph_that_is_being_captured(device, contract):
    s = cs.Stream()
    s.begin_capture()
    _, _, _, handle, _ = contract.stream_get_capture_info(s.handle)
    status, node, *_ = contract.graph_add_node(handle, {"type": 5})
    assert status == "cudaSuccess"
    assert contract.stream_update_capture_dependencies(s.handle, [node]) == "cudaSuccess"
    s.host_function(print)
    graph = s.end_capture()
    assert types(graph) == ["empty", "host"]
    assert graph.edges == [tuple(graph.nodes)]


def test_a_capture_that_goes_in_another_thread_holds_nothing_up(device, x):
    streams = [cs.Stream()]
    streams[0].begin_capture()
    x.fill(1, stream=streams[0])

    def drop():
        with cs.Device(device.name):
            streams.clear()
            gc.collect()

    thread = threading.Thread(target=drop)
    thread.start()
    thread.join()
    device.synchronize()
    assert x.to_host().tolist() == [0] * 4


def test_the_legacy_default_stream_is_never_captured(device):
    with pytest.raises(cs.CaptureError, match="cudaErrorStreamCaptureUnsupported") as caught:
        cs.current_stream().begin_capture()
    assert "make a stream" in caught.value.hint
