"""The costs of operations, called from Python in a loop: sums, extremes, products.

The time of a case is the host's. Where its name ends with DONE, the loop ends when the device is done.
"""

from __future__ import annotations

import statistics
import time
import timeit
from collections.abc import Callable, Iterator

import cuscope as cs
from cuscope.bench._operation_calls import CASES, DONE, LAUNCH, PEERS, Calls, of_cuscope
from cuscope.bench._subject import OURS, Row, Run, Subject

__all__ = ["SUBJECT", "measured", "packages"]

COUNT = 100  # calls in a row: so few that the device's queue never fills
LEAST_ROUNDS, MOST_ROUNDS = 5, 200
SMALL = 1024  # all cases are measured at this size, only sums at others

Clock = Callable[[], float]


def packages(device: cs.Device, n: int, missing: dict[str, str]) -> dict[str, Calls]:
    """The calls of each package on n elements. `missing` gets the reason why another package cannot be measured."""
    calls = {OURS: of_cuscope(device, n)}
    if device.simulated:
        return calls
    number = int(device.name.partition(":")[2])
    for name, of_peer in PEERS.items():
        if name in missing:
            continue
        try:
            calls[name] = of_peer(number, n)
        except Exception as error:  # an error of another package must not end the measurement
            missing[name] = f"{type(error).__name__}: {error}"
    return calls


def measured(
    calls: dict[str, Calls], case: str, seconds: float, count: int = COUNT, clock: Clock = time.perf_counter
) -> dict[str, list[float]]:
    """Microseconds of one call, round after round, by package. The packages take turns in each round."""
    call = case.removesuffix(DONE)
    timers = {
        name: (timeit.Timer(one.statements[call], timer=clock, globals=one.names), one.synchronise)
        for name, one in calls.items()
        if call in one.statements
    }
    times: dict[str, list[float]] = {name: [] for name in timers}
    for timer, synchronise in timers.values():
        timer.timeit(count)  # loads kernels and fills caches
        synchronise()
    end = time.monotonic() + seconds
    for number in range(MOST_ROUNDS):
        if number >= LEAST_ROUNDS and time.monotonic() >= end:
            break
        for name, (timer, synchronise) in timers.items():
            begin = clock()
            called = timer.timeit(count)
            synchronise()
            times[name].append((clock() - begin if case.endswith(DONE) else called) / count * 1e6)
    return times


def cases(sizes: tuple[int, ...] | list[int]) -> list[tuple[int, str]]:
    """The cases of each size."""
    return [
        (n, case)
        for n in sizes
        for case in CASES
        if n == min(sizes, key=lambda size: abs(size - SMALL))
        or case in (LAUNCH, "sum", "sum, out", f"sum, out{DONE}")
    ]


def _rows(run: Run) -> Iterator[Row]:
    every = cases(list(run.sizes))
    calls: dict[str, Calls] = {}
    for number, (n, case) in enumerate(every):
        run.progress(f"{case} of {n}", number, len(every))
        if number == 0 or every[number - 1][0] != n:
            calls = packages(run.device, n, run.missing)
        if run.device.simulated:
            times = measured(calls, case, 0, clock=cs.clock)
            # The clock counts nanoseconds; further digits are rounding errors of the float.
            times = {
                name: [round(x * 1e3 * COUNT) / COUNT / 1e3 for x in values] for name, values in times.items()
            }
        else:
            times = measured(calls, case, run.seconds / len(every))
        yield Row(
            case=case,
            size=n,
            microseconds={name: statistics.median(values) for name, values in times.items()},
            ratio={
                name: statistics.median(
                    theirs / ours for theirs, ours in zip(values, times[OURS], strict=True)
                )
                for name, values in times.items()
                if name != OURS
            },
            rounds=len(times[OURS]),
        )


SUBJECT = Subject(
    name="operations",
    help="what operations cost, called from Python: sums, extremes, products of small arrays",
    sizes=(SMALL, 1 << 16, 1 << 20, 1 << 24),
    size_kind="elements",
    rows=_rows,
    plot="times",
)
