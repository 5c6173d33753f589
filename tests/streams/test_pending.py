"""cs.pending(): the work in flight and the reasons why it waits; programs that wait for ever, explained."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
import pytest

import cuscope as cs
from support import BASIC, in_threads, module, pinned, streams

FILLING = r"""
__global__ void fill_the_device(volatile int* flag, long long* seen) {
  __shared__ char room[48 << 10];
  room[0] = 1;
  while (*flag == 0) { *seen = clock64() + room[0]; }
}
__global__ void nothing() { }
"""


def name_of(stream: cs.Stream) -> str:
    """The stream's name as in its repr: "Stream #2"."""
    return "Stream " + repr(stream).removeprefix("<Stream ").split(" of ")[0]


def work_of(stream: cs.Stream) -> list[cs.PendingWork]:
    return [work for work in cs.pending(stream.device) if work.stream == name_of(stream)]


def kinds(work: cs.PendingWork) -> list[str]:
    return [reason.kind for reason in work.reasons]


def settle(device: cs.Device, until, timeout: float = 30) -> cs.Pending:
    """Advances the device until the condition holds for the work in flight."""
    end = time.monotonic() + timeout
    while True:
        report = cs.pending(device)
        if until(report):
            return report
        assert time.monotonic() < end, f"the condition never held:\n{report}"
        cs.Stream(non_blocking=True).query()
        time.sleep(0.02)


@contextmanager
def waiting(*streams: cs.Stream) -> Iterator[None]:
    """Threads that wait for the streams during the block, and have ended after it."""
    threads = [threading.Thread(target=stream.synchronize, daemon=True) for stream in streams]
    for thread in threads:
        thread.start()
    yield
    for thread in threads:
        thread.join(60)
        assert not thread.is_alive()


def test_pending_without_work_is_empty_and_says_so(device):
    device.synchronize()

    report = cs.pending(device)

    assert len(report) == 0
    assert list(report) == []
    assert report.roots == []
    assert str(report) == "nothing is in flight"
    assert "nothing is in flight" in report._repr_html_()


def test_pending_is_a_sequence(device):
    flag, (stream,) = pinned(), streams(1)
    try:
        stream.wait_value(flag, 1)
        report = cs.pending(device)

        assert report[0].what == report[-len(report)].what == next(iter(report)).what
        with pytest.raises(IndexError, match="pieces of work"):
            report[len(report)]
    finally:
        flag[0] = 1
    stream.synchronize()


# ---- programs that wait for ever; each is released at the end


def test_pending_of_a_number_that_no_work_writes_names_the_number(device):
    flag, out, (stream,) = pinned(3), pinned(), streams(1)
    try:
        stream.wait_value(flag, 7)
        stream.write_value(out, 1)
        with waiting(stream):
            report = settle(device, lambda r: any("value" in kinds(w) for w in r))
            first, second = work_of(stream)

            assert first.state == "waiting"
            assert kinds(first) == ["value"]
            assert f"{flag.ctypes.data:#x}" in first.reasons[0].text
            assert "is 3, waits for >= 7" in first.reasons[0].text
            assert kinds(second) == ["order"]
            assert name_of(stream) in second.reasons[0].text
            assert any("is 3, waits for >= 7" in root for root in report.roots)
            flag[0] = 7
    finally:
        flag[0] = 7


def test_pending_of_two_streams_that_wait_for_each_other_says_that_it_is_a_circle(device):
    a, b, (first, second) = pinned(), pinned(), streams(2)
    try:
        first.wait_value(a, 1)
        first.write_value(b, 1)
        second.wait_value(b, 1)
        second.write_value(a, 1)
        with waiting(first, second):
            settle(device, lambda r: sum("value" in kinds(w) for w in r) == 2)
            held = [work_of(first)[0], work_of(second)[0]]

            assert [kinds(work) for work in held] == [["value"], ["value"]]
            assert name_of(second) in held[0].reasons[0].text
            assert name_of(first) in held[1].reasons[0].text
            assert all("a circle" in work.reasons[0].text for work in held)
            a[0] = 1
    finally:
        a[0] = b[0] = 1


def test_pending_of_a_host_function_that_waits_names_the_function(device):
    go, (stream,) = threading.Event(), streams(1)

    def wait_for_the_program():
        go.wait(60)

    try:
        stream.host_function(wait_for_the_program)
        with waiting(stream):
            report = settle(device, lambda r: any("host_function" in kinds(w) for w in r))
            (work,) = work_of(stream)

            assert work.what == "host function wait_for_the_program"
            assert work.state == "running"
            assert "has begun and not returned" in work.reasons[0].text
            assert any("wait_for_the_program" in root for root in report.roots)
            go.set()
    finally:
        go.set()


def test_pending_of_a_kernel_that_spins_names_the_kernel(device):
    flag, (stream,) = pinned(0, np.int32), streams(1)
    forever = module(device).forever
    try:
        forever[1, 1, stream](flag)
        with waiting(stream):
            report = settle(device, lambda r: any("kernel" in kinds(w) for w in r))
            (work,) = work_of(stream)

            assert work.what == "kernel forever<<<1, 1>>>"
            if device.simulated:
                assert work.state == "running"
                assert "in a loop for memory to change" in work.reasons[0].text
                assert f"{flag.ctypes.data:#x}" in work.reasons[0].text
            assert any("forever" in root for root in report.roots)
            flag[0] = 1
    finally:
        flag[0] = 1


def test_pending_of_a_wait_for_an_event_names_the_stream_that_is_held(device):
    flag, out, (held, later) = pinned(), pinned(), streams(2)
    try:
        held.wait_value(flag, 1)
        later.wait(held.record())
        later.write_value(out, 1)
        with waiting(later):
            report = settle(device, lambda r: any("value" in kinds(w) for w in r))
            wait = work_of(later)[0]

            assert wait.what == "wait for an event"
            assert kinds(wait) == ["event"]
            assert name_of(held) in wait.reasons[0].text
            assert len(report.roots) == 1
            assert f"{flag.ctypes.data:#x}" in report.roots[0]
            flag[0] = 1
    finally:
        flag[0] = 1


@pytest.mark.host_only("a GPU does not tell why its legacy default stream waits")
def test_pending_of_the_legacy_stream_behind_a_held_blocking_stream_says_so(device):
    flag, held = pinned(), cs.Stream()
    x = cs.empty_plain(4, np.float32)
    try:
        held.wait_value(flag, 1)
        x.fill(0)
        cs.host_work(1e-3)
        work = next(w for w in cs.pending(device) if w.what == "memset of 16 bytes")

        assert work.stream == "Stream legacy default"
        assert kinds(work) == ["default_stream"]
        assert name_of(held) in work.reasons[0].text
    finally:
        flag[0] = 1
    cs.synchronize()


def test_pending_of_a_copy_behind_a_held_kernel_names_the_kernel(device):
    flag, (stream,) = pinned(0, np.int32), streams(1)
    source = cs.pinned_empty(1024, np.float32)
    x = cs.empty_plain(1024, np.float32)
    forever = module(device).forever
    try:
        forever[1, 1, stream](flag)
        x.copy_from(source, stream=stream)
        with waiting(stream):
            settle(device, lambda r: any("kernel" in kinds(w) for w in r))
            _, copy = work_of(stream)

            assert copy.what == "copy of 4 KiB, host to device"
            assert copy.position == 2
            assert kinds(copy) == ["order"]
            assert "kernel forever<<<1, 1>>>" in copy.reasons[0].text
            flag[0] = 1
    finally:
        flag[0] = 1


@pytest.mark.host_only("a GPU does not tell the work of its engines")
def test_pending_of_a_host_function_behind_one_of_another_stream_names_that_one(device):
    go, (first, second) = threading.Event(), streams(2)
    try:
        first.host_function(go.wait, 60)
        second.host_function(len, [])
        with waiting(first, second):
            settle(device, lambda r: any(w.state == "running" for w in r))
            (work,) = work_of(second)

            assert work.what == "host function len"
            assert kinds(work)[0] in ("engine", "simulation")
            assert "host function wait" in work.reasons[0].text
            go.set()
    finally:
        go.set()


@pytest.mark.host_only("a GPU does not say which nodes of a graph have run")
def test_pending_of_a_graph_that_is_held_names_the_node(device):
    go, (stream,) = threading.Event(), streams(1)
    x = cs.empty_plain(4, np.float32)
    graph = cs.Graph()
    host = graph.add_host(go.wait, 60)
    graph.add_memset(x, 0, after=host)
    launchable = graph.instantiate()
    try:
        launchable.launch(stream)
        with waiting(stream):
            report = settle(device, lambda r: any("host_function" in kinds(w) for w in r))
            by_name = {work.what: work for work in report}

            assert by_name["node: host function wait"].state == "running"
            assert kinds(by_name["node: memset of 16 bytes"]) == ["graph"]
            assert kinds(by_name["graph, end"]) == ["graph"]
            assert len(report.roots) == 1
            go.set()
    finally:
        go.set()


@pytest.mark.host_only("semaphores of a GPU are other interfaces'")
def test_pending_of_a_semaphore_that_is_never_signalled_names_the_semaphore(device):
    fd = os.eventfd(0)
    mine = os.dup(fd)
    (stream,) = streams(1)
    semaphore = cs.ExternalSemaphore(fd)
    try:
        stream.wait_external(semaphore)
        with waiting(stream):
            settle(device, lambda r: any("semaphore" in kinds(w) for w in r))
            (work,) = work_of(stream)

            assert work.what == "wait for an external semaphore"
            assert f"(file descriptor {fd}) has not been signalled" in work.reasons[0].text
            assert "no work in flight signals it" in work.reasons[0].text
            os.eventfd_write(mine, 1)
    finally:
        os.eventfd_write(mine, 1)
        os.close(mine)


@pytest.mark.host_only("it is the model of a device with one hardware queue")
def test_pending_on_a_device_with_one_queue_names_the_work_at_its_front(device):
    with cs.add_host_device("fermi") as fermi:
        flag, (first, second) = pinned(), streams(2)
        nothing = cs.Module(BASIC).nothing
        x, y = cs.empty_plain(4, np.float32), cs.empty_plain(4, np.float32)
        try:
            first.wait_value(flag, 1)
            nothing[1, 1, first]()
            nothing[1, 1, second]()
            cs.host_work(1e-3)
            behind = [work for work in cs.pending(fermi) if work.stream == name_of(second)]

            assert [kinds(work) for work in behind] == [["queue"]]
            assert f"front is kernel nothing<<<1, 1>>> (2 in {name_of(first)})" in behind[0].reasons[0].text
        finally:
            flag[0] = 1
        fermi.synchronize()
        del x, y


@pytest.mark.host_only("a GPU does not say which blocks have their place")
def test_pending_of_a_kernel_without_room_names_the_kernel_that_fills_the_device(device):
    flag, (first, second) = pinned(0, np.int32), streams(2)
    kernels, seen = module(device, FILLING), cs.empty_plain(1, np.int64)
    grid = kernels.fill_the_device.occupancy(1) * device.properties.multiprocessor_count
    try:
        kernels.fill_the_device[grid, 1, first](flag, seen)
        kernels.nothing[1, 1, second]()
        with waiting(first, second):
            settle(device, lambda r: any("multiprocessors" in kinds(w) for w in r))
            (work,) = work_of(second)

            assert work.what == "kernel nothing<<<1, 1>>>"
            assert f"full of kernel fill_the_device<<<{grid}, 1>>>" in work.reasons[0].text
            flag[0] = 1
    finally:
        flag[0] = 1


# ---- the names of things


@pytest.mark.parametrize(
    ("condition", "said"),
    [("geq", ">= 5"), ("eq", "== 5"), ("and", "& 5 != 0"), ("nor", "~(it | 5) != 0")],
)
@pytest.mark.parametrize("dtype", [np.uint32, np.uint64])
def test_pending_shows_the_condition_of_a_wait_for_a_number(device, condition, said, dtype):
    nothing_set = np.iinfo(dtype).max if condition == "nor" else 0
    flag, (stream,) = pinned(nothing_set, dtype), streams(1)
    try:
        stream.wait_value(flag, 5, condition=condition)
        with waiting(stream):
            settle(device, lambda r: any("value" in kinds(w) for w in r))
            (work,) = work_of(stream)

            assert work.what == f"wait_value {said} at {flag.ctypes.data:#x}"
            assert f"is {nothing_set}, waits for {said}" in work.reasons[0].text
            flag[0] = 5 if condition != "nor" else 0
    finally:
        flag[0] = 5 if condition != "nor" else 0


@pytest.mark.host_only("a GPU does not tell the pending work of a closed stream")
def test_pending_names_a_stream_that_was_closed(device):
    flag, (stream,) = pinned(), streams(1)
    name = name_of(stream)
    try:
        stream.wait_value(flag, 1)
        stream.close()

        assert cs.pending(device)[0].stream.startswith(name)
    finally:
        flag[0] = 1
    cs.synchronize()


@pytest.mark.host_only("a GPU does not say where in a graph it stands")
def test_pending_of_a_graph_behind_a_condition_names_the_condition(device):
    flag, (stream,) = pinned(0, np.int32), streams(1)
    forever = module(device).forever
    graph = cs.Graph()
    choice = graph.add_if(graph.conditional_handle(default=1))
    with stream.capture(graph=choice.bodies[0]):
        forever[1, 1, stream](flag)
    launchable = graph.instantiate()
    try:
        launchable.launch(stream)
        with waiting(stream):
            report = settle(device, lambda r: any("kernel" in kinds(w) for w in r))

            assert [root.split(" (in")[0] for root in report.roots] == ["node: kernel forever<<<1, 1>>>"]
            assert any(kinds(w) == ["graph"] and "kernel forever" in w.reasons[0].text for w in report)
            flag[0] = 1
    finally:
        flag[0] = 1


@pytest.mark.host_only("it is not known which kernel of a GPU writes a number")
def test_pending_of_a_number_that_a_kernel_may_write_names_the_kernel(device):
    hold, flag, (waits, writes) = pinned(), pinned(0, np.int32), streams(2)
    store = module(device).store
    try:
        writes.wait_value(hold, 1)
        store[1, 1, writes](flag, 1)
        waits.wait_value(flag, 1)
        waits.host_function(len, ())  # it is enqueued too late to be the work that the wait is for
        cs.host_work(1e-3)
        work = work_of(waits)[0]

        assert kinds(work) == ["value"]
        assert work.reasons[0].text.endswith(
            f"may be written by kernel store<<<1, 1>>> (2 in {name_of(writes)})"
        )
    finally:
        hold[0] = 1
    waits.synchronize()


def test_pending_as_html_escapes_the_names_of_kernels(device):
    flag, (stream,) = pinned(0, np.int32), streams(1)
    forever = module(device).forever
    try:
        forever[1, 1, stream](flag)
        report = cs.pending(device)

        assert "kernel forever&lt;&lt;&lt;1, 1&gt;&gt;&gt;" in report._repr_html_()
        assert "kernel forever<<<1, 1>>>" in str(report)
        assert "kernel forever<<<1, 1>>>" in repr(report[0])
    finally:
        flag[0] = 1
    stream.synchronize()


# ---- the call changes nothing


PROGRAM = r"""
import numpy as np, cuscope as cs
look = {look}
ask = cs.pending if look else lambda: None
mod = cs.Module("__global__ void add(int* p) {{ atomicAdd(p, 1); }}")
x, flag, host = cs.zeros(1 << 16, np.int32), cs.pinned_empty(1, np.uint32), cs.pinned_empty(1 << 16, np.int32)
flag[0] = 0
streams = [cs.Stream(), cs.Stream(non_blocking=True)]
events = []
for turn in range(5):
    for stream in streams:
        ask()
        events.append(stream.record(cs.Event()))
        mod.add[64, 128, stream](x)
        ask()
        x.copy_to(host, stream=stream)
        stream.host_function(cs.host_work, 1e-4)
        ask()
    streams[0].wait(streams[1])
    streams[1].wait_value(flag, turn)
    flag[0] = turn
    streams[1].query()
    ask()
    cs.host_work(1e-5)
    ask()
cs.synchronize()
print([round(event - events[0], 12) for event in events], cs.clock())
"""


@pytest.mark.host_only("the times of a GPU are its own")
def test_pending_takes_no_simulated_time_and_changes_no_order(run_python):
    without, with_looks = (run_python(PROGRAM.format(look=look)) for look in (False, True))

    assert without.returncode == with_looks.returncode == 0, with_looks.stderr
    assert with_looks.stdout == without.stdout


def test_pending_does_not_invalidate_a_capture(device):
    stream, other = cs.Stream(), cs.Stream()
    x = cs.empty_plain(4, np.float32)
    with stream.capture() as graph:
        x.fill(0, stream=stream)
        before = cs.pending()
        other.wait(stream)
        assert isinstance(cs.pending(device), cs.Pending)
        stream.wait(other)

    assert isinstance(before, cs.Pending)
    assert len(graph.nodes) == 1


def test_pending_from_other_threads_while_one_waits(device):
    flag, (stream,) = pinned(), streams(1)
    try:
        stream.wait_value(flag, 1)
        with waiting(stream):
            raised = in_threads(4, lambda index: [cs.pending() for _ in range(50)])
            flag[0] = 1
    finally:
        flag[0] = 1

    assert raised == []


def test_pending_inside_a_host_function_answers(device):
    seen: list[cs.Pending] = []
    stream = cs.Stream()

    stream.host_function(lambda: seen.append(cs.pending()))
    stream.synchronize()

    assert isinstance(seen[0], cs.Pending)


def test_pending_refuses_objects_that_are_no_device():
    with pytest.raises(TypeError, match="device"):
        cs.pending("host:0")
