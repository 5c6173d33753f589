"""The host's cost of calls from Python: a launch, an event record, a wait, a query."""

from __future__ import annotations

import contextlib
import statistics
import time
from collections.abc import Iterator

import cuscope as cs
from cuscope.bench._calls import CALLS, PEERS, Peer, microseconds, of_cuscope
from cuscope.bench._subject import OURS, Row, Run, Subject

__all__ = ["SUBJECT"]

PROCESSES = 4  # because even two streams of one process were seen to differ by a fifth
ROUNDS = 4  # with each process
SIMULATED_BATCHES = 3

Times = dict[str, dict[str, list[float]]]


def _rows(run: Run) -> Iterator[Row]:
    for number, count in enumerate(run.sizes):
        if run.device.simulated:
            run.progress(f"{count} calls in a row", number, len(run.sizes))
            times = _simulated(run, count)
        else:
            times = _measured(run, count, number)
        for call in CALLS:
            by_name = {name: values[call] for name, values in times.items() if values[call]}
            yield Row(
                case=call.replace("_", " "),
                size=count,
                microseconds={name: statistics.median(values) for name, values in by_name.items()},
                ratio={
                    name: statistics.median(
                        theirs / ours for theirs, ours in zip(values, by_name[OURS], strict=True)
                    )
                    for name, values in by_name.items()
                    if name != OURS
                },
                rounds=len(by_name[OURS]),
            )


def _simulated(run: Run, count: int) -> Times:
    calls = of_cuscope(run.device)

    def simulated(call: str) -> float:
        value = microseconds(*calls[call], count, clock=cs.clock, batches=SIMULATED_BATCHES)
        # The clock counts nanoseconds; further digits are rounding errors of the float.
        return round(value * 1e3 * count) / count / 1e3

    return {OURS: {call: [simulated(call)] for call in CALLS}}


def _measured(run: Run, count: int, number: int) -> Times:
    """The packages take turns, round after round, each in several processes of its own, one after the other."""
    gpu = int(run.device.name.partition(":")[2])
    times: Times = {name: {call: [] for call in CALLS} for name in PEERS}
    begin = time.monotonic()
    for process in range(PROCESSES):
        if process and time.monotonic() - begin >= run.seconds / len(run.sizes):
            break
        run.progress(f"{count} calls in a row", number * PROCESSES + process, len(run.sizes) * PROCESSES)
        with contextlib.ExitStack() as stack:
            peers: dict[str, Peer] = {}
            for name in PEERS:
                if name in run.missing:
                    continue
                peers[name] = Peer(name, count, gpu)
                stack.callback(peers[name].close)
                if peers[name].missing:
                    run.missing[name] = peers[name].missing
            if OURS in run.missing:
                raise RuntimeError(run.missing[OURS])
            for _ in range(ROUNDS):
                for call in CALLS:
                    for name, peer in peers.items():
                        if call in peer.calls:
                            times[name][call].append(peer.microseconds(call))
    return times


SUBJECT = Subject(
    name="launch",
    help="what calls cost from Python: launch, event record, stream wait, stream query",
    sizes=(256,),
    size_kind="calls",
    rows=_rows,
    plot="times",
)
