"""Programmatic dependent launches: a kernel starts before the previous kernel has ended, and waits for it."""

from __future__ import annotations

import ctypes
import random
import struct

import pytest

import cuscope as cs

SERIALIZATION, EVENT, PRIORITY, COMPLETION_EVENT = 6, 7, 8, 12
SOURCE = r"""
__device__ void spin(long long ns) {
    unsigned long long t0, t;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(t0));
    do { asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(t)); } while ((long long)(t - t0) < ns);
}
// Spins, lets dependents start, spins, and writes.
__global__ void first(long long before, long long after, int trigger, int* out, int value) {
    spin(before);
    if (trigger) asm volatile("griddepcontrol.launch_dependents;");
    spin(after);
    if (out && threadIdx.x == 0) out[blockIdx.x] = value;
}
// Spins, waits for the kernel in front, and adds to what that wrote.
__global__ void second(long long before, long long after, int* out) {
    spin(before);
    asm volatile("griddepcontrol.wait;" ::: "memory");
    if (out && threadIdx.x == 0) out[blockIdx.x] += 1;
    spin(after);
}
"""
PLAIN = r"""
__global__ void triggers(int* p) { cudaTriggerProgrammaticLaunchCompletion(); if (p) *p = 1; }
__global__ void waits(int* p) { cudaGridDependencySynchronize(); if (p) *p += 1; }
"""
US = 1000
OVERLAP = ({"id": SERIALIZATION, "value": 1},)


class Kernels:
    def __init__(self, contract, source):
        self.c = contract
        status, image, names, log = contract.compile(source)
        assert status == "cudaSuccess", log
        self.library = contract.library_load_data(image)[1]
        self.by_name = {n: contract.library_get_kernel(self.library, lowered)[1] for n, lowered in names}

    def launch(self, name, *values, grid=1, stream=0, attributes=(), **more):
        # Little-endian: an int is the first half of its 8 bytes.
        packed = [struct.pack("q", v) for v in values]
        status = self.c.launch_kernel(
            self.by_name[name], grid, 1, packed, stream=stream, attributes=list(attributes), **more
        )
        assert status == "cudaSuccess"

    def first(self, before, after, trigger=True, out=0, value=0, **more):
        self.launch("first", before, after, int(trigger), out, value, **more)


@pytest.fixture
def kernels(contract):
    return Kernels(contract, SOURCE)


@pytest.fixture
def stream(contract):
    _, stream = contract.stream_create_with_priority(1, 0)
    yield stream
    contract.stream_destroy(stream)


def elapsed(contract, stream, work) -> float:
    """Microseconds of a stream's work, from event to event."""
    events = [contract.event_create_with_flags(0)[1] for _ in range(2)]
    contract.event_record_with_flags(events[0], stream)
    work()
    contract.event_record_with_flags(events[1], stream)
    assert contract.event_synchronize(events[1]) == "cudaSuccess"
    status, milliseconds = contract.event_elapsed_time(*events)
    assert status == "cudaSuccess"
    for event in events:
        contract.event_destroy(event)
    return milliseconds * 1000


def test_second_kernel_sees_the_writes_of_the_first(kernels, stream):
    c = kernels.c
    _, out = c.malloc(4 * 8)
    c.memset(out, 0, 32)
    c.device_synchronize()
    kernels.first(0, 300 * US, True, out, 1, grid=8, stream=stream)
    kernels.launch("second", 0, 0, out, grid=8, stream=stream, attributes=OVERLAP)
    c.stream_synchronize(stream)

    values = bytearray(32)
    buffer = (ctypes.c_char * 32).from_buffer(values)
    c.memcpy(ctypes.addressof(buffer), out, 32)
    assert struct.unpack("8i", values) == (2,) * 8
    c.free(out)


def test_functions_of_dependent_launches(contract, stream):
    kernels = Kernels(contract, PLAIN)
    _, p = contract.malloc(4)
    for _ in range(20):
        kernels.launch("triggers", p, grid=2, stream=stream)
        kernels.launch("waits", p, stream=stream, attributes=OVERLAP)
    assert contract.stream_synchronize(stream) == "cudaSuccess"
    value = ctypes.c_int()
    contract.memcpy(ctypes.addressof(value), p, 4)
    assert value.value == 2
    contract.free(p)


@pytest.mark.host_only("a GPU promises no overlap, and its times are its own")
def test_prologue_overlaps_the_first_kernel(kernels, stream):
    def both(trigger, attributes):
        kernels.first(100 * US, 900 * US, trigger, stream=stream)
        kernels.launch("second", 600 * US, 200 * US, 0, stream=stream, attributes=attributes)

    in_turn = elapsed(kernels.c, stream, lambda: both(True, ()))
    overlapped = elapsed(kernels.c, stream, lambda: both(True, OVERLAP))
    untriggered = elapsed(kernels.c, stream, lambda: both(False, OVERLAP))

    assert in_turn == pytest.approx(1800, abs=30)
    assert overlapped == pytest.approx(1200, abs=30)  # 100 + 900, of which 600 are shared, + 200
    assert untriggered == pytest.approx(1800, abs=30)


@pytest.mark.host_only("a GPU promises no overlap, and its times are its own")
def test_chain_of_dependent_kernels(kernels, stream):
    def chain(attributes):
        for _ in range(4):
            kernels.first(50 * US, 450 * US, True, stream=stream, attributes=attributes)

    in_turn = elapsed(kernels.c, stream, lambda: chain(()))
    overlapped = elapsed(kernels.c, stream, lambda: chain(OVERLAP))

    assert in_turn == pytest.approx(2000, abs=40)
    # No kernel of the chain waits for the one before it, but each ends no sooner than that one.
    assert 500 <= overlapped < 1500
    assert overlapped == elapsed(kernels.c, stream, lambda: chain(OVERLAP))


@pytest.mark.host_only("a GPU takes its own time")
def test_kernels_without_clocks_share_the_start_of_the_second(contract, stream):
    kernels = Kernels(contract, PLAIN)

    def both(attributes):
        kernels.launch("triggers", 0, stream=stream, duration_ns=100 * US)
        kernels.launch("waits", 0, stream=stream, duration_ns=50 * US, attributes=attributes)

    in_turn = elapsed(contract, stream, lambda: both(()))
    overlapped = elapsed(contract, stream, lambda: both(OVERLAP))

    assert in_turn - overlapped == pytest.approx(1.5, abs=0.2)  # its start-up


@pytest.mark.host_only("a GPU takes its own time")
@pytest.mark.parametrize(("at_block_start", "moment"), [(True, 0), (False, 300)])
def test_programmatic_event(kernels, stream, at_block_start, moment):
    c = kernels.c
    _, event = c.event_create_with_flags(2)
    _, other = c.stream_create_with_priority(1, 0)
    begin, stop = (c.event_create_with_flags(0)[1] for _ in range(2))
    c.event_record_with_flags(begin, stream)
    kernels.first(
        300 * US,
        700 * US,
        stream=stream,
        attributes=[{"id": EVENT, "event": event, "at_block_start": at_block_start}],
    )
    c.stream_wait_event(other, event)
    c.event_record_with_flags(stop, other)
    c.stream_synchronize(other)

    assert c.event_elapsed_time(begin, stop)[1] * 1000 == pytest.approx(moment, abs=15)
    c.stream_synchronize(stream)
    assert c.event_query(event) == "cudaSuccess"


@pytest.mark.host_only("a GPU promises no moment")
def test_launch_completion_event_is_when_the_last_block_has_started(kernels, stream):
    c = kernels.c
    _, event = c.event_create_with_flags(2)
    _, other = c.stream_create_with_priority(1, 0)
    begin, stop = (c.event_create_with_flags(0)[1] for _ in range(2))
    blocks = 132 * 32 * 3  # in three waves
    c.event_record_with_flags(begin, stream)
    kernels.first(
        0, 100 * US, stream=stream, grid=blocks, attributes=[{"id": COMPLETION_EVENT, "event": event}]
    )
    c.stream_wait_event(other, event)
    c.event_record_with_flags(stop, other)
    c.stream_synchronize(other)

    assert c.event_elapsed_time(begin, stop)[1] * 1000 == pytest.approx(200, abs=15)
    c.stream_synchronize(stream)


def test_events_of_launches_are_done_with_the_kernel(kernels, stream):
    c = kernels.c
    events = [c.event_create_with_flags(2)[1] for _ in range(2)]
    kernels.first(
        0,
        50 * US,
        stream=stream,
        attributes=[
            {"id": EVENT, "event": events[0]},
            {"id": COMPLETION_EVENT, "event": events[1]},
        ],
    )
    assert c.stream_synchronize(stream) == "cudaSuccess"
    assert [c.event_synchronize(e) for e in events] == ["cudaSuccess"] * 2
    assert [c.event_query(e) for e in events] == ["cudaSuccess"] * 2
    for event in events:
        c.event_destroy(event)


@pytest.mark.host_only("a GPU places blocks as it likes")
def test_priority_of_a_launch_goes_before_that_of_its_stream(kernels, contract):
    c = contract
    streams = [c.stream_create_with_priority(1, 0)[1] for _ in range(3)]
    whole = 132 * 32
    ends = [c.event_create_with_flags(0)[1] for _ in range(3)]
    kernels.first(0, 500 * US, grid=whole, stream=streams[0])
    for i, attributes in ((1, ()), (2, [{"id": PRIORITY, "value": -3}])):
        kernels.first(0, 500 * US, grid=whole, stream=streams[i], attributes=attributes)
        c.event_record_with_flags(ends[i], streams[i])
    assert c.device_synchronize() == "cudaSuccess"

    assert c.event_elapsed_time(ends[2], ends[1])[1] == pytest.approx(0.5, abs=0.02)


def random_program(kernels, plain, r: random.Random) -> list[int]:
    """Kernels that overlap, record events and wait for them, in several streams; returns the end of each part."""
    c = kernels.c
    streams = [c.stream_create_with_priority(r.randrange(2), -r.randrange(3))[1] for _ in range(3)]
    events = [c.event_create_with_flags(2)[1] for _ in range(4)]
    marks = [c.event_create_with_flags(0)[1]]
    c.event_record_with_flags(marks[0], 0)
    for _ in range(r.randrange(5, 40)):
        stream = r.choice([*streams, 0])
        attributes = [
            attribute
            for chance, attribute in (
                (0.6, OVERLAP[0]),
                (0.25, {"id": EVENT, "event": r.choice(events), "at_block_start": r.random() < 0.5}),
                (0.2, {"id": COMPLETION_EVENT, "event": r.choice(events)}),
                (0.2, {"id": PRIORITY, "value": -r.randrange(4)}),
            )
            if r.random() < chance
        ]
        before, after = (r.randrange(50) * US for _ in range(2))
        launch = {"grid": r.choice([1, 132, 132 * 40]), "stream": stream, "attributes": attributes}
        match r.randrange(8):
            case 0 | 1:
                kernels.first(before, after, r.random() < 0.7, **launch)
            case 2 | 3:
                kernels.launch("second", before, after, 0, **launch)
            case 4:
                plain.launch("triggers", 0, duration_ns=r.choice([-1, 50 * US]), **launch)
            case 5:
                c.stream_wait_event(stream, r.choice(events))
            case 6:
                c.event_record_with_flags(r.choice(events), stream)
            case _:
                r.choice([c.stream_synchronize, c.stream_query])(stream)
        if r.random() < 0.3:
            marks.append(c.event_create_with_flags(0)[1])
            c.event_record_with_flags(marks[-1], stream)
    assert c.device_synchronize() == "cudaSuccess"
    assert [c.event_query(e) for e in events] == ["cudaSuccess"] * 4
    times = [round(c.event_elapsed_time(marks[0], mark)[1] * 1e6) for mark in marks]
    for event in events + marks:
        c.event_destroy(event)
    for stream in streams:
        c.stream_destroy(stream)
    return times


@pytest.mark.host_only("a GPU's times are its own")
def test_random_programs_end_and_take_the_same_time_again(contract):
    kernels, plain = Kernels(contract, SOURCE), Kernels(contract, PLAIN)
    before = contract.get_device()[1]
    runs = []
    try:
        for _ in range(2):  # a device each: which hardware queue a stream gets depends on the streams before
            contract.set_device(cs.add_host_device("h200").ordinal)
            runs.append([random_program(kernels, plain, random.Random(seed)) for seed in range(60)])
    finally:
        contract.set_device(before)

    assert runs[0] == runs[1]
