"""The gain of a graph: a chain of kernels replayed, launched one by one, and captured."""

from __future__ import annotations

import contextlib
import statistics
import time
from collections.abc import Iterator

import cuscope as cs
from cuscope.bench._calls import Peer, microseconds
from cuscope.bench._graph_calls import CALLS, PEERS, REPEATS, of_cuscope
from cuscope.bench._subject import OURS, Row, Run, Subject

__all__ = ["SUBJECT"]

ROUNDS = 7
SIMULATED_BATCHES = 3
NAMES = {
    "replay": "replay, until done",
    "plain": "kernel by kernel, until done",
    "launch": "launch of the graph",
    "capture": "capture, per kernel",
}

Times = dict[str, dict[str, list[float]]]


def _rows(run: Run) -> Iterator[Row]:
    for number, kernels in enumerate(run.sizes):
        run.progress(f"{kernels} kernels", number, len(run.sizes))
        times = _simulated(run, kernels) if run.device.simulated else _measured(run, kernels)
        for call in CALLS:
            share = kernels if call == "capture" else 1
            by_name = {
                name: [v / share for v in values[call]] for name, values in times.items() if values[call]
            }
            yield Row(
                case=NAMES[call],
                size=kernels,
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


def _simulated(run: Run, kernels: int) -> Times:
    calls = of_cuscope(run.device, kernels)

    def simulated(call: str) -> float:
        value = microseconds(*calls[call], REPEATS, clock=cs.clock, batches=SIMULATED_BATCHES)
        # the clock counts nanoseconds; further digits are rounding errors of the float
        return round(value, 6)

    return {OURS: {call: [simulated(call)] for call in CALLS}}


def _measured(run: Run, kernels: int) -> Times:
    """The packages take turns, round after round, each in a process of its own."""
    gpu = int(run.device.name.partition(":")[2])
    times: Times = {name: {call: [] for call in CALLS} for name in PEERS}
    begin = time.monotonic()
    with contextlib.ExitStack() as stack:
        peers: dict[str, Peer] = {}
        for name in PEERS:
            if name in run.missing:
                continue
            peers[name] = Peer(name, kernels, gpu, module="cuscope.bench._graph_calls")
            stack.callback(peers[name].close)
            if peers[name].missing:
                run.missing[name] = peers[name].missing
        if OURS in run.missing:
            raise RuntimeError(run.missing[OURS])
        for number in range(ROUNDS):
            if number and time.monotonic() - begin >= run.seconds / len(run.sizes):
                break
            for call in CALLS:
                for name, peer in peers.items():
                    if call in peer.calls:
                        times[name][call].append(peer.microseconds(call))
    return times


SUBJECT = Subject(
    name="graph",
    help="a chain of kernels as a graph: replay beside plain launches, launch and capture from Python",
    sizes=(1, 10, 100, 1000),
    size_kind="kernels",
    rows=_rows,
    plot="times",
)
