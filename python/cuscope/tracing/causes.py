"""Why each span started when it did: as the trace recorded it, or inferred from streams and times.

A GPU does not tell why a piece of work started. Then the latest of these ends is taken for the cause: of the work before
it in its stream, of the work before it on its copy engine, and of the call that issued it. A call that waits is taken to
have waited for the work that ended last before the call did. Work after a wait for an event may also have waited for the
last end in any stream.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from .selection import device_work, of_kinds, rows_by, stream_work

if TYPE_CHECKING:
    from .trace import Trace

__all__ = ["Causes", "causes_of", "function_of", "waiting_calls"]

# The functions that wait for a device. Those with a stream as argument wait for it alone.
_WAITS = {
    "cudaDeviceSynchronize",
    "cudaStreamSynchronize",
    "cudaEventSynchronize",
    "cudaMemcpy",
    "cudaMemcpy2D",
    "cudaMemcpy3D",
    "cudaMemcpyToArray",
    "cudaMemcpy2DToArray",
    "cudaMemcpy2DFromArray",
    "cudaMemcpyToSymbol",
    "cudaMemcpyFromSymbol",
    "cuCtxSynchronize",
    "cuStreamSynchronize",
    "cuEventSynchronize",
}
_VERSION = re.compile(r"(_v\d+|_ptsz|_ptds)+$")


def function_of(name: str) -> str:
    """The function of a call: CUPTI reports "cudaMemcpy_v3020", "cudaMemcpyAsync_ptsz"."""
    return _VERSION.sub("", name)


def waiting_calls(spans: np.ndarray) -> np.ndarray:
    """Which spans are calls of a function that always waits for a device."""
    names = spans["name"].tolist()
    waits = {name for name in set(names) if function_of(name) in _WAITS}
    named = np.fromiter((name in waits for name in names), bool, len(names))
    return np.asarray(of_kinds(spans, "call") & named)


@dataclass(frozen=True)
class Causes:
    """Columns beside `Trace.spans`."""

    cause: (
        np.ndarray
    )  # the row of the span whose end started this one, or ended the wait of this call; -1: none
    reason: np.ndarray  # one of REASONS
    inferred: np.ndarray  # the trace does not tell


def _latest_before(rows: np.ndarray, starts: np.ndarray, ends: np.ndarray) -> np.ndarray:
    """For each of the rows, the one of them that ended last before it started; -1: none."""
    lasting = rows[ends[rows] > starts[rows]]
    by_end = np.concatenate(([-1], lasting[np.argsort(ends[lasting], kind="stable")]))
    return np.asarray(by_end[np.searchsorted(ends[by_end[1:]], starts[rows], "right")])


def _last_nodes(spans: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The rows of launches of graphs whose nodes are known, and for each the node that ended last."""
    nodes = np.flatnonzero(spans["graph"] >= 0)
    order = nodes[np.lexsort((spans["end"][nodes], spans["graph"][nodes]))]
    launches, counts = np.unique(spans["graph"][order], return_counts=True)
    return launches, order[np.cumsum(counts) - 1]


def causes_of(trace: Trace) -> Causes:
    """The causes that the trace has, and inferred ones where it has none."""
    spans = trace.spans
    starts, ends = np.ascontiguousarray(spans["start"]), np.ascontiguousarray(spans["end"])
    cause, reason = spans["cause"].copy(), spans["reason"].copy()
    inferred = np.zeros(len(spans), bool)
    launches, last_nodes = _last_nodes(spans)
    instead = np.arange(-1, len(spans))  # the work that ended last in place of the launch of a graph
    instead[launches + 1] = last_nodes
    cause = instead[cause + 1]

    work = stream_work(spans)
    unknown = work & (reason == "") & (cause < 0)
    if unknown.any():
        _infer_work(spans, work, unknown, starts, ends, cause, reason)
        inferred |= unknown & ((cause >= 0) | (reason != ""))
    silent = (
        waiting_calls(spans) & (cause < 0) if trace.source != "simulation" else np.zeros(len(spans), bool)
    )
    if silent.any():
        _infer_waits(spans, silent, starts, ends, cause)
        inferred |= silent & (cause >= 0)
    return Causes(cause, reason, inferred)


def _infer_work(
    spans: np.ndarray,
    work: np.ndarray,
    unknown: np.ndarray,
    starts: np.ndarray,
    ends: np.ndarray,
    cause: np.ndarray,
    reason: np.ndarray,
) -> None:
    """Write the cause and the reason of the unknown work."""
    call = spans["call"]
    latest = np.where(call >= 0, ends[call], -1)  # when the latest known condition of each span was met
    reason[unknown & (call >= 0)] = "issued"
    copies = np.flatnonzero(work & (spans["kind"] == "copy") & (spans["engine"] != ""))
    devices = {name: i for i, name in enumerate(dict.fromkeys(spans["device"].tolist()))}
    device = np.fromiter(map(devices.__getitem__, spans["device"].tolist()), np.int64, len(spans))
    in_streams = np.flatnonzero(work & (spans["stream"] >= 0))
    groups = [
        ("stream order", rows)
        for there in rows_by(device[in_streams], in_streams).values()
        for rows in rows_by(spans["stream"][there], there).values()
    ]
    groups += [
        ("engine", there[spans["engine"][there] == engine])
        for there in rows_by(device[copies], copies).values()
        for engine in dict.fromkeys(spans["engine"][there].tolist())
    ]
    for why, rows in groups:
        before = _latest_before(rows, starts, ends)
        better = unknown[rows] & (before >= 0) & (ends[before] > latest[rows])
        chosen = rows[better]
        cause[chosen], reason[chosen], latest[chosen] = before[better], why, ends[before[better]]
    everything = np.flatnonzero(work)
    before = _latest_before(everything, starts, ends)
    better = (unknown & _after_event_waits(spans, work, starts))[everything] & (before >= 0)
    better &= ends[before] > latest[everything]
    chosen = everything[better]
    cause[chosen], reason[chosen] = before[better], "event"


def _after_event_waits(spans: np.ndarray, work: np.ndarray, starts: np.ndarray) -> np.ndarray:
    """Which work was issued after a wait of its stream for an event, without other work between them."""
    found = np.zeros(len(spans), bool)
    waits = (spans["kind"] == "event wait") | (
        of_kinds(spans, "call") & (spans["name"] == "cudaStreamWaitEvent")
    )
    rows = np.flatnonzero((work | waits) & (spans["stream"] >= 0))
    if not waits.any():
        return found
    call = spans["call"]
    issued = np.where(call >= 0, starts[call], starts)
    for inside in rows_by(spans["stream"][rows], rows).values():
        order = inside[np.argsort(issued[inside], kind="stable")]
        found[order[1:]] = waits[order[:-1]]
    return np.asarray(found & work)


def _infer_waits(
    spans: np.ndarray, silent: np.ndarray, starts: np.ndarray, ends: np.ndarray, cause: np.ndarray
) -> None:
    """Write the cause of calls that wait: the last end within the call, of its stream if the call names one."""
    work = np.flatnonzero(device_work(spans) | (spans["kind"] == "host function"))
    calls = np.flatnonzero(silent)
    by_stream = rows_by(spans["stream"][work], work)
    for stream, waiting in rows_by(spans["stream"][calls], calls).items():
        rows = by_stream.get(stream, work[:0]) if stream >= 0 else work
        if len(rows) == 0:
            continue
        by_end = rows[np.argsort(ends[rows], kind="stable")]
        place = np.searchsorted(ends[by_end], ends[waiting], "right") - 1
        found = np.where(place >= 0, by_end[place], -1)
        waited = (found >= 0) & (ends[found] > starts[waiting])
        cause[waiting[waited]] = found[waited]
