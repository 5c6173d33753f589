"""The cases of calls beside a capture: the refused calls, by thread, and the state of the capture afterwards."""

from __future__ import annotations

import ctypes
import struct
from collections.abc import Callable, Iterator

from .asking import EMPTY, Question, Runtime, case
from .cases_capture import DEVICE_TO_HOST, GLOBAL, HOST_TO_DEVICE, RELAXED, in_another_thread

NON_BLOCKING, DEVICE_TO_DEVICE = 1, 3
USED_CURRENT, RELEASE_THRESHOLD = 7, 4
STACK_SIZE = 0


class Beside:
    """The objects of the calls: all exist before the capture begins, and none takes part in it."""

    def __init__(self, r: Runtime) -> None:
        c = r.c
        self.stream, self.other = r.stream(NON_BLOCKING), r.stream(NON_BLOCKING)
        self.event, self.later, self.third = r.event(), r.event(), r.event()
        self.memory = r.device_int(1 << 16)
        self.freed = r.device_int()
        self.pinned, self.freed_pinned = c.host_alloc(4096)[1], c.host_alloc(64)[1]
        self.pageable = (ctypes.c_int * 1024)()
        self.registered = (ctypes.c_char * 8192)()
        self.freed_async = c.malloc_async(64, self.stream)[1]
        self.pool, self.default_pool = c.mem_pool_create(0)[1], c.device_get_default_mem_pool(0)[1]
        self.graph, self.small = r.graph(), r.graph()
        r.inc_node(self.graph, self.memory)
        self.exec = r.instantiate(self.graph)
        r.record(self.event, self.stream)
        r.record(self.later, self.stream)
        r.launch("inc", struct.pack("P", self.memory), stream=self.stream)
        c.device_synchronize()


def first(answer: object) -> str:
    return answer[0] if isinstance(answer, tuple) else str(answer)


CALLS: dict[str, Callable[[Runtime, Beside], object]] = {
    "event_query": lambda r, b: r.c.event_query(b.event),
    "event_sync": lambda r, b: r.c.event_synchronize(b.event),
    "event_elapsed": lambda r, b: r.c.event_elapsed_time(b.event, b.later),
    "stream_query": lambda r, b: r.c.stream_query(b.stream),
    "stream_sync": lambda r, b: r.c.stream_synchronize(b.stream),
    "event_create": lambda r, b: r.c.event_create_with_flags(0),
    "event_destroy": lambda r, b: r.c.event_destroy(b.third),
    "event_record": lambda r, b: r.record(b.event, b.stream),
    "stream_wait_event": lambda r, b: r.c.stream_wait_event(b.stream, b.event, 0),
    "stream_create": lambda r, b: r.c.stream_create_with_priority(NON_BLOCKING, 0),
    "stream_destroy": lambda r, b: r.c.stream_destroy(b.other),
    "stream_flags": lambda r, b: r.c.stream_get_flags(b.stream),
    "launch": lambda r, b: r.launch("inc", struct.pack("P", b.memory), stream=b.stream),
    "host_func": lambda r, b: r.c.launch_host_func(b.stream, lambda: None),
    "malloc_async": lambda r, b: r.c.malloc_async(64, b.stream),
    "free_async": lambda r, b: r.c.free_async(b.freed_async, b.stream),
    "memcpy_async_pinned": lambda r, b: r.c.memcpy_async(b.memory, b.pinned, 64, HOST_TO_DEVICE, b.stream),
    "memcpy_async_pageable_h2d": lambda r, b: r.c.memcpy_async(
        b.memory, ctypes.addressof(b.pageable), 64, HOST_TO_DEVICE, b.stream
    ),
    "memcpy_async_pageable_d2h": lambda r, b: r.c.memcpy_async(
        ctypes.addressof(b.pageable), b.memory, 64, DEVICE_TO_HOST, b.stream
    ),
    "memcpy_async_d2d": lambda r, b: r.c.memcpy_async(
        b.memory, b.memory + 4096, 64, DEVICE_TO_DEVICE, b.stream
    ),
    "memset_async": lambda r, b: r.c.memset_async(b.memory, 0, 64, b.stream),
    "memcpy": lambda r, b: r.c.memcpy(b.memory, b.pinned, 64, HOST_TO_DEVICE),
    "malloc": lambda r, b: r.c.malloc(64),
    "free": lambda r, b: r.c.free(b.freed),
    "malloc_host": lambda r, b: r.c.host_alloc(64),
    "free_host": lambda r, b: r.c.free_host(b.freed_pinned),
    "host_register": lambda r, b: r.c.host_register(ctypes.addressof(b.registered), 8192),
    "malloc_managed": lambda r, b: r.c.malloc_managed(64),
    "malloc_pitch": lambda r, b: r.c.malloc_pitch(64, 64),
    "pool_create": lambda r, b: r.c.mem_pool_create(0),
    "pool_destroy": lambda r, b: r.c.mem_pool_destroy(b.pool),
    "pool_attribute": lambda r, b: r.c.mem_pool_get_attribute(b.default_pool, USED_CURRENT),
    "pool_set_attribute": lambda r, b: r.c.mem_pool_set_attribute(b.default_pool, RELEASE_THRESHOLD, 1 << 20),
    "pool_trim": lambda r, b: r.c.mem_pool_trim_to(b.default_pool, 0),
    "mem_info": lambda r, b: r.c.mem_get_info(),
    "pointer_attributes": lambda r, b: r.c.pointer_get_attributes(b.memory),
    "func_attributes": lambda r, b: r.c.func_get_attributes(r.kernel("inc")),
    "occupancy": lambda r, b: r.c.occupancy_max_active_blocks_per_multiprocessor(r.kernel("inc"), 64, 0),
    "device_sync": lambda r, b: r.c.device_synchronize(),
    "set_limit": lambda r, b: r.c.device_set_limit(STACK_SIZE, 2048),
    "get_limit": lambda r, b: r.c.device_get_limit(STACK_SIZE),
    "can_access_peer": lambda r, b: r.c.device_can_access_peer(0, 0),
    "graph_create": lambda r, b: r.c.graph_create(0),
    "graph_add_node": lambda r, b: r.c.graph_add_node(b.small, {"type": EMPTY}),
    "graph_instantiate": lambda r, b: r.c.graph_instantiate(b.graph),
    "graph_launch": lambda r, b: r.c.graph_launch(b.exec, b.stream),
    "graph_upload": lambda r, b: r.c.graph_upload(b.exec, b.stream),
    "graph_exec_update": lambda r, b: r.c.graph_exec_update(b.exec, b.graph),
    "graph_exec_destroy": lambda r, b: r.c.graph_exec_destroy(b.exec),
    "graph_destroy": lambda r, b: r.c.graph_destroy(b.small),
}


def beside(r: Runtime, mode: int, relaxed: bool, another_thread: bool) -> Iterator[Question]:
    for name, call in CALLS.items():
        b = Beside(r)
        s = r.stream(NON_BLOCKING)
        r.c.stream_begin_capture(s, mode)

        def asked(call=call, b=b) -> str:
            if relaxed:
                r.c.thread_exchange_stream_capture_mode(RELAXED)
            answer = first(call(r, b))
            if relaxed:
                r.c.thread_exchange_stream_capture_mode(GLOBAL)
            return answer

        answer = in_another_thread(asked) if another_thread else asked()
        yield name, f"{answer} {r.capture_status(s)}"
        r.c.stream_end_capture(s)
        r.c.stream_synchronize(b.stream)
        r.c.get_last_error()


@case
def cap_beside_own(r: Runtime) -> Iterator[Question]:
    yield from beside(r, GLOBAL, relaxed=False, another_thread=False)


@case
def cap_beside_other(r: Runtime) -> Iterator[Question]:
    yield from beside(r, GLOBAL, relaxed=False, another_thread=True)


@case
def cap_beside_own_relaxed(r: Runtime) -> Iterator[Question]:
    yield from beside(r, GLOBAL, relaxed=True, another_thread=False)


@case
def cap_beside_other_relaxed(r: Runtime) -> Iterator[Question]:
    yield from beside(r, GLOBAL, relaxed=True, another_thread=True)


@case
def cap_beside_in_relaxed(r: Runtime) -> Iterator[Question]:
    yield from beside(r, RELAXED, relaxed=False, another_thread=False)
