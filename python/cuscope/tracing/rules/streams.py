"""Rules about streams and kernels that wait for each other, or could run beside each other."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ..facts import Facts
from ..findings import Finding
from ..intervals import difference, length, union
from ..units import count_text, percent_text, time_text

__all__ = ["default_stream", "hardware_queue", "host_functions", "small_kernels"]

HOST_FUNCTION_SHARE = 0.05  # of the duration, in which a host function keeps the devices idle at least
SMALL_SHARE = 0.1  # of the duration, in which a small kernel runs alone at least


def default_stream(facts: Facts) -> Iterator[Finding]:
    """The legacy default stream and the other streams wait for each other."""
    rows, since = facts.delays("default stream")
    waits = length(union(since, facts.starts[rows]))
    if not facts.matters(waits):
        return
    legacy = [
        number for number, about in facts.trace.streams.items() if about.get("label") == "legacy default"
    ]
    stream, cause = facts.spans["stream"], facts.spans["cause"][rows]
    in_default = np.where(
        np.isin(stream[rows], legacy), rows, np.where(np.isin(stream[cause], legacy), cause, -1)
    )
    known = np.unique(in_default[in_default >= 0])
    line = facts.main_line(known)
    yield Finding(
        "default stream",
        f"{line or 'The program'} uses the legacy default stream, which waits for the other streams and lets them wait: "
        f"it delays work {count_text(len(rows), 'time')}, by {time_text(waits)} in all. Use a stream of your own there, "
        "or make the other streams with cs.Stream(non_blocking=True).",
        line,
        waits,
        rows,
    )


def hardware_queue(facts: Facts) -> Iterator[Finding]:
    """Work is ready but stands behind other work in its hardware queue."""
    rows, since = facts.delays("queue")
    waits = length(union(since, facts.starts[rows]))
    if not facts.matters(waits):
        return
    line = facts.main_line(rows)
    yield Finding(
        "hardware queue",
        f"Work of {line or 'unknown lines'} is ready but waits behind work of other streams in a hardware queue "
        f"{count_text(len(rows), 'time')}, {time_text(waits)} in all. Issue breadth first: one step for all streams, "
        "then the next step.",
        line,
        waits,
        rows,
    )


def host_functions(facts: Facts) -> Iterator[Finding]:
    """Device work waits for a host function, and nothing else runs."""
    if not facts.host_functions.any():
        return
    cause = facts.spans["cause"]
    causes = np.unique(cause[facts.work & (cause >= 0)])
    waited_for = causes[facts.host_functions[causes]]
    idle = length(difference(facts.when(waited_for), facts.working))
    if not facts.matters(idle, HOST_FUNCTION_SHARE):
        return
    line = facts.main_line(waited_for)
    yield Finding(
        "host functions",
        f"Work waits for the end of {count_text(len(waited_for), 'host function')} ({line or 'of unknown lines'}), and the "
        f"device is idle for {time_text(idle)}. Put independent work into another stream, or let the host function only "
        "wake a thread that does the work.",
        line,
        idle,
        waited_for,
    )


def small_kernels(facts: Facts) -> Iterator[Finding]:
    """A kernel has fewer blocks than the device has multiprocessors, and no kernel runs beside it."""
    spans = facts.spans
    for _, about, here in facts.devices:
        multiprocessors = about.get("multiprocessors")
        kernels = np.flatnonzero(here & facts.kernels & (facts.takes > 0))
        if not multiprocessors or not len(kernels):
            continue
        blocks = spans["grid"].astype(np.int64).prod(axis=1)
        alone = _alone(facts, kernels)
        small = kernels[(blocks[kernels] > 0) & (blocks[kernels] < multiprocessors)]
        for name, named in facts.grouped(small, spans["name"]).items():
            for line, rows in facts.grouped(named, facts.lines).items():
                takes = int(alone[rows].sum())
                if not facts.matters(takes, SMALL_SHARE):
                    continue
                most = int(blocks[rows].max())
                used = (alone[rows] * blocks[rows]).sum() / multiprocessors
                yield Finding(
                    "small kernels",
                    f"The kernel '{name}' ({line or 'of an unknown line'}) has {count_text(most, 'block')} "
                    f"{'at most ' * (most != int(blocks[rows].min()))}for {multiprocessors} multiprocessors, and runs "
                    f"alone for {time_text(takes)} ({percent_text(facts.share(takes))}). Use more blocks, or run "
                    "independent kernels beside it in other streams.",
                    line,
                    int(takes - used),
                    rows,
                )


def _alone(facts: Facts, rows: np.ndarray) -> np.ndarray:
    """For each span, the time in which it is the only one of the rows that runs."""
    times = np.concatenate((facts.starts[rows], facts.ends[rows]))
    order = np.argsort(times, kind="stable")
    lasting = np.diff(times[order])
    count = np.cumsum(np.concatenate((np.ones_like(rows), -np.ones_like(rows)))[order])[:-1]
    running = np.cumsum(np.concatenate((rows, -rows))[order])[:-1]  # the sum of the rows: of one row, the row
    single = count == 1
    found = np.zeros(len(facts.spans), np.int64)
    np.add.at(found, running[single], lasting[single])
    return found
