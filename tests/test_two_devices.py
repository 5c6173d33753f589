"""Two devices of one runtime: work for one while the other is current, and what does not cross between them."""

from __future__ import annotations

import numpy as np
import pytest

import cuscope as cs
from others import Interface
from support import module, second

# ---- the public classes bring their device along


def test_work_in_a_stream_of_a_device_that_is_not_current_is_done_there(device):
    other = second(device)
    stream, event, log = cs.Stream(), cs.Event(), []
    x = cs.zeros(1, np.int32, stream=stream)
    add_one = module(device).add_one

    with other:
        add_one[1, 1, stream](x)
        event.record(stream)
        stream.host_function(log.append, 1)
        y = cs.empty(1, np.int32, stream=stream)
        y.copy_from(x, stream=stream)
        y.fill(3, stream=stream)
        event.synchronize()
        stream.synchronize()
        assert cs.current_device() == other

    assert (y.device, log) == (device, [1])
    assert (x.to_host()[0], y.to_host()[0]) == (1, 3)


def test_a_capture_on_a_device_that_is_not_current_takes_what_is_put_into_its_stream(device):
    other = second(device)
    stream = cs.Stream()
    x = cs.zeros(1, np.int32, stream=stream)
    add_one = module(device).add_one

    with other:
        with stream.capture() as graph:
            add_one[1, 1, stream](x)
            add_one[1, 1, stream](x)
        graph.instantiate().launch(stream)
        stream.synchronize()

    assert x.to_host()[0] == 2


@pytest.mark.parametrize("mode", ["global", "thread_local", "relaxed"])
def test_waiting_for_a_device_leaves_a_capture_on_another_one_alone(device, mode):
    other = second(device)
    stream = cs.Stream()
    x = cs.zeros(1, np.int32, stream=stream)
    add_one = module(device).add_one

    with stream.capture(mode) as graph:
        add_one[1, 1, stream](x)
        other.synchronize()
    graph.instantiate().launch(stream)
    stream.synchronize()

    assert x.to_host()[0] == 1


def test_a_stream_waits_for_an_event_of_another_device(device):
    other = second(device)
    host = np.arange(1 << 16, dtype=np.int32)
    x = cs.to_device(host)
    event = cs.Event().record()

    with other:
        stream, y = cs.Stream(), cs.empty(host.shape, np.int32)
        stream.wait(event)
        y.copy_from(x, stream=stream)
        stream.synchronize()
        assert np.array_equal(y.to_host(), host)


def test_an_array_of_others_on_a_device_that_is_not_current_is_found_there(device):
    other = second(device)
    theirs = Interface(cs.empty_plain(4, np.float32))

    with other:
        ours = cs.asarray(theirs)

    assert ours.device == device
    assert ours.pointer == theirs.array.pointer
