"""Streams that one thread captures, and that another thread closes or leaves behind."""

import contextlib
import threading
import time

import numpy as np
import pytest

import cuscope as cs


@pytest.mark.parametrize("mode", ["global", "thread_local", "relaxed"])
def test_a_capture_goes_on_when_another_thread_closes_its_stream(device, mode):
    stream, x, source = cs.Stream(), cs.zeros(32, np.int32), cs.full(32, 5, np.int32)
    closer = threading.Thread(target=stream.close)

    with stream.capture(mode) as graph:
        x.fill(1)
        closer.start()
        closer.join()
        x.copy_from(source)
    del source  # from here on only the graph keeps the array
    graph.instantiate().launch(cs.Stream())
    device.synchronize()

    assert len(graph.nodes) == 2
    assert (x.to_host() == 5).all()


@pytest.mark.parametrize("mode", ["global", "thread_local"])
def test_ending_a_capture_in_another_thread_is_refused_and_the_capture_goes_on(device, mode):
    stream, x = cs.Stream(), cs.zeros(32, np.int32)
    raised = []

    def end():
        try:
            stream.end_capture()
        except cs.CaptureError as error:
            raised.append(error)

    stream.begin_capture(mode)
    other = threading.Thread(target=end)
    other.start()
    other.join()
    x.fill(1, stream=stream)
    graph = stream.end_capture()

    assert raised[0].name == "cudaErrorStreamCaptureWrongThread"
    assert "goes on" in str(raised[0])
    assert len(graph.nodes) == 1


def test_a_capture_that_another_thread_left_behind_ends_with_a_call_of_its_own_thread(device):
    stream = cs.Stream()
    stream.begin_capture("thread_local")
    closer = threading.Thread(target=stream.close)
    closer.start()
    closer.join()

    cs.zeros(32, np.int32)

    device.synchronize()  # is refused while a stream of the device is captured


def test_a_capture_of_a_thread_that_has_ended_goes_with_its_stream(device):
    stream = cs.Stream()
    owner = threading.Thread(target=lambda: stream.begin_capture("thread_local"))
    owner.start()
    owner.join()

    stream.close()

    for _ in range(200):  # join() returns a moment before the thread has ended
        with contextlib.suppress(cs.CaptureError):
            device.synchronize()
            return
        time.sleep(0.02)
    pytest.fail("the capture goes on")


def test_a_stream_that_is_collected_in_a_host_function_ends_its_capture_later(device):
    captured = cs.Stream()
    captured.begin_capture("relaxed")
    left = [captured]
    del captured

    runner = cs.Stream(non_blocking=True)
    runner.host_function(left.clear)
    runner.synchronize()
    cs.zeros(32, np.int32)

    device.synchronize()
