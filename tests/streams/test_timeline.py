"""The simulated device takes the times of the model, and the same times on every run.

The reference figures were measured on one NVIDIA H200 (CUDA 13.0, driver 580). The model is right if a reader learns
the same from its times: which work overlaps, which does not, and about how long it takes.
"""

from __future__ import annotations

import gc

import numpy as np
import pytest

import cuscope as cs
from support import MS, module

pytestmark = pytest.mark.host_only("the timeline of a model")

KERNEL = """
__global__ void average(const int* a, const int* b, int* c, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) c[i] = (a[i] + b[i]) / 2;
}
__global__ void wide() { }
"""


def elapsed(device: cs.Device, work) -> float:
    """Milliseconds of the host's clock from an idle device to an idle device."""
    device.synchronize()
    start = cs.clock()
    work()
    device.synchronize()
    return (cs.clock() - start) * 1e3


@pytest.mark.parametrize(
    ("streams", "expected"), [(1, 10.01), (2, 10.01), (4, 10.02), (8, 10.03), (16, 10.06), (32, 10.11)]
)
def test_one_block_kernels_run_beside_each_other(device, streams, expected):
    made = [cs.Stream(non_blocking=True) for _ in range(streams)]

    def work():
        for s in made:
            module(device, KERNEL).wide.launch(grid=1, block=1, stream=s, duration=10 * MS)

    assert elapsed(device, work) == pytest.approx(expected, abs=0.02)


@pytest.mark.parametrize(
    ("blocks", "streams", "expected"),
    [(66, 1, 10.01), (66, 2, 5.01), (132, 1, 10.01), (132, 2, 5.01), (264, 1, 10.01), (264, 2, 10.01)],
)
def test_kernels_overlap_while_the_multiprocessors_have_room(device, blocks, streams, expected):
    made = [cs.Stream(non_blocking=True) for _ in range(streams)]

    def work():
        for i in range(2):
            s = made[i % streams]
            module(device, KERNEL).wide.launch(grid=blocks, block=1024, stream=s, duration=5 * MS)

    assert elapsed(device, work) == pytest.approx(expected, abs=0.02)


def copy_time(device, nbytes: int, direction: str, *, pinned: bool = True) -> float:
    """Milliseconds of a copy in, out or on the device, or of a memset, from event to event."""
    host = cs.pinned_empty(nbytes, np.uint8) if pinned else np.zeros(nbytes, np.uint8)
    there = cs.empty(nbytes, np.uint8)
    other = cs.empty(nbytes if direction == "on" else 1, np.uint8)
    s = cs.Stream()
    device.synchronize()
    start = s.record()
    if direction == "in":
        there.copy_from(host, stream=s)
    elif direction == "out":
        there.copy_to(host, stream=s)
    elif direction == "on":
        there.copy_from(other, stream=s)
    else:
        there.fill(1, stream=s)
    stop = s.record()
    s.synchronize()
    return stop - start


@pytest.mark.parametrize(
    ("nbytes", "direction", "microseconds"),
    [
        (4 << 10, "in", 3.7),
        (64 << 10, "in", 11.6),
        (1 << 20, "in", 34.8),
        (16 << 20, "in", 313.5),
        (64 << 20, "in", 1215),
        (256 << 20, "in", 4837),
        (4 << 10, "out", 18.4),
        (64 << 10, "out", 11.4),
        (1 << 20, "out", 35.9),
        (16 << 20, "out", 313.7),
        (256 << 20, "out", 4854),
        (4 << 10, "on", 5.3),
        (64 << 10, "on", 5.4),
        (1 << 20, "on", 5.7),
        (16 << 20, "on", 10.4),
        (256 << 20, "on", 130.4),
        (256 << 20, "set", 64.4),
    ],
)
def test_copies_take_the_measured_time(device, nbytes, direction, microseconds):
    assert copy_time(device, nbytes, direction) * 1e3 == pytest.approx(microseconds, rel=0.1)


@pytest.mark.parametrize(("direction", "rate"), [("in", 9.3), ("out", 16.7)])
def test_pageable_copies_are_slower(device, direction, rate):
    nbytes = 256 << 20

    assert nbytes / copy_time(device, nbytes, direction, pinned=False) / 1e6 == pytest.approx(rate, rel=0.1)


def test_two_copies_in_share_one_engine(device):
    host = cs.pinned_empty((2, 64 << 20), np.uint8)
    there = cs.empty((2, 64 << 20), np.uint8)
    streams = [cs.Stream(non_blocking=True) for _ in range(2)]

    def work():
        for i in range(2):
            there[i].copy_from(host[i], stream=streams[i])

    assert elapsed(device, work) == pytest.approx(2.43, rel=0.05)


def test_copies_in_both_directions_overlap(device):
    host = cs.pinned_empty((2, 64 << 20), np.uint8)
    there = cs.empty((2, 64 << 20), np.uint8)
    streams = [cs.Stream(non_blocking=True) for _ in range(2)]

    def work():
        there[0].copy_from(host[0], stream=streams[0])
        there[1].copy_to(host[1], stream=streams[1])

    assert 2 * (64 << 20) / elapsed(device, work) / 1e6 == pytest.approx(101.5, rel=0.1)


@pytest.mark.parametrize(("released", "overlaps"), [(False, True), (True, False)])
def test_a_release_on_the_default_stream_is_between_the_copies_of_other_streams(device, released, overlaps):
    host = cs.pinned_empty((2, 1 << 22), np.uint8)
    there, array = cs.empty((2, 1 << 22), np.uint8), cs.empty(100)
    streams = [cs.Stream() for _ in range(2)]

    with cs.trace() as trace:
        there[0].copy_from(host[0], stream=streams[0])
        if released:
            array.close()
        there[1].copy_to(host[1], stream=streams[1])

    assert (trace.overlap("host to device", "device to host") > 0.8) == overlaps


def test_garbage_is_not_collected_during_a_test(device):
    """The release of an earlier test's array would change the order of this one's work."""
    assert not gc.isenabled()


CHUNKS, CHUNK = 20, 1 << 20


def pipeline(device: cs.Device, streams: int, *, pinned: bool) -> float:
    """The chunked average: two arrays in, one kernel, one array out, for each of 20 chunks, depth first."""
    make = cs.pinned_empty if pinned else np.zeros
    a, b, c = (make((CHUNKS, CHUNK), np.int32) for _ in range(3))
    a[:] = np.arange(CHUNK, dtype=np.int32)
    b[:] = 3
    c[:] = 0
    made = [cs.Stream() for _ in range(streams)]
    memory = [[cs.empty(CHUNK, np.int32) for _ in range(3)] for _ in range(streams)]
    kernel = module(device, KERNEL).average

    def work():
        for i in range(CHUNKS):
            s, (d_a, d_b, d_c) = made[i % streams], memory[i % streams]
            d_a.copy_from(a[i], stream=s)
            d_b.copy_from(b[i], stream=s)
            kernel[CHUNK // 256, 256, s](d_a, d_b, d_c, CHUNK)
            d_c.copy_to(c[i], stream=s)

    time = elapsed(device, work)
    assert np.array_equal(c, (a + b) // 2)
    return time


@pytest.mark.parametrize(
    ("streams", "pinned", "expected"), [(1, False, 23.27), (1, True, 5.04), (2, True, 3.38)]
)
def test_chunk_pipeline_takes_the_measured_time(device, streams, pinned, expected):
    assert pipeline(device, streams, pinned=pinned) == pytest.approx(expected, rel=0.1)


def test_latency_of_a_copy_overlaps_the_transfer_of_another(device):
    """16 copies of 1 MiB take the time of their bytes and the latency of one, on one stream and on sixteen."""
    nbytes = 1 << 20
    host = cs.pinned_empty(nbytes, np.uint8)
    there = cs.empty(nbytes, np.uint8)
    made = [cs.Stream(non_blocking=True) for _ in range(16)]

    def copies(count: int, streams: int):
        for i in range(count):
            there.copy_from(host, stream=made[i % streams])

    one = elapsed(device, lambda: copies(1, 1))
    transfer = nbytes / 55.8e6  # milliseconds

    for streams in (1, 16):
        assert elapsed(device, lambda n=streams: copies(16, n)) < one + 15 * (transfer + 0.002)


def test_engine_stays_with_a_stream_while_its_copies_follow_each_other(device):
    host = cs.pinned_empty(1 << 20, np.uint8)
    there = cs.empty(1 << 20, np.uint8)
    first, second = (cs.Stream(non_blocking=True) for _ in range(2))
    device.synchronize()
    there.copy_from(host, stream=first)
    there.copy_from(host, stream=second)
    there.copy_from(host, stream=first)
    there.copy_from(host, stream=first)

    first.synchronize()

    assert not second.query()


def test_block_waits_for_room_on_one_multiprocessor(device):
    """Kernels of 1280 of 2048 threads leave room for no block of 1024 on any multiprocessor, but for 101376 threads."""
    small, large = (cs.Stream(non_blocking=True) for _ in range(2))
    wide = module(device, KERNEL).wide
    count = device.properties.multiprocessor_count

    def work():
        wide.launch(grid=5 * count, block=256, stream=small, duration=2 * MS)
        wide.launch(grid=8, block=1024, stream=large, duration=MS)

    assert elapsed(device, work) == pytest.approx(3, abs=0.02)


# Milliseconds of two kernels of 2 ms as an H200 took them, which shows whether they overlapped.
BESIDE = {
    1024: {1024: 2, 512: 2, 256: 2, 128: 4, 64: 4, 32: 4},
    512: {1024: 2, 512: 2, 256: 2, 128: 2, 64: 4, 32: 4},
    256: {1024: 2, 512: 2, 256: 2, 128: 2, 64: 2, 32: 2},
    128: {1024: 2, 512: 2, 256: 2, 128: 2, 64: 2, 32: 2},
    64: {1024: 2, 512: 2, 256: 2, 128: 2, 64: 2, 32: 2},
    32: {1024: 2, 512: 2, 256: 2, 128: 2, 64: 2, 32: 2},
}


@pytest.mark.parametrize("block", BESIDE)
def test_small_blocks_wait_beside_large_ones_for_shared_memory(device, block):
    """Each block reserves 1 KiB, and a multiprocessor with few large blocks does not provide for many small ones."""
    large, small = (cs.Stream(non_blocking=True) for _ in range(2))
    wide = module(device, KERNEL).wide
    count = device.properties.multiprocessor_count

    def both(other):
        wide.launch(grid=count, block=block, stream=large, duration=2 * MS)
        wide.launch(grid=count, block=other, stream=small, duration=2 * MS)

    times = {other: round(elapsed(device, lambda other=other: both(other)), 1) for other in BESIDE[block]}

    assert times == BESIDE[block]


@pytest.mark.parametrize(("shared", "expected"), [(0, 2), (1024, 2), (4096, 4), (32768, 4)])
def test_blocks_with_more_shared_memory_wait_until_multiprocessors_are_empty(device, shared, expected):
    """As on an H200."""
    first, second = (cs.Stream(non_blocking=True) for _ in range(2))
    wide = module(device, KERNEL).wide
    count = device.properties.multiprocessor_count

    def work():
        wide.launch(grid=count, block=512, stream=first, duration=2 * MS)
        wide.launch(grid=count, block=512, stream=second, shared=shared, duration=2 * MS)

    assert elapsed(device, work) == pytest.approx(expected, abs=0.02)


def test_preferred_carveout_lets_small_blocks_run_beside_large_ones(device):
    large, small = (cs.Stream(non_blocking=True) for _ in range(2))
    wide = module(device, KERNEL).wide
    count = device.properties.multiprocessor_count
    wide.preferred_shared_memory_carveout = 50

    def work():
        wide.launch(grid=count, block=1024, stream=large, duration=2 * MS)
        wide.launch(grid=count, block=32, stream=small, duration=2 * MS)

    assert elapsed(device, work) == pytest.approx(2, abs=0.02)


def test_last_wave_of_a_kernel_fills_one_multiprocessor_after_the_other(device):
    """Blocks that end are replaced where they ran, so some multiprocessors are empty and take any other kernel."""
    large, small = (cs.Stream(non_blocking=True) for _ in range(2))
    wide = module(device, KERNEL).wide
    count = device.properties.multiprocessor_count

    def work():
        wide.launch(grid=4 * count + 2 * count, block=512, stream=large, duration=4 * MS)
        wide.launch(grid=count // 2, block=32, stream=small, duration=2 * MS)

    assert elapsed(device, work) == pytest.approx(4, abs=0.02)


def test_first_blocks_of_a_kernel_find_little_room_and_take_no_later_waves_with_them(device):
    """Waves go together in the simulation only where the whole device would need many of them."""
    long, large = (cs.Stream(non_blocking=True) for _ in range(2))
    wide = module(device, KERNEL).wide
    count = device.properties.multiprocessor_count

    def work():
        wide.launch(grid=4 * count - 2, block=512, stream=long, duration=MS)
        wide.launch(grid=1000, block=512, stream=large, duration=4 * MS)

    assert elapsed(device, work) == pytest.approx(5, abs=0.02)


def test_each_step_of_the_chunk_pipeline_is_a_gain(device):
    pageable = pipeline(device, 1, pinned=False)
    locked = pipeline(device, 1, pinned=True)
    two = pipeline(device, 2, pinned=True)

    assert pageable > 3 * locked
    assert locked > 1.3 * two


def test_higher_priority_goes_first_when_there_is_room_for_one(device):
    _, greatest = device.stream_priority_range
    low = [cs.Stream(non_blocking=True) for _ in range(3)]
    high = cs.Stream(non_blocking=True, priority=greatest)
    kernel = module(device, KERNEL).wide
    device.synchronize()
    for s in low:
        kernel.launch(grid=264, block=1024, stream=s, duration=MS)
    kernel.launch(grid=264, block=1024, stream=high, duration=MS)
    high.synchronize()

    assert [s.query() for s in low] == [True, False, False]


def test_call_costs_the_host_its_time(device):
    s = cs.Stream(non_blocking=True)
    kernel = module(device, KERNEL).wide
    device.synchronize()
    start = cs.clock()
    for _ in range(100):
        kernel.launch(grid=1, block=1, stream=s, duration=0)

    assert (cs.clock() - start) / 100 == pytest.approx(3.1e-6, rel=0.15)


def test_waiting_costs_the_host_until_the_end(device):
    s = cs.Stream()
    device.synchronize()
    start = cs.clock()
    module(device, KERNEL).wide.launch(grid=1, block=1, stream=s, duration=7 * MS)
    issued = cs.clock()
    s.synchronize()

    assert issued - start < 0.1 * MS
    assert cs.clock() - start == pytest.approx(7 * MS, abs=0.1 * MS)


def test_device_works_while_the_host_does(device):
    s = cs.Stream()

    def work():
        module(device, KERNEL).wide.launch(grid=1, block=1, stream=s, duration=10 * MS)
        cs.host_work(10 * MS)

    assert elapsed(device, work) == pytest.approx(10, abs=0.1)


def test_time_of_python_does_not_count(device):
    """A query for the time costs some time, so that a program may wait for a moment; other Python code costs none."""
    device.synchronize()

    def between(work) -> int:
        start = cs.clock()
        work()
        return round((cs.clock() - start) * 1e9)

    assert between(lambda: sum(range(2_000_000))) == between(lambda: None)


def test_one_queue_serialises_kernels_that_overlap_with_many_queues():
    """32 pairs of kernels, depth first: a published 0.346 s with one hardware queue, 0.021 s with 32."""
    times = {}
    for model in ("fermi", "h200"):
        device = cs.add_host_device(model)
        with device:
            kernel = cs.Module(KERNEL).wide
            streams = [cs.Stream(non_blocking=True) for _ in range(32)]

            def work(kernel=kernel, streams=streams):
                for s in streams:
                    for _ in range(2):
                        kernel.launch(grid=1, block=1, stream=s, duration=10 * MS)

            times[model] = elapsed(device, work)

    assert times["fermi"] == pytest.approx(330, rel=0.1)
    assert times["h200"] == pytest.approx(20, rel=0.1)


@pytest.mark.parametrize(
    ("order", "overlaps"), [("depth first", False), ("breadth first", True)], ids=["depth", "breadth"]
)
def test_one_queue_of_copies_overlaps_in_the_right_order_of_issue(order, overlaps):
    """A single copy engine keeps the order of issue: a copy that waits for a kernel holds up the copies behind it."""
    with cs.add_host_device("c1060") as device:
        kernel = cs.Module(KERNEL).wide
        host = [cs.pinned_empty(4 << 20, np.uint8) for _ in range(4)]
        there = [cs.empty(4 << 20, np.uint8) for _ in range(4)]
        streams = [cs.Stream(non_blocking=True) for _ in range(4)]
        steps = [
            lambda i: there[i].copy_from(host[i], stream=streams[i]),
            lambda i: kernel.launch(grid=1, block=1, stream=streams[i], duration=MS),
            lambda i: there[i].copy_to(host[i], stream=streams[i]),
        ]
        calls = [(step, i) for i in range(4) for step in steps]
        if order == "breadth first":
            calls = [(step, i) for step in steps for i in range(4)]

        def work(calls=calls):
            for step, i in calls:
                step(i)

        alone = elapsed(device, lambda: [step(0) for step in steps])
        time = elapsed(device, work)

    assert time < 3.6 * alone if overlaps else time == pytest.approx(4 * alone, rel=0.05)


PROGRAM = """
import threading
import numpy as np
import cuscope as cs
mod = cs.Module('''
__global__ void mix(unsigned* p, int n) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) p[i] = p[i] * 1664525u + 1013904223u; }
__global__ void count(unsigned* p) { atomicAdd(p, threadIdx.x); }
''')
rng = np.random.default_rng(5)
streams = [cs.Stream(non_blocking=bool(i % 2), priority=-(i % 3)) for i in range(6)]
data = [cs.to_device(rng.integers(0, 2**32, 5000, np.uint32)) for _ in streams]
locked = cs.pinned_empty((6, 5000), np.uint32)
events, order = [], []
for step in range(200):
    i = int(rng.integers(6))
    s = streams[i]
    what = int(rng.integers(7))
    if what < 2: mod.mix[20, 256, s](data[i], 5000)
    elif what == 2: data[i].copy_to(locked[i], stream=s)
    elif what == 3: s.host_function(order.append, step)
    elif what == 4: s.wait(streams[int(rng.integers(6))])
    elif what == 5: mod.count[3, 64, s](data[i])
    else: events.append(s.record())
    if step % 50 == 0: cs.host_work(1e-5)
cs.synchronize()
print(cs.clock(), order, [b - a for a, b in zip(events, events[1:])])
print([int(x.to_host().sum()) for x in data], int(locked.sum()))
"""


def test_whole_program_is_the_same_in_every_process(device, run_python):
    outputs = set()
    for threads in ("1", "2", ""):
        done = run_python(
            PROGRAM,
            env={
                "OMP_NUM_THREADS": threads,
                "OPENBLAS_NUM_THREADS": threads,
                "PYTHONHASHSEED": threads or "random",
            },
        )
        assert done.returncode == 0, done.stderr
        outputs.add(done.stdout)

    assert len(outputs) == 1


@pytest.mark.parametrize("place", ["same stream", "another stream", "default stream"])
def test_a_kernel_behind_a_record_begins_on_a_device_that_signals_kernels_together(place):
    with cs.add_host_device("fermi") as device:
        kernel = cs.Module("__global__ void nothing(int* p) {}").nothing
        x, first, second, event = cs.zeros(16, np.int32), cs.Stream(), cs.Stream(), cs.Event()
        kernel[1, 32, first](x)
        event.record(first)
        if place == "another stream":
            second.wait(event)
        kernel[1, 32, {"same stream": first, "another stream": second, "default stream": None}[place]](x)
        device.synchronize()
        assert first.query()
