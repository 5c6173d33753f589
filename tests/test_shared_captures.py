"""Streams that one thread captures while other threads use or close them: each piece of work runs, or belongs to a graph
that keeps its memory, or is refused."""

import contextlib
import threading

import numpy as np
import pytest

import cuscope as cs
from support import in_threads, module


def raise_first(raised):
    if raised:
        raise raised[0]


def test_a_capture_whose_stream_another_thread_closes_makes_no_graph(device):
    stream, x = cs.Stream(), cs.zeros(32, np.int32)
    closer = threading.Thread(target=stream.close)

    def capture():
        with stream.capture("thread_local"):
            x.fill(1)
            closer.start()
            closer.join()
            x.fill(2)

    with pytest.raises(cs.CaptureError):
        capture()

    x.fill(3)
    assert (x.to_host() == 3).all()


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
