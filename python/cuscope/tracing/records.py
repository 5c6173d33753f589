"""From the records of the extension to the table of spans. The layouts are those of src/runtime/activity.hpp."""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from .._cells import cell_of
from .spans import REASONS, RELATIONS, SPAN, order_of_spans

__all__ = ["spans_of_parts"]

WORK = np.dtype(
    [
        ("number", np.uint64),
        ("call", np.uint64),
        ("cause", np.uint64),
        ("graph", np.uint64),
        ("stream", np.uint64),
        ("start", np.int64),
        ("end", np.int64),
        ("issued", np.int64),
        ("ready", np.int64),
        ("bytes", np.int64),
        ("name", np.uint32),
        ("device", np.uint32),
        ("grid", np.uint32, 3),
        ("block", np.uint32, 3),
        ("shared_bytes", np.uint32),
        ("kind", np.uint8),
        ("reason", np.uint8),
        ("engine", np.uint8),
        ("pageable", np.uint8),
    ]
)
HOST = np.dtype(
    [
        ("number", np.uint64),
        ("waited_for", np.uint64),
        ("range", np.uint64),
        ("start", np.int64),
        ("end", np.int64),
        ("name", np.uint32),
        ("line", np.uint32),
        ("thread", np.uint32),
        ("is_range", np.uint32),
    ]
)

FOREIGN = 1 << 32  # streams of other libraries have such ids, because CUPTI does not tell theirs
GRAPH_END, EVENT_RECORD, EVENT_WAIT = 5, 10, 11
_KINDS = (
    "kernel",
    "copy",
    "memset",
    "host function",
    "graph",
    "graph",  # the end of a launch, which becomes part of its begin
    "allocation",
    "free",
    "memory operation",
    "semaphore",
    "event record",
    "event wait",
    "",
)
_ENGINES = ("", "copy to device", "copy to host", "copy on device", "kernels", "host functions")


def spans_of_parts(
    parts: Mapping[str, Mapping[str, Any]], names: Sequence[str]
) -> tuple[np.ndarray, dict[str, Any]]:
    """The sorted spans of all runtimes, and the trace's other attributes.

    Each runtime has a clock of its own. The trace begins at 0 on all of them.
    """
    texts = np.array(names, object)
    tables = [_Part(part, texts) for part in parts.values()]
    streams: dict[int, dict[str, Any]] = {}
    threads: dict[int, str] = {}
    for part, table in zip(parts.values(), tables, strict=True):
        threads |= table.thread_names
        for number, device, priority, blocking, legacy, per_thread in part["streams"]:
            label = "legacy default" if legacy else "per-thread default" if per_thread else f"stream {number}"
            streams[number] = {
                "device": names[device],
                "label": label,
                "priority": priority,
                "blocking": blocking,
            }
    spans = _sorted_spans(tables)
    for number in set(spans["stream"].tolist()) - set(streams):
        if number >= FOREIGN:
            device = str(spans["device"][spans["stream"] == number][0])
            label = f"stream {number % FOREIGN} of another library"
            streams[number] = {"device": device, "label": label, "priority": 0, "blocking": True}
    return spans, {
        "duration": _duration(parts, tables),
        "dropped": sum(part["dropped"] for part in parts.values()),
        "source": _source(parts, tables),
        "notes": [part["problem"] for part in parts.values() if part["problem"]],
        "streams": dict(sorted(streams.items())),
        "threads": threads,
    }


def _source(parts: Mapping[str, Mapping[str, Any]], tables: Sequence[_Part]) -> str:
    """Of the runtimes with spans, that of a GPU."""
    sources = [part["source"] for part, table in zip(parts.values(), tables, strict=True) if len(table)]
    return next((source for source in sources if source != "simulation"), "simulation")


def _duration(parts: Mapping[str, Mapping[str, Any]], tables: Sequence[_Part]) -> int:
    """That of the runtimes with spans. The clock of a GPU's host would make a trace of simulated work differ."""
    times = [part["end"] - part["start"] for part in parts.values()]
    busy = [time for time, table in zip(times, tables, strict=True) if len(table)]
    return max(busy or times, default=0)


def _sorted_spans(tables: Sequence[_Part]) -> np.ndarray:
    """One table of all spans. It is filled column by column in its final order: no second table needs memory."""
    if not tables:
        return np.zeros(0, SPAN)
    order = order_of_spans(_together(tables, "start"), _together(tables, "end"))
    place = np.empty(len(order) + 1, np.int64)
    place[order] = np.arange(len(order))
    place[-1] = -1  # of no span
    spans = np.zeros(len(order), SPAN)
    for field in SPAN.names or ():
        column = _together(tables, field)[order]
        spans[field] = place[column] if field in RELATIONS else column
    return spans


def _together(tables: Sequence[_Part], field: str) -> np.ndarray:
    """A column of all tables, one below the other."""
    columns = [table.column(field) for table in tables]
    if field in RELATIONS:
        before = 0
        for table, column in zip(tables, columns, strict=True):
            column[column >= 0] += before
            before += len(table)
    return columns[0] if len(columns) == 1 else np.concatenate(columns)


class _Part:
    """The spans of one runtime, column by column: the host's first, then the work. Relations are rows of this part."""

    def __init__(self, part: Mapping[str, Any], texts: np.ndarray) -> None:
        self._begin = part["start"]
        self._texts = texts
        self._host = np.frombuffer(part["host"], HOST)
        work = np.frombuffer(part["work"], WORK)
        # The simulation may get to work only now that was over before the trace began.
        work = _chosen(work, (work["end"] > self._begin) | (work["start"] >= self._begin))
        self._work, self._work_end = _with_ends_of_graphs(work)
        self._ranks, self.thread_names = _threads(self._host["thread"])
        self._calls = _places(self._host["number"], self._work["call"])
        self._causes, self._reasons = self._causes_and_reasons()

    def __len__(self) -> int:
        return len(self._host) + len(self._work)

    def column(self, field: str) -> np.ndarray:
        """A new array with the values of one column."""
        of_host, of_work = self._of_host(field), self._of_work(field)
        column = np.empty(len(self), SPAN[field])
        column[: len(self._host)], column[len(self._host) :] = of_host, of_work
        if field in ("start", "end", "issued", "ready"):
            column[column != -1] -= self._begin
        return column

    def _of_host(self, field: str) -> Any:
        host = self._host
        if field in ("start", "end"):
            return host[field]
        if field in ("device", "engine", "reason"):
            return ""
        if field == "kind":
            return np.array(["call", "range"], object)[host["is_range"]]
        if field == "name":
            return self._texts[host["name"]]
        if field == "line":
            return self._lines()[host["line"]]
        if field == "thread":
            return self._ranks
        if field == "range":
            return _places(host["number"], host["range"])
        if field == "cause":
            return self._causes[: len(host)]
        return -1 if field in ("stream", "issued", "ready", "call", "graph") else 0

    def _of_work(self, field: str) -> Any:
        work = self._work
        if field == "end":
            return self._work_end
        if field == "kind":
            return np.array(_KINDS, object)[work["kind"]]
        if field == "name":
            unnamed = work["name"] == 0
            return np.where(unnamed, np.array(_KINDS, object)[work["kind"]], self._texts[work["name"]])
        if field == "device":
            return self._texts[work["device"]]
        if field == "engine":
            return np.array(_ENGINES, object)[work["engine"]]
        if field == "reason":
            return np.array(REASONS, object)[self._reasons]
        if field == "thread":
            return -1
        if field == "call":
            return self._calls
        if field == "cause":
            return self._causes[len(self._host) :]
        if field == "graph":
            return self._shifted(_places(work["number"], work["graph"]))
        if field in ("line", "range"):  # those of the call
            nothing = "" if field == "line" else -1
            if len(self._host) == 0:
                return nothing
            return np.where(self._calls >= 0, self._of_host(field)[self._calls], nothing)
        return work[field]

    def _lines(self) -> np.ndarray:
        """The shortened texts of lines, by the index of the name."""
        lines = np.full(len(self._texts), "", object)
        for number in np.unique(self._host["line"]).tolist():
            lines[number] = _line(self._texts[number])
        return lines

    def _shifted(self, places: np.ndarray) -> np.ndarray:
        """Rows of work as rows of this part."""
        return np.where(places >= 0, places + len(self._host), -1)

    def _causes_and_reasons(self) -> tuple[np.ndarray, np.ndarray]:
        """Work that waited for an event has the work before the event's record as its cause."""
        count, work = len(self._host), self._work
        cause = np.empty(len(self), np.int64)
        cause[:count] = self._shifted(_places(work["number"], self._host["waited_for"]))
        cause[count:] = self._shifted(_places(work["number"], work["cause"]))
        is_wait = np.zeros(len(self), bool)
        is_wait[count:] = work["kind"] == EVENT_WAIT
        is_event = is_wait.copy()
        is_event[count:] |= work["kind"] == EVENT_RECORD
        reason = work["reason"]
        if not is_event.any():
            return cause, reason
        reason = np.concatenate([np.zeros(count, np.uint8), reason])
        is_host = np.arange(len(self)) < count
        while True:
            hops = (cause >= 0) & ~is_event & is_event[cause]
            hops[hops] &= cause[cause[hops]] >= 0
            if not hops.any():
                return cause, reason[count:]
            through_wait = hops & ~is_host
            through_wait[through_wait] = is_wait[cause[through_wait]]
            # an event, or what kept the wait from its turn
            reason[through_wait] = reason[cause[through_wait]]
            cause[hops] = cause[cause[hops]]


def _chosen(records: np.ndarray, wanted: np.ndarray) -> np.ndarray:
    return records if wanted.all() else records[wanted]


def _with_ends_of_graphs(work: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The records without those of the ends of graphs, and the ends: each launch of a graph has that of its last record."""
    is_end = work["kind"] == GRAPH_END
    ends = work[is_end]
    kept = _chosen(work, ~is_end)
    latest = kept["end"].copy()
    if len(ends):
        place = _places(kept["number"], ends["graph"])
        known = place >= 0
        np.maximum.at(latest, place[known], ends["end"][known])
    return kept, latest


def _threads(numbers: np.ndarray) -> tuple[np.ndarray, dict[int, str]]:
    """The numbers of threads by first appearance, since the system's numbers differ from run to run; and the names."""
    each, first, inverse = np.unique(numbers, return_index=True, return_inverse=True)
    rank = np.empty(len(each), np.int64)
    rank[np.argsort(first, kind="stable")] = np.arange(len(each))
    known = {thread.native_id: thread.name for thread in threading.enumerate()}
    names = {int(rank[i]): known.get(int(number), f"thread {int(rank[i])}") for i, number in enumerate(each)}
    return rank[inverse.reshape(-1)], names


def _places(numbers: np.ndarray, wanted: np.ndarray) -> np.ndarray:
    """Where each wanted number stands in ``numbers``; -1: nowhere."""
    if len(numbers) == 0:
        return np.full(len(wanted), -1, np.int64)
    order = np.argsort(numbers, kind="stable")
    at: np.ndarray = np.searchsorted(numbers, wanted, sorter=order)
    at = order[np.minimum(at, len(numbers) - 1)]
    found: np.ndarray = np.where((wanted != 0) & (numbers[at] == wanted), at, -1)
    return found


def _line(text: str) -> str:
    """Shorten "/home/you/program.py:12" to "program.py:12", and name the cell where the file is one of a notebook."""
    if not text:
        return ""
    path, _, number = text.rpartition(":")
    return f"{cell_of(path) or Path(path).name}:{number}"
