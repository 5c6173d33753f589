"""Cases of memory, copies, pools, graphs and captures that the differential test drew, with a GPU's answers."""

from __future__ import annotations

import ctypes
from collections.abc import Iterator

from support import NO_DEVICE

from .asking import ALLOC, CHILD, COPY, EMPTY, EVENT_WAIT, FREE, MEMSET, Question, Runtime, case
from .cases_capture import EXTERNAL, GLOBAL, THREAD_LOCAL, in_another_thread

KINDS = range(5)  # host to host, host to device, device to host, device to device, by the addresses
NO_KIND = 9
MIB = 1 << 20
NON_BLOCKING = 1
RELAXED = 2
UPLOAD = 2
READ_WRITE = 3
USED = 7  # cudaMemPoolAttrUsedMemCurrent
TOO_MUCH = 1 << 40


class Things:
    """Memory of each kind, of 4096 bytes."""

    def __init__(self, r: Runtime) -> None:
        self.device = r.device_int(1024)
        self.pinned = r.c.host_alloc(4096)[1]
        self.array = (ctypes.c_int * 1024)()
        self.pageable = ctypes.addressof(self.array)


@case
def copy_kinds(r: Runtime) -> Iterator[Question]:
    s, m = r.stream(), Things(r)
    pairs = {
        "device_from_pinned": (m.device, m.pinned),
        "pinned_from_device": (m.pinned, m.device),
        "device_from_pageable": (m.device, m.pageable),
        "pageable_from_device": (m.pageable, m.device),
    }
    for name, (to, source) in pairs.items():
        for kind in KINDS:
            yield f"{name}_{kind}", r.c.memcpy_async(to, source, 64, kind, s)
    for kind in KINDS:
        yield f"device_from_device_{kind}", r.c.memcpy(m.device, m.device + 1024, 64, kind)
    yield "no_kind", r.c.memcpy_async(m.device, m.pinned, 64, NO_KIND, s)
    yield "no_kind_too_much", r.c.memcpy(m.device, m.pageable, TOO_MUCH, NO_KIND)


@case
def copy_of_no_bytes(r: Runtime) -> Iterator[Question]:
    s, m = r.stream(NON_BLOCKING), Things(r)
    blocking = r.stream()
    yield "no_kind", r.c.memcpy_async(m.device, m.pageable, 0, NO_KIND, s)
    yield "set_null", r.c.memset(0, 0, 0)
    yield "set_pageable", r.c.memset(m.pageable, 0, 0)
    r.c.stream_begin_capture(s, GLOBAL)
    yield "captured_copy", r.c.memcpy_async(m.device, m.pageable, 0, NO_KIND, s)
    yield "captured_set", r.c.memset_async(m.device, 0, 0, s)
    status, graph = r.c.stream_end_capture(s)
    yield "end", status
    yield "g", r.nodes(graph)
    r.c.stream_begin_capture(blocking, GLOBAL)
    yield "beside_copy", r.c.memcpy(m.device, m.pinned, 0, 1)
    yield "beside_set", r.c.memset(m.device, 0, 0)
    yield "beside_status", r.capture_status(blocking)
    r.c.stream_query(blocking)
    yield "spoilt_copy", r.c.memcpy_async(m.device, m.pinned, 0, 1, blocking)
    yield "spoilt_set", r.c.memset_async(m.device, 0, 0, blocking)
    yield "spoilt_no_kind", r.c.memcpy_async(m.device, m.pinned, 64, NO_KIND, blocking)
    yield "spoilt_end", r.c.stream_end_capture(blocking)[0]


@case
def allocation_of_no_bytes_beside_a_capture(r: Runtime) -> Iterator[Question]:
    s = r.stream(NON_BLOCKING)
    r.c.stream_begin_capture(s, GLOBAL)
    yield "malloc", r.c.malloc(0)[0]
    yield "pitch", r.c.malloc_pitch(512, 0)[0]
    yield "managed", r.c.malloc_managed(0, 0)[0]
    yield "host", r.c.host_alloc(0, 0x400)[0]
    yield "managed_no_flags", r.c.malloc_managed(64, 0)[0]
    yield "status", r.capture_status(s)
    yield "host_no_flags", r.c.host_alloc(64, 0x400)[0]
    yield "end", r.c.stream_end_capture(s)[0]


@case
def captured_set_of_too_much(r: Runtime) -> Iterator[Question]:
    s, m = r.stream(), Things(r)
    yield "set", r.c.memset_async(m.device, 0, TOO_MUCH, s)
    r.c.stream_begin_capture(s, GLOBAL)
    yield "captured", r.c.memset_async(m.device, 0, TOO_MUCH, s)
    status, graph = r.c.stream_end_capture(s)
    yield "end", status
    yield "node", r.c.graph_add_node(graph, {"type": MEMSET, "pointer": m.device, "width": 1 << 30})[0]
    yield "instantiate", r.c.graph_instantiate(graph)[0]
    yield "instantiate_upload", r.c.graph_instantiate(graph, UPLOAD)[0]


@case
def flags_of_host_memory(r: Runtime) -> Iterator[Question]:
    for flags in (0, 1, 2, 4):
        yield f"alloc_{flags}", r.c.host_get_flags(r.c.host_alloc(64, flags)[1])[1]
    for flags in (1, 2):
        yield f"managed_{flags}", r.c.host_get_flags(r.c.malloc_managed(64, flags)[1])[1]
    yield "device", r.c.host_get_flags(r.device_int())[0]


@case
def flags_of_shared_chunks(r: Runtime) -> Iterator[Question]:
    def flags(size: int, flags: int) -> int:
        made.append(r.c.host_alloc(size, flags)[1])
        return r.c.host_get_flags(made[-1])[1]

    made: list[int] = []
    yield "portable", flags(64, 1)
    yield "behind_portable", flags(64, 0)
    yield "half_a_chunk", flags(MIB, 2)
    yield "too_large_for_the_chunk", flags(MIB, 0)
    yield "write_combined", flags(64, 4)
    yield "portable_behind_it", flags(64, 7)
    yield "large", flags(4 * MIB, 1)
    yield "large_without", flags(4 * MIB, 0)
    for pointer in made:
        r.c.free_host(pointer)
    yield "all_freed", flags(64, 0)


@case
def host_register_behind_host_alloc(r: Runtime) -> Iterator[Question]:
    p = r.c.host_alloc(4)[1]
    yield "behind", r.c.host_register(p + 64, 64)


@case
def texture_beside_a_capture(r: Runtime) -> Iterator[Question]:
    s, array = r.stream(), r.c.malloc_array((32, 0, 0, 0, 2), 4, 4)[1]
    r.c.stream_begin_capture(s, GLOBAL)
    yield "texture", r.c.create_texture_object({"type": 0, "array": array})[0]
    yield "end", r.c.stream_end_capture(s)[0]


@case
def pools_of_no_device(r: Runtime) -> Iterator[Question]:
    pool = r.c.mem_pool_create(0)[1]
    # The recorded answers are those of device 99, which some processes of tests have.
    for name, device in (("-1", -1), ("99", NO_DEVICE)):
        yield f"default_{name}", r.c.device_get_default_mem_pool(device)[0]
        yield f"current_{name}", r.c.device_get_mem_pool(device)[0]
        yield f"create_{name}", r.c.mem_pool_create(device)[0]
        yield f"get_access_{name}", r.c.mem_pool_get_access(pool, device)[0]
        yield f"set_access_{name}", r.c.mem_pool_set_access(pool, [(device, READ_WRITE)])


@case
def pool_used(r: Runtime) -> Iterator[Question]:
    s, pool = r.stream(), r.c.device_get_default_mem_pool(0)[1]
    before = r.c.mem_pool_get_attribute(pool, USED)[1]

    def used() -> int:
        r.c.stream_synchronize(s)
        return r.c.mem_pool_get_attribute(pool, USED)[1] - before

    p = r.c.malloc_async(4, s)[1]
    yield "allocated", used()
    q = r.c.malloc_async(4096, s)[1]
    yield "both", used()
    r.c.free_async(q, s)
    yield "freed_in_the_stream", used()
    r.c.free(p)
    yield "freed_by_free", used()


@case
def device_flags_and_graphs(r: Runtime) -> Iterator[Question]:
    d, g, kernels = r.device_int(), r.graph(), r.graph()
    r.empty_node(g)
    r.instantiate(g)
    yield "empty_node", r.c.get_device_flags()[1]
    r.inc_node(kernels, d)
    yield "kernel_node", r.c.get_device_flags()[1]
    r.instantiate(kernels)
    yield "instantiated", r.c.get_device_flags()[1]


@case
def graph_node_refusals(r: Runtime) -> Iterator[Question]:
    g, m, no_node = r.graph(), Things(r), (0,)
    yield "type", r.c.graph_add_node(g, {"type": 99})[0]
    yield "type_last", r.last()
    yield "type_dependency", r.c.graph_add_node(g, {"type": 99}, no_node)[0]
    yield "type_no_graph", r.c.graph_add_node(0, {"type": 99})[0]
    copy = {"type": COPY, "destination": m.device, "source": m.pinned, "bytes": 4, "kind": NO_KIND}
    yield "no_kind", r.c.graph_add_node(g, copy)[0]
    yield "no_kind_dependency", r.c.graph_add_node(g, copy, no_node)[0]
    yield "no_event", r.c.graph_add_node(g, {"type": EVENT_WAIT, "event": 0})[0]
    allocating = r.graph()
    r.c.graph_add_node(allocating, {"type": ALLOC, "bytes": 64})
    yield "child", r.c.graph_add_node(g, {"type": CHILD, "graph": allocating})[0]
    yield "child_dependency", r.c.graph_add_node(g, {"type": CHILD, "graph": allocating}, no_node)[0]
    yield "dependency", r.c.graph_add_node(g, {"type": CHILD, "graph": r.graph()}, no_node)[0]


@case
def graph_that_was_to_free(r: Runtime) -> Iterator[Question]:
    g, other, d = r.graph(), r.graph(), r.device_int()
    yield "free_dependency", r.c.graph_add_node(g, {"type": FREE, "pointer": d}, (0,))[0]
    yield "clone", r.c.graph_clone(g)[0]
    yield "free", r.c.graph_add_node(g, {"type": FREE, "pointer": d})[0]
    yield "clone_after", r.c.graph_clone(g)[0]
    status, own, *_ = r.c.graph_instantiate(g)
    yield "instantiate", status
    yield "again", r.c.graph_instantiate(g)[0]
    yield "update_other", r.c.graph_exec_update(r.instantiate(other), g)[0]
    yield "update_own", r.c.graph_exec_update(own, g)[0]
    r.c.graph_exec_destroy(own)
    yield "after_destroy", r.c.graph_instantiate(g)[0]


@case
def executable_updated_by_a_graph_that_was_to_free(r: Runtime) -> Iterator[Question]:
    g, d = r.graph(), r.device_int()
    own = r.instantiate(r.graph())
    r.c.graph_add_node(g, {"type": FREE, "pointer": d})
    yield "update", r.c.graph_exec_update(own, g)[0]
    yield "instantiate", r.c.graph_instantiate(g)[0]


@case
def graph_memory_after_instantiate(r: Runtime) -> Iterator[Question]:
    g, s = r.graph(), r.stream()
    r.instantiate(g)
    status, node, _, pointer = r.c.graph_add_node(g, {"type": ALLOC, "bytes": 4096})
    yield "alloc", status
    status, own, *_ = r.c.graph_instantiate(g)
    yield "instantiate", status
    yield "again", r.c.graph_instantiate(g)[0]
    r.c.graph_launch(own, s)
    yield "free", r.c.graph_add_node(g, {"type": FREE, "pointer": pointer}, (node,))[0]
    r.c.stream_synchronize(s)


@case
def graph_memory_beside_an_instantiated_one(r: Runtime) -> Iterator[Question]:
    g = r.graph()
    _, first, _, older = r.c.graph_add_node(g, {"type": ALLOC, "bytes": 64})
    r.instantiate(g)
    _, second, _, newer = r.c.graph_add_node(g, {"type": ALLOC, "bytes": 4096})
    yield "free_newer", r.c.graph_add_node(g, {"type": FREE, "pointer": newer}, (second,))[0]
    yield "free_older", r.c.graph_add_node(g, {"type": FREE, "pointer": older}, (first,))[0]


@case
def instantiate_beside_a_capture(r: Runtime) -> Iterator[Question]:
    g, s, blocking = r.graph(), r.stream(NON_BLOCKING), r.stream()
    r.empty_node(g)
    r.c.stream_begin_capture(s, GLOBAL)
    yield "no_flags", r.c.graph_instantiate(g, 1 << 20)[0]
    yield "upload", r.c.graph_instantiate(g, UPLOAD)[0]
    yield "status", r.capture_status(s)
    yield "plain", r.c.graph_instantiate(g)[0]
    yield "no_graph", r.c.graph_instantiate(0)[0]
    yield "spoilt", r.capture_status(s)
    r.c.stream_end_capture(s)
    r.c.stream_begin_capture(blocking, RELAXED)
    yield "relaxed", r.c.graph_instantiate(g)[0]
    yield "upload_relaxed", r.c.graph_instantiate(g, UPLOAD)[0]
    yield "spoilt_relaxed", r.capture_status(blocking)
    r.c.stream_end_capture(blocking)


@case
def graph_of_a_spoilt_capture(r: Runtime) -> Iterator[Question]:
    g, other, s = r.graph(), r.graph(), r.stream()
    r.c.stream_begin_capture_to_graph(s, g, (), GLOBAL)
    r.c.stream_query(s)
    yield "nodes_before", r.c.graph_get_nodes(g)[0]
    yield "end", r.c.stream_end_capture(s)[0]
    yield "nodes", r.c.graph_get_nodes(g)[0]
    yield "add", r.c.graph_add_node(g, {"type": EMPTY})[0]
    s = r.stream()
    r.c.stream_begin_capture_to_graph(s, other, (), GLOBAL)
    r.c.stream_destroy(s)
    yield "stream_destroyed", r.c.graph_instantiate(other)[0]


@case
def graph_with_memory_loses_no_edge(r: Runtime) -> Iterator[Question]:
    g, other = r.graph(), r.graph()
    r.c.graph_add_node(g, {"type": ALLOC, "bytes": 64})
    node = r.empty_node(other)
    yield "edge_of_another_graph", r.c.graph_remove_dependencies(g, [node], [node])
    yield "without_memory", r.c.graph_remove_dependencies(other, [node], [node])


@case
def host_register_behind_memory_of_a_device(r: Runtime) -> Iterator[Question]:
    yield "malloc", r.c.host_register(r.c.malloc(64)[1] + 64, 64)
    yield "managed", r.c.host_register(r.c.malloc_managed(64, 1)[1] + 64, 64)
    yield "managed_host", r.c.host_register(r.c.malloc_managed(64, 2)[1] + 64, 64)


@case
def record_with_unknown_flags(r: Runtime) -> Iterator[Question]:
    s, e, unknown = r.stream(), r.event(), 0x400
    yield "event", r.c.event_record_with_flags(e, s, unknown)
    yield "no_event", r.c.event_record_with_flags(0, s, unknown)


@case
def captures_to_one_graph(r: Runtime) -> Iterator[Question]:
    g, m, s, other = r.graph(), Things(r), r.stream(), r.stream(NON_BLOCKING)
    node = r.empty_node(g)
    yield "first", r.c.stream_begin_capture_to_graph(s, g, (node,), THREAD_LOCAL)
    yield "second", r.c.stream_begin_capture_to_graph(other, g, (), GLOBAL)
    yield "copy_in_the_first", r.c.memcpy_async(m.pinned, m.device, 64, 0, s)
    yield "second_anew", r.c.stream_begin_capture(other, THREAD_LOCAL)
    r.c.stream_end_capture(other)
    r.c.stream_end_capture(s)


@case
def external_wait_for_an_event_of_a_spoilt_capture(r: Runtime) -> Iterator[Question]:
    s, other, e = r.stream(), r.stream(NON_BLOCKING), r.event()
    r.c.stream_begin_capture_to_graph(s, r.graph(), (), THREAD_LOCAL)
    r.record(e, s)
    yield "query", in_another_thread(lambda: r.c.event_query(e))
    r.c.stream_begin_capture(other, RELAXED)
    yield "wait", r.c.stream_wait_event(other, e, EXTERNAL)
    yield "query_again", r.c.event_query(e)
    yield "host_function", r.c.launch_host_func(other, lambda: None)
    r.c.stream_end_capture(other)
    r.c.stream_end_capture(s)
