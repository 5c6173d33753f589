"""The situations that PyTorch's stream sanitizer is tested with, as programs of this package.

Each is tried with kernels, with launches of graphs, with host functions, and with streams of two devices.
"""

from __future__ import annotations

import pytest

import cuscope as cs
from checking_streams.planted import KERNELS, N


class Bench:
    """Streams, events and arrays, each made at its first use, and kernels that read and write the arrays."""

    def __init__(self, device: cs.Device) -> None:
        self.device = device
        self.module = cs.Module(KERNELS, device=device)
        self.arrays = [cs.zeros(N) for _ in range(10)]
        self.streams = [cs.Stream(non_blocking=True) for _ in range(12)]
        self.events = [cs.Event() for _ in range(12)]
        device.synchronize()

    def read(self, stream: int, array: int) -> None:
        self.module.read_only[1, N, self.streams[stream]](self.arrays[array])

    def write(self, stream: int, *arrays: int) -> None:
        for array in arrays:
            self.module.twice[1, N, self.streams[stream]](self.arrays[array])

    def record(self, event: int, stream: int) -> None:
        self.streams[stream].record(self.events[event])

    def wait(self, event: int, stream: int) -> None:
        self.streams[stream].wait(self.events[event])

    def synchronize(self) -> None:
        self.device.synchronize()


class OfGraphs(Bench):
    """Each access is a launch of a graph."""

    def launch(self, kernel: cs.Kernel, stream: int, array: int) -> None:
        graph = cs.Graph()
        graph.add_kernel(kernel[1, N], args=(self.arrays[array],))
        graph.instantiate().launch(self.streams[stream])

    def read(self, stream: int, array: int) -> None:
        self.launch(self.module.read_only, stream, array)

    def write(self, stream: int, *arrays: int) -> None:
        for array in arrays:
            self.launch(self.module.twice, stream, array)


class OfHostFunctions(Bench):
    """Each access is a host function in the stream, of page-locked memory."""

    def __init__(self, device: cs.Device) -> None:
        super().__init__(device)
        self.pinned = [cs.pinned_empty(N) for _ in range(10)]
        for array in self.pinned:
            array.fill(0)

    def read(self, stream: int, array: int) -> None:
        self.streams[stream].host_function(lambda: float(self.pinned[array].sum()))

    def write(self, stream: int, *arrays: int) -> None:
        for array in arrays:
            self.streams[stream].host_function(self.pinned[array].fill, 1)


class OfTwoDevices(Bench):
    """Streams with an even number are of another device, which copies the arrays to itself and back."""

    def __init__(self, device: cs.Device) -> None:
        super().__init__(device)
        self.other = cs.add_host_device("h200")
        with self.other:
            self.events[::2] = [cs.Event() for _ in self.events[::2]]
            self.streams[::2] = [cs.Stream(non_blocking=True) for _ in self.streams[::2]]
            self.copies = [cs.zeros(N) for _ in self.streams]
            self.other.synchronize()

    def read(self, stream: int, array: int) -> None:
        if stream % 2:
            super().read(stream, array)
        else:
            self.copies[stream].copy_from(self.arrays[array], stream=self.streams[stream])

    def write(self, stream: int, *arrays: int) -> None:
        for array in arrays:
            if stream % 2:
                super().write(stream, array)
            else:
                self.arrays[array].copy_from(self.copies[stream], stream=self.streams[stream])

    def record(self, event: int, stream: int) -> None:
        # An event belongs to a device, and only its streams may record it.
        if (event - stream) % 2:
            self.events[event] = cs.Event(device=self.streams[stream].device)
        super().record(event, stream)

    def synchronize(self) -> None:
        self.device.synchronize()
        self.other.synchronize()


def one_read(b: Bench) -> None:
    b.read(0, 0)


def two_reads(b: Bench) -> None:
    b.read(1, 1)
    b.read(2, 1)


def read_then_write(b: Bench) -> None:
    b.read(1, 1)
    b.write(2, 1)


def read_event_write(b: Bench) -> None:
    b.read(1, 1)
    b.record(0, 1)
    b.wait(0, 2)
    b.write(2, 1)


def each_read_is_compared_with_the_last_write(b: Bench) -> None:
    b.write(1, 1)
    b.record(0, 1)
    b.wait(0, 2)
    b.read(2, 1)
    b.read(3, 1)


def two_branches_read(b: Bench, *, write: bool = False) -> None:
    b.write(1, 1)
    b.record(0, 1)
    b.wait(0, 2)
    b.wait(0, 3)
    b.read(2, 1)
    b.read(3, 1)
    if write:
        b.write(2, 1)


def two_branches_read_and_one_writes(b: Bench) -> None:
    two_branches_read(b, write=True)


def chain_of_streams(b: Bench) -> None:
    b.read(0, 1)
    for i in range(10):
        b.record(i, i)
        b.wait(i, i + 1)
    b.write(10, 1)


def work_behind_the_record(b: Bench) -> None:
    b.read(1, 1)
    b.record(0, 1)
    b.read(1, 1)
    b.wait(0, 2)
    b.write(2, 1)


def event_made_anew(b: Bench) -> None:
    b.read(1, 1)
    b.record(0, 1)
    b.events[0] = cs.Event()
    b.wait(0, 2)
    b.write(2, 1)


def many_reads(b: Bench, last: int) -> None:
    for i in range(1, last):
        b.read(i, 1)
        b.record(i, i)
    for i in range(1, 10):
        b.wait(i, 0)
    b.write(0, 1)


def all_readers_are_waited_for(b: Bench) -> None:
    many_reads(b, 10)


def one_reader_is_not_waited_for(b: Bench) -> None:
    many_reads(b, 11)


def ten_arrays(b: Bench) -> None:
    b.write(0, *range(10))
    b.write(1, *range(10))


def states_of_two_streams_are_joined(b: Bench) -> None:
    b.write(1, 1)
    b.write(2, 2)
    b.record(1, 1)
    b.record(2, 2)
    b.write(1, 1)
    b.write(2, 2)
    b.wait(1, 2)
    b.wait(2, 1)
    b.record(3, 2)
    b.wait(3, 1)
    b.write(1, 1, 2)


def event_recorded_over(b: Bench) -> None:
    b.read(1, 1)
    b.read(2, 2)
    b.record(1, 1)
    b.record(1, 2)
    b.wait(1, 3)
    b.write(3, 1)


def event_waited_for_twice(b: Bench) -> None:
    b.write(1, 1)
    b.record(1, 1)
    b.wait(1, 2)
    b.wait(1, 3)
    b.read(2, 1)
    b.read(3, 1)


def device_is_waited_for(b: Bench, *, work_behind: bool = False) -> None:
    for stream in range(5):
        b.read(stream, 1)
    b.synchronize()
    if work_behind:
        b.read(4, 1)
    b.write(0, 1)


def work_behind_the_wait_for_the_device(b: Bench) -> None:
    device_is_waited_for(b, work_behind=True)


def new_stream_behind_a_wait_for_the_device(b: Bench) -> None:
    b.read(1, 1)
    b.synchronize()
    b.streams[5] = cs.Stream(non_blocking=True)
    b.write(5, 1)


def stream_is_waited_for_by_the_host(b: Bench) -> None:
    b.write(0, 1)
    b.write(1, 2)
    b.streams[0].synchronize()
    b.read(2, 1)


def another_stream_is_waited_for_by_the_host(b: Bench) -> None:
    b.write(0, 1)
    b.write(1, 2)
    b.streams[0].synchronize()
    b.read(2, 2)


def event_is_waited_for_by_the_host(b: Bench) -> None:
    b.write(0, 1)
    b.record(1, 0)
    b.events[1].synchronize()
    b.write(2, 1)


def work_behind_the_event_that_the_host_waits_for(b: Bench) -> None:
    b.write(0, 1)
    b.record(1, 0)
    b.write(0, 1)
    b.events[1].synchronize()
    b.write(2, 1)


RIGHT = [
    one_read,
    two_reads,
    read_event_write,
    two_branches_read,
    chain_of_streams,
    all_readers_are_waited_for,
    states_of_two_streams_are_joined,
    event_waited_for_twice,
    device_is_waited_for,
    new_stream_behind_a_wait_for_the_device,
    stream_is_waited_for_by_the_host,
    event_is_waited_for_by_the_host,
]
WRONG = [
    read_then_write,
    each_read_is_compared_with_the_last_write,
    two_branches_read_and_one_writes,
    work_behind_the_record,
    event_made_anew,
    one_reader_is_not_waited_for,
    ten_arrays,
    event_recorded_over,
    work_behind_the_wait_for_the_device,
    another_stream_is_waited_for_by_the_host,
    work_behind_the_event_that_the_host_waits_for,
]


BENCHES = [Bench, OfGraphs, OfHostFunctions, OfTwoDevices]
each_bench = pytest.mark.parametrize("bench", BENCHES, ids=lambda bench: bench.__name__)


def races(situation, device, bench=Bench) -> list[cs.Finding]:
    if not device.simulated and bench in (OfHostFunctions, OfTwoDevices):
        pytest.skip("a GPU has no second device here, and its host functions run when they like")
    with cs.check() as report:
        made = bench(device)
        situation(made)
        made.synchronize()
    return [finding for finding in report.findings if finding.kind == "race between streams"]


@each_bench
@pytest.mark.parametrize("situation", RIGHT, ids=lambda situation: situation.__name__)
def test_right_programs_have_no_finding(situation, device, bench):
    assert races(situation, device, bench) == []


@each_bench
@pytest.mark.parametrize("situation", WRONG, ids=lambda situation: situation.__name__)
def test_wrong_programs_have_a_finding(situation, device, bench):
    assert races(situation, device, bench)


def test_each_array_is_reported(device):
    arrays = {finding.memory for finding in races(ten_arrays, device)}
    counts = sum(finding.count for finding in races(ten_arrays, device))
    assert arrays
    assert counts >= 10
