"""The cases of graphs and their executables."""

from __future__ import annotations

import ctypes
import struct
import tempfile
from collections.abc import Iterator
from pathlib import Path

from .asking import (
    ALLOC,
    CONDITIONAL,
    CONDITIONS,
    EMPTY,
    EVENT_RECORD,
    EVENT_WAIT,
    HOST,
    KERNEL,
    MS,
    Question,
    Runtime,
    case,
)

AUTO_FREE_ON_LAUNCH = 1
ASSIGN_DEFAULT = 1
WHILE, SWITCH = 1, 2
PROGRAMMATIC = (1, 0, 1)  # from_port, to_port, type


@case
def graph_self_edge(r: Runtime) -> Iterator[Question]:
    g = r.graph()
    a = r.empty_node(g)
    yield "self", r.c.graph_add_dependencies(g, [a], [a])
    yield "l", r.last()


@case
def graph_dup_edge(r: Runtime) -> Iterator[Question]:
    g = r.graph()
    a, b = r.empty_node(g), r.empty_node(g)
    yield "first", r.c.graph_add_dependencies(g, [a], [b])
    yield "second", r.c.graph_add_dependencies(g, [a], [b])
    yield "l", r.last()
    yield "g", r.nodes(g)
    yield "add_node_dup_deps", r.c.graph_add_node(g, {"type": EMPTY}, [a, a])[0]
    yield "l2", r.last()


@case
def graph_foreign_dep(r: Runtime) -> Iterator[Question]:
    g, h = r.graph(), r.graph()
    a = r.empty_node(g)
    yield "add", r.c.graph_add_node(h, {"type": EMPTY}, [a])[0]
    yield "l", r.last()
    b = r.empty_node(h)
    yield "dep", r.c.graph_add_dependencies(g, [a], [b])
    yield "l2", r.last()


@case
def graph_destroy_node(r: Runtime) -> Iterator[Question]:
    g = r.graph()
    a = r.empty_node(g)
    b = r.empty_node(g, (a,))
    r.empty_node(g, (b,))
    yield "before", r.nodes(g)
    yield "destroy", r.c.graph_destroy_node(b)
    yield "after", r.nodes(g)


@case
def graph_empty(r: Runtime) -> Iterator[Question]:
    g = r.graph()
    status, x, *_ = r.c.graph_instantiate(g, 0)
    yield "inst", status
    yield "launch_null_stream", r.c.graph_launch(x, 0)
    yield "sync", r.c.device_synchronize()
    yield "create_flags", r.c.graph_create(1)[0]
    yield "l", r.last()
    yield "inst_bad_flags", r.c.graph_instantiate(g, 1 << 40)[0]
    yield "l2", r.last()


@case
def graph_relaunch(r: Runtime) -> Iterator[Question]:
    p, g, s = r.device_int(), r.graph(), r.stream()
    r.inc_node(g, p)
    x = r.instantiate(g)
    for _ in range(10):
        r.c.graph_launch(x, s)
    r.c.stream_synchronize(s)
    yield "count", r.read_int(p)
    yield "destroy_graph", r.c.graph_destroy(g)
    yield "launch_after_graph_destroy", r.c.graph_launch(x, s)
    yield "sync", r.c.stream_synchronize(s)
    yield "count2", r.read_int(p)


@case
def graph_destroy_exec_running(r: Runtime) -> Iterator[Question]:
    g, s = r.graph(), r.stream()
    arguments = [struct.pack("q", 50 * MS)]
    r.c.graph_add_node(g, {"type": KERNEL, "kernel": r.kernel("spin"), "arguments": arguments})
    x = r.instantiate(g)
    r.c.graph_launch(x, s)
    t = r.ms()
    yield "destroy", r.c.graph_exec_destroy(x)
    yield "at_once", int(r.ms() - t < 25)
    yield "sync", r.c.stream_synchronize(s)


@case
def graph_update_topology(r: Runtime) -> Iterator[Question]:
    p, g, h, s = r.device_int(), r.graph(), r.graph(), r.stream()
    r.inc_node(g, p)
    a = r.inc_node(h, p)
    r.inc_node(h, p, (a,))
    x = r.instantiate(g)
    status, result, *_ = r.c.graph_exec_update(x, h)
    yield "update", status
    yield "result", result
    yield "l", r.last()
    yield "still_launches", r.c.graph_launch(x, s)
    r.c.stream_synchronize(s)
    yield "count", r.read_int(p)


@case
def graph_update_params(r: Runtime) -> Iterator[Question]:
    p, q, g, h, s = r.device_int(), r.device_int(), r.graph(), r.graph(), r.stream()
    r.inc_node(g, p)
    r.inc_node(h, q, block=3)
    x = r.instantiate(g)
    status, result, *_ = r.c.graph_exec_update(x, h)
    yield "update", status
    yield "result", result
    r.c.graph_launch(x, s)
    r.c.stream_synchronize(s)
    yield "p", r.read_int(p)
    yield "q", r.read_int(q)


@case
def graph_update_function(r: Runtime) -> Iterator[Question]:
    p, g, h = r.device_int(), r.graph(), r.graph()
    r.inc_node(g, p)
    arguments = [struct.pack("P", p), struct.pack("i", 9)]
    r.c.graph_add_node(h, {"type": KERNEL, "kernel": r.kernel("store"), "arguments": arguments})
    status, result, *_ = r.c.graph_exec_update(r.instantiate(g), h)
    yield "update", status
    yield "result", result


@case
def graph_clone(r: Runtime) -> Iterator[Question]:
    p, g = r.device_int(), r.graph()
    n = r.inc_node(g, p)
    status, h = r.c.graph_clone(g)
    yield "clone", status
    r.inc_node(g, p)
    yield "g", r.nodes(g)
    yield "h", r.nodes(h)
    status, m = r.c.graph_node_find_in_clone(n, h)
    yield "find", status
    yield "different", int(m != n)


@case
def graph_alloc_autofree(r: Runtime) -> Iterator[Question]:
    g, s = r.graph(), r.stream()
    r.c.graph_add_node(g, {"type": ALLOC, "bytes": 1024})
    x = r.instantiate(g, AUTO_FREE_ON_LAUNCH)
    yield "l1", r.c.graph_launch(x, s)
    yield "l2", r.c.graph_launch(x, s)
    yield "sync", r.c.stream_synchronize(s)


@case
def graph_events(r: Runtime) -> Iterator[Question]:
    g, e, s = r.graph(), r.event(), r.stream()
    status, n, *_ = r.c.graph_add_node(g, {"type": EVENT_RECORD, "event": e})
    yield "rec", status
    yield "wait", r.c.graph_add_node(g, {"type": EVENT_WAIT, "event": e}, [n])[0]
    status, x, *_ = r.c.graph_instantiate(g, 0)
    yield "inst", status
    r.c.graph_launch(x, s)
    yield "sync", r.c.stream_synchronize(s)
    yield "q", r.c.event_query(e)
    f, h = r.event(), r.graph()
    yield "wait_unrecorded", r.c.graph_add_node(h, {"type": EVENT_WAIT, "event": f})[0]
    r.c.graph_launch(r.instantiate(h), s)
    yield "sync2", r.c.stream_synchronize(s)


@case
def graph_while(r: Runtime) -> Iterator[Question]:
    p, g, s = r.device_int(), r.graph(), r.stream()
    five = ctypes.c_int(5)
    r.c.memcpy(p, ctypes.addressof(five), 4)
    status, h = r.c.graph_conditional_handle_create(g, 1, ASSIGN_DEFAULT)
    yield "handle", status
    loop = {"type": CONDITIONAL, "handle": h, "condition": WHILE, "size": 1}
    status, _, bodies, _ = r.c.graph_add_node(g, loop)
    yield "add", status
    step = {
        "type": KERNEL,
        "kernel": r.kernel("cond_dec", CONDITIONS),
        "arguments": [struct.pack("Q", h), struct.pack("P", p)],
    }
    yield "body", r.c.graph_add_node(bodies[0], step)[0]
    status, x, *_ = r.c.graph_instantiate(g, 0)
    yield "inst", status
    r.c.graph_launch(x, s)
    yield "sync", r.c.stream_synchronize(s)
    yield "left", r.read_int(p)
    r.c.memcpy(p, ctypes.addressof(five), 4)
    r.c.graph_launch(x, s)
    yield "sync2", r.c.stream_synchronize(s)
    yield "left2", r.read_int(p)


@case
def graph_if_else_switch(r: Runtime) -> Iterator[Question]:
    p, q = r.device_int(), r.device_int()
    for value in range(3):
        g = r.graph()
        h = r.c.graph_conditional_handle_create(g, value, ASSIGN_DEFAULT)[1]
        switch = {"type": CONDITIONAL, "handle": h, "condition": SWITCH, "size": 2}
        status, _, bodies, _ = r.c.graph_add_node(g, switch)
        yield "add", status
        r.inc_node(bodies[0], p)
        r.inc_node(bodies[1], q)
        status, x, *_ = r.c.graph_instantiate(g, 0)
        yield "inst", status
        r.c.graph_launch(x, 0)
        yield "sync", r.c.device_synchronize()
        yield "p", r.read_int(p)
        yield "q", r.read_int(q)


@case
def graph_host_node(r: Runtime) -> Iterator[Question]:
    k = 0

    def add_five() -> None:
        nonlocal k
        k += 5

    g = r.graph()
    yield "add", r.c.graph_add_node(g, {"type": HOST, "function": add_five})[0]
    yield "null_fn", r.c.graph_add_node(g, {"type": HOST, "function": None})[0]
    yield "l", r.last()
    x = r.instantiate(g)
    r.c.graph_launch(x, 0)
    r.c.graph_launch(x, 0)
    r.c.device_synchronize()
    yield "k", k


@case
def graph_edge_data_pdl(r: Runtime) -> Iterator[Question]:
    p, g = r.device_int(), r.graph()
    a, b = r.inc_node(g, p), r.inc_node(g, p)
    yield "add", r.c.graph_add_dependencies(g, [a], [b], [PROGRAMMATIC])
    yield "edges_lossy", r.c.graph_get_edges(g, 4, False)[0]
    yield "l", r.last()
    status, _, _, _, data = r.c.graph_get_edges(g, 4, True)
    yield "edges", status
    from_port, _, kind = data[0]
    yield "type", kind
    yield "from_port", from_port
    status, x, *_ = r.c.graph_instantiate(g, 0)
    yield "inst", status
    r.c.graph_launch(x, 0)
    yield "sync", r.c.device_synchronize()
    c = r.empty_node(g)
    yield "pdl_edge_from_empty", r.c.graph_add_dependencies(g, [c], [b], [PROGRAMMATIC])
    yield "l2", r.last()


@case
def graph_dot(r: Runtime) -> Iterator[Question]:
    p, g = r.device_int(), r.graph()
    a = r.inc_node(g, p)
    r.inc_node(g, p, (a,))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "oracle.dot")
        yield "dot", r.c.graph_debug_dot_print(g, str(path), 0)
        for line in path.read_text().splitlines():
            if line:
                yield line, None
