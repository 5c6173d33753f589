"""Streams: order, flags, waiting, the current stream, host functions."""

from __future__ import annotations

import threading

import numpy as np
import pytest

import cuscope as cs
from support import MS, in_threads, module, second, spin


def test_new_stream_is_idle(device):
    assert cs.Stream().query() is True


def test_stream_with_work_is_busy_until_it_is_synchronized(device):
    s = cs.Stream()
    spin(device, 50 * MS, s)

    assert s.query() is False
    s.synchronize()
    assert s.query() is True


def test_work_of_a_stream_runs_in_order(device):
    s = cs.Stream()
    seen = []
    for i in range(100):
        s.host_function(seen.append, i)
    s.synchronize()

    assert seen == list(range(100))


def test_flags_and_priority_are_those_of_the_call(device):
    least, greatest = device.stream_priority_range
    s = cs.Stream(priority=greatest, non_blocking=True)

    assert (s.priority, s.non_blocking, s.device) == (greatest, True, device)
    assert (cs.Stream().priority, cs.Stream().non_blocking) == (least, False)


def test_priority_beyond_the_range_is_clamped_as_cuda_does(device):
    _, greatest = device.stream_priority_range

    assert cs.Stream(priority=greatest - 10).priority == greatest


def test_streams_have_ids_and_handles_of_their_own(device):
    a, b = cs.Stream(), cs.Stream()

    assert a.id != b.id
    assert a.handle != b.handle
    assert a.handle not in (0, 1, 2)


def test_id_is_not_used_again_when_a_handle_is(device):
    a = cs.Stream()
    first = a.id
    a.close()

    assert cs.Stream().id != first


def test_default_streams_have_the_runtimes_ids(device):
    ids = []

    def ask(index):
        with device:
            ids.append((device.default_stream.id, device.per_thread_stream.id))

    ask(0)
    assert not in_threads(1, ask)
    (legacy, per_thread), (legacy_there, per_thread_there) = ids
    assert legacy == legacy_there
    assert len({legacy, per_thread, per_thread_there, cs.Stream().id}) == 4


def test_default_streams_of_two_devices_have_different_ids(device):
    other = second(device)
    assert device.default_stream.id != other.default_stream.id


def test_the_id_of_a_default_stream_is_refused_in_a_capture_that_it_would_invalidate(device):
    with cs.Stream().capture() as graph, pytest.raises(cs.CaptureError, match="cudaStreamGetId"):
        _ = device.default_stream.id
    assert graph.nodes == []


def test_wait_orders_two_streams(device):
    first, second = cs.Stream(non_blocking=True), cs.Stream(non_blocking=True)
    seen = []
    spin(device, 20 * MS, first)
    first.host_function(seen.append, "first")
    second.wait(first.record())
    second.host_function(seen.append, "second")
    second.synchronize()

    assert seen == ["first", "second"]


def test_stream_waits_for_another_stream(device):
    first, second = cs.Stream(non_blocking=True), cs.Stream(non_blocking=True)
    spin(device, 20 * MS, first)
    second.wait(first)
    second.synchronize()

    assert first.query() is True


def test_stream_may_wait_for_itself(device):
    s = cs.Stream()
    s.wait(s)
    s.wait(s.record())
    s.synchronize()

    assert s.query() is True


def test_legacy_stream_waits_for_blocking_streams(device):
    s = cs.Stream()
    value = cs.zeros(1, np.int32)
    spin(device, 20 * MS, s)
    module(device).store[1, 1, s](value, 5)
    out = cs.zeros(1, np.int32)
    out.copy_from(value, stream=device.default_stream)
    device.default_stream.synchronize()

    assert out.to_host().tolist() == [5]


@pytest.mark.no_sanitizer("it runs one kernel at a time")
def test_legacy_stream_does_not_wait_for_non_blocking_streams(device):
    s = cs.Stream(non_blocking=True)
    spin(device, 200 * MS, s)
    module(device).nothing[1, 1, device.default_stream]()
    device.default_stream.synchronize()

    assert s.query() is False


def test_current_stream_is_the_innermost(device):
    a, b = cs.Stream(), cs.Stream()

    with a:
        with b:
            assert cs.current_stream() == b
        assert cs.current_stream() == a
    assert cs.current_stream() == device.default_stream


def test_current_stream_is_of_the_thread(device):
    seen = []

    with cs.Stream():
        thread = threading.Thread(target=lambda: seen.append(cs.current_stream()))
        thread.start()
        thread.join()

    assert seen[0].handle in (0, 1)


def test_with_stream_makes_its_device_current(device):
    other = cs.add_host_device("h200")
    s = cs.Stream(device=other)

    with s:
        assert cs.current_device() == other
    assert cs.current_device() == device


def test_with_device_inside_with_stream_has_its_own_current_stream(device):
    other = cs.add_host_device("h200")

    with cs.Stream(), other:
        assert cs.current_stream().device == other


def test_with_stream_is_used_by_launches_copies_and_events(device):
    s = cs.Stream(non_blocking=True)
    gate = cs.zeros(1, np.int32)
    device.synchronize()

    with s:
        spin(device, 50 * MS)
        module(device).store[1, 1](gate, 3)
        event = cs.Event().record()

    assert event.query() is False
    s.synchronize()
    assert event.query() is True
    assert gate.to_host().tolist() == [3]


def test_host_function_gets_its_arguments(device):
    s = cs.Stream()
    seen = {}
    s.host_function(seen.update, [("a", 1)], b=2)
    s.synchronize()

    assert seen == {"a": 1, "b": 2}


def test_host_function_has_not_run_before_its_turn(device):
    s = cs.Stream()
    seen = []
    spin(device, 50 * MS, s)
    s.host_function(seen.append, 1)

    assert seen == []
    s.synchronize()
    assert seen == [1]


def test_host_function_sees_the_streams_copies(device):
    s = cs.Stream()
    source = cs.to_device(np.arange(1000, dtype=np.int32))
    target = cs.pinned_empty(1000, np.int32)
    target[:] = -1
    seen = []
    source.copy_to(target, stream=s)
    s.host_function(lambda: seen.append(target.copy()))
    s.synchronize()

    assert np.array_equal(seen[0], np.arange(1000))


@pytest.mark.parametrize("synchronize", ["stream", "event", "device"])
def test_exception_of_a_host_function_is_raised_at_the_next_synchronisation(device, synchronize):
    s = cs.Stream()

    def fail():
        raise KeyError("from the host function")

    s.host_function(fail)
    event = s.record()

    with pytest.raises(KeyError, match="from the host function"):
        {"stream": s, "event": event, "device": device}[synchronize].synchronize()
    s.synchronize()  # once is enough


def test_stream_goes_on_after_a_host_function_that_raised(device):
    s = cs.Stream()
    seen = []
    s.host_function(lambda: 1 / 0)
    s.host_function(seen.append, "after")

    with pytest.raises(ZeroDivisionError):
        s.synchronize()

    assert seen == ["after"]


def test_exception_of_one_stream_is_not_raised_by_another(device):
    bad, good = cs.Stream(non_blocking=True), cs.Stream(non_blocking=True)
    bad.host_function(lambda: 1 / 0)

    good.synchronize()

    with pytest.raises(ZeroDivisionError):
        bad.synchronize()


def test_exception_of_a_host_function_keeps_its_traceback(device):
    s = cs.Stream()

    def the_culprit():
        raise ValueError("x")

    s.host_function(the_culprit)
    with pytest.raises(ValueError, match="x") as caught:
        s.synchronize()

    assert "the_culprit" in [entry.name for entry in caught.traceback]


def test_runtime_call_in_a_host_function_is_refused(device):
    s = cs.Stream()
    s.host_function(lambda: cs.empty(4))

    with pytest.raises(cs.CudaError) as caught:
        s.synchronize()

    assert caught.value.name == "cudaErrorNotPermitted"


def test_host_work_in_a_host_function_lasts(device):
    s = cs.Stream()
    a = s.record()
    s.host_function(cs.host_work, 0.02)
    b = s.record()
    s.synchronize()

    assert b - a >= 20


def test_closed_stream_says_so(device):
    s = cs.Stream()
    s.close()

    assert s.closed
    for use in (s.synchronize, s.query, s.record, lambda: s.wait(cs.Event()), lambda: s.host_function(print)):
        with pytest.raises(ValueError, match=r"[Ss]tream is closed"):
            use()


def test_closing_twice_is_closing_once(device):
    s = cs.Stream()
    s.close()
    s.close()

    assert s.closed


def test_work_of_a_closed_stream_is_completed(device):
    s = cs.Stream()
    value = cs.zeros(1, np.int32)
    device.synchronize()
    spin(device, 20 * MS, s)
    module(device).store[1, 1, s](value, 7)
    s.close()
    device.synchronize()

    assert value.to_host().tolist() == [7]


def test_default_streams_cannot_be_closed(device):
    for s in (device.default_stream, device.per_thread_stream):
        with pytest.raises(ValueError, match="default"):
            s.close()
        assert not s.closed


def test_wait_for_an_event_of_another_runtime_or_device_names_both(device):
    other = cs.add_host_device("h200")
    event = cs.Event(device=other)
    s = cs.Stream()
    if device.simulated:
        pytest.skip("events of one runtime may be waited for across its devices")

    with pytest.raises(ValueError, match=other.name) as caught:
        s.wait(event)

    assert device.name in str(caught.value)


@pytest.mark.parametrize("thing", [None, 1, "event", np.zeros(1)])
def test_waiting_for_something_else_is_a_type_error(device, thing):
    with pytest.raises(TypeError):
        cs.Stream().wait(thing)


def test_host_function_must_be_callable(device):
    with pytest.raises(TypeError, match="call"):
        cs.Stream().host_function(42)


def test_stream_arguments_are_by_keyword(device):
    with pytest.raises(TypeError):
        cs.Stream(0)


def test_per_thread_streams_of_two_threads_are_two_streams(device):
    """If they were one stream, the second thread would wait for the kernel that it alone can end."""
    flag = cs.pinned_empty(1, np.int32)
    flag[0] = 0
    launched = threading.Event()

    def work(index):
        with device:
            if index == 0:
                module(device).forever[1, 1, device.per_thread_stream](flag)
                launched.set()
                device.per_thread_stream.synchronize()
            else:
                launched.wait()
                device.per_thread_stream.synchronize()
                flag[0] = 1

    assert in_threads(2, work) == []


def test_many_streams_work_at_once(device):
    kernel = module(device).add_one
    counters = cs.zeros(200, np.int32)
    streams = [cs.Stream(non_blocking=i % 2 == 0) for i in range(200)]
    device.synchronize()
    for i, s in enumerate(streams):
        for _ in range(5):
            kernel[1, 1, s](counters[i : i + 1])
    device.synchronize()

    assert counters.to_host().tolist() == [5] * 200


def test_streams_are_equal_by_identity(device):
    a, b = cs.Stream(), cs.Stream()

    assert a == a
    assert a != b
    assert len({a, b, a}) == 2
    assert device.default_stream == device.default_stream


def test_a_closed_stream_that_is_still_current_takes_no_more_work(device):
    x, kernel = cs.zeros(4, np.int32), module(device).nothing
    with cs.Stream() as outer, cs.Stream() as s:
        s.close()
        assert cs.current_stream() is s
        for use in (
            lambda: x.fill(1),
            lambda: cs.zeros(4),
            lambda: cs.to_device(np.zeros(4)),
            lambda: cs.sum(x),
            kernel[1, 1],
            lambda: kernel.launch(grid=1, block=1),
            cs.Event().record,
            x.to_host,
            x.copy,
            lambda: cs.Graph().instantiate().launch(),
        ):
            with pytest.raises(ValueError, match=r"Stream is closed.* of " + device.name):
                use()
        x.fill(2, stream=outer)
        outer.synchronize()
        with outer:
            assert x.to_host().tolist() == [2] * 4
    x.fill(3)
    assert x.to_host().tolist() == [3] * 4


def test_closing_the_current_stream_at_the_end_of_its_block_is_allowed(device):
    with cs.Stream() as s:
        x = cs.full(4, 7, np.int32)
        s.close()

    assert x.to_host().tolist() == [7] * 4


def test_a_stream_that_an_array_brings_back_after_it_was_closed_can_be_current(device):
    s = cs.Stream()
    with s:
        x = cs.zeros(4, np.int32)
    s.close()
    del s

    with x.stream:
        x.fill(1)
        assert x.to_host().tolist() == [1] * 4


def test_looking_at_a_closed_current_stream_does_not_open_it(device):
    said = []

    def enter_close_and_forget():  # in a thread of its own, because nothing leaves the stream
        cs.set_device(device)
        s = cs.Stream()
        s.__enter__()
        s.close()
        del s
        said.append(repr(cs.current_stream()))
        with pytest.raises(ValueError, match="Stream is closed"):
            cs.zeros(4)
        said.append("refused")

    thread = threading.Thread(target=enter_close_and_forget)
    thread.start()
    thread.join()

    assert said[-1] == "refused"
