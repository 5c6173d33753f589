"""Cases that an H200 and an H100 were asked later than the others, one call at a time."""

from __future__ import annotations

import ctypes
import struct
from collections.abc import Iterator

from .asking import KERNEL, MS, Question, Runtime, case
from .cases_capture import GLOBAL, HOST_TO_DEVICE, in_another_thread

HOST_TO_HOST = 0
READ_WRITE = 3


@case
def cap_wait_unrecorded_event(r: Runtime) -> Iterator[Question]:
    s, e = r.stream(), r.event()
    r.c.stream_begin_capture(s, GLOBAL)
    yield "wait", r.c.stream_wait_event(s, e, 0)
    yield "s", r.capture_status(s)
    status, g = r.c.stream_end_capture(s)
    yield "end", status
    yield "g", r.nodes(g)


@case
def cap_end_in_another_thread(r: Runtime) -> Iterator[Question]:
    s = r.stream()
    r.c.stream_begin_capture(s, GLOBAL)
    yield "end", in_another_thread(lambda: r.c.stream_end_capture(s)[0])
    yield "s", r.capture_status(s)
    yield "end_again", r.c.stream_end_capture(s)[0]


@case
def cap_launch_bad_configuration(r: Runtime) -> Iterator[Question]:
    s, d = r.stream(), r.device_int()
    r.c.stream_begin_capture(s, GLOBAL)
    yield "launch", r.launch("inc", struct.pack("P", d), block=2048, stream=s)
    yield "s", r.capture_status(s)
    yield "end", r.c.stream_end_capture(s)[0]


@case
def cap_launch_in_invalidated(r: Runtime) -> Iterator[Question]:
    s, d = r.stream(), r.device_int()
    r.launch("inc", struct.pack("P", d))
    r.c.device_synchronize()
    r.c.stream_begin_capture(s, GLOBAL)
    r.c.stream_query(s)
    r.c.get_last_error()
    yield "launch", r.launch("inc", struct.pack("P", d), stream=s)
    yield "last", r.last()
    yield "end", r.c.stream_end_capture(s)[0]


@case
def memcpy_host_to_host_onto_the_device(r: Runtime) -> Iterator[Question]:
    d, x = r.device_int(), ctypes.c_int(7)
    yield "copy", r.c.memcpy(d, ctypes.addressof(x), 4, HOST_TO_HOST)
    yield "value", r.read_int(d)


@case
def free_async_of_malloc(r: Runtime) -> Iterator[Question]:
    s = r.stream()
    yield "free", r.c.free_async(r.device_int(), s)
    yield "sync", r.c.stream_synchronize(s)


@case
def host_register_of_host_alloc(r: Runtime) -> Iterator[Question]:
    h = r.c.host_alloc(8192)[1]
    yield "register", r.c.host_register(h, 8192)
    r.c.get_last_error()
    yield "free", r.c.free_host(h)


@case
def graph_null_function(r: Runtime) -> Iterator[Question]:
    g = r.graph()
    yield "add", r.c.graph_add_node(g, {"type": KERNEL, "kernel": 0})[0]
    yield "g", r.nodes(g)


@case
def reset_then_query(r: Runtime) -> Iterator[Question]:
    s, e = r.stream(), r.event()
    r.record(e, s)
    r.c.device_reset()
    yield "stream", r.c.stream_query(s)
    yield "event", r.c.event_query(e)


@case
def sync_pageable_h2d_waits(r: Runtime) -> Iterator[Question]:
    d, x = r.device_int(1024), (ctypes.c_int * 1024)()
    r.c.memcpy(d, ctypes.addressof(x), 4096, HOST_TO_DEVICE)
    r.spin(1)
    r.c.device_synchronize()
    t = r.ms()
    r.spin(50 * MS)
    yield "copy", r.c.memcpy(d, ctypes.addressof(x), 4096, HOST_TO_DEVICE)
    yield "waited", int(r.ms() - t > 40)


@case
def two_devices_default_pools(r: Runtime) -> Iterator[Question]:
    if r.simulated:
        r.c.add_device("h200")
    stream, here = r.stream(), r.c.malloc_async(4096)[1]
    r.c.set_device(1)
    there, pool = r.c.malloc_async(4096)[1], r.c.device_get_default_mem_pool(1)[1]
    r.c.device_synchronize()
    r.c.set_device(0)
    r.c.device_synchronize()
    yield "copy", r.c.memcpy_async(there, here, 4096, stream=stream)
    r.c.get_last_error()
    yield "peer_access", r.c.device_enable_peer_access(1)
    yield "pool_access", r.c.mem_pool_set_access(pool, [(0, READ_WRITE)])
    yield "copy_with_access", r.c.memcpy_async(there, here, 4096, stream=stream)
    yield "sync", r.c.stream_synchronize(stream)
