"""From the records of the extension to the table of spans. The layouts are those of src/runtime/activity.hpp."""

from __future__ import annotations

import sys
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from .spans import REASONS, RELATIONS, SPAN, sort_spans

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

GRAPH, GRAPH_END = 4, 5
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
    tables: list[np.ndarray] = []
    streams: dict[int, dict[str, Any]] = {}
    threads: dict[int, str] = {}
    for part in parts.values():
        spans, thread_names = _spans_of_part(part, names)
        before = sum(len(table) for table in tables)
        for field in RELATIONS:
            spans[field][spans[field] >= 0] += before
        tables.append(spans)
        threads |= thread_names
        for number, device, priority, blocking, legacy, per_thread in part["streams"]:
            label = "legacy default" if legacy else "per-thread default" if per_thread else f"stream {number}"
            streams[number] = {
                "device": names[device],
                "label": label,
                "priority": priority,
                "blocking": blocking,
            }
    spans = np.concatenate(tables) if tables else np.zeros(0, SPAN)
    return sort_spans(spans), {
        "duration": max((part["end"] - part["start"] for part in parts.values()), default=0),
        "dropped": sum(part["dropped"] for part in parts.values()),
        "source": "calls" if len(spans) and not spans["device"].any() and "cuda" in parts else "simulation",
        "streams": dict(sorted(streams.items())),
        "threads": threads,
    }


def _spans_of_part(part: Mapping[str, Any], names: Sequence[str]) -> tuple[np.ndarray, dict[int, str]]:
    work = np.frombuffer(part["work"], WORK)
    # The simulation may get to work only now that was over before the trace began.
    work = work[(work["end"] > part["start"]) | (work["start"] >= part["start"])]
    host = np.frombuffer(part["host"], HOST)
    work = _with_ends_of_graphs(work)
    spans = np.zeros(len(host) + len(work), SPAN)
    texts = np.array(names, object)
    thread_names = _fill_host(spans[: len(host)], host, texts)
    _fill_work(spans[len(host) :], work, texts)
    _relate(spans, host, work)
    for field in ("start", "end", "issued", "ready"):
        known = spans[field] != -1
        spans[field][known] -= part["start"]
    return _without_events_as_causes(spans), thread_names


def _with_ends_of_graphs(work: np.ndarray) -> np.ndarray:
    """Give each launch of a graph the end of its last record, and drop the records of the ends."""
    ends = work[work["kind"] == GRAPH_END]
    kept: np.ndarray = work[work["kind"] != GRAPH_END].copy()
    place = _places(kept["number"], ends["graph"])
    known = place >= 0
    latest = kept["end"].copy()
    np.maximum.at(latest, place[known], ends["end"][known])
    kept["end"] = latest
    return kept


def _fill_host(spans: np.ndarray, host: np.ndarray, texts: np.ndarray) -> dict[int, str]:
    spans["kind"] = np.array(["call", "range"], object)[host["is_range"]]
    spans["name"] = texts[host["name"]]
    spans["start"], spans["end"] = host["start"], host["end"]
    for field in ("device", "engine", "reason"):
        spans[field] = ""
    for field in ("stream", "issued", "ready"):
        spans[field] = -1
    lines = {number: _line(texts[number]) for number in np.unique(host["line"]).tolist()}
    spans["line"] = np.array([lines[number] for number in host["line"].tolist()], object)
    # By first appearance, since the system's numbers differ from run to run.
    numbers, first, inverse = np.unique(host["thread"], return_index=True, return_inverse=True)
    rank = np.empty(len(numbers), np.int64)
    rank[np.argsort(first, kind="stable")] = np.arange(len(numbers))
    spans["thread"] = rank[inverse.reshape(-1)] if len(numbers) else -1
    known = {thread.native_id: thread.name for thread in threading.enumerate()}
    return {
        int(rank[i]): known.get(int(number), f"thread {int(rank[i])}") for i, number in enumerate(numbers)
    }


def _fill_work(spans: np.ndarray, work: np.ndarray, texts: np.ndarray) -> None:
    spans["kind"] = np.array(_KINDS, object)[work["kind"]]
    spans["name"] = texts[work["name"]]
    spans["device"] = texts[work["device"]]
    spans["engine"] = np.array(_ENGINES, object)[work["engine"]]
    spans["reason"] = np.array(REASONS, object)[work["reason"]]
    spans["line"] = ""
    spans["thread"] = -1
    spans["stream"] = work["stream"].astype(np.int64)
    spans["pageable"] = work["pageable"] != 0
    for field in ("start", "end", "issued", "ready", "bytes", "grid", "block", "shared_bytes"):
        spans[field] = work[field]
    unnamed = work["name"] == 0
    spans["name"][unnamed] = spans["kind"][unnamed]


def _places(numbers: np.ndarray, wanted: np.ndarray) -> np.ndarray:
    """Where each wanted number stands in ``numbers``; -1: nowhere."""
    if len(numbers) == 0:
        return np.full(len(wanted), -1, np.int64)
    order = np.argsort(numbers, kind="stable")
    at: np.ndarray = np.searchsorted(numbers, wanted, sorter=order)
    at = order[np.minimum(at, len(numbers) - 1)]
    found: np.ndarray = np.where((wanted != 0) & (numbers[at] == wanted), at, -1)
    return found


def _relate(spans: np.ndarray, host: np.ndarray, work: np.ndarray) -> None:
    count = len(host)

    def shift(places: np.ndarray) -> np.ndarray:  # rows of work follow the rows of the host
        return np.where(places >= 0, places + count, -1)

    calls = _places(host["number"], work["call"])
    spans["range"][:count] = _places(host["number"], host["range"])
    spans["cause"][:count] = shift(_places(work["number"], host["waited_for"]))
    spans["call"][:count] = spans["graph"][:count] = -1
    spans["call"][count:] = calls
    spans["cause"][count:] = shift(_places(work["number"], work["cause"]))
    spans["graph"][count:] = shift(_places(work["number"], work["graph"]))
    if count:
        issued = calls >= 0
        spans["range"][count:] = np.where(issued, spans["range"][calls], -1)
        spans["line"][count:][issued] = spans["line"][calls[issued]]
    else:
        spans["range"][count:] = -1


def _without_events_as_causes(spans: np.ndarray) -> np.ndarray:
    """Let work that waited for an event name the work before the event's record as its cause."""
    kinds = spans["kind"]
    is_wait, is_record = kinds == "event wait", kinds == "event record"
    is_event = is_wait | is_record
    if not is_event.any():
        return spans
    cause, reason = spans["cause"], spans["reason"]
    while True:
        hops = (cause >= 0) & ~is_event & is_event[cause]
        hops[hops] &= cause[cause[hops]] >= 0
        if not hops.any():
            return spans
        through_wait = hops & (spans["kind"] != "call")
        through_wait[through_wait] = is_wait[cause[through_wait]]
        reason[through_wait] = reason[cause[through_wait]]  # an event, or what kept the wait from its turn
        cause[hops] = cause[cause[hops]]


def _line(text: str) -> str:
    """Shorten "/home/you/program.py:12" to "program.py:12", and name the cell where the file is one of a notebook."""
    if not text:
        return ""
    path, _, number = text.rpartition(":")
    return f"{_cell(path) or Path(path).name}:{number}"


def _cell(path: str) -> str | None:
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython is not None else None
    if shell is None:
        return None
    try:
        kind, name = shell.compile.format_code_name(path)
    except (AttributeError, TypeError, ValueError):
        return None
    return f"{kind} {name}" if kind == "Cell" else None
