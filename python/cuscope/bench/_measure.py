"""The measuring protocol: results are checked, contenders are warmed up and take turns, memory rotates, events take the
times, and contenders are compared within each round."""

from __future__ import annotations

import statistics
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial

import cuscope as cs
from cuscope._check import poison
from cuscope.bench._subject import OURS, Case, Row, Run

__all__ = ["measure", "rows_of"]

Call = Callable[[], object]

LEAST_ROUNDS, MOST_ROUNDS = 5, 200
SIMULATED_ROUNDS = 3  # a model has no noise; several rounds show that the times are equal
WARM_UP = 0.2  # the share of a case's time before the measured rounds
SAMPLE = 300e-6  # seconds of work between two events, at least; but not with more calls than:
MOST_CALLS = 128  # a stream takes this many, with room to spare, before enqueuing waits for the device
MOST_SETS = 1 << 15
HELD = 1.0  # seconds; if enqueuing takes longer, a call waits for the device


def rows_of(cases: Callable[[Run], Iterable[Case]]) -> Callable[[Run], Iterator[Row]]:
    """The rows of a subject from its cases. The time of the run is divided equally among the cases."""

    def rows(run: Run) -> Iterator[Row]:
        every = list(cases(run))
        for number, case in enumerate(every):
            run.progress(case.name, number, len(every))
            yield measure(run, case, run.seconds / len(every))

    return rows


def measure(run: Run, case: Case, seconds: float) -> Row:
    """Measure one case. Raises Mismatch if a result is wrong, MemoryError if the operands are too large."""
    _refuse_what_does_not_fit(run.device, case)
    sets = case.operands(_sets(run.device, case))
    calls = {
        name: _Rotation(
            [partial(contender.call, *map(contender.operand, operands)) for operands in sets],
        )
        for name, contender in case.contenders.items()
    }
    with run.stream:
        for rotation in calls.values():
            _check(run, case, rotation.first, sets[0])
        timer = _Timer(run, held=case.asynchronous and not run.device.simulated)
        times = _simulated(timer, calls) if run.device.simulated else _measured(timer, calls, seconds)
    median = {name: statistics.median(values) for name, values in times.items()}
    return Row(
        case=case.name,
        size=case.size,
        microseconds={name: value * 1e6 for name, value in median.items()},
        rate={name: case.amount / value for name, value in median.items()},
        ratio={
            name: statistics.median(theirs / ours for theirs, ours in zip(values, times[OURS], strict=True))
            for name, values in times.items()
            if name != OURS
        },
        rounds=len(times[OURS]),
        intensity=case.intensity,
    )


def _refuse_what_does_not_fit(device: cs.Device, case: Case) -> None:
    """Refuses before NumPy arrays are made: the system may promise any memory, and kill the process when it is used."""
    free = device.memory_info().free
    if case.footprint > free:
        raise MemoryError(
            f"{case.name} of size {case.size} takes {case.footprint} bytes of the memory of {device.name}, "
            f"of which {free} are free: choose smaller --sizes"
        )


def _sets(device: cs.Device, case: Case) -> int:
    """Enough sets of operands that the second-level cache no longer has a set when its turn comes again."""
    if device.simulated:  # the model has no cache
        return 1
    wanted = -(-2 * device.properties.l2_cache_size // max(case.footprint, 1))
    return min(max(wanted, 1), MOST_SETS)


def _check(run: Run, case: Case, call: Call, operands: Sequence[object]) -> None:
    if case.check is None:
        call()
        return
    poison(operands[-1])  # type: ignore[arg-type]  # whatever type the case's result has
    call()
    run.stream.synchronize()
    case.check(operands)


class _Rotation:
    """The calls of one contender. Each call works on another set of operands than the call before."""

    def __init__(self, calls: Sequence[Call]) -> None:
        self.first = calls[0]
        self._calls = calls
        self._next = 0

    def take(self, count: int) -> list[Call]:
        begin, size = self._next, len(self._calls)
        self._next = (begin + count) % size
        return [self._calls[(begin + i) % size] for i in range(count)]


class _Timer:
    """Measures the seconds for each call, between two events of the stream."""

    def __init__(self, run: Run, *, held: bool) -> None:
        self._stream = run.stream
        self._start, self._stop = cs.Event(), cs.Event()
        self._held = held

    def __call__(self, calls: Sequence[Call]) -> float:
        if self._held:
            seconds = self._in_held_stream(calls)
            if seconds is not None:
                return seconds
            self._held = False
        return self._in_stream(calls)

    def _in_stream(self, calls: Sequence[Call]) -> float:
        self._start.record(self._stream)
        for call in calls:
            call()
        self._stop.record(self._stream)
        self._stop.synchronize()
        return (self._stop - self._start) / 1e3 / len(calls)

    def _in_held_stream(self, calls: Sequence[Call]) -> float | None:
        """The same, but nothing starts before all is enqueued, so that the time is the device's and not Python's. None
        if a call waited for the work that it had enqueued."""
        enqueued, in_time = threading.Event(), []
        self._stream.host_function(lambda: in_time.append(enqueued.wait(HELD)))
        try:
            self._start.record(self._stream)
            for call in calls:
                call()
            self._stop.record(self._stream)
        finally:
            enqueued.set()
        self._stop.synchronize()
        return (self._stop - self._start) / 1e3 / len(calls) if in_time == [True] else None


def _simulated(timer: _Timer, calls: dict[str, _Rotation]) -> dict[str, list[float]]:
    return {
        name: [timer(rotation.take(1)) for _ in range(SIMULATED_ROUNDS)] for name, rotation in calls.items()
    }


def _measured(timer: _Timer, calls: dict[str, _Rotation], seconds: float) -> dict[str, list[float]]:
    begin = time.monotonic()
    counts = dict.fromkeys(calls, 1)
    while True:  # the warm-up also finds the number of calls for a sample
        for name, rotation in calls.items():
            took = timer(rotation.take(counts[name]))
            counts[name] = min(max(int(SAMPLE / took) + 1 if took > 0 else MOST_CALLS, 1), MOST_CALLS)
        if time.monotonic() - begin >= WARM_UP * seconds:
            break
    order = list(calls)
    times: dict[str, list[float]] = {name: [] for name in calls}
    for number in range(MOST_ROUNDS):
        if number >= LEAST_ROUNDS and time.monotonic() - begin >= seconds:
            break
        for name in order:
            times[name].append(timer(calls[name].take(counts[name])))
        order.append(order.pop(0))  # so that no contender always follows the same other one
    return times
