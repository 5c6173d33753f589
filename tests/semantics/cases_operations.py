"""The cases of stream memory operations: their arguments, in captures, and as nodes of graphs and executables; and of
file descriptors that are no external semaphore.
"""

from __future__ import annotations

import ctypes
import fcntl
import os
from collections.abc import Iterator

from .asking import EMPTY, Question, Runtime, case

BATCH = 12
WAIT_32, WRITE_32, FLUSH, WAIT_64, WRITE_64, BARRIER = 1, 2, 3, 4, 5, 6
NON_BLOCKING, MAPPED, PORTABLE, WRITE_COMBINED = 1, 2, 1, 4
DEVICE_LAUNCH, IF, ASSIGN_DEFAULT = 4, 0, 1
OPAQUE, TIMELINE = 1, 9
Operation = tuple[int, int, int, int]  # type, address, value, flags


class Words:
    """Memory that operations work on, a stream, and a second stream that reads the results."""

    def __init__(self, r: Runtime) -> None:
        self.r = r
        self.s, self.t = r.stream(NON_BLOCKING), r.stream(NON_BLOCKING)
        self.d = r.device_int(64)
        self.h = r.c.host_alloc(256)[1]
        self.pageable = (ctypes.c_uint * 64)()
        self.at_pageable = ctypes.addressof(self.pageable)

    def word(self, index: int = 0) -> int:
        self.r.c.stream_synchronize(self.s)
        value = (ctypes.c_uint * 1)()
        self.r.c.memcpy_async(ctypes.addressof(value), self.d + 4 * index, 4, 2, self.t)
        self.r.c.stream_synchronize(self.t)
        return value[0]

    def sync(self) -> str:
        return self.r.c.stream_synchronize(self.s)

    def clear(self) -> None:
        self.r.c.memset(self.d, 0, 256)
        self.r.c.device_synchronize()


@case
def memory_operation_values(r: Runtime) -> Iterator[Question]:
    c, w = r.c, Words(r)
    s, d = w.s, w.d
    yield "write32", c.stream_write_value_32(s, d, 7)
    yield "write32_value", w.word()
    yield "write64", c.stream_write_value_64(s, d + 8, 0x1122334455667788)
    yield "write64_value", f"{w.word(2):#x} {w.word(3):#x}"
    for condition, value, flags in [("geq", 7, 0), ("eq", 7, 1), ("and", 1, 2), ("nor", 8, 3)]:
        yield f"wait32_{condition}", c.stream_wait_value_32(s, d, value, flags)
    yield "wait32_sync", w.sync()
    big = 0x1122334455667788
    for condition, value, flags in [("geq", 5, 0), ("eq", big, 1), ("and", 1 << 60, 2), ("nor", 1, 3)]:
        yield f"wait64_{condition}", c.stream_wait_value_64(s, d + 8, value, flags)
    yield "wait64_sync", w.sync()
    yield "write32_minus1", c.stream_write_value_32(s, d, 0xFFFFFFFF)
    yield "wait32_geq_cyclic", c.stream_wait_value_32(s, d, 0x80000001)
    yield "wait32_geq_cyclic_sync", w.sync()


@case
def memory_operation_flags(r: Runtime) -> Iterator[Question]:
    c, w = r.c, Words(r)
    s, d = w.s, w.d
    c.stream_write_value_32(s, d, 0xFFFFFFFF)
    for flags in (4, 5, 8, 1 << 29, 1 << 30, (1 << 30) | 1, (1 << 30) | 4, 1 << 31):
        yield f"wait32_flags_{flags:#x}", c.stream_wait_value_32(s, d, 0xFFFFFFFF, flags)
        yield f"wait32_flags_sync_{flags:#x}", w.sync()
    for flags in (1, 2, 3, 4, 1 << 30):
        yield f"write32_flags_{flags:#x}", c.stream_write_value_32(s, d, 1, flags)
    for flags in (4, 1 << 30):
        yield f"wait64_flags_{flags:#x}", c.stream_wait_value_64(s, d + 8, 0, flags)
    for flags in (1, 2):
        yield f"write64_flags_{flags:#x}", c.stream_write_value_64(s, d + 8, 1, flags)
    yield "flags_sync", w.sync()


@case
def memory_operation_addresses(r: Runtime) -> Iterator[Question]:
    c, w = r.c, Words(r)
    s, d, h = w.s, w.d, w.h
    yield "write32_null", c.stream_write_value_32(s, 0, 1)
    yield "wait32_null", c.stream_wait_value_32(s, 0, 0)
    yield "write64_null", c.stream_write_value_64(s, 0, 1)
    yield "wait64_null", c.stream_wait_value_64(s, 0, 0)
    for offset in (1, 2, 3):
        yield f"write32_offset_{offset}", c.stream_write_value_32(s, d + offset, 1)
        yield f"wait32_offset_{offset}", c.stream_wait_value_32(s, d + offset, 0)
    for offset in (1, 2, 4, 6):
        yield f"write64_offset_{offset}", c.stream_write_value_64(s, d + offset, 1)
        yield f"wait64_offset_{offset}", c.stream_wait_value_64(s, d + offset, 0)
    yield "offset_sync", w.sync()
    words = (ctypes.c_uint * 4).from_address(h)
    yield "write32_pinned", c.stream_write_value_32(s, h, 9)
    yield "write32_pinned_sync", w.sync()
    yield "write32_pinned_value", words[0]
    yield "wait32_pinned", c.stream_wait_value_32(s, h, 9)
    yield "write64_pinned", c.stream_write_value_64(s, h + 8, 1 << 40)
    yield "wait64_pinned", c.stream_wait_value_64(s, h + 8, 1 << 40, 1)
    yield "pinned_sync", w.sync()
    yield "write32_legacy", c.stream_write_value_32(0, d, 3)
    yield "wait32_legacy", c.stream_wait_value_32(0, d, 3)
    yield "write32_legacy1", c.stream_write_value_32(1, d, 3)
    yield "write32_per_thread", c.stream_write_value_32(2, d, 3)
    yield "legacy_sync", c.device_synchronize()
    pooled = c.malloc_async(64, s)[1]
    yield "write32_async_memory", c.stream_write_value_32(s, pooled, 1)
    yield "wait32_async_memory", c.stream_wait_value_32(s, pooled, 1)
    c.free_async(pooled, s)
    yield "async_memory_sync", w.sync()
    page = (ctypes.c_char * 8192)()
    registered = (ctypes.addressof(page) + 4095) // 4096 * 4096
    c.host_register(registered, 4096, 0)
    yield "write32_registered", c.stream_write_value_32(s, registered, 1)
    yield "registered_sync", w.sync()
    yield "registered_value", ctypes.c_uint.from_address(registered).value
    c.host_unregister(registered)
    combined = c.host_alloc(64, MAPPED | PORTABLE | WRITE_COMBINED)[1]
    yield "write32_write_combined", c.stream_write_value_32(s, combined, 1)
    yield "write_combined_sync", w.sync()
    managed = c.malloc_managed(64)[1]
    yield "write32_managed", c.stream_write_value_32(s, managed, 1)
    yield "wait32_managed", c.stream_wait_value_32(s, managed, 0)
    yield "managed_sync", w.sync()
    yield "batch_managed", c.stream_batch_mem_op(s, [(WRITE_32, managed, 1, 0)])
    yield "write32_past_end", c.stream_write_value_32(s, d + (4 << 30), 1)
    yield "write32_pageable", c.stream_write_value_32(s, w.at_pageable, 1)
    yield "pageable_sync", w.sync()
    yield "pageable_value", w.pageable[0]
    yield "wait32_pageable", c.stream_wait_value_32(s, w.at_pageable, 0)
    freed = c.malloc(8 << 20)[1]
    c.free(freed)
    yield "write32_freed", c.stream_write_value_32(s, freed, 1)
    yield "wait32_freed", c.stream_wait_value_32(s, freed, 0)
    freed = c.host_alloc(8 << 20)[1]
    c.free_host(freed)
    yield "write32_freed_pinned", c.stream_write_value_32(s, freed, 1)
    yield "last_sync", c.device_synchronize()


@case
def memory_operation_captures(r: Runtime) -> Iterator[Question]:
    c, w = r.c, Words(r)
    s, d = w.s, w.d
    for name, operate, word in [
        ("cap_write32", lambda: c.stream_write_value_32(s, d, 31), 0),
        ("cap_write64", lambda: c.stream_write_value_64(s, d + 8, 32, 1), 2),
        ("cap_wait32", lambda: c.stream_wait_value_32(s, d, 31, 1), 0),
    ]:
        yield f"{name}_begin", c.stream_begin_capture(s)
        yield name, operate()
        yield f"{name}_status", c.stream_is_capturing(s)[1]
        status, graph = c.stream_end_capture(s)
        yield f"{name}_end", status
        yield f"{name}_nodes", r.nodes(graph)
        x = r.instantiate(graph)
        c.graph_launch(x, s)
        yield f"{name}_launch", f"{w.sync()} {w.word(word)}"


def add(r: Runtime, operations: list[Operation], flags: int = 0, graph: int = 0) -> tuple[str, int]:
    parameters = {"type": BATCH, "operations": operations, "flags": flags}
    return r.c.graph_add_node(graph or r.graph(), parameters)[:2]


@case
def memory_operation_captures_of_the_odd(r: Runtime) -> Iterator[Question]:
    """The kind of memory behind an address is checked when the graph is launched."""
    c, w = r.c, Words(r)
    s, d = w.s, w.d
    managed = c.malloc_managed(64)[1]
    for name, operate in [
        ("cap_batch_zero", lambda: c.stream_batch_mem_op(s, [])),
        ("cap_null", lambda: c.stream_write_value_32(s, 0, 1)),
        ("cap_misaligned", lambda: c.stream_write_value_32(s, d + 2, 1)),
        ("cap_flags", lambda: c.stream_wait_value_32(s, d, 1, 4)),
        ("cap_managed", lambda: c.stream_write_value_32(s, managed, 1)),
    ]:
        yield f"{name}_begin", c.stream_begin_capture(s)
        yield name, operate()
        yield f"{name}_status", c.stream_is_capturing(s)[1]
        status, graph = c.stream_end_capture(s)
        yield f"{name}_end", status
        yield f"{name}_nodes", r.nodes(graph)


@case
def memory_operation_launches(r: Runtime) -> Iterator[Question]:
    c, w = r.c, Words(r)
    pooled, managed, freed = c.malloc_async(64, w.s)[1], c.malloc_managed(64)[1], c.malloc(8 << 20)[1]
    c.free(freed)
    for name, address in [
        ("pooled", pooled),
        ("null", 0),
        ("pageable", w.at_pageable),
        ("managed", managed),
        ("freed", freed),
    ]:
        g = r.graph()
        yield f"launch_{name}_add", add(r, [(WRITE_32, address, 5, 0)], graph=g)[0]
        status, x, *_ = c.graph_instantiate(g)
        yield f"launch_{name}_instantiate", status
        yield f"launch_{name}_launch", c.graph_launch(x, w.s)
        yield f"launch_{name}_sync", c.device_synchronize()
    yield "launch_pageable_value", w.pageable[0]


@case
def memory_operation_nodes(r: Runtime) -> Iterator[Question]:
    c, w = r.c, Words(r)
    s, d = w.s, w.d

    def launched(graph: int, word: int = 0) -> str:
        c.graph_launch(r.instantiate(graph), s)
        return f"{w.sync()} {w.word(word)}"

    g = r.graph()
    status, a = add(r, [(WRITE_32, d, 1, 0), (WAIT_64, d + 8, 0, 0)], graph=g)
    yield "node_add", status
    yield "node_nodes", r.nodes(g)
    for count in (255, 256, 257, 1000):
        g = r.graph()
        status, _ = add(r, [(WRITE_32, d + 4, 5, 0)] * count, graph=g)
        yield f"node_count_{count}", status
        if status == "cudaSuccess":
            yield f"node_count_launch_{count}", launched(g, 1)
    yield "node_count_0", add(r, [])[0]
    for flags in (1, 2, 4):
        yield f"node_flags_{flags}", add(r, [(WRITE_32, d, 1, 0)], flags)[0]
    yield "node_address_null", add(r, [(WRITE_32, 0, 1, 0)])[0]
    yield "node_address_misaligned", add(r, [(WRITE_32, d + 2, 1, 0)])[0]
    yield "node_address_misaligned_64", add(r, [(WRITE_64, d + 4, 1, 0)])[0]
    yield "node_wait_address_null", add(r, [(WAIT_32, 0, 1, 0)])[0]
    yield "node_wait_misaligned", add(r, [(WAIT_32, d + 2, 1, 0)])[0]
    yield "node_pageable", add(r, [(WRITE_32, w.at_pageable, 1, 0)])[0]
    g = r.graph()
    yield "node_pinned", add(r, [(WRITE_32, w.h, 77, 0)], graph=g)[0]
    launched(g)
    yield "node_pinned_value", ctypes.c_uint.from_address(w.h).value
    yield "node_managed", add(r, [(WRITE_32, c.malloc_managed(64)[1], 1, 0)])[0]
    freed, g = c.malloc(8 << 20)[1], r.graph()
    c.free(freed)
    yield "node_freed", add(r, [(WRITE_32, freed, 1, 0)], graph=g)[0]
    yield "node_freed_instantiate", c.graph_instantiate(g)[0]
    for flags in (0, 1, 2, 3, 4, 1 << 30):
        yield f"node_wait_flags_{flags:#x}", add(r, [(WAIT_32, d, 1, flags)])[0]
    for flags in (1, 2):
        yield f"node_write_flags_{flags:#x}", add(r, [(WRITE_32, d, 1, flags)])[0]
    for flags in (0, 1, 2):
        yield f"node_barrier_{flags}", add(r, [(BARRIER, 0, 0, flags)])[0]
    for kind in (0, 3, 7, 8):
        yield f"node_operation_{kind}", add(r, [(kind, 0, 0, 0)])[0]
    for name, operations, flags in [
        ("values", [(WRITE_32, d + 4, 9, 0), (WAIT_64, d + 16, 3, 1)], 0),
        ("count", [(WRITE_32, d, 8, 0)], 0),
        ("more", [(WRITE_32, d, 8, 0), (WRITE_32, d + 4, 8, 0), (BARRIER, 0, 0, 0)], 0),
        ("type", [(WAIT_32, d, 0, 0)], 0),
        ("empty", [], 0),
        ("flags", [(WRITE_32, d, 8, 0)], 1),
        ("null_address", [(WRITE_32, 0, 8, 0)], 0),
        ("misaligned", [(WRITE_32, d + 1, 8, 0)], 0),
        ("wait_flags", [(WAIT_32, d, 8, 4)], 0),
        ("operation", [(0, 0, 0, 0)], 0),
    ]:
        parameters = {"type": BATCH, "operations": operations, "flags": flags}
        yield f"set_{name}", c.graph_node_set_params(a, parameters)
    g = r.graph()
    add(r, [(WRITE_32, d, 61, 0)], graph=g)
    status, clone = c.graph_clone(g)
    yield "clone", status
    yield "clone_nodes", r.nodes(clone)
    yield "clone_launch", launched(clone)
    outer = r.graph()
    yield "child_add", c.graph_add_node(outer, {"type": 4, "graph": g})[0]
    w.clear()
    yield "child_launch", launched(outer)
    nodes = c.graph_get_nodes(g, 1)[2]
    x = r.instantiate(g)
    yield "enabled_get", c.graph_node_get_enabled(x, nodes[0])[0]
    yield "enabled_set_0", c.graph_node_set_enabled(x, nodes[0], 0)
    status, _, result, node = c.graph_instantiate(g, DEVICE_LAUNCH)
    yield "instantiate_device_launch_params", status
    yield "instantiate_device_launch_result", f"{result} {'node' if node == nodes[0] else 'no_node'}"
    outer = r.graph()
    handle = c.graph_conditional_handle_create(outer, 1, ASSIGN_DEFAULT)[1]
    conditional = {"type": 13, "handle": handle, "condition": IF, "size": 1}
    _, _, bodies, _ = c.graph_add_node(outer, conditional)
    yield "conditional_body_add", add(r, [(WRITE_32, d, 71, 0)], graph=bodies[0])[0]
    yield "conditional_instantiate", c.graph_instantiate(outer)[0]


@case
def memory_operation_executables(r: Runtime) -> Iterator[Question]:
    c, w = r.c, Words(r)
    s, d, h = w.s, w.d, w.h
    base = [(WRITE_32, d, 1, 0), (WAIT_32, d, 0, 0), (WRITE_64, d + 8, 2, 0), (BARRIER, 0, 0, 0)]

    def with_(index: int, *operation: int) -> list[Operation]:
        changed = list(base)
        changed[index] = operation  # type: ignore[call-overload]
        return changed

    g = r.graph()
    status, a = add(r, base, graph=g)
    yield "exec_node", status
    status, x, *_ = c.graph_instantiate(g)
    yield "exec_instantiate", status
    changes: list[tuple[str, list[Operation], int]] = [
        ("same", base, 0),
        ("write_value", with_(0, WRITE_32, d, 5, 0), 0),
        ("write_address", with_(0, WRITE_32, d + 4, 5, 0), 0),
        ("write_address_pinned", with_(0, WRITE_32, h, 5, 0), 0),
        ("write_flags", with_(0, WRITE_32, d, 1, 1), 0),
        ("wait_value", with_(1, WAIT_32, d, 1, 0), 0),
        ("wait_condition", with_(1, WAIT_32, d, 1, 1), 0),
        ("wait_flush", with_(1, WAIT_32, d, 0, 1 << 30), 0),
        ("wait_address", with_(1, WAIT_32, d + 16, 0, 0), 0),
        ("write_to_wait", with_(0, WAIT_32, d, 0, 0), 0),
        ("write32_to_64", with_(0, WRITE_64, d, 1, 0), 0),
        ("wait32_to_64", with_(1, WAIT_64, d + 16, 0, 0), 0),
        ("barrier_flags", with_(3, BARRIER, 0, 0, 1), 0),
        ("barrier_to_write", with_(3, WRITE_32, d, 1, 0), 0),
        ("fewer", base[:3], 0),
        ("more", [*base, (WRITE_32, d, 3, 0)], 0),
        ("empty", [], 0),
        ("flags_1", base, 1),
        ("null_address", with_(0, WRITE_32, 0, 1, 0), 0),
        ("misaligned", with_(0, WRITE_32, d + 2, 1, 0), 0),
        ("wait_flags_4", with_(1, WAIT_32, d, 0, 4), 0),
    ]
    for name, operations, flags in changes:
        parameters = {"type": BATCH, "operations": operations, "flags": flags}
        yield f"exec_set_{name}", c.graph_exec_node_set_params(x, a, parameters)
    w.clear()
    parameters = {"type": BATCH, "operations": with_(0, WRITE_32, d, 99, 0)}
    yield "exec_set_99", c.graph_exec_node_set_params(x, a, parameters)
    yield "exec_launch", c.graph_launch(x, s)
    yield "exec_launch_value", w.word()
    _, foreign = add(r, base)
    parameters = {"type": BATCH, "operations": base}
    yield "exec_set_foreign_node", c.graph_exec_node_set_params(x, foreign, parameters)
    for name, operations, flags in changes:
        g = r.graph()
        status, node = add(r, operations, flags, g)
        if status != "cudaSuccess":
            yield f"update_{name}", "no node"
            continue
        status, result, error_node, _ = c.graph_exec_update(x, g)
        found = "node" if error_node == node else "other" if error_node else "none"
        yield f"update_{name}", f"{status} {result} {found}"
    g = r.graph()
    c.graph_add_node(g, {"type": EMPTY})
    status, result, *_ = c.graph_exec_update(x, g)
    yield "update_to_empty_node", f"{status} {result}"
    g = r.graph()
    add(r, with_(0, WRITE_32, d, 98, 0), graph=g)
    c.graph_exec_update(x, g)
    w.clear()
    c.graph_launch(x, s)
    yield "update_launch_value", w.word()


@case
def external_semaphore_imports(r: Runtime) -> Iterator[Question]:
    """Descriptors that no runtime takes as a semaphore: a simulation takes an eventfd, and a file in memory."""
    c = r.c

    def imported(kind: int, fd: int, flags: int = 0) -> str:
        status, _ = c.import_external_semaphore(kind, fd, flags)
        if fd < 0:
            return status
        try:
            fcntl.fcntl(fd, fcntl.F_GETFD)
        except OSError:
            return f"{status} closed"
        os.close(fd)
        return f"{status} open"

    for name, kind in [("opaque", OPAQUE), ("timeline", TIMELINE)]:
        yield f"import_{name}_minus1", imported(kind, -1)
        yield f"import_{name}_unused_fd", imported(kind, 987)
        yield f"import_{name}_dev_null", imported(kind, os.open("/dev/null", os.O_RDWR))
        yield f"import_{name}_pipe", imported(kind, os.pipe()[0])
        yield f"import_{name}_eventfd_flags_1", imported(kind, os.eventfd(0), 1)
    yield "import_opaque_memfd", imported(OPAQUE, os.memfd_create("x"))
    yield "import_timeline_eventfd", imported(TIMELINE, os.eventfd(0))
    for kind in (0, 2, 3, 4, 5, 6, 7, 8, 10, 11, 99):
        yield f"import_type_{kind}", imported(kind, os.eventfd(0))
    yield "destroy_null", c.destroy_external_semaphore(0)
    s = r.stream(NON_BLOCKING)
    yield "signal_count_0_null", c.signal_external_semaphores_async([], 0, s)
    yield "signal_count_1_null", c.signal_external_semaphores_async([], 1, s)
