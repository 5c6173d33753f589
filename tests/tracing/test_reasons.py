"""Why simulated work starts when it does, and which work it waited for. A GPU tells neither."""

import asyncio

import numpy as np
import pytest

import cuscope as cs

KERNEL = """
__global__ void spin(int* p) {}
"""


@pytest.fixture
def spin():
    with cs.Device("host:0"):
        module = cs.Module(KERNEL)
        yield module.spin


def started(trace, place, kind="kernel"):
    """The reason of a span, and the name of the span that let it start."""
    row = trace.spans[trace.spans["kind"] == kind][place]
    cause = trace.spans[row["cause"]]["name"] if row["cause"] >= 0 else None
    return row["reason"], cause


def idle_array(count=16):
    x = cs.zeros(count, np.int32)
    cs.synchronize()
    return x


def test_work_on_an_idle_device_starts_when_it_is_issued(spin):
    x = idle_array()
    with cs.trace() as t:
        spin[1, 32](x)
    assert started(t, 0) == ("issued", None)


def test_work_waits_for_the_work_before_it_in_its_stream(spin):
    x = idle_array(1 << 24)
    with cs.trace() as t:
        x.fill(1)
        spin[1, 32](x)
    assert started(t, 0) == ("stream order", "memset")


def test_the_cause_behind_an_event_is_the_work_before_its_record(spin):
    x = idle_array(1 << 24)
    first, second, event = cs.Stream(), cs.Stream(), cs.Event()
    with cs.trace() as t:
        x.fill(1, stream=first)
        event.record(first)
        second.wait(event)
        spin[1, 32, second](x)
    assert started(t, 0) == ("event", "memset")


def test_the_legacy_default_stream_orders_work(spin):
    x = idle_array(1 << 24)
    stream = cs.Stream()
    with cs.trace() as t:
        x.fill(1, stream=stream)
        spin[1, 32](x)
    assert started(t, 0) == ("default stream", "memset")


def test_a_copy_waits_for_its_engine(spin):
    page_locked = cs.pinned_empty(1 << 20, np.int32)
    arrays = [idle_array(1 << 20) for _ in range(2)]
    streams = [cs.Stream() for _ in range(2)]
    with cs.trace() as t:
        for x, stream in zip(arrays, streams, strict=True):
            x.copy_from(page_locked, stream=stream)
    assert started(t, 1, "copy") == ("engine", "host to device")


def test_a_kernel_waits_for_room_on_the_multiprocessors(spin):
    x = idle_array()
    streams = [cs.Stream() for _ in range(2)]
    with cs.trace() as t:
        for stream in streams:
            spin.launch(x, grid=264, block=1024, stream=stream, duration=1e-4)
    assert started(t, 1) == ("multiprocessors", "spin")


def test_nodes_wait_for_edges_of_their_graph(spin):
    x = idle_array(1 << 20)
    stream = cs.Stream()
    with stream.capture() as graph:
        x.fill(1, stream=stream)
        spin[1, 32, stream](x)
    exe = graph.instantiate()
    with cs.trace() as t:
        exe.launch(stream)
    assert started(t, 0) == ("graph", "memset")


def test_work_behind_other_work_in_a_hardware_queue_waits_for_it():
    with cs.add_host_device(cs.model("h200", name="one queue", hardware_queues=1)):
        spin = cs.Module(KERNEL).spin
        x = idle_array(1 << 24)
        first, second = cs.Stream(non_blocking=True), cs.Stream(non_blocking=True)
        with cs.trace() as t:
            x.fill(1, stream=first)
            spin[1, 32, first](x)
            spin[2, 32, second](x)
    assert started(t, 1)[0] == "queue"


def test_a_call_that_waits_names_the_work_that_it_waited_for(spin):
    x = idle_array(1 << 24)
    with cs.trace() as t:
        x.fill(1)
        cs.synchronize()
    assert started(t, 1, "call")[1] == "memset"


def test_calls_know_their_range(spin):
    x = idle_array()
    with cs.trace() as t, cs.range("outer"):
        with cs.range("inner"):
            spin[1, 32](x)
        x.fill(1)
    calls = t.spans[t.spans["kind"] == "call"]
    assert t.spans["name"][calls["range"]].tolist() == ["inner", "outer"]


def test_interleaved_tasks_have_ranges_of_their_own(spin):
    x = idle_array()

    async def task(name):
        with cs.range(name):
            await asyncio.sleep(0)
            spin[1, 32](x)

    async def both():
        await asyncio.gather(task("a"), task("b"))

    with cs.trace() as t:
        asyncio.run(both())
    calls = t.spans[t.spans["kind"] == "call"]
    assert t.spans["name"][calls["range"]].tolist() == ["a", "b"]
