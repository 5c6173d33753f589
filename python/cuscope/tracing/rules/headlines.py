"""Rules about the whole program: what bounds it."""

from __future__ import annotations

from collections.abc import Iterator

from ..facts import Facts
from ..findings import Finding
from ..intervals import difference, length
from ..units import count_text, percent_text, time_text

__all__ = ["bounding_engine", "dropped_spans", "measured_by_events", "no_bound"]

BOUND = 0.9  # an engine that is busy for this fraction of the time bounds the program
HOST = 0.5  # if calls and the program's own code take this part of the critical path, the host bounds the program
LISTED = 0.05  # of the duration: parts of the critical path that take less are not listed

_SUBJECTS = {
    "copy to device": "Copies to the device",
    "copy to host": "Copies to the host",
    "copy on device": "Copies on the device",
    "kernels": "Kernels",
    "host functions": "Host functions",
}
_ADVICE = {
    "copy to device": "Copy fewer bytes, for example in a smaller dtype, or keep arrays on the device.",
    "copy to host": "Copy fewer bytes, for example only the results that the host reads.",
    "copy on device": "Copy fewer bytes, for example by kernels that read the source in place.",
    "kernels": "Only faster kernels or fewer kernels make it shorter.",
    "host functions": "Only less work in host functions makes it shorter.",
}


def dropped_spans(facts: Facts) -> Iterator[Finding]:
    """The trace reached its limit."""
    dropped = facts.trace.dropped
    if dropped > 0:
        yield Finding(
            "dropped spans",
            f"The trace dropped {count_text(dropped, 'span')} at its limit, so the numbers are incomplete. "
            "Trace a shorter part, or raise cs.trace(limit=...).",
        )


def measured_by_events(facts: Facts) -> Iterator[Finding]:
    """Spans are wider than the work."""
    if facts.trace.source == "events":
        yield Finding(
            "measured by events",
            "The work was measured by events around it, which tell times to about half a microsecond. A span begins when "
            "the work before it in its stream has ended. So it includes waits for an engine, and in an idle stream the time "
            "of the call. CUPTI tells the times of the work itself, and engines: set CUSCOPE_TRACE_GPU=1.",
        )


def bounding_engine(facts: Facts) -> Iterator[Finding]:
    """An engine is busy nearly all the time."""
    several = len(facts.devices) > 1
    for device, engine, rows, times in facts.engines:
        busy = length(times)
        if not facts.matters(busy, BOUND):
            continue
        where = f" of {device}" if several else ""
        beside = ""
        kernels = facts.when(facts.kernels & (facts.spans["device"] == device))
        if engine != "kernels" and length(kernels):
            exposed = length(difference(kernels, times))
            beside = f", and hide {percent_text(1 - exposed / length(kernels))} of the kernel time"
        yield Finding(
            "bounding engine",
            f"{_SUBJECTS[engine]}{where} bound the program: they are busy {time_text(busy)} of "
            f"{time_text(facts.duration)} ({percent_text(facts.share(busy))}){beside}. {_ADVICE[engine]}",
            facts.main_line(rows),
            None,
            rows,
        )


def no_bound(facts: Facts) -> Iterator[Finding]:
    """No engine is busy nearly all the time: the order of the work, or the host, makes the program long."""
    if not facts.engines or (facts.spans["engine"][facts.work & (facts.takes > 0)] == "").any():
        return  # nothing to compare, or engines that the trace does not know
    busiest = max(facts.engines, key=lambda found: length(found[3]))
    busy = length(busiest[3])
    if facts.matters(busy, BOUND):
        return
    totals = facts.path.totals
    parts = [
        f"{percent_text(facts.share(time))} {name}"
        for name, time in totals.items()
        if facts.matters(time, LISTED)
    ]
    of_host = sum(totals.get(name, 0) for name in ("call", "host program", "launch latency"))
    subject = "The host" if facts.matters(of_host, HOST) else "No engine"
    inferred = " (partly inferred)" if facts.path.inferred else ""
    yield Finding(
        "no bound",
        f"{subject} bounds the program: the busiest engine, {busiest[1]}, works {percent_text(facts.share(busy))} of "
        f"{time_text(facts.duration)}, and no device works {percent_text(facts.share(length(facts.idle)))} of it. "
        f"The critical path{inferred} is {', '.join(parts)}.",
        "",
        None,
        facts.path.hops["row"][facts.path.hops["row"] >= 0],
    )
