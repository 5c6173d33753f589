"""The picture of an array: its type, its layout, and a few of its elements."""

from __future__ import annotations

import itertools
import math

import numpy as np

from .. import _core
from .cards import BUSY, QUIET, Marked, byte_text, card, code, text

__all__ = ["array"]

WHOLE = 200  # elements: as many are shown without gaps
MOST_AXES = 6
MOST_BYTES = 16 << 10  # the most that peek() copies


def array(x: _core.DeviceArray) -> str:
    closed = x.closed
    state, below = (QUIET, "closed"), ""
    if not closed:
        state, below = _values(x)
    rows = [
        ("shape", code(x.shape)),
        ("strides", None if closed else Marked(f"{code(x.strides)} bytes{_order(x)}")),
        ("device", code(x.device.name)),
        ("memory", byte_text(x.nbytes)),
    ]
    return card("DeviceArray", rows, about=str(x.dtype), state=state if state[1] else None, below=below)


def _order(x: _core.DeviceArray) -> str:
    return "" if x.ndim == 0 or x.size == 0 else ", C order" if x.is_contiguous else ", with gaps"


def _edge(shape: tuple[int, ...], itemsize: int) -> int | None:
    """How many elements to show at each end of an axis; 0: all of them. None: even one is too much."""
    if math.prod(shape) <= WHOLE and math.prod(shape) * itemsize <= MOST_BYTES:
        return 0
    for edge in (3, 2, 1):
        shown = math.prod(min(length, 2 * edge) for length in shape)
        if shown <= WHOLE and shown * itemsize <= MOST_BYTES:
            return edge
    return None


def _values(x: _core.DeviceArray) -> tuple[tuple[str, str], str]:
    if x.size == 0:
        return (QUIET, ""), "<pre>[]</pre>"
    edge = _edge(x.shape, x.itemsize) if x.ndim <= MOST_AXES else None
    if edge is None:
        return (QUIET, "too large to be shown"), ""
    places = [_places(length, edge) for length in x.shape]
    offsets = [
        sum(i * stride for i, stride in zip(at, x.strides, strict=True)) for at in itertools.product(*places)
    ]
    answer, found = _core.peek(x, offsets)
    if answer == "pending":
        return (BUSY, "pending"), f"<div>waits for: {code(found)}. Show the array again for its values.</div>"
    if answer != "values":
        return (QUIET, f"no values: {found}"), ""
    return (QUIET, ""), f"<pre>{text(_formatted(found, x.dtype, x.shape, places, edge))}</pre>"


def _places(length: int, edge: int) -> list[int]:
    if not edge or length <= 2 * edge:
        return list(range(length))
    return [*range(edge), *range(length - edge, length)]


def _formatted(
    found: bytes, dtype: np.dtype[np.generic], shape: tuple[int, ...], places: list[list[int]], edge: int
) -> str:
    """The text of NumPy. Axes with a gap get one element more, in whose place NumPy writes the dots."""
    short = [len(some) < length for some, length in zip(places, shape, strict=True)]
    values = np.zeros([len(some) + gap for some, gap in zip(places, short, strict=True)], dtype)
    to = [
        [*range(edge), *range(edge + 1, 2 * edge + 1)] if gap else list(range(len(some)))
        for some, gap in zip(places, short, strict=True)
    ]
    values[np.ix_(*to) if to else ()] = np.frombuffer(found, dtype).reshape([len(some) for some in places])
    if not any(short):
        return np.array2string(values, threshold=values.size + 1)
    return np.array2string(values, threshold=0, edgeitems=edge)
