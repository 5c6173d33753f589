"""Operations on devices, streams and events."""

from __future__ import annotations

import copy
import gc
import os
import pickle

import numpy as np
from table import operation, read_all
from workers import Worker

import cuscope as cs


@operation(
    "Device", "Device.*", "devices", "current_device", "set_device", "DeviceProperties*", "MemoryInfo*"
)
def ask_device(w: Worker) -> None:
    device = cs.Device(w.device.name)
    assert device in cs.devices()
    with device:
        assert cs.current_device() == device
        cs.set_device(device)
    for name in ("name", "kind", "model", "ordinal", "simulated", "compute_capability", "stream_priority_range",
                 "default_stream", "per_thread_stream", "memory_pool"):  # fmt: skip
        getattr(device, name)
    device.attribute("max_threads_per_block")
    device.can_access_peer(device)
    device.limit("stack_size")
    device.reset_persisting_l2_cache()
    read_all(device.properties)
    read_all(device.memory_info())
    assert pickle.loads(pickle.dumps(device)) == copy.copy(device) == device


@operation("synchronize")
def synchronize_device(w: Worker) -> None:
    w.random.choice([cs.synchronize, w.device.synchronize, w.device.default_stream.synchronize])()


@operation("pending", "Pending*")
def ask_what_is_pending(w: Worker) -> None:
    for work in cs.pending(w.random.choice([None, w.device])):
        read_all(work)
        repr((work, work.reasons))


@operation("clock", "host_work")
def use_the_clock(w: Worker) -> None:
    before = cs.clock()
    if w.device.simulated:
        cs.host_work(1e-6)
    assert cs.clock() >= before


@operation("Stream", "Stream.close", "Stream.closed")
def replace_stream(w: Worker) -> None:
    priority = w.random.choice([0, -1])
    before = w.replace("streams", cs.Stream(priority=priority, non_blocking=w.random.random() < 0.5))
    if w.random.random() < 0.5:
        before.close()
        assert before.closed


@operation("Stream.query", "Stream.handle", "Stream.id", "Stream.device", "Stream.priority", "Stream.non_blocking",
           "Stream.capture_status", "Stream.capture_id", "Stream.capture_dependencies", "Event.query", "Event.handle",
           "Event.device", "Event.timing", "Event.closed")  # fmt: skip
def look_at_streams_and_events(w: Worker) -> None:
    for thing in (w.stream, w.event):
        repr(thing)
        assert thing == thing
        hash(thing)
        read = ["handle", "device", "closed"]
        read += ["id", "priority", "non_blocking", "capture_status", "capture_id", "capture_dependencies"] * (
            type(thing) is cs.Stream
        )
        for name in read:
            getattr(thing, name)
    w.stream.query()
    w.event.query()


@operation("Stream.mem_sync_domain", "Stream.mem_sync_domain_map", "Stream.synchronization_policy", "Stream.copy_attributes",
           "Stream.access_policy_window", "AccessPolicyWindow*")  # fmt: skip
def change_attributes(w: Worker) -> None:
    stream = w.stream
    stream.priority = w.random.choice([0, -1])
    stream.mem_sync_domain = w.random.choice(["default", "remote"])
    stream.mem_sync_domain_map = (0, 1)
    stream.synchronization_policy = w.random.choice(["auto", "spin", "yield", "blocking_sync"])
    window = cs.AccessPolicyWindow(w.array)
    read_all(window)
    stream.access_policy_window = window
    stream.access_policy_window = None
    stream.copy_attributes(w.own.streams[0])


@operation("Stream.synchronize")
def synchronize_stream(w: Worker) -> None:
    w.stream.synchronize()


@operation(
    "Stream.record",
    "Event.record",
    "Stream.wait",
    errors=(
        "cudaErrorInvalidValue",
    ),  # the event was recorded in a capture that another thread has ended meanwhile
)
def record_and_wait(w: Worker) -> None:
    event = w.stream.record(w.event) if w.random.random() < 0.5 else w.event.record(w.stream)
    w.stream.wait(event)
    if w.random.random() < 0.3:
        w.stream.wait(w.stream)


@operation("Event", "Event.close", errors=("cudaErrorInvalidResourceHandle", "cudaErrorNotReady"))
def replace_event(w: Worker) -> None:
    before = w.replace(
        "events", cs.Event(timing=w.random.random() < 0.9, blocking_sync=w.random.random() < 0.5)
    )
    if w.random.random() < 0.5:
        float(before - w.event)
    before.close()


@operation("Event.synchronize")
def synchronize_event(w: Worker) -> None:
    w.event.synchronize()


@operation("Stream.host_function")
def call_on_the_host(w: Worker) -> None:
    stream, seed = w.stream, w.random.random()
    if seed < 0.1:
        stream.host_function(gc.collect)
    elif seed < 0.2:
        stream.host_function(lambda last: None, cs.zeros(100))  # the last owner goes on the runtime's thread
    else:
        stream.host_function(lambda *a, **k: None, 1, two=2)


@operation("as_stream", "current_stream")
def enter_streams(w: Worker) -> None:
    with w.stream as stream:
        assert cs.current_stream() == stream
        cs.as_stream(stream)
        w.array.fill(1)


@operation(
    "Stream.write_value",
    "Stream.wait_value",
    "Stream.batch_mem_op",
    "WriteValue*",
    "WaitValue*",
    "MemoryBarrier*",
)
def wait_for_numbers(w: Worker) -> None:
    """Uses streams of this thread's own, so that an earlier write or a write of the host always ends the wait."""
    first, second = cs.Stream(non_blocking=True), cs.Stream(non_blocking=True)
    flag, pinned = cs.empty_plain(1, np.uint32), cs.pinned_empty(1, np.uint32)
    pinned[0] = 0
    write = cs.WriteValue(flag, 7)
    read_all(write)
    second.batch_mem_op([write, cs.MemoryBarrier(w.random.choice(["system", "device"]))])
    second.write_value(flag, 8)
    first.wait_value(flag, 8)
    wait = cs.WaitValue(flag, 8, "eq")
    read_all(wait)
    first.batch_mem_op([wait])
    try:
        first.wait_value(pinned, 1)
    finally:
        pinned[0] = 1
    first.synchronize()


@operation("ExternalSemaphore*", "Stream.signal_external", "Stream.wait_external", simulated_only=True)
def use_a_semaphore(w: Worker) -> None:
    semaphore = cs.ExternalSemaphore(os.eventfd(0, os.EFD_NONBLOCK))
    read_all(semaphore)
    stream = cs.Stream(non_blocking=True)
    stream.signal_external(semaphore)
    stream.wait_external(semaphore)
    semaphore.close()
    stream.synchronize()
