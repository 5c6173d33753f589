"""Host functions that raise, call the runtime, wait for others, or never run."""

from __future__ import annotations

import threading

import numpy as np
import pytest

import cuscope as cs
from support import MS, module, spin


def test_program_may_wait_outside_the_runtime(device):
    """No thread calls the runtime while the main thread waits: the device goes on by itself."""
    done = threading.Event()
    s = cs.Stream()
    spin(device, 20 * MS, s)
    s.host_function(done.set)

    assert done.wait(30)


def test_program_may_wait_for_the_end_of_a_chain(device):
    done = threading.Semaphore(0)
    streams = [cs.Stream(non_blocking=True) for _ in range(4)]
    for _ in range(10):
        for a, b in zip(streams, streams[1:] + streams[:1], strict=True):
            a.host_function(done.release)
            b.wait(a)

    assert all(done.acquire(timeout=30) for _ in range(40))


def test_host_function_may_wait_for_the_main_thread(device):
    gate, seen = threading.Event(), []
    s = cs.Stream()
    s.host_function(lambda: seen.append(gate.wait(30)))
    s.query()
    gate.set()
    s.synchronize()

    assert seen == [True]


def test_host_function_that_waits_does_not_hold_up_the_host(device):
    gate = threading.Event()
    s, other = cs.Stream(non_blocking=True), cs.Stream(non_blocking=True)
    s.host_function(gate.wait, 30)
    x = cs.to_device(np.arange(3), stream=other)

    assert x.to_host(stream=other).tolist() == [0, 1, 2]
    gate.set()
    s.synchronize()


def test_two_host_functions_may_be_under_way_in_order(device):
    order = []
    s = cs.Stream()
    for i in range(1000):
        s.host_function(order.append, i)
    s.synchronize()

    assert order == list(range(1000))


REFUSED = {
    "allocate": lambda s, x: cs.empty(3),
    "synchronize": lambda s, x: s.synchronize(),
    "query": lambda s, x: s.query(),
    "record": lambda s, x: s.record(),
    "copy": lambda s, x: x.to_host(),
    "fill": lambda s, x: x.fill(1),
    "make a stream": lambda s, x: cs.Stream(),
    "device synchronize": lambda s, x: cs.synchronize(),
    "host function": lambda s, x: s.host_function(print),
}


@pytest.mark.parametrize("what", REFUSED)
def test_runtime_call_inside_is_refused_as_the_runtime_does(device, what):
    s, x = cs.Stream(), cs.zeros(3)
    device.synchronize()
    names = []

    def function():
        try:
            REFUSED[what](s, x)
        except cs.CudaError as error:
            names.append(error.name)

    s.host_function(function)
    s.synchronize()

    assert names == ["cudaErrorNotPermitted"]
    assert x.to_host().tolist() == [0, 0, 0]


@pytest.mark.counts_memory
def test_objects_may_be_dropped_inside(device, settled):
    settled()
    before = device.memory_info().free
    held = [cs.empty(1 << 20, np.uint8), cs.Stream(), cs.Event(), cs.pinned_empty(100)]
    s = cs.Stream()
    s.host_function(held.clear)
    s.synchronize()
    settled()

    assert held == []
    assert device.memory_info().free == before


@pytest.mark.parametrize(
    "error", [SystemExit(3), KeyboardInterrupt(), BaseException("base"), StopIteration(1)]
)
def test_every_exception_comes_to_the_synchronisation(device, error):
    s = cs.Stream()

    def fail():
        raise error

    s.host_function(fail)
    with pytest.raises(type(error)):
        s.synchronize()

    s.synchronize()


def test_first_of_several_exceptions_is_raised_and_the_others_are_reported(device):
    s = cs.Stream()

    def fail(i):
        raise ValueError(f"number {i}")

    for i in range(3):
        s.host_function(fail, i)
    with pytest.raises(ValueError, match="number 0") as caught:
        s.synchronize()

    rest = []
    for _ in range(2):
        try:
            s.synchronize()
        except ValueError as error:
            rest.append(str(error))
    notes = " ".join(getattr(caught.value, "__notes__", []))
    assert rest or "number 1" in notes or "2 more" in notes or caught.value.__context__ is not None


def test_exception_that_was_never_raised_is_reported_when_its_stream_is_dropped(run_python):
    done = run_python(
        """
        import gc, sys
        import cuscope as cs
        seen = []
        sys.unraisablehook = lambda u: seen.append(str(u.exc_value))
        s = cs.Stream()
        def fail():
            raise ValueError("nobody asked")
        s.host_function(fail)
        del s
        cs.Stream().synchronize()
        try:
            cs.synchronize()
        except ValueError as error:
            seen.append(str(error))
        gc.collect()
        print(seen)
        """
    )

    assert "nobody asked" in done.stdout, done.stdout + done.stderr


def test_host_function_does_not_run_after_the_device_was_lost(device, run_python):
    done = run_python(
        """
        import numpy as np
        import cuscope as cs
        mod = cs.Module("__global__ void wild(int* p) { p[1LL << 40] = 1; }")
        p = cs.zeros(1, np.int32)
        s, seen = cs.Stream(), []
        cs.synchronize()
        mod.wild[1, 1, s](p)
        s.host_function(seen.append, 1)
        try:
            s.synchronize()
        except cs.CudaError as error:
            print(error.name, seen)
        """
    )

    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("cudaErrorIllegalAddress")


@pytest.fixture
def flag(device):
    """A page-locked word that a kernel may wait for. It is set at the end, so that no kernel waits for ever."""
    flag = cs.pinned_empty(1, np.int32, mapped=True)
    flag[0] = 0
    yield flag
    flag[0] = 1


def test_kernel_may_wait_for_a_flag_that_the_host_sets(device, flag):
    """A running kernel sees page-locked memory: only the host can let this kernel go on."""
    s, other = cs.Stream(non_blocking=True), cs.Stream(non_blocking=True)
    module(device).forever[1, 1, s](flag)
    other.synchronize()
    flag[0] = 1
    s.synchronize()

    assert s.query() is True


def test_kernel_may_wait_for_a_flag_that_a_host_function_of_another_stream_sets(device, flag):
    s, other = cs.Stream(non_blocking=True), cs.Stream(non_blocking=True)
    module(device).forever[1, 1, s](flag)
    other.host_function(flag.fill, 1)
    s.synchronize()

    assert s.query() is True
