"""The cases of instantiation: which graphs become executables, and where executables may be launched."""

from __future__ import annotations

import ctypes
import struct
from collections.abc import Callable, Iterator

from .asking import (
    ALLOC,
    CHILD,
    CONDITIONAL,
    COPY,
    EMPTY,
    EVENT_RECORD,
    EVENT_WAIT,
    HOST,
    MEMSET,
    Question,
    Runtime,
    case,
)
from .cases_capture import GLOBAL, RELAXED, THREAD_LOCAL, capped

ASSIGN_DEFAULT = 1
IF = 0
AUTO_FREE, UPLOAD, DEVICE_LAUNCH, NODE_PRIORITY = 1, 2, 4, 8
NON_BLOCKING = 1
PROGRAMMATIC_STREAM_SERIALIZATION = 6
Add = Callable[[int], str]


@case
def graph_cycle(r: Runtime) -> Iterator[Question]:
    g = r.graph()
    a = r.empty_node(g)
    b = r.empty_node(g, (a,))
    c = r.empty_node(g, (b,))
    yield "two", r.c.graph_add_dependencies(g, [b], [a])
    yield "l", r.last()
    yield "e1", r.c.graph_get_edges(g)[1]
    yield "three", r.c.graph_add_dependencies(g, [c], [a])
    yield "l2", r.last()
    yield "e2", r.c.graph_get_edges(g)[1]
    yield "inst", r.c.graph_instantiate(g)[0]
    yield "l3", r.last()
    yield "roots", r.c.graph_get_root_nodes(g)[0]
    yield "n", r.c.graph_get_root_nodes(g)[1]


@case
def graph_remove_absent(r: Runtime) -> Iterator[Question]:
    g = r.graph()
    a = r.empty_node(g)
    b = r.empty_node(g, (a,))
    c = r.empty_node(g, (b,))
    yield "absent", r.c.graph_remove_dependencies(g, [a], [c])
    yield "l", r.last()
    yield "there", r.c.graph_remove_dependencies(g, [a], [b])
    yield "dups", r.c.graph_add_node(g, {"type": EMPTY}, (a, a))[0]


def launch_in_capture(
    r: Runtime, label: str, mode: int = GLOBAL, *, gone: bool = False, uploaded: bool = False, flags: int = 0
) -> Iterator[Question]:
    g = r.graph()
    r.inc_node(g, r.device_int())
    x = r.instantiate(g, flags)
    s, t = r.stream(NON_BLOCKING), r.stream(NON_BLOCKING)
    if uploaded:
        r.c.graph_upload(x, t)
        r.c.stream_synchronize(t)
    if gone:
        r.c.graph_destroy(g)
    r.c.stream_begin_capture(s, mode)
    yield label, r.c.graph_launch(x, s)
    yield "status", r.capture_status(s)
    yield "end", r.c.stream_end_capture(s)[0]


@case
def graph_launch_in_capture(r: Runtime) -> Iterator[Question]:
    yield from launch_in_capture(r, "kept")
    yield from launch_in_capture(r, "gone", gone=True)
    yield from launch_in_capture(r, "relaxed", RELAXED)
    yield from launch_in_capture(r, "uploaded", uploaded=True)
    yield from launch_in_capture(r, "autofree", flags=AUTO_FREE)
    yield from launch_in_capture(r, "thread", THREAD_LOCAL)


@case
def graph_upload_in_capture(r: Runtime) -> Iterator[Question]:
    g = r.graph()
    r.inc_node(g, r.device_int())
    x = r.instantiate(g)
    yield from capped(r, "upload", lambda s: r.c.graph_upload(x, s))


def additions(r: Runtime) -> dict[str, Add]:
    """Ways to add one node to a graph."""
    memory, pinned = r.device_int(64), r.c.host_alloc(64)[1]
    pageable = ctypes.addressof((ctypes.c_int * 64)())

    def node(**parameters: object) -> Add:
        return lambda g: r.c.graph_add_node(g, parameters)[0]

    def copy(destination: int, source: int) -> Add:
        return node(type=COPY, destination=destination, source=source, bytes=4)

    def kernel(g: int) -> str:
        r.inc_node(g, memory)
        return "cudaSuccess"

    def child(g: int) -> str:
        inner = r.graph()
        r.inc_node(inner, memory)
        return r.c.graph_add_node(g, {"type": CHILD, "graph": inner})[0]

    def conditional(g: int) -> str:
        status, handle = r.c.graph_conditional_handle_create(g, 1, ASSIGN_DEFAULT)
        if status != "cudaSuccess":
            return status
        parameters = {"type": CONDITIONAL, "handle": handle, "condition": IF, "size": 1}
        status, _, bodies, _ = r.c.graph_add_node(g, parameters)
        r.inc_node(bodies[0], memory)
        return status

    return {
        "empty": lambda g: "cudaSuccess",
        "kernel": kernel,
        "host": node(type=HOST, function=lambda: None),
        "record": lambda g: r.c.graph_add_node(g, {"type": EVENT_RECORD, "event": r.event()})[0],
        "wait": lambda g: r.c.graph_add_node(g, {"type": EVENT_WAIT, "event": r.event()})[0],
        "emptynode": node(type=EMPTY),
        "memset": node(type=MEMSET, pointer=memory, pitch=4, element_bytes=4, width=1),
        "memset2d": node(type=MEMSET, pointer=memory, pitch=16, element_bytes=4, width=2, height=2),
        "d2d": copy(memory, memory + 32),
        "pinned_h2d": copy(memory, pinned),
        "pinned_d2h": copy(pinned, memory),
        "pageable_h2d": copy(memory, pageable),
        "pageable_d2h": copy(pageable, memory),
        "child": child,
        "alloc": node(type=ALLOC, bytes=1024),
        "nested": conditional,
    }


@case
def graph_bodies(r: Runtime) -> Iterator[Question]:
    for name, add in additions(r).items():
        g = r.graph()
        handle = r.c.graph_conditional_handle_create(g, 1, ASSIGN_DEFAULT)[1]
        parameters = {"type": CONDITIONAL, "handle": handle, "condition": IF, "size": 1}
        _, _, bodies, _ = r.c.graph_add_node(g, parameters)
        yield f"{name}_add", add(bodies[0])
        yield "l", r.last()
        status, x, *_ = r.c.graph_instantiate(g)
        yield f"{name}_inst", status
        yield "l", r.last()
        if status == "cudaSuccess":
            yield f"{name}_launch", r.c.graph_launch(x, 0)
            yield "sync", r.c.device_synchronize()


@case
def graph_device_nodes(r: Runtime) -> Iterator[Question]:
    """Graphs that may and may not be launched from the device."""
    known = additions(r)
    for label, name in [
        ("nothing", "empty"),
        ("kernel", "kernel"),
        ("host", "host"),
        ("record", "record"),
        ("empty", "emptynode"),
        ("memset", "memset"),
        ("d2d", "d2d"),
        ("pinned_h2d", "pinned_h2d"),
        ("pageable", "pageable_h2d"),
        ("child", "child"),
        ("alloc", "alloc"),
        ("conditional", "nested"),
    ]:
        g = r.graph()
        known[name](g)
        yield label, r.c.graph_instantiate(g, DEVICE_LAUNCH)[0]
        yield "l", r.last()
    g = r.graph()
    r.inc_node(g, r.device_int())
    yield "device_and_autofree", r.c.graph_instantiate(g, DEVICE_LAUNCH | AUTO_FREE)[0]
    status, x, *_ = r.c.graph_instantiate(g, NODE_PRIORITY)
    yield "priority", status
    status, flags = r.c.graph_exec_get_flags(x)
    yield "flags", status
    yield "flags", flags
    status, x, result, _ = r.c.graph_instantiate(g, UPLOAD)
    yield "upload_flag_params", status
    yield "result", result
    yield "launch", r.c.graph_launch(x, 0)
    h = r.graph()
    n = r.c.graph_add_node(h, {"type": HOST, "function": lambda: None})[1]
    status, _, result, error_node = r.c.graph_instantiate(h, DEVICE_LAUNCH)
    yield "host_params", status
    yield "result", result
    yield "err_node", int(error_node == n)
    r.last()
    y = r.instantiate(g, DEVICE_LAUNCH)
    yield "upload", r.c.graph_upload(y, 0)
    r.c.device_synchronize()
    yield "l1", r.c.graph_launch(y, r.stream(NON_BLOCKING))
    yield "l2", r.c.graph_launch(y, r.stream(NON_BLOCKING))
    yield "sync", r.c.device_synchronize()
    yield "l", r.last()
    yield "update", r.c.graph_exec_update(y, g)[0]


@case
def graph_node_changes(r: Runtime) -> Iterator[Question]:
    """Nodes that may be disabled, and changes of parameters that are allowed."""
    p, g = r.device_int(64), r.graph()
    k, m = r.inc_node(g, p), r.empty_node(g)
    h = r.c.graph_add_node(g, {"type": HOST, "function": lambda: None})[1]
    line = {"type": MEMSET, "pointer": p, "pitch": 4, "element_bytes": 4, "width": 1}
    ms = r.c.graph_add_node(g, line)[1]
    copy = {"type": COPY, "destination": p, "source": p + 32, "bytes": 4}
    cp = r.c.graph_add_node(g, copy)[1]
    x = r.instantiate(g)
    yield "disable_kernel", r.c.graph_node_set_enabled(x, k, 0)
    yield "disable_memset", r.c.graph_node_set_enabled(x, ms, 0)
    yield "disable_copy", r.c.graph_node_set_enabled(x, cp, 0)
    yield "disable_host", r.c.graph_node_set_enabled(x, h, 0)
    yield "l", r.last()
    yield "disable_empty", r.c.graph_node_set_enabled(x, m, 0)
    status, enabled = r.c.graph_node_get_enabled(x, k)
    yield "get", status
    yield "e", enabled
    yield "set_memset_size", r.c.graph_exec_node_set_params(x, ms, line | {"width": 2})
    grid = line | {"width": 2, "height": 2, "pitch": 32}
    yield "set_memset_2d", r.c.graph_exec_node_set_params(x, ms, grid)
    yield "set_copy_size", r.c.graph_exec_node_set_params(x, cp, copy | {"bytes": 8})
    r.last()
    host = (ctypes.c_int * 64)()
    upload = {"type": COPY, "destination": p, "source": ctypes.addressof(host), "bytes": 8, "kind": 1}
    yield "node_set_empty_copy", r.c.graph_node_set_params(cp, upload)
    status, result, *_ = r.c.graph_exec_update(x, g)
    yield "update_copy_kind", status
    yield "r", result
    yield "l", r.last()


@case
def cap_programmatic(r: Runtime) -> Iterator[Question]:
    """The edges of captured programmatic launches."""
    s, p = r.stream(NON_BLOCKING), r.device_int()
    value = struct.pack("P", p)

    def launch(label: str) -> Question:
        kernel = r.kernel("inc")
        attributes = [{"id": PROGRAMMATIC_STREAM_SERIALIZATION, "value": 1}]
        return label, r.c.launch_kernel(kernel, 1, 1, [value], stream=s, attributes=attributes)

    r.c.stream_begin_capture(s, GLOBAL)
    r.launch("inc", value, stream=s)
    yield launch("pdl")
    r.c.memset_async(p, 0, 4, s)
    yield launch("pdl2")
    status, g = r.c.stream_end_capture(s)
    yield "end", status
    status, _, _, _, data = r.c.graph_get_edges(g, 8, True)
    yield "edges", status
    for i, (from_port, to_port, kind) in enumerate(data):
        yield f"edge{i}", f"{kind} {from_port} {to_port}"
    status, x, *_ = r.c.graph_instantiate(g)
    yield "inst", status
    r.c.graph_launch(x, s)
    yield "sync", r.c.stream_synchronize(s)


@case
def graph_instantiate_results(r: Runtime) -> Iterator[Question]:
    """The result for a refused graph, and the node that it names."""
    known = additions(r)

    def asked(label: str, graph: int, flags: int = 0) -> Iterator[Question]:
        status, _, result, node = r.c.graph_instantiate(graph, flags)
        r.last()
        yield label, f"{status} {result} {'node' if node else 'none'}"
        if node:
            status, kind = r.c.graph_node_get_type(node)
            yield f"{label}_type", f"{status} {kind}"

    def body(name: str) -> int:
        g = r.graph()
        handle = r.c.graph_conditional_handle_create(g, 1, ASSIGN_DEFAULT)[1]
        _, _, bodies, _ = r.c.graph_add_node(
            g, {"type": CONDITIONAL, "handle": handle, "condition": IF, "size": 1}
        )
        known[name](bodies[0])
        return g

    def alone(name: str) -> int:
        g = r.graph()
        known[name](g)
        return g

    g = r.graph()
    a = r.empty_node(g)
    b = r.empty_node(g, (a,))
    c = r.empty_node(g, (b,))
    r.c.graph_add_dependencies(g, [c], [a])
    yield from asked("cycle", g)
    yield from asked("host", body("host"))
    yield from asked("record", body("record"))
    yield from asked("pageable", body("pageable_h2d"))
    yield from asked("alloc", body("alloc"))
    yield from asked("device_nothing", r.graph(), DEVICE_LAUNCH)
    yield from asked("device_empty", alone("emptynode"), DEVICE_LAUNCH)
    yield from asked("badflags", alone("emptynode"), 1 << 40)
    unused = alone("kernel")
    r.c.graph_conditional_handle_create(unused, 1, ASSIGN_DEFAULT)
    yield from asked("unused_handle", unused)
    yield from asked("device_record", alone("record"), DEVICE_LAUNCH)
    yield from asked("device_pageable", alone("pageable_h2d"), DEVICE_LAUNCH)


@case
def graph_flags(r: Runtime) -> Iterator[Question]:
    for flags in (0, AUTO_FREE, UPLOAD, DEVICE_LAUNCH, NODE_PRIORITY):
        g = r.graph()
        r.inc_node(g, r.device_int())
        status, x, *_ = r.c.graph_instantiate(g, flags)
        yield "inst", status
        status, known = r.c.graph_exec_get_flags(x)
        yield "get", status
        yield f"{flags}->{known}", None


@case
def graph_memset_changes(r: Runtime) -> Iterator[Question]:
    p = r.device_int(256)

    def parameters(width: int, height: int) -> dict[str, object]:
        return {
            "type": MEMSET,
            "pointer": p,
            "pitch": 64,
            "element_bytes": 4,
            "width": width,
            "height": height,
        }

    def graph(width: int, height: int) -> tuple[int, int]:
        g = r.graph()
        return g, r.c.graph_add_node(g, parameters(width, height))[1]

    for label, old, new in [
        ("1d_1d", (4, 1), (8, 1)),
        ("1d_2d", (4, 1), (4, 2)),
        ("2d_1d", (4, 2), (4, 1)),
        ("2d_2d", (4, 2), (8, 4)),
    ]:
        x = r.instantiate(graph(*old)[0])
        status, result, *_ = r.c.graph_exec_update(x, graph(*new)[0])
        yield label, f"{status} {result}"
        r.last()
    g, n = graph(4, 2)
    x = r.instantiate(g)
    yield "set_2d_2d", r.c.graph_exec_node_set_params(x, n, parameters(8, 4))
    yield "set_2d_1d", r.c.graph_exec_node_set_params(x, n, parameters(8, 1))
