"""A trace as text: how busy the engines were, the work that took the most time, and where the host waited."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

import numpy as np

from .counters import union
from .spans import ENGINES
from .units import percent_text, rate_text, time_text

if TYPE_CHECKING:
    from .trace import Trace

__all__ = ["text"]

_WIDTH = 100
_NAME = 40  # characters of a name
_MOST = 10  # kinds of work
_WORK = ("kernel", "copy", "memset", "host function", "graph", "memory operation", "semaphore")


def text(trace: Trace) -> str:
    """The summary. No line is longer than 100 characters."""
    parts = ["\n".join(_head(trace))]
    for table in (_engines(trace), _work(trace), _host(trace)):
        if len(table) > 1:
            parts.append("\n".join(_aligned(table)))
    return "\n\n".join(parts)


def _head(trace: Trace) -> Iterator[str]:
    spans = trace.spans
    calls = int(np.count_nonzero(spans["kind"] == "call"))
    work = int(np.count_nonzero(spans["device"] != ""))
    yield f"trace of {time_text(trace.duration)} ({trace.source}): {calls:,} calls, {work:,} spans of devices"
    if trace.dropped:
        yield f"{trace.dropped:,} spans are missing: the trace had reached its limit"
    for note in trace.notes:
        yield from textwrap.wrap(f"note: {note}", _WIDTH, subsequent_indent="  ")


def _engines(trace: Trace) -> list[tuple[str, ...]]:
    """The time of each engine during which it worked."""
    spans = trace.spans
    table: list[tuple[str, ...]] = [("engine", "busy", "of the time", "spans")]
    order = {name: place for place, name in enumerate(ENGINES)}
    busy = spans[spans["engine"] != ""]
    for device in sorted(set(busy["device"].tolist())):
        of_device = busy[busy["device"] == device]
        for engine in sorted(
            set(of_device["engine"].tolist()), key=lambda name: (order.get(name, len(order)), name)
        ):
            of = of_device[of_device["engine"] == engine]
            start, end = union(of["start"], of["end"])
            time = int((end - start).sum())
            share = percent_text(time / trace.duration) if trace.duration else ""
            table.append((_short(f"{device} {engine}"), time_text(time), share, f"{len(of):,}"))
    return table


def _work(trace: Trace) -> list[tuple[str, ...]]:
    """The kinds of work that took the most time."""
    spans = trace.spans
    table: list[tuple[str, ...]] = [("work", "count", "total", "mean", "bandwidth")]
    # The nodes of a graph are counted, and the launch that they make up is not counted again.
    launched = np.unique(spans["graph"][spans["graph"] >= 0])
    whole = np.ones(len(spans), np.bool_)
    whole[launched] = False
    rows = np.flatnonzero(whole & np.isin(spans["kind"].astype(str), _WORK))
    for (kind, name), of in _largest(spans, rows):
        time = int((spans["end"][of] - spans["start"][of]).sum())
        size = int(spans["bytes"][of].sum())
        rate = rate_text(size / time) if size and time else ""
        label = name if kind == "kernel" and name else kind if name in ("", kind) else f"{kind} {name}"
        table.append((_short(label), f"{len(of):,}", time_text(time), time_text(time / len(of)), rate))
    return table


def _host(trace: Trace) -> list[tuple[str, ...]]:
    """The calls in which the host waited for a device. They have a cause."""
    spans = trace.spans
    table: list[tuple[str, ...]] = [("host waits in", "count", "total", "mean", "of the time")]
    rows = np.flatnonzero((spans["kind"] == "call") & (spans["cause"] >= 0))
    for (_, name), of in _largest(spans, rows):
        time = int((spans["end"][of] - spans["start"][of]).sum())
        share = percent_text(time / trace.duration) if trace.duration else ""
        table.append((_short(name), f"{len(of):,}", time_text(time), time_text(time / len(of)), share))
    return table


def _largest(spans: np.ndarray, rows: np.ndarray) -> Iterable[tuple[tuple[str, str], np.ndarray]]:
    """The groups of spans with one kind and name that took the most time together."""
    groups: dict[tuple[str, str], list[int]] = {}
    for row, kind, name in zip(rows.tolist(), spans["kind"][rows], spans["name"][rows], strict=True):
        groups.setdefault((kind, name), []).append(row)
    of = {key: np.array(group) for key, group in groups.items()}
    time = {key: int((spans["end"][group] - spans["start"][group]).sum()) for key, group in of.items()}
    return [(key, of[key]) for key in sorted(of, key=lambda key: (-time[key], key))[:_MOST]]


def _short(name: str) -> str:
    """A name on one line. The end of a long name is left out: kernels begin with what tells them apart."""
    name = "".join(c if c.isprintable() else " " for c in name)
    return name if len(name) <= _NAME else name[: _NAME - 3] + "..."


def _aligned(table: list[tuple[str, ...]]) -> Iterator[str]:
    """The first column to the left, the others to the right."""
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    for row in table:
        cells = [
            row[0].ljust(widths[0]),
            *(cell.rjust(width) for cell, width in zip(row[1:], widths[1:], strict=True)),
        ]
        yield "  ".join(cells).rstrip()
