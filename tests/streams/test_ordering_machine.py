"""Random programs of streams, events, copies, kernels and host functions against the ordering rules.

A program is a list of steps. The machine performs each step on a device and on the model at once. It compares
everything that the host can see: answers to queries, values of memory, the order in which host functions and kernels
ran, the order of event times. If two operations touch a word and have no order, the step first orders them with an
event, so that the rules allow one value for every word. Operations without an order append to a log, which must be one
of the allowed orders.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, field

import numpy as np
import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, rule, run_state_machine_as_test

import cuscope as cs
from streams.ordering_model import BLOCKING, LEGACY, NON_BLOCKING, PER_THREAD, STREAMS, Cell, Model, bits
from support import module

CELLS, EVENTS, ROOM = 3, 3, 256
DURATIONS = (
    None,
    0.0,
    2e-6,
    50e-6,
    1e-3,
)  # durations of kernels, in seconds; a real device takes its own time
PROGRAMS = {"host:0": 2000, "cuda:0": 200}
STEPS = 25
SCALE = float(os.environ.get("CUSCOPE_TEST_SCALE", "1"))


@dataclass
class Equipment:
    """Streams, events and memory, made once for each device, because their creation is not under test."""

    device: cs.Device
    streams: dict[str, cs.Stream]
    events: list[cs.Event]
    cells: cs.DeviceArray
    log: cs.DeviceArray
    count: cs.DeviceArray
    source: np.ndarray
    target: np.ndarray

    @classmethod
    def of(cls, device: cs.Device) -> Equipment:
        with device:
            streams = {LEGACY: device.default_stream, PER_THREAD: device.per_thread_stream}
            streams |= {name: cs.Stream() for name in BLOCKING}
            streams |= {name: cs.Stream(non_blocking=True) for name in NON_BLOCKING}
            source = cs.pinned_empty(ROOM, np.uint32)
            source[:] = np.arange(ROOM, dtype=np.uint32) * 2654435761 + 1
            return cls(
                device,
                streams,
                [cs.Event() for _ in range(EVENTS)],
                cs.zeros(CELLS, np.uint32),
                cs.zeros(ROOM, np.int32),
                cs.zeros(1, np.int32),
                source,
                cs.pinned_empty(ROOM, np.uint32),
            )


@dataclass
class Run:
    """One program, performed step by step on a device and on the model."""

    gear: Equipment
    model: Model = field(default_factory=Model)  # the least order that must hold
    # The strictest order that may hold.
    most: Model = field(default_factory=lambda: Model(waits_are_operations=True))
    cells: list[Cell] = field(default_factory=lambda: [Cell() for _ in range(CELLS)])
    ran: list[int] = field(default_factory=list)  # host functions, in the order in which they ran
    host_functions: list[int] = field(default_factory=list)
    appended: dict[int, int] = field(default_factory=dict)  # number in the log: operation
    copied_out: dict[int, tuple[int, int]] = field(default_factory=dict)  # place in target: operation, value
    seen: list[object] = field(default_factory=list)  # all that the program saw, times included
    stream_of: dict[int, str] = field(default_factory=dict)  # of each operation
    steps: int = 0

    def __post_init__(self) -> None:
        gear = self.gear
        gear.device.synchronize()
        gear.cells.fill(0)
        gear.count.fill(0)
        gear.events[:] = [cs.Event(device=gear.device) for _ in range(EVENTS)]
        gear.target[:] = 0
        gear.device.synchronize()
        self.start = cs.clock()

    def nanoseconds(self) -> int:
        return round((cs.clock() - self.start) * 1e9)

    def perform(self, step: tuple) -> None:
        self.steps += 1
        getattr(self, step[0])(*step[1:])

    # Operations

    def touch(self, stream: str, *, reads: tuple[int, ...] = (), writes: tuple[int, ...] = ()) -> int:
        """Issues an operation in the model, after all operations that it would race with on the device."""
        rivals = {n for c in reads for n in self.cells[c].conflicts(False)}
        rivals |= {n for c in writes for n in self.cells[c].conflicts(True)}
        for rival in sorted(rivals):
            if not self.model.pending_for(stream) >> rival & 1:
                self.order(self.stream_of[rival], stream)
        number = self.issue(stream)
        for c in reads:
            self.cells[c].readers.append(number)
        for c in writes:
            self.cells[c].writer, self.cells[c].readers = number, []
        return number

    def issue(self, stream: str) -> int:
        number = self.model.issue(stream)
        assert self.most.issue(stream) == number
        self.stream_of[number] = stream
        return number

    def order(self, first: str, second: str) -> None:
        event = self.gear.streams[first].record()
        self.gear.streams[second].wait(event)
        number = self.issue(first)
        for model in (self.model, self.most):
            model.wait_for(second, number)

    def multiply_add(self, stream: str, cell: int, a: int, b: int, duration: float | None) -> None:
        self.touch(stream, writes=(cell,))
        kernel = module(self.gear.device).multiply_add
        view = self.gear.cells[cell : cell + 1]
        kernel.launch(view, a, b, grid=1, block=1, stream=self.gear.streams[stream], duration=duration)
        self.cells[cell].value = (self.cells[cell].value * a + b) % 2**32

    def append(self, stream: str, duration: float | None) -> None:
        number = self.issue(stream)
        kernel = module(self.gear.device).append
        place = len(self.appended)
        log, count = self.gear.log, self.gear.count
        kernel.launch(log, count, place, grid=1, block=1, stream=self.gear.streams[stream], duration=duration)
        self.appended[place] = number

    def clear(self, stream: str, cell: int) -> None:
        self.touch(stream, writes=(cell,))
        self.gear.cells[cell : cell + 1].fill(0, stream=self.gear.streams[stream])
        self.cells[cell].value = 0

    def copy_in(self, stream: str, cell: int) -> None:
        self.touch(stream, writes=(cell,))
        place = self.steps % ROOM
        words = self.gear.source[place : place + 1]
        self.gear.cells[cell : cell + 1].copy_from(words, stream=self.gear.streams[stream])
        self.cells[cell].value = int(words[0])

    def copy_out(self, stream: str, cell: int) -> None:
        number = self.touch(stream, reads=(cell,))
        place = self.steps % ROOM
        words = self.gear.target[place : place + 1]
        self.gear.cells[cell : cell + 1].copy_to(words, stream=self.gear.streams[stream])
        self.copied_out[place] = number, self.cells[cell].value

    def copy_across(self, stream: str, source: int, target: int) -> None:
        self.touch(stream, reads=(source,), writes=(target,))
        there, here = (self.gear.cells[c : c + 1] for c in (target, source))
        there.copy_from(here, stream=self.gear.streams[stream])
        self.cells[target].value = self.cells[source].value

    def host_function(self, stream: str) -> None:
        number = self.issue(stream)
        self.host_functions.append(number)
        self.gear.streams[stream].host_function(self.ran.append, number)

    def record(self, event: int, stream: str) -> None:
        for model in (self.model, self.most):
            self.stream_of[model.record(event, stream)] = stream
        self.gear.streams[stream].record(self.gear.events[event])

    def wait(self, stream: str, event: int) -> None:
        for model in (self.model, self.most):
            model.wait(stream, event)
        self.gear.streams[stream].wait(self.gear.events[event])

    # Observations of the host

    def read(self, stream: str, cell: int) -> None:
        number = self.touch(stream, reads=(cell,))
        got = int(self.gear.cells[cell : cell + 1].to_host(stream=self.gear.streams[stream])[0])
        assert got == self.cells[cell].value
        self.model.known |= self.model.before[number]
        self.look(got)

    def query_stream(self, stream: str) -> None:
        ended = self.gear.streams[stream].query()
        if ended:
            self.model.stream_ended(stream)
        else:
            assert self.most.pending_for(stream) & ~self.model.known, f"{stream} has nothing left to do"
        self.look(ended)

    def query_event(self, event: int) -> None:
        ended = self.gear.events[event].query()
        if ended:
            self.model.event_ended(event)
        else:
            assert event in self.model.recorded, "an event that was never recorded has nothing to wait for"
            assert self.most.before[self.most.recorded[event]] & ~self.model.known
        self.look(ended)

    def synchronize_stream(self, stream: str) -> None:
        self.gear.streams[stream].synchronize()
        self.model.stream_ended(stream)
        self.look()

    def synchronize_event(self, event: int) -> None:
        self.gear.events[event].synchronize()
        self.model.event_ended(event)
        self.look()

    def synchronize_device(self) -> None:
        self.gear.device.synchronize()
        self.model.all_ended()
        self.look()

    def work(self, seconds: float) -> None:
        cs.host_work(seconds)
        self.look()

    def look(self, *more: object) -> None:
        """Checks that ended operations have had their effect, and that the rules allow the state that the host sees."""
        known = self.model.known
        ran = list(self.ran)
        missing = [n for n in self.host_functions if known >> n & 1 and n not in ran]
        assert not missing, f"host functions {missing} have ended and not run"
        for place, (number, value) in self.copied_out.items():
            got = int(self.gear.target[place])
            assert got == value if known >> number & 1 else got in (0, value)
        # The effects of operations that may still run are visible or not by chance, so they are not compared.
        ended = [n for n in ran if known >> n & 1]
        self.seen.append((self.nanoseconds(), ended, more))

    def finish(self) -> None:
        """Ends the program and checks everything."""
        self.synchronize_device()
        assert sorted(self.ran) == self.host_functions
        self.is_an_allowed_order(self.ran)
        assert self.gear.cells.to_host().tolist() == [c.value for c in self.cells]
        count = int(self.gear.count.to_host()[0])
        assert count == len(self.appended)
        log = self.gear.log.to_host()[:count].tolist()
        assert sorted(log) == sorted(self.appended)
        self.is_an_allowed_order([self.appended[place] for place in log])
        times = self.event_times()
        self.seen.append((self.nanoseconds(), log, times))

    def is_an_allowed_order(self, operations: list[int]) -> None:
        done = 0
        among = sum(1 << n for n in operations)
        for n in operations:
            done |= 1 << n
            early = self.model.before[n] & among & ~done
            assert not early, f"operation {n} ran before {bits(early)}, which precede it: {operations}"

    def event_times(self) -> list[float]:
        recorded = sorted(self.model.recorded)
        times = []
        for a in recorded:
            for b in recorded:
                elapsed = self.gear.events[b] - self.gear.events[a]
                times.append(elapsed)
                if self.model.is_before(self.model.recorded[a], self.model.recorded[b]):
                    assert elapsed >= 0, "an event has a time before that of an event that precedes it"
        return times


def explain(first: tuple, second: tuple) -> list[tuple[object, object]]:
    return [(a, b) for a, b in zip(first, second, strict=True) if a != b]


streams = st.sampled_from(STREAMS)
cells = st.integers(0, CELLS - 1)
events = st.integers(0, EVENTS - 1)
words = st.integers(0, 2**32 - 1)
durations = st.sampled_from(DURATIONS)


class Programs(RuleBasedStateMachine):
    gear: Equipment

    @initialize()
    def begin(self) -> None:
        self.program: list[tuple] = []
        self.live: Run | None = Run(self.gear)

    def step(self, *step: object) -> None:
        run, self.live = self.live, None  # a step that fails ends the program
        self.program.append(step)
        run.perform(step)
        self.live = run

    @rule(stream=streams, cell=cells, a=words, b=words, duration=durations)
    def multiply_add(self, stream, cell, a, b, duration):
        self.step("multiply_add", stream, cell, a, b, duration)

    @rule(stream=streams, duration=durations)
    def append(self, stream, duration):
        self.step("append", stream, duration)

    @rule(stream=streams, cell=cells)
    def clear(self, stream, cell):
        self.step("clear", stream, cell)

    @rule(stream=streams, cell=cells)
    def copy_in(self, stream, cell):
        self.step("copy_in", stream, cell)

    @rule(stream=streams, cell=cells)
    def copy_out(self, stream, cell):
        self.step("copy_out", stream, cell)

    @rule(stream=streams, cell=cells, other=st.integers(1, CELLS - 1))
    def copy_across(self, stream, cell, other):
        self.step("copy_across", stream, cell, (cell + other) % CELLS)

    @rule(stream=streams)
    def host_function(self, stream):
        self.step("host_function", stream)

    @rule(stream=streams, event=events)
    def record(self, stream, event):
        self.step("record", event, stream)

    @rule(stream=streams, event=events)
    def wait(self, stream, event):
        self.step("wait", stream, event)

    @rule(stream=streams, cell=cells)
    def read(self, stream, cell):
        self.step("read", stream, cell)

    @rule(stream=streams)
    def query_stream(self, stream):
        self.step("query_stream", stream)

    @rule(event=events)
    def query_event(self, event):
        self.step("query_event", event)

    @rule(stream=streams)
    def synchronize_stream(self, stream):
        self.step("synchronize_stream", stream)

    @rule(event=events)
    def synchronize_event(self, event):
        self.step("synchronize_event", event)

    @rule()
    def synchronize_device(self):
        self.step("synchronize_device")

    @rule(seconds=st.sampled_from((1e-7, 1e-5, 1e-3)))
    def work(self, seconds):
        self.step("work", seconds)

    def teardown(self) -> None:
        if getattr(self, "live", None) is None:
            return
        self.live.finish()
        if self.gear.device.simulated:
            first, second = (self.replayed() for _ in range(2))
            difference = next((x for x in zip(first.seen, second.seen, strict=True) if x[0] != x[1]), None)
            assert difference is None, f"the same program ran differently: {explain(*difference)}"

    def replayed(self) -> Run:
        run = Run(self.gear)
        for step in self.program:
            run.perform(step)
        run.finish()
        return run


def test_random_programs_run_in_an_order_that_the_rules_allow(device):
    class OnDevice(Programs):
        gear = Equipment.of(device)

    profile = settings(
        max_examples=round(PROGRAMS[device.name] * SCALE),
        stateful_step_count=STEPS,
        deadline=None,
        derandomize=bool(os.environ.get("CI")),
        suppress_health_check=list(HealthCheck),
    )

    run_state_machine_as_test(OnDevice, settings=profile)


# The checker itself: a model that could not fail would prove nothing.


@pytest.mark.parametrize(
    ("first", "second", "ordered"),
    [
        (BLOCKING[0], BLOCKING[0], True),
        (BLOCKING[0], BLOCKING[1], False),
        (BLOCKING[0], LEGACY, True),
        (LEGACY, BLOCKING[0], True),
        (LEGACY, PER_THREAD, True),
        (PER_THREAD, BLOCKING[0], False),
        (NON_BLOCKING[0], LEGACY, False),
        (LEGACY, NON_BLOCKING[0], False),
    ],
)
def test_model_orders_streams_as_the_guide_says(first, second, ordered):
    model = Model()

    a, b = model.issue(first), model.issue(second)

    assert model.is_before(a, b) is ordered


def test_model_lets_a_wait_follow_the_event_as_it_was_recorded_then():
    model = Model()
    a = model.record(0, NON_BLOCKING[0])
    model.wait(NON_BLOCKING[1], 0)
    b = model.record(0, BLOCKING[0])

    c = model.issue(NON_BLOCKING[1])

    assert model.is_before(a, c)
    assert not model.is_before(b, c)
