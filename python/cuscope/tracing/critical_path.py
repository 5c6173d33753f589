"""The chain of spans that made the trace as long as it was, each started by the end of the one before it."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import numpy as np

from .causes import Causes, causes_of
from .selection import stream_work
from .units import percent_text, time_text

if TYPE_CHECKING:
    from .trace import Trace

__all__ = ["HOP", "CriticalPath", "critical_path"]

HOP = np.dtype(
    [
        ("row", np.int64),  # of the trace's spans; -1: idle
        ("kind", object),  # of the span, or "idle"
        (
            "name",
            object,
        ),  # of the span; of idle time "host program", "launch latency", "latency" or "unknown"
        ("start", np.int64),  # of the part of the span that lies on the path
        ("end", np.int64),
        (
            "reason",
            object,
        ),  # a reason of the spans; for calls "program order" or "wait"; "" for idle time and the first
        (
            "inferred",
            np.bool_,
        ),  # the trace does not tell the reason; it comes from the order of streams and the times
        ("line", object),
    ]
)
SHOWN = 12  # hops at each end that the repr shows


class CriticalPath:
    """The chain of spans from the start of a trace to its end, each started by the end of the one before it.

    `Trace.critical_path` makes it. The hops follow each other without a gap, so their times add up to the whole; time
    between spans is a hop of the kind "idle". Work that is not on the path may take longer without any effect.
    """

    def __init__(self, trace: Trace, hops: np.ndarray) -> None:
        self._trace = trace
        self._hops = hops
        self._hops.flags.writeable = False

    @property
    def hops(self) -> np.ndarray:
        """The hops in order, a structured array.

        Its fields are row (in `Trace.spans`; -1 for idle time), kind, name, start and end in nanoseconds, reason, inferred
        and line. A call that issued work and waited for it has two hops. The names of idle time are "host program" (the
        host ran the program's own code), "launch latency" (from the call to the start of its work), "latency" (from the
        end of the cause to the start) and "unknown" (before work whose cause and call are unknown).
        """
        return self._hops

    @property
    def spans(self) -> np.ndarray:
        """The spans of the path in its order, a selection of `Trace.spans`."""
        rows = self._hops["row"]
        return np.asarray(self._trace.spans[rows[rows >= 0]])

    @property
    def duration(self) -> int:
        """The nanoseconds from the start of the trace to the end of the path."""
        return int(self._hops["end"][-1]) if len(self._hops) else 0

    @property
    def totals(self) -> dict[str, int]:
        """The nanoseconds of the path in each kind of span and each name of idle time, the longest first."""
        return dict(self._totals("kind").most_common())

    def _totals(self, field: str) -> Counter[str]:
        labels = np.where(self._hops["kind"] == "idle", self._hops["name"], self._hops[field])
        totals: Counter[str] = Counter()
        for label, time in zip(
            labels.tolist(), (self._hops["end"] - self._hops["start"]).tolist(), strict=True
        ):
            totals[label] += time
        return totals

    @property
    def inferred(self) -> bool:
        """Whether a reason of the path comes from the order of streams and the times, because the trace has none."""
        return bool(self._hops["inferred"].any())

    def __len__(self) -> int:
        return len(self._hops)

    def __repr__(self) -> str:
        if not len(self):
            return "critical path: no spans"
        shares = (
            f"{label} {time_text(time)} ({percent_text(time / max(self.duration, 1))})"
            for label, time in self.totals.items()
        )
        lines = [f"critical path, {time_text(self.duration)} in {len(self)} hops: {', '.join(shares)}"]
        if self.inferred:
            lines.append("* inferred from the order of streams and the times: the trace has no reasons")
        lines.append(f"{'start':>9} {'takes':>9}  {'hop':<40} {'started by':<16} line")
        if len(self) <= 2 * SHOWN + 1:
            lines += map(self._line, range(len(self)))
        else:
            lines += map(self._line, range(SHOWN))
            lines.append(f"{'...':>19}  {len(self) - 2 * SHOWN} hops more")
            lines += map(self._line, range(len(self) - SHOWN, len(self)))
        return "\n".join(lines)

    def _line(self, i: int) -> str:
        hop = self._hops[i]
        title = f"({hop['name']})" if hop["kind"] == "idle" else f"{hop['kind']} {hop['name']}"
        if len(title) > 40:
            title = title[:37] + "..."
        reason = hop["reason"] + "*" * bool(hop["inferred"])
        times = f"{time_text(hop['start']):>9} {time_text(hop['end'] - hop['start']):>9}"
        return f"{times}  {title:<40} {reason:<16} {hop['line']}".rstrip()


def critical_path(trace: Trace) -> CriticalPath:
    """See `Trace.critical_path`."""
    spans = trace.spans
    known = causes_of(trace)
    parts = _walk(spans, known)
    if not parts:
        return CriticalPath(trace, np.empty(0, HOP))
    return CriticalPath(trace, _with_idle_time(trace, known, parts[::-1]))


def _calls_before(spans: np.ndarray) -> np.ndarray:
    """For each call, the call of its thread that ended last before it started; -1: none."""
    found = np.full(len(spans), -1, np.int64)
    calls = np.flatnonzero(spans["kind"] == "call")
    for thread in np.unique(spans["thread"][calls]):
        rows = calls[spans["thread"][calls] == thread]
        by_end = rows[np.argsort(spans["end"][rows], kind="stable")]
        place = np.searchsorted(spans["end"][by_end], spans["start"][rows], "right") - 1
        found[rows] = np.where(place >= 0, by_end[place], -1)
    return found


def _walk(spans: np.ndarray, known: Causes) -> list[tuple[int, int, int, str]]:
    """The parts (row, start, end, reason) of spans on the path, from the last one back to the first one."""
    candidates = stream_work(spans) | (spans["kind"] == "call")
    rows = np.flatnonzero(candidates)
    if len(rows) == 0:
        return []
    latest = rows[spans["end"][rows] == spans["end"][rows].max()]
    calls = spans["kind"] == "call"
    row = int((latest[~calls[latest]] if not calls[latest].all() else latest)[-1])
    # Lists: a walk reads single elements.
    is_call = calls.tolist()
    starts, ends, issued = spans["start"].tolist(), spans["end"].tolist(), spans["issued"].tolist()
    call, before = spans["call"].tolist(), _calls_before(spans).tolist()
    cause, reason = known.cause.tolist(), known.reason.tolist()
    visits = bytearray(len(spans))  # a call that waits for its own work is met twice; more would be a circle
    parts = []
    time = ends[row]
    while row >= 0 and visits[row] < (2 if is_call[row] else 1):
        visits[row] += 1
        time = min(time, ends[row])
        begin = min(starts[row], time)
        if is_call[row]:
            awaited = cause[row]
            if awaited >= 0 and starts[row] < ends[awaited] <= time:
                parts.append((row, ends[awaited], time, "wait"))
                row, time = awaited, ends[awaited]
            else:
                parts.append((row, begin, time, "program order" if before[row] >= 0 else ""))
                row, time = before[row], begin
            continue
        follows = cause[row] if reason[row] != "issued" or call[row] < 0 else -1
        if follows >= 0:
            parts.append((row, begin, time, reason[row]))
            row, time = follows, begin
        elif call[row] >= 0:
            parts.append((row, begin, time, "issued"))
            time = min(begin, issued[row]) if issued[row] >= 0 else begin
            row = call[row]
        else:
            parts.append((row, begin, time, ""))
            row = -1
    return parts


def _with_idle_time(trace: Trace, known: Causes, parts: list[tuple[int, int, int, str]]) -> np.ndarray:
    """Hops from the start to the end of the trace: the parts in order, and the idle time between them."""
    spans = trace.spans
    columns = zip(*parts, strict=True)
    rows, starts, ends = (np.array(next(columns), np.int64) for _ in range(3))
    reasons = np.array(next(columns), object)
    calls = spans["kind"][rows] == "call"
    # The idle time before each part, and after the last one.
    idle_starts = np.concatenate(([0], ends))
    idle_ends = np.concatenate((starts, [max(trace.duration, int(ends[-1]))]))
    to_call, from_call = np.append(calls, True), np.insert(calls, 0, False)
    names = np.where(to_call, "host program", np.where(from_call, "launch latency", "latency")).astype(object)
    if not to_call[0]:
        names[0] = "unknown"
    some = idle_ends > idle_starts
    idles = np.cumsum(some)
    idle_at, part_at = (np.arange(len(some)) + idles - 1)[some], np.arange(len(rows)) + idles[:-1]

    hops = np.empty(len(rows) + int(idles[-1]), HOP)
    issuers = spans["call"][rows]
    lines = spans["line"][rows]
    values = {
        "row": (rows, -1),
        "kind": (spans["kind"][rows], "idle"),
        "name": (spans["name"][rows], names[some]),
        "start": (starts, idle_starts[some]),
        "end": (ends, idle_ends[some]),
        "reason": (reasons, ""),
        "inferred": (known.inferred[rows] & (~calls | (reasons == "wait")), False),
        "line": (np.where((lines == "") & (issuers >= 0), spans["line"][issuers], lines), ""),
    }
    for field, (of_parts, of_idle) in values.items():
        hops[field][part_at], hops[field][idle_at] = of_parts, of_idle
    return hops
