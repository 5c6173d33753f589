"""The rows of a picture: which spans stand in which row, and in which of its lanes."""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from .colours import codes_of
from .spans import ENGINES

if TYPE_CHECKING:
    from .trace import Trace

__all__ = ["SECTIONS", "Row", "lanes_of", "rows_of", "sections_of"]

SECTIONS = ("ranges", "calls", "streams", "engines")
HOST = "Host"


@dataclass(frozen=True)
class Row:
    """A row of a picture. ``spans`` and ``ticks`` are rows of `Trace.spans`."""

    group: str  # heading: the host, or a device
    section: str  # one of SECTIONS
    label: str
    about: str  # more about the row, for the hover text
    spans: np.ndarray  # drawn as bars, sorted by start
    lanes: np.ndarray  # of each bar; bars of one lane do not overlap
    ticks: np.ndarray  # drawn as marks: event records, and work that takes no time

    @property
    def lane_count(self) -> int:
        """How many lanes the row has; at least one."""
        return int(self.lanes.max(initial=0)) + 1


def sections_of(show: str | Iterable[str] | None) -> tuple[str, ...]:
    """The sections that a picture shows; None: all."""
    chosen = SECTIONS if show is None else (show,) if isinstance(show, str) else tuple(show)
    for section in chosen:
        if section not in SECTIONS:
            raise ValueError(f"show names '{section}'; a picture can show {', '.join(SECTIONS)}")
    return chosen


def lanes_of(start: np.ndarray, end: np.ndarray) -> np.ndarray:
    """The lowest free lane for each span. The spans are sorted by start; one that encloses others comes first."""
    lanes = np.zeros(len(start), np.int32)
    if len(start) < 2:
        return lanes
    latest = np.maximum.accumulate(end)
    fresh = np.concatenate(([True], start[1:] >= latest[:-1]))  # all spans before have ended
    if fresh.all():
        return lanes
    first = np.flatnonzero(fresh)
    size = np.diff(np.append(first, len(start)))
    for a, n in zip(first[size > 1].tolist(), size[size > 1].tolist(), strict=True):
        lanes[a : a + n] = _lanes_of_overlapping(start[a : a + n].tolist(), end[a : a + n].tolist())
    return lanes


def _lanes_of_overlapping(start: list[int], end: list[int]) -> list[int]:
    free: list[int] = []
    busy: list[tuple[int, int]] = []  # end and lane
    lanes = []
    for s, e in zip(start, end, strict=True):
        while busy and busy[0][0] <= s:
            heapq.heappush(free, heapq.heappop(busy)[1])
        lane = heapq.heappop(free) if free else len(busy)
        heapq.heappush(busy, (e, lane))
        lanes.append(lane)
    return lanes


def rows_of(trace: Trace, show: str | Iterable[str] | None = None, most: int = 16) -> list[Row]:
    """The rows of a picture, from top to bottom: threads of the host, then streams and engines of each device.

    A group with more than ``most`` streams or threads has the others in one row; so have more than ``most`` devices.
    """
    sections = sections_of(show)
    return [*_host_rows(trace, sections, most), *_device_rows(trace, sections, most)]


def _host_rows(trace: Trace, sections: tuple[str, ...], most: int) -> Iterator[Row]:
    spans = trace.spans
    kinds, kind = codes_of(spans["kind"])
    of_section = {}
    for section, name in (("ranges", "range"), ("calls", "call")):
        if section in sections and name in kinds:
            of_section[section] = np.flatnonzero(kind == kinds.index(name))
    if not of_section:
        return
    numbers = np.unique(np.concatenate([spans["thread"][of] for of in of_section.values()]))
    for chosen, others in _folded(numbers, most):
        number = int(chosen[0])
        thread = f"{len(chosen)} more threads" if others else trace.threads.get(number, f"thread {number}")
        label = thread
        for section, of in of_section.items():
            mine = of[np.isin(spans["thread"][of], chosen)]
            if len(mine):
                yield _row(spans, HOST, section, section if len(numbers) == 1 else label, thread, mine)
                label = ""  # the ranges of the thread, just above, have its name


def _device_rows(trace: Trace, sections: tuple[str, ...], most: int) -> Iterator[Row]:
    spans = trace.spans
    devices, device = codes_of(spans["device"])
    names = sorted((d for d in devices if d), key=_natural)
    for i, name in enumerate(names[:most]):
        if i == most - 1 and len(names) > most:
            of = np.flatnonzero(np.isin(device, [devices.index(n) for n in names[i:]]))
            group = label = f"{len(names) - i} more devices"
            yield _row(spans, group, "streams", label, ", ".join(names[i : i + 20]), of)
            return
        of = np.flatnonzero(device == devices.index(name))
        group = heading(trace, name)
        if "streams" in sections:
            yield from _stream_rows(trace, group, of, most)
        if "engines" in sections:
            yield from _engine_rows(trace, group, name, of)


def _engine_rows(trace: Trace, group: str, device: str, of: np.ndarray) -> Iterator[Row]:
    engines, engine = codes_of(trace.spans["engine"][of])
    labels: dict[str, list[int]] = {}
    one = trace.devices.get(device, {}).get("copy_engines") == 1  # it does the copies of all directions
    for e in sorted(engines, key=lambda e: ENGINES.index(e) if e in ENGINES else len(ENGINES)):
        if e:
            label = "copy engine" if one and e.startswith("copy") else e
            labels.setdefault(label, []).append(engines.index(e))
    for label, numbers in labels.items():
        yield _row(trace.spans, group, "engines", label, f"{label} of {device}", of[np.isin(engine, numbers)])


def _stream_rows(trace: Trace, group: str, of: np.ndarray, most: int) -> Iterator[Row]:
    stream = trace.spans["stream"][of]
    for chosen, others in _folded(np.unique(stream), most):
        number = int(chosen[0])
        about = trace.streams.get(number, {})
        label = str(about.get("label") or (f"stream {number}" if number >= 0 else "no stream"))
        more = [f"stream id {number}"]
        if "priority" in about:
            more.append(f"priority {about['priority']}")
        if about.get("blocking") is False:
            more.append("non-blocking")
        if others:
            label, more = f"{len(chosen)} more streams", []
        mine = of[np.isin(stream, chosen)] if others else of[stream == number]
        yield _row(trace.spans, group, "streams", label, ", ".join([label, *more]), mine)


def heading(trace: Trace, device: str) -> str:
    """The heading of a device: its name, and the model that is simulated."""
    about = trace.devices.get(device, {})
    model = str(about.get("model") or "")
    if about.get("simulated"):
        model = f"simulated {model}".strip()
    return f"{device} \u00b7 {model}" if model else device


def _folded(numbers: np.ndarray, most: int) -> Iterator[tuple[np.ndarray, bool]]:
    """Each number alone, and from place ``most`` on the others together."""
    count = len(numbers) if len(numbers) <= most else most - 1
    for i in range(count):
        yield numbers[i : i + 1], False
    if count < len(numbers):
        yield numbers[count:], True


def _row(spans: np.ndarray, group: str, section: str, label: str, about: str, of: np.ndarray) -> Row:
    start, end = spans["start"][of], spans["end"][of]
    mark = end <= start
    if section in ("ranges", "calls"):
        mark[:] = False
    else:
        mark |= spans["kind"][of] == "event record"
    bar = ~mark
    return Row(group, section, label, about, of[bar], lanes_of(start[bar], end[bar]), of[mark])


def _natural(name: str) -> tuple[str, int, str]:
    """Orders "cuda:10" behind "cuda:9"."""
    kind, _, number = name.partition(":")
    return kind, int(number) if number.isdecimal() else -1, name
