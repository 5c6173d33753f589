"""Cases that were put to an H200 and an H100 later than the others, one call at a time."""

from __future__ import annotations

import ctypes
import struct
from collections.abc import Iterator

from .asking import EMPTY, KERNEL, LEGACY, MS, Question, Runtime, case
from .cases_capture import EXTERNAL, GLOBAL, HOST_TO_DEVICE, RELAXED, in_another_thread

HOST_TO_HOST = 0
READ_WRITE = 3
DISABLE_TIMING, INTERPROCESS = 2, 4
UNKNOWN_NODE = 99
HUGE = 1 << 40


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


@case
def cap_end_of_a_spoilt_one_in_another_thread(r: Runtime) -> Iterator[Question]:
    s = r.stream()
    r.c.stream_begin_capture(s, GLOBAL)
    r.c.stream_query(s)
    yield "end", in_another_thread(lambda: r.c.stream_end_capture(s)[0])
    yield "s", r.capture_status(s)
    yield "end_again", r.c.stream_end_capture(s)[0]


@case
def cap_null_executable(r: Runtime) -> Iterator[Question]:
    s = r.stream()
    yield "launch", r.c.graph_launch(0, s)
    yield "upload", r.c.graph_upload(0, s)
    r.c.stream_begin_capture(s, RELAXED)
    yield "launch_captured", r.c.graph_launch(0, s)
    yield "s", r.capture_status(s)
    yield "upload_captured", r.c.graph_upload(0, s)
    r.c.stream_end_capture(s)
    r.c.stream_begin_capture(s, RELAXED)
    yield "launch_legacy", r.c.graph_launch(0, LEGACY)
    yield "s2", r.capture_status(s)
    r.c.stream_end_capture(s)


@case
def cap_events_of_other_processes(r: Runtime) -> Iterator[Question]:
    e = r.event(DISABLE_TIMING | INTERPROCESS)
    s = r.stream()
    r.c.stream_begin_capture(s, RELAXED)
    yield "record_external", r.c.event_record_with_flags(e, s, EXTERNAL)
    yield "s", r.capture_status(s)
    yield "wait", r.c.stream_wait_event(s, e, 0)
    yield "s2", r.capture_status(s)
    r.c.stream_end_capture(s)
    r.c.stream_begin_capture(s, RELAXED)
    yield "record", r.c.event_record_with_flags(e, s, 0)
    yield "s3", r.capture_status(s)
    r.c.stream_end_capture(s)


@case
def cap_null_events(r: Runtime) -> Iterator[Question]:
    s = r.stream()
    r.c.stream_begin_capture(s, RELAXED)
    yield "record", r.c.event_record_with_flags(0, s, 0)
    yield "s", r.capture_status(s)
    yield "wait", r.c.stream_wait_event(s, 0, 0)
    yield "s2", r.capture_status(s)
    yield "record_spoilt", r.c.event_record_with_flags(0, s, 0)
    yield "end", r.c.stream_end_capture(s)[0]


@case
def cap_wait_external_elsewhere(r: Runtime) -> Iterator[Question]:
    s, other, e = r.stream(), r.stream(), r.event()
    yield "unrecorded", r.c.stream_wait_event(other, e, EXTERNAL)
    r.c.stream_begin_capture(s, RELAXED)
    r.record(e, s)
    yield "of_a_capture", r.c.stream_wait_event(other, e, EXTERNAL)
    r.c.stream_query(s)
    yield "of_a_spoilt_one", r.c.stream_wait_event(other, e, EXTERNAL)
    r.c.stream_end_capture(s)


@case
def cap_elapsed_time(r: Runtime) -> Iterator[Question]:
    s, e, unrecorded = r.stream(), r.event(), r.event()
    untimed = r.event(DISABLE_TIMING)
    r.c.stream_begin_capture(s, RELAXED)
    r.record(e, s)
    r.record(untimed, s)
    yield "inside", r.c.event_elapsed_time(e, e)[0]
    yield "untimed", r.c.event_elapsed_time(untimed, untimed)[0]
    yield "s", r.capture_status(s)
    r.c.stream_query(s)
    yield "spoilt", r.c.event_elapsed_time(e, unrecorded)[0]
    yield "spoilt_and_null", r.c.event_elapsed_time(e, 0)[0]
    r.c.stream_end_capture(s)
    yield "unrecorded", r.c.event_elapsed_time(unrecorded, e)[0]


@case
def cap_memset_out_of_bounds(r: Runtime) -> Iterator[Question]:
    s, d = r.stream(), r.device_int()
    yield "set", r.c.memset_async(d, 0, HUGE, s)
    r.c.stream_begin_capture(s, RELAXED)
    yield "captured", r.c.memset_async(d, 0, HUGE, s)
    yield "captured_null", r.c.memset_async(0, 0, 64, s)
    yield "end", r.c.stream_end_capture(s)[0]


@case
def cap_pool_calls_beside(r: Runtime) -> Iterator[Question]:
    other = r.stream()
    for name, call in (
        ("get_access", lambda: r.c.mem_pool_get_access(0, 0)[0]),
        ("set_access", lambda: r.c.mem_pool_set_access(0, [(0, READ_WRITE)])),
        ("get_attribute", lambda: r.c.mem_pool_get_attribute(0, 4)[0]),
        ("set_attribute", lambda: r.c.mem_pool_set_attribute(0, 4, 0)),
        ("trim", lambda: r.c.mem_pool_trim_to(0, 0)),
        ("malloc_from_no_pool", lambda: r.c.malloc_from_pool_async(64, 0, other)[0]),
        ("malloc_nothing", lambda: r.c.malloc_async(0, other)[0]),
    ):
        s = r.stream()
        r.c.stream_begin_capture(s, GLOBAL)
        yield name, f"{call()} {r.capture_status(s)}"
        r.c.stream_end_capture(s)


@case
def capture_mode_of_no_meaning(r: Runtime) -> Iterator[Question]:
    yield "exchange", r.c.thread_exchange_stream_capture_mode(9)[0]
    r.c.thread_exchange_stream_capture_mode(GLOBAL)


@case
def last_error_of_the_drivers_calls(r: Runtime) -> Iterator[Question]:
    s, d, g = r.stream(), r.device_int(), r.graph()
    yield "write", r.c.stream_write_value_32(s, d, 0, 64)
    yield "l0", r.last()
    yield "type", r.c.graph_node_get_type(0)[0]
    yield "l1", r.last()
    yield "node", r.c.graph_add_node(g, {"type": UNKNOWN_NODE})[0]
    yield "l2", r.last()


@case
def cap_stream_of_a_graph_destroyed(r: Runtime) -> Iterator[Question]:
    s, g = r.stream(), r.graph()
    yield "begin", r.c.stream_begin_capture_to_graph(s, g, [], GLOBAL)
    yield "destroy", r.c.stream_destroy(s)
    yield "add", r.c.graph_add_node(g, {"type": EMPTY})[0]
