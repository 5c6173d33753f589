"""Which spans a word means: "copy", "copy to device", "cuda:0", the name of a kernel, a stream."""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING, Any

import numpy as np

from .spans import ENGINES, KINDS

if TYPE_CHECKING:
    from .trace import Trace

__all__ = ["device_work", "devices_of", "lanes", "of_kinds", "rows_by", "select", "stream_work"]

_DEVICE_WORK = ("kernel", "copy", "memset")
_STREAM_WORK = (*_DEVICE_WORK, "host function", "memory operation", "semaphore")
MOST_NAMES = 10  # that an error lists


def of_kinds(spans: np.ndarray, *kinds: str) -> np.ndarray:
    """Which spans are of one of the kinds."""
    if len(kinds) == 1:
        return np.asarray(spans["kind"] == kinds[0], bool)
    return np.fromiter(map(set(kinds).__contains__, spans["kind"].tolist()), bool, len(spans))


def _bare_graphs(spans: np.ndarray) -> np.ndarray:
    """The launches of graphs without a known node. They stand for the work of their nodes."""
    bare = of_kinds(spans, "graph")
    nodes = spans["graph"]
    bare[nodes[nodes >= 0]] = False
    return bare


def device_work(spans: np.ndarray) -> np.ndarray:
    """Which spans are work of a device: kernels, copies, memsets, and graphs without known nodes."""
    return np.asarray(of_kinds(spans, *_DEVICE_WORK) | _bare_graphs(spans))


def stream_work(spans: np.ndarray) -> np.ndarray:
    """Which spans hold a stream: work of a device, host functions, operations on memory and semaphores."""
    return np.asarray(of_kinds(spans, *_STREAM_WORK) | _bare_graphs(spans))


def _of_stream(spans: np.ndarray, number: int) -> np.ndarray:
    return np.asarray(stream_work(spans) & (spans["stream"] == number))


def devices_of(trace: Trace) -> list[str]:
    """The devices that the trace or its spans name."""
    return sorted({*trace.devices, *trace.spans["device"].tolist()} - {""})


def streams_of(trace: Trace) -> list[int]:
    return sorted({*trace.streams, *np.unique(trace.spans["stream"]).tolist()} - {-1})


def _labels(trace: Trace) -> dict[str, int]:
    """A name for each stream: its label, with the device if there are several, with the id if two share it."""
    several = len(devices_of(trace)) > 1
    labels: dict[str, int] = {}
    for number in streams_of(trace):
        about = trace.streams.get(number, {})
        label = str(about.get("label") or f"stream {number}")
        if several and about.get("device"):
            label = f"{about['device']} {label}"
        labels[label if label not in labels else f"{label} ({number})"] = number
    return labels


def rows_by(values: np.ndarray, rows: np.ndarray) -> dict[Any, np.ndarray]:
    """The rows with each value, in the order of the values; ``values`` has one for each of the rows."""
    order = np.argsort(values, kind="stable")
    found, first = np.unique(values[order], return_index=True)
    return dict(
        zip(found.tolist(), np.split(rows[order], first[1:]), strict=False)
    )  # no rows: one empty part, no value


def lanes(trace: Trace) -> dict[str, np.ndarray]:
    """The engines and streams that worked, by name, and the rows of their spans."""
    spans = trace.spans
    devices = devices_of(trace)
    found: dict[str, np.ndarray] = {}
    for device in devices:
        here = spans["device"] == device
        for engine in ENGINES[1:]:
            rows = np.flatnonzero(here & (spans["engine"] == engine))
            if len(rows):
                found[engine if len(devices) == 1 else f"{device} {engine}"] = rows
    work = np.flatnonzero(stream_work(spans))
    by_stream = rows_by(spans["stream"][work], work)
    for label, number in _labels(trace).items():
        if number in by_stream:
            found[label] = by_stream[number]
    return found


def select(trace: Trace, what: Any) -> np.ndarray:
    """Which spans ``what`` means, as a mask of `Trace.spans`.

    ``what``: a stream or its id; or, as a string, the first of these that fits: a kind ("copy"), an engine ("copy to
    device"), a device ("cuda:0"), an engine of a device ("cuda:0 kernels"), a stream's label, or the name of spans (of a
    kernel, a runtime call, a range). Streams and devices mean their work, and not the records of events.
    """
    spans = trace.spans
    if isinstance(what, str):
        if what in KINDS:
            return of_kinds(spans, what)
        if what in ENGINES[1:]:
            return np.asarray(spans["engine"] == what, bool)
        devices = devices_of(trace)
        if what in devices:
            return np.asarray(device_work(spans) & (spans["device"] == what))
        device, _, engine = what.partition(" ")
        if device in devices and engine in ENGINES[1:]:
            return np.asarray((spans["device"] == device) & (spans["engine"] == engine), bool)
        stream = _labels(trace).get(what)
        if stream is not None:
            return _of_stream(spans, stream)
        named = np.asarray(spans["name"] == what, bool) if what else np.zeros(len(spans), bool)
        if named.any():
            return named
    else:
        number = _stream_id(what)
        if number in streams_of(trace):
            return _of_stream(spans, number)
    raise ValueError(f"the trace has no {what!r}; {_contents(trace)}")


def _stream_id(what: Any) -> int:
    number = getattr(what, "id", what)
    if not isinstance(number, bool):
        try:
            return operator.index(number)
        except TypeError:
            pass
    raise TypeError(
        f"a selection is a kind, an engine, a device, a name, a stream or the id of a stream, not {what!r}"
    )


def _contents(trace: Trace) -> str:
    """All that a selection can name."""

    def quoted(values: Any) -> str:
        return ", ".join(repr(value) for value in values)

    spans = trace.spans
    kinds, engines = set(spans["kind"].tolist()), set(spans["engine"].tolist())
    names = list(dict.fromkeys(name for name in spans["name"].tolist() if name))
    more = f" and {len(names) - MOST_NAMES} more" if len(names) > MOST_NAMES else ""
    streams = [f"{number} ({label})" for label, number in _labels(trace).items()]
    parts = {
        "kinds": quoted(kind for kind in KINDS if kind in kinds),
        "engines": quoted(engine for engine in ENGINES[1:] if engine in engines),
        "devices": quoted(devices_of(trace)),
        "streams": ", ".join(streams),
        "names": quoted(names[:MOST_NAMES]) + more,
    }
    return "; ".join(f"its {title} are {text or 'none'}" for title, text in parts.items())
