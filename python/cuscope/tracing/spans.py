"""The table of spans: its columns, and how it is made from rows."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

__all__ = [
    "DEFAULTS",
    "ENGINES",
    "KINDS",
    "REASONS",
    "RELATIONS",
    "SPAN",
    "order_of_spans",
    "sort_spans",
    "spans_from_rows",
]

# Times are nanoseconds since the trace began. Relations are rows of the same table; -1: none.
SPAN = np.dtype(
    [
        ("kind", object),  # one of KINDS
        ("name", object),  # of the kernel, the runtime call, the range; the direction of a copy
        ("start", np.int64),
        ("end", np.int64),
        ("device", object),  # "host:0"; "" for ranges and calls
        ("stream", np.int64),  # Stream.id; -1: none
        ("engine", object),  # one of ENGINES
        ("bytes", np.int64),  # of copies, memsets and allocations
        ("grid", np.uint32, 3),
        ("block", np.uint32, 3),
        ("shared_bytes", np.int64),  # static and dynamic shared memory of a block
        ("issued", np.int64),  # when the device could see the work; -1: unknown
        ("ready", np.int64),  # when all that the work had to wait for had ended; -1: unknown
        ("reason", object),  # why the work started when it did: one of REASONS
        ("cause", np.int64),  # the span whose end let this one start, or ended the wait of a call
        ("call", np.int64),  # the runtime call that issued the work
        ("graph", np.int64),  # the launch of the graph that the work is a node of
        ("range", np.int64),  # the innermost range of the program around the call
        ("thread", np.int64),  # of the host, numbered by first appearance; -1: work of a device
        ("line", object),  # "program.py:12": the line of the program; "": unknown
        ("pageable", np.bool_),  # the host memory of the copy is not page-locked
    ]
)

RELATIONS = ("cause", "call", "graph", "range")

KINDS = (
    "range",
    "call",
    "graph",
    "kernel",
    "copy",
    "memset",
    "host function",
    "allocation",
    "free",
    "memory operation",
    "semaphore",
    "event record",
    "event wait",
)

ENGINES = ("", "copy to device", "copy to host", "copy on device", "kernels", "host functions")

REASONS = (
    "",  # unknown: a GPU does not tell
    "issued",  # the host had just issued the work
    "stream order",  # the work before it in its stream ended
    "event",  # the work before an event that its stream waits for ended
    "default stream",  # the rules of the legacy default stream
    "graph",  # an edge of the graph
    "queue",  # the work was behind other work in its hardware queue
    "engine",  # the copy engine was busy
    "multiprocessors",  # no multiprocessor had room for its blocks
)

DEFAULTS: dict[str, Any] = {
    "kind": "call",
    "name": "",
    "device": "",
    "engine": "",
    "reason": "",
    "line": "",
    "stream": -1,
    "issued": -1,
    "ready": -1,
    "cause": -1,
    "call": -1,
    "graph": -1,
    "range": -1,
    "thread": -1,
}


def spans_from_rows(rows: Iterable[Mapping[str, Any]]) -> np.ndarray:
    """A table from mappings with any of the columns, sorted. Relations are positions in ``rows``."""
    if isinstance(rows, (str, bytes, Mapping)) or not isinstance(rows, Iterable):
        raise TypeError(f"rows: takes mappings, such as a list of dicts, not {type(rows).__name__}")
    rows = list(rows)
    for i, row in enumerate(rows):
        if not isinstance(row, Mapping):
            raise TypeError(
                f"rows: row {i} must be a mapping from columns to values, not {type(row).__name__}"
            )
    spans = np.zeros(len(rows), SPAN)
    for field, value in DEFAULTS.items():
        spans[field] = value
    for i, row in enumerate(rows):
        for field, value in row.items():
            if SPAN.names is None or field not in SPAN.names:
                raise ValueError(f"a span has no column '{field}'; it has {', '.join(SPAN.names or ())}")
            try:
                spans[field][i] = value
            except (TypeError, ValueError, OverflowError) as error:
                raise type(error)(f"rows: row {i} has {field}={value!r}: {error}") from None
    for field in RELATIONS:
        outside = spans[field][(spans[field] < -1) | (spans[field] >= len(rows))]
        if outside.size:
            raise ValueError(
                f"rows: {field}={outside[0]}; allowed are -1 for none, and positions of the {len(rows)} rows"
            )
    return sort_spans(spans)


def order_of_spans(start: np.ndarray, end: np.ndarray) -> np.ndarray:
    """By start, the longer span first, so that a span stands behind the spans that it lies in."""
    order: np.ndarray = np.lexsort((-end, start))  # stable: equal spans keep their order
    return order


def sort_spans(spans: np.ndarray) -> np.ndarray:
    order = order_of_spans(spans["start"], spans["end"])
    place = np.empty(len(spans), np.int64)
    place[order] = np.arange(len(spans))
    sorted_spans: np.ndarray = spans[order]
    for field in RELATIONS:
        related = sorted_spans[field]
        known = related >= 0
        related[known] = place[related[known]]
    return sorted_spans
