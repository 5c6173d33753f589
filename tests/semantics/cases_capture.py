"""The cases of stream capture."""

from __future__ import annotations

import ctypes
import struct
import threading
from collections.abc import Callable, Iterator

from .asking import LEGACY, Question, Runtime, case

GLOBAL, THREAD_LOCAL, RELAXED = range(3)
EXTERNAL = 1
HOST_TO_DEVICE, DEVICE_TO_HOST = 1, 2


def capped(r: Runtime, label: str, call: Callable[[int], str], mode: int = GLOBAL) -> Iterator[Question]:
    """The answer of a call while a stream is captured, and the state of the capture afterwards."""
    s = r.stream()
    r.c.stream_begin_capture(s, mode)
    yield label, call(s)
    yield f"{label}_status", r.capture_status(s)
    status, graph = r.c.stream_end_capture(s)
    yield f"{label}_end", status
    yield f"{label}_graph", "graph" if graph else "null"
    yield f"{label}_peek", r.last()


def in_another_thread(call: Callable[[], str]) -> str:
    answers: list[str] = []
    thread = threading.Thread(target=lambda: answers.append(call()))
    thread.start()
    thread.join()
    return answers[0]


@case
def cap_basic(r: Runtime) -> Iterator[Question]:
    s = r.stream()
    yield "begin", r.c.stream_begin_capture(s, GLOBAL)
    yield "status", r.capture_status(s)
    yield "launch", r.spin(1, s)
    status, g = r.c.stream_end_capture(s)
    yield "end", status
    yield "after", r.capture_status(s)
    yield "g", r.nodes(g)


@case
def cap_empty(r: Runtime) -> Iterator[Question]:
    s = r.stream()
    r.c.stream_begin_capture(s, GLOBAL)
    status, g = r.c.stream_end_capture(s)
    yield "end", status
    yield "nonnull", int(g != 0)
    yield "g", r.nodes(g)
    status, x, *_ = r.c.graph_instantiate(g, 0)
    yield "inst", status
    yield "launch", r.c.graph_launch(x, s)
    yield "sync", r.c.stream_synchronize(s)


@case
def cap_query(r: Runtime) -> Iterator[Question]:
    yield from capped(r, "query", r.c.stream_query)


@case
def cap_sync(r: Runtime) -> Iterator[Question]:
    yield from capped(r, "sync", r.c.stream_synchronize)


@case
def cap_devsync(r: Runtime) -> Iterator[Question]:
    yield from capped(r, "devsync", lambda _: r.c.device_synchronize())
    yield from capped(r, "devsync_relaxed", lambda _: r.c.device_synchronize(), RELAXED)


@case
def cap_malloc(r: Runtime) -> Iterator[Question]:
    yield from capped(r, "malloc_global", lambda _: r.c.malloc(4)[0])
    yield from capped(r, "malloc_thread", lambda _: r.c.malloc(4)[0], THREAD_LOCAL)
    yield from capped(r, "malloc_relaxed", lambda _: r.c.malloc(4)[0], RELAXED)


@case
def cap_mallochost(r: Runtime) -> Iterator[Question]:
    yield from capped(r, "mallochost_global", lambda _: r.c.host_alloc(4)[0])


@case
def cap_malloc_other_thread(r: Runtime) -> Iterator[Question]:
    def allocate(_: int) -> str:
        return in_another_thread(lambda: r.c.malloc(4)[0])

    yield from capped(r, "other_thread_global", allocate)
    yield from capped(r, "other_thread_threadlocal", allocate, THREAD_LOCAL)


@case
def cap_legacy(r: Runtime) -> Iterator[Question]:
    d = r.device_int()  # in place of the symbol, because a copy in the legacy stream fails in the same way
    x = ctypes.c_int(0)

    def copy(_: int) -> str:
        return r.c.memcpy(d, ctypes.addressof(x), 4, kind=HOST_TO_DEVICE)

    yield from capped(r, "legacy_launch", lambda _: r.spin(1))
    yield from capped(r, "legacy_memcpy", copy)
    yield from capped(r, "legacy_query", lambda _: r.c.stream_query(LEGACY))
    yield from capped(r, "legacy_relaxed", lambda _: r.spin(1), RELAXED)


@case
def cap_legacy_status(r: Runtime) -> Iterator[Question]:
    s = r.stream()
    r.c.stream_begin_capture(s, GLOBAL)
    yield "legacy", r.capture_status(0)
    yield "self", r.capture_status(s)
    yield "end", r.c.stream_end_capture(s)[0]


@case
def cap_begin_twice(r: Runtime) -> Iterator[Question]:
    s = r.stream()
    r.c.stream_begin_capture(s, GLOBAL)
    yield "again", r.c.stream_begin_capture(s, GLOBAL)
    yield "status", r.capture_status(s)
    yield "end", r.c.stream_end_capture(s)[0]


@case
def cap_end_without_begin(r: Runtime) -> Iterator[Question]:
    yield "end", r.c.stream_end_capture(r.stream())[0]
    yield "l", r.last()


@case
def cap_fork_join(r: Runtime) -> Iterator[Question]:
    a, b, e, f = r.stream(), r.stream(), r.event(), r.event()
    r.c.stream_begin_capture(a, GLOBAL)
    r.spin(1, a)
    r.record(e, a)
    yield "wait", r.c.stream_wait_event(b, e, 0)
    yield "b", r.capture_status(b)
    r.spin(1, a)
    r.spin(1, b)
    r.record(f, b)
    r.c.stream_wait_event(a, f, 0)
    r.spin(1, a)
    status, g = r.c.stream_end_capture(a)
    yield "end", status
    yield "g", r.nodes(g)
    yield "b_after", r.capture_status(b)
    yield "event_query_after", r.c.event_query(e)
    yield "l", r.last()


@case
def cap_unjoined(r: Runtime) -> Iterator[Question]:
    a, b, e = r.stream(), r.stream(), r.event()
    r.c.stream_begin_capture(a, GLOBAL)
    r.record(e, a)
    r.c.stream_wait_event(b, e, 0)
    r.spin(1, b)
    status, g = r.c.stream_end_capture(a)
    yield "end", status
    yield "graph", "graph" if g else "null"
    yield "a", r.capture_status(a)
    yield "b", r.capture_status(b)


@case
def cap_end_on_fork(r: Runtime) -> Iterator[Question]:
    a, b, e = r.stream(), r.stream(), r.event()
    r.c.stream_begin_capture(a, GLOBAL)
    r.record(e, a)
    r.c.stream_wait_event(b, e, 0)
    yield "end_b", r.c.stream_end_capture(b)[0]
    yield "a", r.capture_status(a)
    yield "b", r.capture_status(b)
    yield "end_a", r.c.stream_end_capture(a)[0]


@case
def cap_event_query(r: Runtime) -> Iterator[Question]:
    s, e = r.stream(), r.event()
    r.c.stream_begin_capture(s, GLOBAL)
    r.record(e, s)
    yield "query", r.c.event_query(e)
    yield "s", r.capture_status(s)
    yield "sync", r.c.event_synchronize(e)
    yield "s2", r.capture_status(s)
    yield "elapsed", r.c.event_elapsed_time(e, r.event())[0]
    yield "end", r.c.stream_end_capture(s)[0]


@case
def cap_wait_outside_event(r: Runtime) -> Iterator[Question]:
    s, e = r.stream(), r.event()
    r.record(e)
    r.c.stream_begin_capture(s, GLOBAL)
    yield "wait", r.c.stream_wait_event(s, e, 0)
    yield "s", r.capture_status(s)
    yield "end", r.c.stream_end_capture(s)[0]


@case
def cap_wait_external(r: Runtime) -> Iterator[Question]:
    s, e = r.stream(), r.event()
    r.record(e)
    r.c.stream_begin_capture(s, GLOBAL)
    yield "wait", r.c.stream_wait_event(s, e, EXTERNAL)
    yield "rec", r.c.event_record_with_flags(e, s, EXTERNAL)
    status, g = r.c.stream_end_capture(s)
    yield "end", status
    yield "g", r.nodes(g)


@case
def cap_ops(r: Runtime) -> Iterator[Question]:
    s, d = r.stream(), r.device_int(1024)
    h = r.c.host_alloc(4096)[1]
    pageable = (ctypes.c_int * 1024)()
    page = ctypes.addressof(pageable)
    r.c.stream_begin_capture(s, GLOBAL)
    yield "h2d", r.c.memcpy_async(d, h, 4096, kind=HOST_TO_DEVICE, stream=s)
    yield "memset", r.c.memset_async(d, 0, 64, stream=s)
    yield "hostfunc", r.c.launch_host_func(s, lambda: None)
    status, p = r.c.malloc_async(64, stream=s)
    yield "mallocAsync", status
    yield "freeAsync", r.c.free_async(p, stream=s)
    yield "pageable_h2d", r.c.memcpy_async(d, page, 4096, kind=HOST_TO_DEVICE, stream=s)
    yield "pageable_d2h", r.c.memcpy_async(page, d, 4096, kind=DEVICE_TO_HOST, stream=s)
    status, g = r.c.stream_end_capture(s)
    yield "end", status
    yield "g", r.nodes(g)


@case
def cap_add_callback(r: Runtime) -> Iterator[Question]:
    yield from capped(r, "cb", r.c.stream_add_callback)


@case
def cap_sync_memcpy(r: Runtime) -> Iterator[Question]:
    d, x = r.device_int(), ctypes.c_int(0)

    def copy(_: int) -> str:
        return r.c.memcpy(d, ctypes.addressof(x), 4, kind=HOST_TO_DEVICE)

    yield from capped(r, "memcpy", copy)
    yield from capped(r, "memset", lambda _: r.c.memset(d, 0, 4))


@case
def cap_not_executed(r: Runtime) -> Iterator[Question]:
    s, d = r.stream(), r.device_int()
    r.c.stream_begin_capture(s, GLOBAL)
    r.launch("store", struct.pack("P", d), struct.pack("i", 5), stream=s)
    g = r.c.stream_end_capture(s)[1]
    yield "before_launch", r.read_int(d)
    r.c.graph_launch(r.instantiate(g), s)
    r.c.stream_synchronize(s)
    yield "after_launch", r.read_int(d)


@case
def cap_bad_mode(r: Runtime) -> Iterator[Question]:
    yield "mode9", r.c.stream_begin_capture(r.stream(), 9)
    yield "l", r.last()
