"""The tracks of a trace file: on which track of which process each span stands.

On one track of Chrome's format a span may lie within another one, but two spans may not overlap in part. So threads,
streams and engines have as many tracks as they need.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from .spans import ENGINES

if TYPE_CHECKING:
    from .trace import Trace

__all__ = ["Layout", "Track", "lay_out", "nested_lanes"]


@dataclass(frozen=True)
class Track:
    """A track. Processes are numbered from 1; no two tracks and no process and track have the same number."""

    pid: int
    tid: int
    name: str
    number: int  # of the host's thread, or of the stream
    engine: str = ""  # of the tracks that show the work of an engine again


@dataclass(frozen=True)
class Layout:
    processes: list[str]  # "" is the host; the others are devices
    tracks: list[Track]  # in the order in which they are shown
    track: np.ndarray  # of each span, as a place in tracks
    engine_track: np.ndarray  # the same, on the tracks of the engines; -1: none


def lay_out(trace: Trace) -> Layout:
    spans = trace.spans
    processes = ["", *sorted({*trace.devices, *set(spans["device"].tolist())} - {""}, key=_natural)]
    layout = Layout(processes, [], np.zeros(len(spans), np.int32), np.full(len(spans), -1, np.int32))
    device = _places(spans["device"], processes)
    engine = _places(spans["engine"], [*ENGINES, *sorted(set(spans["engine"].tolist()) - set(ENGINES))])
    for place, name in enumerate(processes):
        rows = np.flatnonzero(device == place)
        number = spans["stream" if name else "thread"][rows]
        for one in np.unique(number).tolist():
            of = rows[number == one]
            label = _stream_label(trace, one) if name else trace.threads.get(one, f"thread {one}")
            holds = spans["kind"][of] == "graph" if name else np.ones(len(of), np.bool_)
            _add(layout, layout.track, spans, of, holds, Track(place + 1, 0, label, one))
        for code in np.unique(engine[rows]).tolist():
            of = rows[engine[rows] == code]
            label = spans["engine"][of[0]]
            if name and label:
                holds = np.zeros(len(of), np.bool_)
                _add(layout, layout.engine_track, spans, of, holds, Track(place + 1, 0, label, -1, label))
    return layout


def _stream_label(trace: Trace, stream: int) -> str:
    label = trace.streams.get(stream, {}).get("label")
    return str(label or (f"stream {stream}" if stream >= 0 else "no stream"))


def _add(
    layout: Layout, column: np.ndarray, spans: np.ndarray, rows: np.ndarray, holds: np.ndarray, like: Track
) -> None:
    """Append the tracks that ``rows`` need, and note them in ``column``."""
    lanes = nested_lanes(spans["start"][rows], spans["end"][rows], holds)
    column[rows] = lanes + len(layout.tracks)
    for lane in range(int(lanes.max()) + 1):
        tid = len(layout.processes) + len(layout.tracks) + 1
        name = f"{like.name} ({lane + 1})" if lane else like.name
        layout.tracks.append(Track(like.pid, tid, name, like.number, like.engine))


def nested_lanes(start: np.ndarray, end: np.ndarray, holds: np.ndarray) -> np.ndarray:
    """The first lane in which each span overlaps none in part, and lies only within spans that may hold others.

    The spans are sorted by start; of those with one start, the longest is first.
    """
    lanes = np.zeros(len(start), np.int32)
    latest = np.maximum.accumulate(end)
    if (start[1:] >= latest[:-1]).all():
        return lanes
    stacks: list[list[tuple[int, bool]]] = []
    for i, (s, e, h) in enumerate(zip(start.tolist(), end.tolist(), holds.tolist(), strict=True)):
        for lane in _all_lanes(stacks):
            stack = stacks[lane]
            while stack and stack[-1][0] <= s:
                stack.pop()
            if not stack or (stack[-1][1] and stack[-1][0] >= e):
                stack.append((e, h))
                lanes[i] = lane
                break
    return lanes


def _all_lanes(stacks: list[list[tuple[int, bool]]]) -> Iterator[int]:
    """The lanes that there are, and then a new one."""
    yield from range(len(stacks))
    stacks.append([])
    yield len(stacks) - 1


def _places(column: np.ndarray, names: list[str]) -> np.ndarray:
    place = {name: i for i, name in enumerate(names)}
    return np.fromiter((place[name] for name in column.tolist()), np.int32, len(column))


def _natural(device: str) -> tuple[str, int, str]:
    """Orders "cuda:10" behind "cuda:9"."""
    kind, _, number = device.partition(":")
    return kind, int(number) if number.isdecimal() else -1, device
