"""Traces read from files that `Trace.save` wrote."""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterator, Mapping
from os import PathLike
from pathlib import Path
from typing import IO, Any

import numpy as np

from . import files
from .dicts import ATTRIBUTES, with_attributes
from .perfetto import FORMAT, VERSION
from .spans import DEFAULTS, RELATIONS, SPAN
from .trace import Trace

__all__ = ["load"]

_ROWS = 1 << 15
_END = "]}\n"
_COLUMNS = [
    (column, (0, 0, 0) if SPAN[column].shape else DEFAULTS.get(column, 0))
    for column in (SPAN.names or ())[5:]
]
_STRINGS = [place for place, column in enumerate(SPAN.names or ()) if SPAN[column].hasobject]


def load(path: str | PathLike[str]) -> Trace:
    """Read a trace from a .json or .json.gz file that `Trace.save` wrote. It equals the trace that was saved.

    Raises ValueError if another program wrote or changed the file, if it is not complete, or if a newer cuscope wrote
    it; OSError if it cannot be read.

    >>> import cuscope as cs, tempfile
    >>> t = cs.tracing.Trace.from_spans([{"kind": "kernel", "name": "saxpy", "start": 0, "end": 900, "device": "host:0"}])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     t.save(f"{folder}/t.json.gz")
    ...     cs.tracing.load(f"{folder}/t.json.gz") == t
    True
    """
    path = Path(path)
    with files.open_text(path) as file:
        try:
            header = _header(file)
        except (ValueError, EOFError, zlib.error, OSError):
            raise ValueError(
                f"'{path}' is not a trace of cuscope: load reads the .json and .json.gz files of Trace.save"
            ) from None
        if header["version"] != VERSION:
            raise ValueError(
                f"'{path}' has version {header['version']} of the format, this cuscope reads version {VERSION}: "
                "load it with the cuscope that saved it, or a newer one"
            )
        try:
            header.setdefault("notes", [])  # files of older versions have none
            return with_attributes(_spans(file, header), {name: header[name] for name in ATTRIBUTES})
        except (
            ValueError,
            KeyError,
            IndexError,
            TypeError,
            AttributeError,
            OverflowError,
            EOFError,
            zlib.error,
        ) as error:
            raise ValueError(f"'{path}' is damaged: {type(error).__name__}: {error}") from error


def _header(file: IO[str]) -> dict[str, Any]:
    line = file.readline()
    if not line.startswith('{"otherData":{'):
        raise ValueError
    header = json.loads(line.rstrip(",\n") + "}")["otherData"]
    if header["format"] != FORMAT:
        raise ValueError
    return dict(header)


def _spans(file: IO[str], header: Mapping[str, Any]) -> np.ndarray:
    """The table. Spans have their row, so that the order of the file does not matter."""
    tracks = {int(tid): number for tid, number in header["tracks"].items()}
    pieces, rows = [], []
    piece: list[tuple[Any, ...]] = []
    strings: dict[Any, Any] = {}  # a name is one object, however often it appears
    for event in _events(file):
        arguments = event.get("args", {})
        if event["ph"] == "X" and "span" in arguments:
            rows.append(arguments["span"])
            piece.append(_row(event, arguments, header["processes"], tracks, strings))
            if len(piece) == _ROWS:
                pieces.append(np.array(piece, SPAN))
                piece.clear()
    pieces.append(np.array(piece, SPAN))
    unsorted = np.concatenate(pieces)
    order = np.array(rows, np.int64)
    count = header["spans"]
    if len(order) != count or not np.array_equal(np.sort(order), np.arange(count)):
        raise ValueError(f"it should have {count} spans, and has {len(np.unique(order))}")
    spans = np.empty(count, SPAN)
    spans[order] = unsorted
    for column in RELATIONS:
        if ((spans[column] < -1) | (spans[column] >= count)).any():
            raise ValueError(f"a span has a {column} that is not a span")
    return spans


def _events(file: IO[str]) -> Iterator[dict[str, Any]]:
    decode = json.JSONDecoder(parse_float=_nanoseconds).decode
    if file.readline() != '"traceEvents":[\n':
        raise ValueError("the events are missing")
    for line in file:
        if line == _END:
            return
        event = decode(line.rstrip(",\n"))
        if type(event) is not dict:
            raise ValueError(f"an event is {line[:40]!r}")
        yield event
    raise ValueError("the end is missing")


def _nanoseconds(text: str) -> int:
    """Times are written as microseconds with three digits behind the point, so this is exact."""
    return int(text.replace(".", "")) if "e" not in text else 0


def _row(
    event: Mapping[str, Any],
    arguments: dict[str, Any],
    processes: list[str],
    tracks: Mapping[int, int],
    strings: dict[Any, Any],
) -> tuple[Any, ...]:
    device = processes[event["pid"] - 1]
    arguments.setdefault("stream" if device else "thread", tracks[event["tid"]])
    for column in ("grid", "block"):
        if column in arguments:
            x, y, z = map(int, arguments[column].split(" x "))
            if min(x, y, z) < 0:  # NumPy before 1.24 would let them wrap around
                raise ValueError(f"{column}: {arguments[column]}")
            arguments[column] = (x, y, z)
    start = event["ts"]
    row = [event["cat"], event["name"], start, start + event["dur"], device]
    row += [arguments.get(column, default) for column, default in _COLUMNS]
    for place in _STRINGS:
        row[place] = strings.setdefault(row[place], row[place])
    return tuple(row)
