"""Cases of two devices: a stream, an event and memory of one device, used by a thread whose current device is the
other.

Their names begin with two_devices_: they are put to real devices only on a machine with two.
"""

from __future__ import annotations

import ctypes
import struct
from collections.abc import Iterator

from .asking import LEGACY, PER_THREAD, Question, Runtime, case
from .cases_capture import GLOBAL, RELAXED

NON_BLOCKING = 1
EXTERNAL = 1
PORTABLE = 1  # flag of host_alloc
GLOBALLY = 1  # flag of malloc_managed


def add_second(r: Runtime) -> None:
    """A simulated second device; both devices have done some work before the questions."""
    if r.simulated:
        r.c.add_device("h200")
    for device in (1, 0):
        r.c.set_device(device)
        r.launch("inc", struct.pack("P", 0))
        r.c.device_synchronize()


@case
def two_devices_launches(r: Runtime) -> Iterator[Question]:
    add_second(r)
    s, d = r.stream(), r.device_int()
    r.c.set_device(1)
    yield "launch", r.launch("inc", struct.pack("P", d), stream=s)
    yield "bad_block", r.launch("inc", struct.pack("P", d), block=4096, stream=s)
    yield "sync", r.c.stream_synchronize(s)
    r.c.set_device(0)
    yield "value", r.read_int(d)
    r.c.stream_begin_capture(s, RELAXED)
    r.c.set_device(1)
    yield "captured", r.launch("inc", struct.pack("P", d), stream=s)
    r.c.stream_get_flags(s)
    yield "spoilt", r.launch("inc", struct.pack("P", d), stream=s)
    yield "end", r.c.stream_end_capture(s)[0]


@case
def two_devices_events(r: Runtime) -> Iterator[Question]:
    add_second(r)
    s, e = r.stream(), r.event()
    r.c.set_device(1)
    there = r.stream(NON_BLOCKING)
    yield "record", r.record(e, s)
    for name, stream in (("own", there), ("legacy", LEGACY), ("per_thread", PER_THREAD)):
        yield f"record_{name}", r.record(e, stream)
    yield "record_external", r.c.event_record_with_flags(e, s, EXTERNAL)
    yield "sync", r.c.event_synchronize(e)
    yield "query", r.c.event_query(e)
    new = r.event()
    r.c.set_device(0)
    yield "record_there", r.record(new, s)
    unrecorded = r.event()
    r.c.set_device(1)
    for name, stream in (("own", there), ("legacy", LEGACY), ("per_thread", PER_THREAD)):
        yield f"wait_{name}", r.c.stream_wait_event(stream, unrecorded, 0)


@case
def two_devices_sets(r: Runtime) -> Iterator[Question]:
    add_second(r)
    s, d = r.stream(), r.device_int(1024)
    r.c.set_device(1)
    yield "set", r.c.memset(d, 1, 4)
    yield "set_nothing", r.c.memset(d, 1, 0)
    yield "set_in_its_stream", r.c.memset_async(d, 1, 4, s)
    yield "sync", r.c.stream_synchronize(s)
    r.c.set_device(0)
    yield "value", r.read_int(d)


@case
def two_devices_addresses(r: Runtime) -> Iterator[Question]:
    add_second(r)
    d, managed, pinned = r.device_int(), r.c.malloc_managed(64, GLOBALLY)[1], r.c.host_alloc(64, PORTABLE)[1]
    for device in (0, 1):
        r.c.set_device(device)
        for name, address in (("device", d), ("managed", managed), ("host", pinned)):
            status, kind, of, seen_by_device, seen_by_host = r.c.pointer_get_attributes(address)
            yield (
                f"{name}_from_{device}",
                f"{status} {kind} {of} {int(seen_by_device != 0)} {int(seen_by_host != 0)}",
            )


@case
def two_devices_synchronize_beside_a_capture(r: Runtime) -> Iterator[Question]:
    add_second(r)
    s, page = r.stream(), (ctypes.c_char * 8192)()
    r.c.set_device(1)
    yield "begin", r.c.stream_begin_capture(s, GLOBAL)
    yield "register", r.c.host_register(ctypes.addressof(page), 4096, 1)
    yield "sync", r.c.device_synchronize()
    yield "end", r.c.stream_end_capture(s)[0]


@case
def two_devices_named_by_copies(r: Runtime) -> Iterator[Question]:
    add_second(r)
    here, pooled = r.device_int(), r.c.malloc_async(64, LEGACY)[1]
    r.c.set_device(1)
    there = r.device_int()
    for name, devices in (("right", (1, 0)), ("crossed", (0, 1)), ("equal", (0, 0))):
        yield name, r.c.memcpy_peer(there, devices[0], here, devices[1], 4)
    yield "within_a_pool", r.c.memcpy(pooled, here, 4, 4)
    yield "external_record", r.c.event_record_with_flags(r.event(), LEGACY, EXTERNAL)
    r.c.set_device(0)
    event = r.event()
    r.c.set_device(1)
    yield "external_record_of_a_peer", r.c.event_record_with_flags(event, LEGACY, EXTERNAL)


@case
def two_devices_access_beside_a_capture(r: Runtime) -> Iterator[Question]:
    add_second(r)
    s = r.stream()
    yield "no_device_and_flags", r.c.device_enable_peer_access(-1, 1)
    r.c.stream_begin_capture(s, GLOBAL)
    yield "enable", r.c.device_enable_peer_access(1, 0)
    yield "end", r.c.stream_end_capture(s)[0]


@case
def two_devices_graph_that_was_to_free(r: Runtime) -> Iterator[Question]:
    add_second(r)
    s, d = r.stream(NON_BLOCKING), r.device_int()
    r.c.stream_begin_capture(s, RELAXED)
    yield "free", r.c.free_async(d, s)
    g = r.c.stream_end_capture(s)[1]
    yield "clone", r.c.graph_clone(g)[0]
