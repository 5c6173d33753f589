"""Small work is done by the thread that waits for it. Order, failures and interruptions are those of all work."""

from __future__ import annotations

import signal
import threading
import time

import numpy as np
import pytest

import cuscope as cs

ADD_ONE = "__global__ void add_one(float* x, int n) { for (int i = 0; i < n; ++i) x[i] += 1; }"
OUT_OF_BOUNDS = "__global__ void far(float* x) { x[1ll << 40] = 1; }"


def test_each_step_of_a_stream_sees_the_step_before(device: cs.Device) -> None:
    host = cs.pinned_empty(1000, np.float32)
    kernel = cs.Module(ADD_ONE).add_one
    with cs.Stream() as stream:
        array = cs.zeros(1000)
        for value in range(20):
            stream.host_function(host.fill, value)
            array.copy_from(host)
            kernel[1, 1](array, 1000)  # its work is not small

            assert cs.sum(array).to_host() == (value + 1) * 1000


def test_threads_that_wait_at_the_same_time_get_their_own_results(device: cs.Device) -> None:
    wrong = []

    def work(number: int) -> None:
        values = np.full(1000, number, np.float32)
        with cs.Device(device), cs.Stream():
            for _ in range(200):
                if cs.sum(values) != number * 1000:
                    wrong.append(number)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert wrong == []


def test_a_small_sum_does_not_wait_for_another_stream(device: cs.Device) -> None:
    released, entered = threading.Event(), threading.Event()
    other = cs.Stream(non_blocking=True)
    try:
        other.host_function(lambda: entered.set() or released.wait(60))
        with cs.Stream(non_blocking=True):
            assert cs.sum(np.ones(1000, np.float32)) == 1000
        assert not released.is_set()
    finally:
        released.set()
    other.synchronize()
    assert entered.is_set()


@pytest.mark.host_only("the failure of a kernel ends the context of a GPU")
def test_small_work_behind_a_failed_kernel_is_not_done(device: cs.Device) -> None:
    with cs.add_host_device("h200"):
        array = cs.zeros(1000)
        cs.Module(OUT_OF_BOUNDS).far[1, 1](array)

        with pytest.raises(cs.CudaError):
            cs.sum(array).to_host()


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="needs signals")
def test_an_interruption_ends_a_loop_of_small_sums(device: cs.Device) -> None:
    class InterruptedLoopError(Exception):
        pass

    def interrupt(number: int, frame: object) -> None:
        raise InterruptedLoopError

    def sum_for_a_minute() -> None:
        end = time.monotonic() + 60
        while time.monotonic() < end:
            cs.sum(values)

    values, before = np.ones(1000, np.float32), signal.signal(signal.SIGALRM, interrupt)
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.2)
        with pytest.raises(InterruptedLoopError):
            sum_for_a_minute()
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)

    assert cs.sum(values) == 1000
