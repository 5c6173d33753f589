"""Traces as files in Chrome's trace event format, which Perfetto and chrome://tracing open.

The first line has the trace's attributes under "otherData"; then each event has a line of its own, so that a file is
written and read a piece at a time. A span is one event. What its track and its times do not say is in its "args".
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

import numpy as np

from . import counters, files
from .tracks import Track, lay_out

if TYPE_CHECKING:
    from .trace import Trace

__all__ = ["FORMAT", "VERSION", "lines", "save"]

FORMAT = "cuscope trace"
VERSION = 1
# What events of like spans have in common: the text before and in the arguments, and whether they move bytes.
_Fragment = tuple[str, str, bool]
_ROWS = 1 << 15  # of one piece
_MOST_FRAGMENTS = 1 << 16  # that are kept: a trace in which no two spans are alike must not fill the memory

# Perfetto 52 takes the quote behind a backslash for part of the text, even if the backslash is itself escaped.
_LAST_BACKSLASH = re.compile(r'(?<!\\)((?:\\\\)*)\\\\"')


def save(trace: Trace, path: Path, *, compress: bool) -> None:
    """Write the file, or leave ``path`` as it was."""

    def write(file: BinaryIO) -> None:
        # Perfetto reads no lone surrogates. They become "?".
        file.writelines(piece.encode("utf-8", "replace") for piece in lines(trace))

    files.replace(path, write, compress=compress)


def lines(trace: Trace) -> Iterator[str]:
    """The text of the file, in pieces."""
    layout = lay_out(trace)
    header = {
        "format": FORMAT,
        "version": VERSION,
        "source": trace.source,
        "duration": trace.duration,
        "dropped": trace.dropped,
        "spans": len(trace),
        "devices": trace.devices,
        "streams": trace.streams,
        "threads": trace.threads,
        "notes": trace.notes,
        "processes": layout.processes,
        "tracks": {track.tid: track.number for track in layout.tracks if not track.engine},
    }
    yield f'{{"otherData":{_text(header)},\n"traceEvents":[\n'
    yield ",\n".join(_names(trace, layout.processes, layout.tracks))
    yield from _span_events(trace, layout.track, layout.engine_track, layout.tracks)
    yield from counters.lines(trace, layout.processes)
    yield "\n]}\n"


def _names(trace: Trace, processes: list[str], tracks: list[Track]) -> Iterator[str]:
    def event(what: str, pid: int, tid: int, value: str | int) -> str:
        key = "sort_index" if what.endswith("sort_index") else "name"
        return f'{{"ph":"M","name":"{what}","pid":{pid},"tid":{tid},"args":{{"{key}":{_text(value)}}}}}'

    for place, device in enumerate(processes):
        pid = place + 1
        yield event("process_name", pid, pid, _process_name(trace, device))
        yield event("process_sort_index", pid, pid, place)
    for place, track in enumerate(tracks):
        yield event("thread_name", track.pid, track.tid, track.name)
        yield event("thread_sort_index", track.pid, track.tid, place)


def _process_name(trace: Trace, device: str) -> str:
    if not device:
        return "host"
    about = trace.devices.get(device, {})
    details = [str(about.get("model") or ""), "simulated" if about.get("simulated") else ""]
    text = ", ".join(detail for detail in details if detail)
    return f"{device} ({text})" if text else device


def _span_events(
    trace: Trace, track: np.ndarray, engine_track: np.ndarray, tracks: list[Track]
) -> Iterator[str]:
    spans = trace.spans
    arrows = _arrows(spans)
    places = [f'"pid":{one.pid},"tid":{one.tid}' for one in tracks]
    fragments: dict[tuple[Any, ...], _Fragment] = {}
    for first in range(0, len(spans), _ROWS):
        rows = slice(first, first + _ROWS)
        yield "".join(
            _piece(spans[rows], first, track[rows], engine_track[rows], arrows[rows], places, fragments)
        )
        if len(fragments) > _MOST_FRAGMENTS:
            fragments.clear()


def _arrows(spans: np.ndarray) -> np.ndarray:
    """The number of the arrow of each span; negative where it begins, 0: none. Arrows lead from calls to their work.

    The nodes of a graph have none: the arrow leads to the launch that they belong to.
    """
    arrows = np.zeros(len(spans), np.int64)
    of_call = np.flatnonzero((spans["call"] >= 0) & (spans["graph"] < 0))
    call = spans["call"][of_call]
    # An arrow must begin before it ends, in the order of the file, too.
    forward = (spans["start"][of_call] >= spans["start"][call]) & (of_call > call)
    arrows[of_call[forward]] = call[forward] + 1
    begins = call[forward][arrows[call[forward]] == 0]
    arrows[begins] = -(begins + 1)
    return arrows


def _piece(
    spans: np.ndarray,
    first: int,
    track: np.ndarray,
    engine_track: np.ndarray,
    arrows: np.ndarray,
    places: list[str],
    fragments: dict[tuple[Any, ...], _Fragment],
) -> Iterator[str]:
    shapes = np.concatenate([spans["grid"], spans["block"]], axis=1).view("V24")[:, 0].tolist()
    host = (spans["device"] == "").tolist()
    alike = zip(
        *(spans[column].tolist() for column in ("kind", "name", "engine")),
        shapes,
        *(spans[column].tolist() for column in ("shared_bytes", "reason", "line", "pageable")),
        strict=True,
    )
    rest = zip(
        *(
            spans[column].tolist()
            for column in ("start", "end", "bytes", "stream", "thread", "issued", "ready")
        ),
        *(spans[column].tolist() for column in ("cause", "call", "graph", "range")),
        track.tolist(),
        engine_track.tolist(),
        arrows.tolist(),
        host,
        strict=True,
    )
    for row, (key, more) in enumerate(zip(alike, rest, strict=True), first):
        head, tail, moves = fragments.get(key) or _remember(fragments, key)
        (
            start,
            end,
            size,
            stream,
            thread,
            issued,
            ready,
            cause,
            call,
            graph,
            range_,
            on,
            engine_on,
            arrow,
            on_host,
        ) = more
        time = end - start
        sign = "-" if start < 0 else ""
        start = abs(start)
        when = f'"ts":{sign}{start // 1000}.{start % 1000:03},"dur":{time // 1000}.{time % 1000:03}'
        flow = (
            "" if not arrow else f',"bind_id":"0x{abs(arrow):x}","flow_{"in" if arrow > 0 else "out"}":true'
        )
        if on_host:
            own = f',"stream":{stream}' if stream != -1 else ""
        else:
            own = f',"thread":{thread}' if thread != -1 else ""
        if size:
            own += f',"bytes":{size}'
            if moves and time > 0:
                own += f',"GB/s":{size / time:.4g}'
        if issued != -1:
            own += f',"issued":{issued}'
        if ready != -1:
            own += f',"ready":{ready}'
        if cause != -1:
            own += f',"cause":{cause}'
        if call != -1:
            own += f',"call":{call}'
        if graph != -1:
            own += f',"graph":{graph}'
        if range_ != -1:
            own += f',"range":{range_}'
        yield f',\n{{"ph":"X",{places[on]},{when},{head}{flow},"args":{{"span":{row}{tail}{own}}}}}'
        if engine_on >= 0:
            name = head.partition(",")[2]
            yield f',\n{{"ph":"X",{places[engine_on]},{when},"cat":"engine",{name},"args":{{"of span":{row}}}}}'


def _remember(fragments: dict[tuple[Any, ...], _Fragment], key: tuple[Any, ...]) -> _Fragment:
    kind, name, engine, shape, shared_bytes, reason, line, pageable = key
    grid, block = np.frombuffer(shape, np.uint32).reshape(2, 3).tolist()
    arguments = {
        "engine": engine,
        "grid": _shape_text(grid),
        "block": _shape_text(block),
        "shared_bytes": shared_bytes,
        "reason": reason,
        "line": line,
        "pageable": pageable,
    }
    tail = "".join(f",{_text(column)}:{_text(value)}" for column, value in arguments.items() if value)
    head = f'"cat":{_text(kind)},"name":{_text(name)}'
    fragments[key] = (head, tail, kind in ("copy", "memset"))
    return fragments[key]


def _shape_text(shape: list[int]) -> str:
    return " x ".join(map(str, shape)) if any(shape) else ""


def _text(value: object) -> str:
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), sort_keys=True)
    return _LAST_BACKSLASH.sub(r'\1\\u005c"', text)
