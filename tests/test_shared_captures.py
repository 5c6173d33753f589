"""Streams that one thread captures while other threads use or close them: each piece of work runs, or belongs to a graph
that keeps its memory, or is refused."""

import contextlib
import threading
import time

import numpy as np
import pytest

import cuscope as cs
from support import in_threads, module


def raise_first(raised):
    if raised:
        raise raised[0]


@pytest.mark.parametrize("mode", ["global", "thread_local", "relaxed"])
def test_a_capture_goes_on_when_another_thread_closes_its_stream(device, mode):
    stream, x, source = cs.Stream(), cs.zeros(32, np.int32), cs.full(32, 5, np.int32)
    closer = threading.Thread(target=stream.close)

    with stream.capture(mode) as graph:
        x.fill(1)
        closer.start()
        closer.join()
        x.copy_from(source)
    del source  # the graph's from here on
    graph.instantiate().launch(cs.Stream())
    device.synchronize()

    assert len(graph.nodes) == 2
    assert (x.to_host() == 5).all()


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

    for _ in range(200):  # join() returns a moment before the thread is gone
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


def test_work_that_meets_a_capture_of_its_stream_keeps_its_memory(device):
    add = module(device, "__global__ void add(int* x, int v) { x[threadIdx.x] += v; }").add
    stream, mine = cs.Stream(non_blocking=True), cs.zeros(32, np.int32)
    executables, stop = [], threading.Event()

    def capture():
        for _ in range(300):
            with contextlib.suppress(cs.CudaError):
                with stream.capture("relaxed") as graph:
                    add[1, 32, stream](mine, 1)
                executables.append(graph.instantiate())
        stop.set()

    def work():
        other = cs.Stream(non_blocking=True)
        while not stop.is_set():
            with contextlib.suppress(cs.CudaError):
                x = cs.empty(32, np.int32, stream=other)
                add[1, 32, stream](x, 1)
                x.close()

    def run(i):
        with device:
            (capture if i == 0 else work)()

    raise_first(in_threads(3, run))
    for executable in executables:
        executable.launch(stream)
    stream.synchronize()
