"""Rules about a host that keeps the device waiting."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ..facts import Facts
from ..findings import Finding
from ..intervals import covered, intersection, length
from ..units import percent_text, time_text

__all__ = ["allocations", "launch_bound", "program_code", "waits"]

LAUNCH_COUNT = 10  # gaps; fewer are no loop
LAUNCH_SHARE = 0.1  # of the duration, in which the device waits for calls at least
LOOP = 2  # times that a line does something
PROGRAM_SHARE = 0.1  # of the duration, in which the device waits for the program's own code at least


def launch_bound(facts: Facts) -> Iterator[Finding]:
    """The device runs dry again and again while the host is in the call that issues the next work."""
    gaps = facts.gaps
    next_work = gaps["before"]
    call = facts.call[next_work]
    issuing = (call >= 0) & (facts.spans["graph"][next_work] < 0)
    issuing &= ~(facts.waiting | facts.allocating | facts.issuers_of_pageable)[call]
    issuing &= (facts.starts[call] < gaps["end"]) & (facts.ends[call] > gaps["start"])
    gaps, next_work, call = gaps[issuing], next_work[issuing], call[issuing]
    plain = facts.calls & ~facts.waiting & ~facts.allocating & ~facts.issuers_of_pageable
    waited = int(covered(facts.when(plain), gaps["start"], gaps["end"]).sum())
    if len(gaps) < LAUNCH_COUNT or not facts.matters(waited, LAUNCH_SHARE):
        return
    line = facts.main_line(next_work)
    yield Finding(
        "launch bound",
        f"The host is slower than the device: in {len(gaps)} gaps, {time_text(waited)} of {time_text(facts.duration)}, "
        f"the device waits for the next call. A call takes {time_text(float(np.median(facts.takes[call])))}, its work "
        f"{time_text(float(np.median(facts.takes[next_work])))} (medians). Capture the work around {line or 'these calls'} "
        "in a graph (stream.capture()): one launch of a graph issues all of it. Or do more work in each kernel.",
        line,
        waited,
        next_work,
    )


def waits(facts: Facts) -> Iterator[Finding]:
    """A line in a loop waits for the device, which is then idle until the host issues more."""
    gaps = facts.gaps
    next_call = facts.call[gaps["before"]]
    gaps, next_call = gaps[next_call >= 0], next_call[next_call >= 0]
    threads = facts.spans["thread"]
    waiting = np.flatnonzero(facts.waiting)
    wait = np.full(len(gaps), -1, np.int64)  # the call in which the host was when the gap began
    for thread in np.unique(threads[waiting]):
        rows = waiting[threads[waiting] == thread]
        place = np.searchsorted(facts.starts[rows], gaps["start"], "right") - 1
        found = np.where(place >= 0, rows[place], -1)
        here = (found >= 0) & (threads[next_call] == thread) & (facts.ends[found] >= gaps["start"])
        here &= facts.starts[next_call] >= facts.ends[found]
        wait[here] = found[here]
    for line, rows in facts.grouped(np.unique(wait[wait >= 0]), facts.lines).items():
        after = np.isin(wait, rows)
        idle = int((gaps["end"] - gaps["start"])[after].sum())
        if len(rows) < LOOP or not facts.matters(idle):
            continue
        functions = ", ".join(dict.fromkeys(facts.functions[rows].tolist()))
        yield Finding(
            "waits",
            f"{line or 'The program'} waits for the device {len(rows)} times ({functions}). Each time the device is then "
            f"idle until the host issues the next work, {time_text(idle)} in all. Issue the next work before you wait, "
            "or wait once after the loop; for an order between streams use stream.wait(event).",
            line,
            idle,
            rows,
        )


def allocations(facts: Facts) -> Iterator[Finding]:
    """Memory is allocated or freed again and again between work."""
    if not len(facts.working):
        return
    first, last = facts.working[0, 0], facts.starts[facts.work].max()
    between = facts.allocating & (facts.starts >= first) & (facts.starts < last)
    for line, rows in facts.by_line(between).items():
        times = facts.when(rows)
        if len(rows) < LOOP or not facts.matters(length(times)):
            continue
        functions = dict.fromkeys(facts.functions[rows].tolist())
        host_memory = all("Host" in name for name in functions)
        instead = "" if host_memory else ", or in stream order (cs.empty, stream.malloc_async)"
        idle = length(intersection(times, facts.idle))
        yield Finding(
            "allocations",
            f"{line or 'The program'} calls {', '.join(functions)} {len(rows)} times between work. The host spends "
            f"{time_text(length(times))} there; the device is idle {time_text(idle)} of it. "
            f"Allocate once before the loop{instead}.",
            line,
            idle,
            rows,
        )


def program_code(facts: Facts) -> Iterator[Finding]:
    """No device works while the host runs the program's own code."""
    if not len(facts.working) or not facts.calls.any():
        return
    times = intersection(facts.idle, facts.in_program)
    idle = length(times)
    if not facts.matters(idle, PROGRAM_SHARE):
        return
    calls = np.flatnonzero(facts.calls)
    place = np.searchsorted(facts.starts[calls], times[:, 1], "left")
    followed = place < len(calls)
    takes = (times[:, 1] - times[:, 0])[followed]
    next_call = calls[place[followed]]
    parts = facts.grouped(np.arange(len(next_call)), facts.lines[next_call])
    line = str(max(parts, key=lambda one: int(takes[parts[one]].sum()))) if parts else ""
    where = ""
    if line:
        part = parts[line]
        where = f", {time_text(int(takes[part].sum()))} of it before {line}"
        inside = facts.spans["range"][next_call[part]]
        inside = inside[(inside >= 0) & (facts.starts[inside] <= times[followed][part, 0])]
        names = list(dict.fromkeys(facts.spans["name"][inside].tolist()))
        where += f" in the range '{names[0]}'" if len(names) == 1 else ""
    yield Finding(
        "program code",
        f"The device is idle for {time_text(idle)} of {time_text(facts.duration)} "
        f"({percent_text(facts.share(idle))}) while the host runs the program's own code{where}. "
        "Issue the device's work before this code, or run the code in another thread.",
        line,
        min(idle, length(facts.working)),
        next_call,
    )
