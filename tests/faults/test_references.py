"""Every Python reference dropped right after an asynchronous call: the work is done all the same, and nothing leaks."""

from __future__ import annotations

import gc
import os
import threading
import weakref
from pathlib import Path

import numpy as np
import pytest

import cuscope as cs
from support import MS, in_threads, module, spin


@pytest.fixture
def busy(device):
    """A stream that is held: its work waits until the test lets it go on."""
    s = cs.Stream()
    module(device)
    device.synchronize()
    spin(device, 20 * MS, s)
    return s


def trash() -> None:
    """Overwrites memory that was given back, so that a test sees memory that was given back too early."""
    gc.collect()
    for _ in range(20):
        cs.full(1000, -1, np.int32)
        cs.pinned_empty(1000, np.int32)[:] = -1


def test_source_of_a_copy_may_be_dropped_before_the_copy_runs(device, busy):
    target = cs.empty(1000, np.int32)
    source = cs.pinned_empty(1000, np.int32)
    source[:] = range(1000)
    target.copy_from(source, stream=busy)
    del source
    trash()

    assert np.array_equal(target.to_host(stream=busy), np.arange(1000))


def test_device_source_of_a_copy_may_be_dropped_before_the_copy_runs(device, busy):
    target = cs.zeros(1000, np.int32, stream=busy)
    target.copy_from(cs.to_device(np.arange(1000, dtype=np.int32), stream=busy), stream=busy)
    trash()

    assert np.array_equal(target.to_host(stream=busy), np.arange(1000))


def test_target_of_a_copy_may_be_dropped_before_the_copy_runs(device, busy):
    target = cs.pinned_empty(1000, np.int32)
    cs.full(1000, 5, np.int32).copy_to(target, stream=busy)
    gone = weakref.ref(target)
    del target
    others = [cs.pinned_empty(1000, np.int32) for _ in range(5)]
    for x in others:
        x[:] = 1
    busy.synchronize()

    assert all((x == 1).all() for x in others)
    gc.collect()
    assert gone() is None


def test_kernel_arguments_and_module_may_be_dropped_before_the_kernel_runs(device, busy):
    out = cs.zeros(1, np.int32)
    device.synchronize()
    spin(device, 20 * MS, busy)
    source = cs.pinned_empty(1, np.int32)
    source[0] = 77
    mod = cs.Module("__global__ void copy(int* to, const int* from, int more) { *to = *from + more; }")
    mod.copy[1, 1, busy](out, source, 1)
    del mod, source
    trash()
    busy.synchronize()

    assert out.to_host().tolist() == [78]


def test_stream_and_event_may_be_dropped_before_their_work_runs(device):
    out = cs.zeros(1, np.int32)
    device.synchronize()
    first, second = cs.Stream(non_blocking=True), cs.Stream(non_blocking=True)
    spin(device, 20 * MS, first)
    module(device).store[1, 1, first](out, 3)
    second.wait(cs.Event().record(first))
    module(device).multiply_add[1, 1, second](cs.zeros(1, np.uint32), 1, 1)
    module(device).add_one[1, 1, second](out)
    del first, second
    gc.collect()
    device.synchronize()

    assert out.to_host().tolist() == [4]


def test_host_function_and_its_arguments_may_be_dropped_before_it_runs(device):
    stream, gate, seen = cs.Stream(), threading.Event(), []
    stream.host_function(gate.wait, 60)

    class Argument:
        def __del__(self):
            seen.append("gone")

    def function(argument):
        seen.append(type(argument).__name__)

    stream.host_function(function, Argument())
    del function
    gc.collect()

    assert seen == []
    gate.set()
    stream.synchronize()
    gc.collect()
    device.synchronize()
    assert seen == ["Argument", "gone"]


@pytest.mark.no_initcheck("it keeps records of its own")
@pytest.mark.counts_memory
def test_host_function_may_hold_the_last_reference_to_memory(device, settled):
    before = device.memory_info().free
    s = cs.Stream()
    x = cs.empty(1 << 24, np.uint8)
    s.host_function(lambda x: None, x)
    del x
    s.synchronize()
    settled()

    assert device.memory_info().free == before


@pytest.mark.counts_memory
def test_object_in_a_cycle_is_collected(device, settled):
    before = device.memory_info().free
    x = cs.empty(1 << 24, np.uint8)
    s = cs.Stream()
    holder = [x, s]
    holder.append(holder)
    s.host_function(holder.append, 1)
    s.synchronize()
    del x, s, holder
    settled()

    assert device.memory_info().free == before


def test_array_outlives_its_stream(device):
    s = cs.Stream()
    x = cs.full(1000, 5, np.int32, stream=s)
    s.close()

    assert x.to_host().tolist() == [5] * 1000
    x.close()
    device.synchronize()


def test_array_stays_alive_as_long_as_a_slice_of_it(device, busy):
    view = cs.to_device(np.arange(1000, dtype=np.int32), stream=busy)[500:]
    trash()

    assert np.array_equal(view.to_host(stream=busy), np.arange(500, 1000))


# Nothing grows


def resident() -> int:
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def _round(device, kernel, s):
    x = cs.empty(1000, np.float32, stream=s)
    y = x[10:20]
    event = s.record()
    kernel[1, 32, s]()
    s.wait(event)
    s.host_function(id, y)
    s.query()


LOOPS = {
    "everything": _round,
    "streams and events": lambda d, k, s: (cs.Stream().close(), cs.Event().close()),
    "pinned arrays": lambda d, k, s: cs.pinned_empty(1000),
    "copies": lambda d, k, s: cs.to_device(np.zeros(100, np.float32), stream=s).to_host(stream=s),
    "refused calls": lambda d, k, s: _refused(d, k),
}


def _refused(device, kernel):
    for use in (lambda: kernel[1, 4096](), lambda: cs.empty(1 << 50), lambda: cs.Stream(priority="x")):
        with pytest.raises((cs.CudaError, TypeError, ValueError)):
            use()


@pytest.mark.host_only("a GPU may wait for the kernel")
def test_module_may_go_while_its_kernel_runs(device):
    flag = cs.pinned_empty(1, np.int32)
    flag[0] = 0
    other = cs.Stream(non_blocking=True)
    cs.Module("__global__ void until(volatile int* p) { while (*p == 0) { } }").until[1, 1](flag)
    gc.collect()

    assert cs.zeros(2, np.int32, stream=other).to_host(stream=other).tolist() == [0, 0]
    flag[0] = 1
    device.synchronize()


@pytest.mark.no_sanitizer("it keeps records of its own")
@pytest.mark.parametrize("loop", LOOPS)
@pytest.mark.counts_memory
def test_ten_thousand_rounds_leave_nothing(device, settled, loop):
    kernel = module(device).nothing
    s = cs.Stream()

    def rounds(count: int) -> None:
        for i in range(count):
            LOOPS[loop](device, kernel, s)
            if i % 500 == 0:
                s.synchronize()
        s.synchronize()
        settled()

    rounds(2000)
    free, memory = device.memory_info().free, resident()
    rounds(10_000)

    assert device.memory_info().free == free
    assert resident() - memory < 8 << 20


def test_modules_come_and_go(device, settled):
    source = "__device__ int x[1 << 16]; __global__ void k(int n) { x[n] = n; }"
    for _ in range(20):
        cs.Module(source).k[1, 1](1)
    settled()
    memory = resident()
    for _ in range(200):
        cs.Module(source).k[1, 1](1)
    settled()

    assert resident() - memory < 32 << 20


# Many threads


def test_64_threads_issue_at_once(device):
    kernel = module(device).add_one
    total = cs.zeros(1, np.int32)
    device.synchronize()

    def work(index: int) -> None:
        with device:
            s = cs.Stream(non_blocking=index % 2 == 0)
            mine = np.full(100, index, np.int32)
            for _ in range(10):
                with s:
                    there = cs.to_device(mine)
                    kernel[1, 1](total)
                    event = cs.Event().record()
                    seen = []
                    s.host_function(seen.append, index)
                    event.synchronize()
                    assert there.to_host().tolist() == mine.tolist()
                s.synchronize()
                assert seen == [index]

    assert in_threads(64, work) == []
    assert total.to_host().tolist() == [640]


def test_64_threads_use_one_stream(device):
    kernel = module(device).add_one
    total = cs.zeros(1, np.int32)
    s = cs.Stream()
    device.synchronize()
    order: list[tuple[int, int]] = []

    def work(index: int) -> None:
        for i in range(20):
            kernel[1, 1, s](total)
            s.host_function(order.append, (index, i))
            s.query()

    assert in_threads(64, work) == []
    s.synchronize()
    assert total.to_host().tolist() == [64 * 20]
    for index in range(64):
        assert [i for who, i in order if who == index] == list(range(20))


def test_threads_compile_and_load_at_once(device):
    def work(index: int) -> None:
        with device:
            mod = cs.Module(f"__global__ void put(int* p) {{ *p = {index % 4}; }}")
            p = cs.zeros(1, np.int32)
            mod.put[1, 1](p)
            assert p.to_host().tolist() == [index % 4]

    assert in_threads(16, work, timeout=120) == []


@pytest.mark.counts_memory
def test_objects_are_dropped_by_other_threads(device, settled):
    before = device.memory_info().free
    things = [cs.empty(1 << 16, np.uint8) for _ in range(64)]

    def work(index: int) -> None:
        things[index] = None

    assert in_threads(64, work) == []
    settled()
    assert device.memory_info().free == before


def test_threads_synchronize_while_others_issue(device):
    s = cs.Stream()
    seen: list[int] = []

    def work(index: int) -> None:
        for i in range(50):
            if index % 2:
                s.host_function(seen.append, i)
            else:
                s.synchronize()

    assert in_threads(8, work) == []
    s.synchronize()
    assert len(seen) == 200
