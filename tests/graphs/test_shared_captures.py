"""Streams that one thread captures, and that another thread tries to close, or leaves behind."""

import contextlib
import threading
import time

import numpy as np
import pytest

import cuscope as cs


@pytest.mark.parametrize("mode", ["global", "thread_local", "relaxed"])
def test_a_capture_goes_on_when_another_thread_may_not_close_its_stream(device, mode):
    stream, x, source = cs.Stream(), cs.zeros(32, np.int32), cs.full(32, 5, np.int32)
    raised = []

    def close():
        try:
            stream.close()
        except cs.CaptureError as error:
            raised.append(error)

    closer = threading.Thread(target=close)

    with stream.capture(mode) as graph:
        x.fill(1)
        closer.start()
        closer.join()
        x.copy_from(source)
    del source  # from here on only the graph keeps the array
    assert "stays open" in str(raised[0])
    assert not stream.closed
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


@pytest.mark.parametrize("mode", ["global", "thread_local", "relaxed"])
def test_a_capture_goes_on_when_another_thread_page_locks_memory_for_a_moment(device, mode):
    stream, x = cs.Stream(), cs.zeros(32, np.int32)
    closed = []

    def page_lock():
        with cs.register(np.zeros(1024, np.int32)) as registration:
            pass
        closed.append(registration.closed)

    other = threading.Thread(target=page_lock)
    with stream.capture(mode) as graph:
        other.start()
        other.join()
        x.fill(1)

    assert closed == [True]
    assert len(graph.nodes) == 1


# The driver ended the process with a SIGSEGV if a capture ended while another thread's call invalidated it.
@pytest.mark.subprocess
@pytest.mark.own_process
def test_captures_that_other_threads_invalidate_end_with_an_error(device, run_python):
    done = run_python("""
        import os, threading, time
        import numpy as np
        import cuscope as cs
        from cuscope import _core

        device = cs.Device(os.environ["CUSCOPE_DEVICE"])
        raw = _core.contract(device.name)  # its allocations invalidate captures; those of the package do not
        x = cs.zeros(32, np.int32)
        outcomes = set()

        def capture():
            with device:
                stream = cs.Stream()
                for number in range(100_000):
                    if number >= 1000 and {"captured", "cudaErrorStreamCaptureInvalidated"} <= outcomes:
                        break
                    try:
                        with stream.capture("global"):
                            x.fill(1, stream=stream)
                            if number % 2:
                                time.sleep(0)  # lets other threads run
                        outcomes.add("captured")
                    except cs.CaptureError as error:
                        outcomes.add(error.name)

        def allocate():
            with device:
                while any(thread.is_alive() for thread in capturing):
                    status, pointer = raw.host_alloc(4096, 0)
                    while status == "cudaSuccess" and raw.free_host(pointer) != "cudaSuccess":
                        time.sleep(0)

        def use_the_package():
            with device:
                while any(thread.is_alive() for thread in capturing):
                    cs.empty_plain(16).close()
                    cs.pinned_empty(16)
                    cs.register(np.zeros(16)).close()

        capturing = [threading.Thread(target=capture) for _ in range(2)]
        allocating = [threading.Thread(target=target) for target in (allocate, allocate, use_the_package)]
        for thread in capturing + allocating:
            thread.start()
        for thread in capturing + allocating:
            thread.join()
        print(sorted(outcomes))
    """)

    assert done.returncode == 0, done.stderr
    assert "Traceback" not in done.stderr
    assert "captured" in done.stdout
    assert "cudaErrorStreamCaptureInvalidated" in done.stdout
