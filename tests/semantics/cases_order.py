"""The cases of events, streams, host functions and asynchronous copies."""

from __future__ import annotations

import ctypes
from collections.abc import Iterator

from .asking import LEGACY, MS, PER_THREAD, Question, Runtime, case

NON_BLOCKING = 1
BLOCKING_SYNC, DISABLE_TIMING = 1, 2
HOST_TO_DEVICE, DEVICE_TO_HOST, BY_ADDRESS = 1, 2, 4
BIG = 1 << 28


@case
def event_unrecorded(r: Runtime) -> Iterator[Question]:
    e = r.event()
    yield "query", r.c.event_query(e)
    yield "sync", r.c.event_synchronize(e)
    s = r.stream()
    yield "wait", r.c.stream_wait_event(s, e, 0)
    yield "streamsync", r.c.stream_synchronize(s)
    f = r.event()
    yield "elapsed", r.c.event_elapsed_time(e, f)[0]
    yield "last", r.last()


@case
def event_elapsed_disable_timing(r: Runtime) -> Iterator[Question]:
    e, f = r.event(DISABLE_TIMING), r.event()
    r.record(e)
    r.record(f)
    r.c.device_synchronize()
    yield "elapsed", r.c.event_elapsed_time(e, f)[0]
    yield "last", r.last()


@case
def event_elapsed_pending(r: Runtime) -> Iterator[Question]:
    s, e, f = r.stream(), r.event(), r.event()
    r.record(e, s)
    r.spin(50 * MS, s)
    r.record(f, s)
    yield "elapsed", r.c.event_elapsed_time(e, f)[0]
    yield "last", r.last()
    yield "query", r.c.event_query(f)
    yield "last2", r.last()
    r.c.event_synchronize(f)
    status, t = r.c.event_elapsed_time(e, f)
    yield "elapsed2", status
    yield "between_50_and_60ms", int(49.9 <= t < 60)


@case
def event_elapsed_reversed(r: Runtime) -> Iterator[Question]:
    s, e, f = r.stream(), r.event(), r.event()
    r.record(e, s)
    r.spin(20 * MS, s)
    r.record(f, s)
    r.c.stream_synchronize(s)
    status, t = r.c.event_elapsed_time(f, e)
    yield "elapsed", status
    yield "negative", int(t < -19)


@case
def event_same_twice(r: Runtime) -> Iterator[Question]:
    e = r.event()
    r.record(e)
    r.c.device_synchronize()
    status, t = r.c.event_elapsed_time(e, e)
    yield "elapsed", status
    yield "ms", f"{t:g}"


@case
def event_rerecord_wait(r: Runtime) -> Iterator[Question]:
    a, b, c = (r.stream(NON_BLOCKING) for _ in range(3))
    e = r.event()
    r.record(e, a)
    r.c.stream_wait_event(c, e, 0)
    r.spin(100 * MS, b)
    r.record(e, b)
    yield "c_not_delayed", r.c.stream_synchronize(c)
    yield "b_busy", r.c.stream_query(b)
    yield "event_busy", r.c.event_query(e)


@case
def event_destroy_pending(r: Runtime) -> Iterator[Question]:
    s, e = r.stream(), r.event()
    r.spin(50 * MS, s)
    r.record(e, s)
    t = r.ms()
    yield "destroy", r.c.event_destroy(e)
    yield "returned_at_once", int(r.ms() - t < 20)
    yield "sync", r.c.stream_synchronize(s)


@case
def event_flags_blocking_sync(r: Runtime) -> Iterator[Question]:
    e = r.event(BLOCKING_SYNC)
    yield "rec", r.record(e)
    yield "sync", r.c.event_synchronize(e)


@case
def stream_query(r: Runtime) -> Iterator[Question]:
    s = r.stream()
    yield "idle", r.c.stream_query(s)
    r.spin(50 * MS, s)
    yield "busy", r.c.stream_query(s)
    yield "last", r.last()
    r.c.stream_synchronize(s)
    yield "after", r.c.stream_query(s)


@case
def stream_destroy_pending(r: Runtime) -> Iterator[Question]:
    s, d = r.stream(), r.device_int()
    r.spin(50 * MS, s)
    r.store(d, 7, s)
    t = r.ms()
    yield "destroy", r.c.stream_destroy(s)
    yield "returned_at_once", int(r.ms() - t < 25)
    r.c.device_synchronize()
    yield "work_completed", r.read_int(d)


@case
def stream_flags(r: Runtime) -> Iterator[Question]:
    a, b = r.stream(), r.stream(NON_BLOCKING)
    yield "default", r.c.stream_get_flags(a)[1]
    yield "nonblocking", r.c.stream_get_flags(b)[1]
    yield "bad_flags", r.c.stream_create_with_priority(0x10, 0)[0]
    status, flags = r.c.stream_get_flags(LEGACY)
    yield "legacy", status
    yield "legacy_flags", flags
    status, flags = r.c.stream_get_flags(PER_THREAD)
    yield "ptds", status
    yield "ptds_flags", flags


@case
def stream_default_orders_blocking(r: Runtime) -> Iterator[Question]:
    s, t, d = r.stream(), r.stream(), r.device_int()
    r.spin(50 * MS, s)
    r.store(d, 1)
    yield "default_waits", r.c.stream_query(LEGACY)
    r.spin(1, t)
    yield "t_waits", r.c.stream_query(t)
    r.c.stream_synchronize(t)
    yield "s_done_when_t_done", r.c.stream_query(s)
    yield "store", r.read_int(d)


@case
def stream_ptds_vs_blocking(r: Runtime) -> Iterator[Question]:
    s = r.stream()
    r.spin(100 * MS, s)
    r.spin(1, PER_THREAD)
    yield "ptds_done", r.c.stream_synchronize(PER_THREAD)
    yield "s_busy", r.c.stream_query(s)


@case
def stream_wait_flags(r: Runtime) -> Iterator[Question]:
    s, e = r.stream(), r.event()
    r.record(e, s)
    yield "bad", r.c.stream_wait_event(s, e, 7)


@case
def host_func_order(r: Runtime) -> Iterator[Question]:
    s = r.stream()
    order: list[str] = []
    r.spin(20 * MS, s)
    r.c.launch_host_func(s, lambda: order.append("a"))
    r.spin(1 * MS, s)
    r.c.launch_host_func(s, lambda: order.append("b"))
    yield "not_yet", order.index("a") if "a" in order else -1
    r.c.stream_synchronize(s)
    yield "a", order.index("a")
    yield "b", order.index("b")


@case
def host_func_blocks_stream(r: Runtime) -> Iterator[Question]:
    s, e = r.stream(), r.event()
    r.c.launch_host_func(s, lambda: r.c.host_work(60 * MS))
    r.record(e, s)
    r.c.host_work(20 * MS)
    yield "event_waits", r.c.event_query(e)
    r.c.stream_synchronize(s)
    yield "done", r.c.event_query(e)


@case
def host_func_calls_api(r: Runtime) -> Iterator[Question]:
    s = r.stream()
    seen: dict[str, str] = {}

    def calls() -> None:
        seen["malloc"] = r.c.malloc(4)[0]
        seen["query"] = r.c.stream_query(s)
        seen["lasterror"] = r.c.get_last_error()
        seen["getdevice"] = r.c.get_device()[0]
        seen["eventcreate"] = r.c.event_create_with_flags(0)[0]
        seen["devsync"] = r.c.device_synchronize()

    r.c.launch_host_func(s, calls)
    yield "sync", r.c.stream_synchronize(s)
    yield from seen.items()
    yield "stream_after", r.c.stream_synchronize(s)


@case
def host_func_null(r: Runtime) -> Iterator[Question]:
    yield "null_fn", r.c.launch_host_func(r.stream(), None)


def _big(r: Runtime) -> tuple[int, int, ctypes.Array, int]:
    _, device = r.c.malloc(BIG)
    _, pinned = r.c.host_alloc(BIG, 0)
    pageable = ctypes.create_string_buffer(BIG)
    stream = r.stream()
    ctypes.memset(ctypes.addressof(pageable), 1, BIG)
    ctypes.memset(pinned, 1, BIG)
    r.c.memcpy_async(device, pinned, BIG, BY_ADDRESS, stream)
    r.c.device_synchronize()
    return device, pinned, pageable, stream


def _timed_copy(r: Runtime, destination: int, source: int, kind: int, stream: int) -> tuple[float, float]:
    start = r.ms()
    r.c.memcpy_async(destination, source, BIG, kind, stream)
    returned = r.ms() - start
    r.c.device_synchronize()
    return returned, r.ms() - start


@case
def async_pinned_h2d(r: Runtime) -> Iterator[Question]:
    device, pinned, _, stream = _big(r)
    returned, total = _timed_copy(r, device, pinned, HOST_TO_DEVICE, stream)
    yield "returned_early", int(returned < total / 4)
    yield "pinned_total_ms", f"{total:.2f}"


@case
def async_pageable_h2d(r: Runtime) -> Iterator[Question]:
    device, _, pageable, stream = _big(r)
    returned, total = _timed_copy(r, device, ctypes.addressof(pageable), HOST_TO_DEVICE, stream)
    yield "returned_early", int(returned < total / 4)
    yield "ret_ms", f"{returned:.2f}"
    yield "total_ms", f"{total:.2f}"


@case
def async_pageable_d2h(r: Runtime) -> Iterator[Question]:
    device, _, pageable, stream = _big(r)
    returned, total = _timed_copy(r, ctypes.addressof(pageable), device, DEVICE_TO_HOST, stream)
    yield "returned_early", int(returned < total / 4)
