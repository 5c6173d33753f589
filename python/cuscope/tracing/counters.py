"""The counters of a trace file: how many engines of a device are busy, and how many bytes are being copied."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from .trace import Trace

__all__ = ["MOST_SPANS", "lines", "union"]

MOST_SPANS = (
    100_000  # of a device. A larger trace has no counters: they would make the file half as long again
)


def lines(trace: Trace, processes: list[str]) -> Iterator[str]:
    """The counters' events, each with the separator before it."""
    spans = trace.spans
    for place, device in enumerate(processes):
        of = spans[(spans["device"] == device) & (spans["engine"] != "") & (spans["end"] > spans["start"])]
        if not device or not 0 < len(of) <= MOST_SPANS:
            continue
        engines = sorted(set(of["engine"].tolist()))
        unions = [union(one["start"], one["end"]) for one in (of[of["engine"] == name] for name in engines)]
        starts = np.concatenate([start for start, _ in unions])
        ends = np.concatenate([end for _, end in unions])
        yield from _events(
            place + 1, "busy", "engines", *_levels(starts, ends, np.ones(len(starts), np.int64))
        )
        copies = of[of["kind"] == "copy"]
        if len(copies):
            levels = _levels(copies["start"], copies["end"], copies["bytes"])
            yield from _events(place + 1, "bytes", "in flight", *levels)


def union(start: np.ndarray, end: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The times that intervals cover; the intervals are sorted by start."""
    latest = np.maximum.accumulate(end)
    first = np.concatenate(([True], start[1:] > latest[:-1]))
    last = np.concatenate((first[1:], [True]))
    return start[first], latest[last]


def _levels(start: np.ndarray, end: np.ndarray, amount: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The times at which the sum of the running amounts changes, and the sums from then on."""
    times = np.concatenate([start, end])
    order = np.argsort(times, kind="stable")
    times = times[order]
    level = np.cumsum(np.concatenate([amount, -amount])[order])
    last = np.concatenate((times[1:] != times[:-1], [True]))
    times, level = times[last], level[last]
    changes = np.concatenate(([True], level[1:] != level[:-1]))
    return times[changes], level[changes]


def _events(pid: int, name: str, series: str, times: np.ndarray, levels: np.ndarray) -> Iterator[str]:
    head = f'{{"ph":"C","pid":{pid},"tid":{pid},"name":{json.dumps(name)},"ts":'
    for time, level in zip(times.tolist(), levels.tolist(), strict=True):
        yield f',\n{head}{time // 1000}.{time % 1000:03},"args":{{"{series}":{level}}}}}'
