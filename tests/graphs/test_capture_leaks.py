"""Captures that fail in every possible way, again and again, leave nothing behind."""

from __future__ import annotations

import contextlib
import gc
import itertools

import numpy as np
import pytest

import cuscope as cs
from support import module

CAPTURES = 10_000
ADD = "__global__ void add(int* x, int v) { x[threadIdx.x] += v; }"


class Stop(Exception):
    pass


@pytest.mark.counts_memory
@pytest.mark.no_sanitizer("it would take an hour")
def test_ten_thousand_failing_captures_leave_nothing(device, settled, contract):
    s, t, event = cs.Stream(), cs.Stream(), cs.Event()
    add = module(device, ADD).add
    x, host = cs.zeros(4, np.int32), np.zeros(4, np.int32)
    unrelated = cs.Event().record()
    device.synchronize()

    def raising():
        with s.capture():
            add[1, 4](x, 1)
            raise Stop

    def unjoined():
        with s.capture():
            t.wait(s)
            add[1, 4, t](x, 1)

    def invalidated_by_others():
        with s.capture():
            x.copy_from(host)
            contract.stream_query(s.handle)

    def invalidated_from_a_fork():
        with s.capture():
            t.wait(s)
            contract.stream_end_capture(t.handle)

    def invalidated_event():
        with s.capture():
            event.record(s)
            contract.event_query(event.handle)

    def isolated():
        with s.capture():
            s.host_function(print)
            contract.stream_wait_event(s.handle, unrelated.handle, 0)

    def with_memory():
        with s.capture():
            cs.zeros(1024)
            raise Stop

    def dropped():
        with s.capture():
            add[1, 4](x, 1)
        # The graph is dropped without having been used.

    def begun_in_vain():
        with s.capture(), s.capture():
            pass

    ways = [
        raising, unjoined, invalidated_by_others, invalidated_from_a_fork, invalidated_event, isolated, with_memory, dropped,
        begun_in_vain,
    ]  # fmt: skip

    def fail(count):
        for way in itertools.islice(itertools.cycle(ways), count):
            with contextlib.suppress(Stop, cs.CudaError):
                way()
            assert (s.capture_status, t.capture_status) == ("none", "none")
        contract.get_last_error()
        settled()

    fail(len(ways) * 4)
    gc.collect()
    before = device.memory_info().free
    fail(CAPTURES if device.simulated else CAPTURES // 10)
    assert device.memory_info().free == before
    add[1, 4, s](x, 1)
    assert x.to_host(stream=s).tolist() == [1] * 4
