"""Events: recording, waiting, durations."""

from __future__ import annotations

import pytest

import cuscope as cs
from support import MS, spin


def test_event_that_was_never_recorded_has_nothing_to_wait_for(device):
    event = cs.Event()
    s = cs.Stream()
    event.synchronize()
    s.wait(event)
    s.synchronize()

    assert event.query() is True


def test_record_returns_the_event(device):
    event = cs.Event()

    assert event.record(cs.Stream()) is event


def test_stream_record_makes_an_event_or_takes_one(device):
    s = cs.Stream()
    event = cs.Event()

    assert s.record(event) is event
    assert isinstance(s.record(), cs.Event)


def test_duration_is_milliseconds(device):
    s = cs.Stream()
    start, stop = cs.Event(), cs.Event()
    start.record(s)
    spin(device, 20 * MS, s)
    stop.record(s)
    stop.synchronize()

    duration = stop - start

    assert isinstance(duration, float)
    assert duration >= 19.9
    if device.simulated:
        assert duration == pytest.approx(20, abs=0.1)


def test_duration_backwards_is_negative(device):
    s = cs.Stream()
    start = s.record()
    spin(device, 20 * MS, s)
    stop = s.record()
    s.synchronize()

    assert start - stop == -(stop - start)


def test_duration_of_an_event_to_itself_is_nothing(device):
    event = cs.Event().record()
    event.synchronize()

    assert event - event == 0


def test_duration_before_the_end_is_not_ready(device):
    s = cs.Stream()
    start = s.record()
    spin(device, 50 * MS, s)
    stop = s.record()

    with pytest.raises(cs.CudaError) as caught:
        stop - start

    assert caught.value.name == "cudaErrorNotReady"
    assert "synchronize" in str(caught.value)
    s.synchronize()


def test_duration_without_timing_says_so(device):
    start, stop = cs.Event(timing=False), cs.Event()
    start.record()
    stop.record()
    device.synchronize()

    with pytest.raises((cs.CudaError, ValueError), match="timing"):
        stop - start


def test_duration_of_an_unrecorded_event_says_so(device):
    stop = cs.Event().record()
    device.synchronize()

    with pytest.raises(cs.CudaError, match="record") as caught:
        stop - cs.Event()

    assert caught.value.name == "cudaErrorInvalidResourceHandle"


@pytest.mark.parametrize("other", [None, 1, 1.5, "event"])
def test_duration_to_something_else_is_a_type_error(device, other):
    with pytest.raises(TypeError):
        cs.Event() - other


def test_event_records_in_the_current_stream(device):
    s = cs.Stream(non_blocking=True)
    spin(device, 50 * MS, s)

    with s:
        event = cs.Event().record()

    assert event.query() is False
    event.synchronize()
    assert s.query() is True


def test_recording_again_moves_the_event(device):
    fast, slow = cs.Stream(non_blocking=True), cs.Stream(non_blocking=True)
    event = cs.Event().record(fast)
    event.synchronize()
    spin(device, 50 * MS, slow)
    event.record(slow)

    assert event.query() is False
    event.synchronize()
    assert slow.query() is True


@pytest.mark.parametrize("blocking_sync", [False, True])
def test_blocking_sync_waits_as_well(device, blocking_sync):
    s = cs.Stream()
    event = cs.Event(blocking_sync=blocking_sync)
    spin(device, 20 * MS, s)
    event.record(s)
    event.synchronize()

    assert s.query() is True


def test_properties_are_those_of_the_call(device):
    assert cs.Event().timing is True
    assert cs.Event(timing=False).timing is False
    assert cs.Event().device == device
    assert cs.Event().handle != 0


def test_closed_event_says_so(device):
    event = cs.Event().record()
    event.close()
    event.close()

    assert event.closed
    for use in (event.record, event.query, event.synchronize, lambda: event - cs.Event()):
        with pytest.raises(ValueError, match=r"[Ee]vent is closed"):
            use()


def test_event_may_be_closed_while_it_is_waited_for(device):
    first, second = cs.Stream(non_blocking=True), cs.Stream(non_blocking=True)
    seen = []
    spin(device, 20 * MS, first)
    first.host_function(seen.append, 1)
    event = first.record()
    second.wait(event)
    event.close()
    second.host_function(seen.append, 2)
    second.synchronize()

    assert seen == [1, 2]


def test_record_in_a_stream_of_another_device_names_both(device):
    other = cs.add_host_device("h200")
    event = cs.Event()

    with pytest.raises(ValueError, match=other.name) as caught:
        event.record(cs.Stream(device=other))

    assert device.name in str(caught.value)


@pytest.mark.parametrize("stream", [1, "stream", object()])
def test_record_in_something_else_is_a_type_error(device, stream):
    with pytest.raises(TypeError):
        cs.Event().record(stream)


def test_event_does_not_wait_for_other_streams(device):
    s, busy = cs.Stream(non_blocking=True), cs.Stream(non_blocking=True)
    spin(device, 200 * MS, busy)
    event = s.record()
    event.synchronize()

    assert busy.query() is False
