"""Sets of times: arrays of intervals, one row (start, end) each, in order and apart from each other.

All functions take O(n log n) for n intervals, in NumPy. Intervals that take no time are left out.
"""

from __future__ import annotations

import numpy as np

__all__ = ["complement", "covered", "difference", "intersection", "length", "union"]


def union(starts: np.ndarray, ends: np.ndarray) -> np.ndarray:
    """The times that lie in at least one of the intervals from ``starts`` to ``ends``, which may overlap."""
    some = ends > starts
    if not some.all():
        starts, ends = starts[some], ends[some]
    if len(starts) == 0:
        return np.empty((0, 2), np.int64)
    if (np.diff(starts) < 0).any():
        order = np.argsort(starts, kind="stable")
        starts, ends = starts[order], ends[order]
    reach = np.maximum.accumulate(ends)
    first = np.concatenate(([True], starts[1:] > reach[:-1]))
    last = np.concatenate((first[1:], [True]))
    return np.column_stack((starts[first], reach[last])).astype(np.int64, copy=False)


def length(intervals: np.ndarray) -> int:
    """The time that the intervals take together."""
    return int((intervals[:, 1] - intervals[:, 0]).sum())


def complement(intervals: np.ndarray, start: int, end: int) -> np.ndarray:
    """The times from ``start`` to ``end`` outside of the intervals."""
    starts = np.concatenate(([start], np.clip(intervals[:, 1], start, end)))
    ends = np.concatenate((np.clip(intervals[:, 0], start, end), [end]))
    return union(starts.astype(np.int64), ends.astype(np.int64))


def intersection(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """The times that lie in both sets."""
    if len(a) == 0 or len(b) == 0:
        return np.empty((0, 2), np.int64)
    # Each interval of a with the first interval of b that ends after its start, and the next ones that begin in it.
    first = np.searchsorted(b[:, 1], a[:, 0], "right")
    beyond = np.searchsorted(b[:, 0], a[:, 1], "left")
    counts = np.maximum(beyond - first, 0)
    rows = np.repeat(np.arange(len(a)), counts)
    within = np.arange(len(rows)) - np.repeat(np.cumsum(counts) - counts, counts)
    others = first[rows] + within
    return np.column_stack((np.maximum(a[rows, 0], b[others, 0]), np.minimum(a[rows, 1], b[others, 1])))


def difference(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """The times of ``a`` that do not lie in ``b``."""
    if len(a) == 0:
        return a
    return intersection(a, complement(b, int(a[0, 0]), int(a[-1, 1])))


def covered(intervals: np.ndarray, starts: np.ndarray, ends: np.ndarray) -> np.ndarray:
    """How much of each time from ``starts`` to ``ends`` lies in the intervals."""
    if len(intervals) == 0:
        return np.zeros(len(starts), np.int64)
    before = np.concatenate(([0], np.cumsum(intervals[:, 1] - intervals[:, 0])))

    def up_to(times: np.ndarray) -> np.ndarray:
        place = np.searchsorted(intervals[:, 0], times, "right") - 1
        inside = np.minimum(times, intervals[place, 1]) - intervals[place, 0]
        return np.where(place >= 0, before[place] + inside, 0)

    return np.asarray(up_to(ends) - up_to(starts))
