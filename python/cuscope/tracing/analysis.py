"""How busy the parts of a machine were, which work hid which, and when nothing happened."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from .intervals import length, union
from .selection import device_work, lanes, select

if TYPE_CHECKING:
    from .trace import Trace

__all__ = ["GAP", "busy", "gaps", "overlap"]

# after, before: rows of the spans on both sides; -1: none, at the start and the end of the trace.
GAP = np.dtype([("start", np.int64), ("end", np.int64), ("after", np.int64), ("before", np.int64)])


def _times(trace: Trace, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Starts and ends of some spans, a mask or their rows, cut at the end of the trace."""
    spans = trace.spans
    return np.clip(spans["start"][rows], 0, trace.duration), np.clip(spans["end"][rows], 0, trace.duration)


def overlap(trace: Trace, a: Any, b: Any) -> float:
    """See `Trace.overlap`."""
    in_a, in_b = select(trace, a), select(trace, b)
    starts, ends = _times(trace, in_a | in_b)
    either = np.flatnonzero(in_a | in_b)
    one, other = in_a[either].astype(np.int64), in_b[either].astype(np.int64)
    times = np.concatenate((starts, ends))
    order = np.argsort(times, kind="stable")
    lasting = np.diff(times[order])

    def count(here: np.ndarray) -> np.ndarray:
        """How many of these spans run, from each time to the next one."""
        return np.cumsum(np.concatenate((here, -here))[order])[:-1]

    of_a, of_b, of_both = count(one), count(other), count(one & other)
    whole = int(lasting[of_a > 0].sum())
    # A span of both does not hide itself.
    alone = (of_a == 1) & (of_b == 1) & (of_both == 1)
    hidden = int(lasting[(of_a > 0) & (of_b > 0) & ~alone].sum())
    return hidden / whole if whole else 0.0


def busy(trace: Trace, what: Any = None) -> float | dict[str, float]:
    """See `Trace.busy`."""

    def share(rows: np.ndarray) -> float:
        return length(union(*_times(trace, rows))) / trace.duration if trace.duration else 0.0

    if what is None:
        return {name: share(rows) for name, rows in lanes(trace).items()}
    return share(select(trace, what))


def gaps(trace: Trace, what: Any = None) -> np.ndarray:
    """See `Trace.gaps`."""
    mask = device_work(trace.spans) if what is None else select(trace, what)
    rows = np.flatnonzero(mask)
    starts, ends = _times(trace, mask)
    some = ends > starts
    rows, starts, ends = rows[some], starts[some], ends[some]
    if len(rows) == 0:
        return np.array([(0, trace.duration, -1, -1)] if trace.duration else [], GAP)
    reach = np.maximum.accumulate(ends)
    # The spans are sorted by start: the row that reaches farthest so far, and the spans that begin after all others.
    farther = np.concatenate(([True], ends[1:] > reach[:-1]))
    farthest = np.maximum.accumulate(np.where(farther, np.arange(len(rows)), 0))
    begins = np.flatnonzero(starts[1:] > reach[:-1]) + 1
    found = np.empty(len(begins) + 2, GAP)
    found["start"] = np.concatenate(([0], reach[begins - 1], reach[-1:]))
    found["end"] = np.concatenate((starts[:1], starts[begins], [trace.duration]))
    found["after"] = np.concatenate(([-1], rows[farthest[begins - 1]], rows[farthest[-1:]]))
    found["before"] = np.concatenate((rows[:1], rows[begins], [-1]))
    return found[found["end"] > found["start"]]
