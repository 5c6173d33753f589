"""Captures, and operations on graphs and their executables."""

from __future__ import annotations

import os

import numpy as np
from table import operation, read_all
from workers import LENGTH, Worker

import cuscope as cs


@operation("Stream.capture", "Capture", "Stream.begin_capture", "Stream.end_capture", "exchange_capture_mode",
           "Stream.update_capture_dependencies", "Stream.malloc_async", "Stream.free_async",
           errors=("cudaErrorInvalidValue", "cudaErrorIllegalState"))  # another thread ends the capture, or begins one # fmt: skip
def capture(w: Worker) -> None:
    stream, mode = w.stream, w.random.choice(["global", "thread_local", "relaxed"])
    usual = cs.exchange_capture_mode(w.random.choice(["global", "thread_local", "relaxed"]))
    try:
        with stream.capture(mode) as graph:
            w.module.add[1, LENGTH, stream](w.array, 1)
            stream.update_capture_dependencies([])
            stream.host_function(lambda: None)
            if w.random.random() < 0.3:
                stream.free_async(stream.malloc_async(100))
            if w.random.random() < 0.1:
                raise ZeroDivisionError
    except ZeroDivisionError:
        return
    finally:
        cs.exchange_capture_mode(usual)
    keep_graph(w, graph)


def keep_graph(w: Worker, graph: cs.Graph) -> None:
    if (before := w.replace("graphs", graph, keep=3)) is not None and w.random.random() < 0.5:
        before.close()
    if (
        before := w.replace("executables", graph.instantiate(), keep=3)
    ) is not None and w.random.random() < 0.5:
        before.close()


@operation("Graph", "Graph.*", "GraphNode", "GraphNode.*")
def build_a_graph(w: Worker) -> None:
    x, host = w.array, cs.pinned_empty(LENGTH, np.int32)
    graph = cs.Graph()
    start = graph.add_empty()
    made, y = graph.add_alloc(LENGTH, np.int32, after=start)
    filled = graph.add_memset(y, 0, after=made)
    added = graph.add_kernel(w.module.add[1, LENGTH], args=(y, 5), after=filled)
    copied = graph.add_copy(x, y, after=added)
    graph.add_free(y, after=copied)
    called = graph.add_host(lambda: None, after=copied)
    graph.add_copy(host, x, after=copied)
    waited = graph.add_event_wait(w.event, after=start)
    recorded = graph.add_event_record(w.event, after=waited)
    graph.add_dependency(called, recorded)
    graph.add_batch_mem_op([cs.WriteValue(cs.empty_plain(1, np.uint32), 1)], after=start)
    inner = cs.Graph()
    inner.add_memset(x, 1)
    child = graph.add_child(inner, after=start)
    handles = [graph.conditional_handle(0) for _ in range(3)]
    for node in (graph.add_if(handles[0]), graph.add_while(handles[1]), graph.add_switch(handles[2], 2)):
        node.bodies[0].add_memset(x, 2)
    for node in graph.nodes:
        repr(
            (
                node.type,
                node.label,
                node.dependencies,
                node.dependents,
                node.bodies,
                node.graph,
                node.params,
                hash(node),
            )
        )
    repr((graph.edges, graph.roots, graph.programmatic_edges, graph.closed, graph.device, child))
    graph.to_dot()
    if w.random.random() < 0.5:
        return  # a graph that allocates has no clones, and may have only one executable
    executable = graph.instantiate()
    executable.launch(w.own.streams[1])


@operation("Graph.add_external_semaphore_signal", "Graph.add_external_semaphore_wait", "GraphExec.set_external_semaphores",
           simulated_only=True)  # fmt: skip
def build_a_graph_of_semaphores(w: Worker) -> None:
    semaphore = cs.ExternalSemaphore(os.eventfd(0, os.EFD_NONBLOCK))
    graph = cs.Graph()
    signal = graph.add_external_semaphore_signal(semaphore)
    graph.add_external_semaphore_wait(semaphore, after=signal)
    executable = graph.instantiate()
    executable.set_external_semaphores(signal, semaphore)
    stream = cs.Stream(non_blocking=True)
    executable.launch(stream)
    stream.synchronize()


@operation("Graph.clone", "Graph.find_clone", "Graph.instantiate", "GraphExec", "GraphExec.*", "GraphUpdate*")
def change_an_executable(w: Worker) -> None:
    graph, x = cs.Graph(), w.array
    flag = cs.empty_plain(1, np.uint32)
    kernel = graph.add_kernel(w.module.add[1, LENGTH], args=(x, 1))
    filled = graph.add_memset(x, 1, after=kernel)
    copied = graph.add_copy(x, w.own.plain[0], after=filled)
    called = graph.add_host(lambda: None, after=copied)
    recorded = graph.add_event_record(w.event, after=called)
    written = graph.add_batch_mem_op([cs.WriteValue(flag, 1)], after=recorded)
    inner = cs.Graph()
    inner.add_memset(x, 1)
    child = graph.add_child(inner, after=written)
    graph.add_dependency(kernel, called)
    graph.remove_dependency(kernel, called)
    graph.add_empty().destroy()
    clone = graph.clone()
    clone.find_clone(kernel)
    executable = graph.instantiate(upload=w.own.streams[0])
    executable.set_kernel(kernel, w.module.add[1, LENGTH], args=(w.array, 2))
    executable.set_memset(filled, x, 2)
    executable.set_copy(copied, x, w.own.plain[1])
    executable.set_host(called, lambda: None)
    executable.set_event(recorded, w.event)
    executable.set_batch_mem_op(written, [cs.WriteValue(flag, 2)])
    executable.set_child(child, inner)
    executable.set_enabled(filled, False)
    assert not executable.is_enabled(filled)
    executable.upload(w.stream)
    executable.launch(w.stream)
    update = executable.update(clone)
    read_all(update)
    repr((bool(update), executable.flags, executable.handle, executable.closed, executable.device))
    keep_graph(w, clone)


@operation("GraphExec.launch", "GraphExec.close")
def launch_a_graph(w: Worker) -> None:
    executables = w.objects().executables
    if not executables:
        return
    executable = w.random.choice(executables)
    executable.launch(w.stream)
    if w.random.random() < 0.1:
        executable.close()
