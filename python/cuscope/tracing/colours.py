"""Colours of spans. Readers with any colour vision can tell them apart (after Paul Tol's "bright" and "muted")."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

__all__ = ["Colour", "Palette", "codes_of"]


@dataclass(frozen=True)
class Colour:
    """What spans of one colour are: for the legend, for counts, and for the drawing."""

    key: str  # names the rule of the style sheet
    label: str
    noun: str  # "3 copies to the device" needs both numbers of the noun
    nouns: str
    fill: str  # "": it depends on the theme
    kernel: bool = False

    @property
    def ink(self) -> str:
        """The text on the colour: dark or white, whichever has more contrast."""
        return "#fff" if self.fill and _luminance(self.fill) < 0.19 else "#111"


def _luminance(colour: str) -> float:
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


RANGE = Colour("range", "range of the program", "range", "ranges", "")
CALL = Colour("call", "runtime call", "call", "calls", "")
WAIT = Colour("wait", "the host waits", "call that waits", "calls that wait", "")
GRAPH = Colour("graph", "launch of a graph", "graph", "graphs", "")
STALL = Colour("stall", "the stream waits", "wait of the stream", "waits of the stream", "")
TO_DEVICE = Colour("in", "copy to device", "copy to the device", "copies to the device", "#4477aa")
TO_HOST = Colour("out", "copy to host", "copy to the host", "copies to the host", "#ee6677")
ON_DEVICE = Colour("on", "copy on device", "copy on the device", "copies on the device", "#aa3377")
OTHER_COPY = Colour("other", "other copy", "other copy", "other copies", "#bb8899")
MEMSET = Colour("set", "memset", "memset", "memsets", "#ddaacc")
FUNCTION = Colour("host", "host function", "host function", "host functions", "#5f6c79")
MEMORY = Colour("memory", "allocation or free", "allocation or free", "allocations and frees", "#a8b3bf")
RECORD = Colour("event", "event record", "event record", "event records", "")
OTHER_KERNELS = Colour("others", "other kernels", "other kernel", "other kernels", "#a3cfa0", True)
FIXED = (
    RANGE,
    CALL,
    WAIT,
    GRAPH,
    STALL,
    TO_DEVICE,
    TO_HOST,
    ON_DEVICE,
    OTHER_COPY,
    MEMSET,
    FUNCTION,
    MEMORY,
    RECORD,
    OTHER_KERNELS,
)
KERNELS = ("#1f7a33", "#ccbb44", "#66ccee", "#44aa99", "#999933")  # in the order of first appearance

_OF_KIND = {
    "range": RANGE,
    "call": CALL,
    "graph": GRAPH,
    "memset": MEMSET,
    "host function": FUNCTION,
    "allocation": MEMORY,
    "free": MEMORY,
    "memory operation": STALL,
    "semaphore": STALL,
    "event record": RECORD,
    "event wait": STALL,
}
_OF_ENGINE = {"copy to device": TO_DEVICE, "copy to host": TO_HOST, "copy on device": ON_DEVICE}
_OF_COPY = {
    "host to device": TO_DEVICE,
    "device to host": TO_HOST,
    "device to device": ON_DEVICE,
    "device to other device": OTHER_COPY,
}


def codes_of(column: np.ndarray) -> tuple[list[Any], np.ndarray]:
    """The distinct values of a column of objects, by first appearance, and the number of each row's value."""
    values = column.tolist()
    numbers = {value: i for i, value in enumerate(dict.fromkeys(values))}
    return list(numbers), np.fromiter(map(numbers.__getitem__, values), np.int32, len(values))


class Palette:
    """The colours of a trace: ``colours`` is the table, ``codes`` has the row of the table for each span."""

    def __init__(self, spans: np.ndarray) -> None:
        self.colours = list(FIXED)
        number = {colour: i for i, colour in enumerate(FIXED)}
        kinds, kind = codes_of(spans["kind"])
        of_kind = [number[_OF_KIND.get(k, OTHER_COPY)] for k in kinds]
        self.codes = np.array(of_kind, np.int8)[kind] if kinds else np.empty(0, np.int8)
        for name, colour in (("copy", self._copies), ("kernel", self._kernels)):
            if name in kinds:
                of = np.flatnonzero(kind == kinds.index(name))
                self.codes[of] = colour(spans, of, number)
        if "call" in kinds:
            self._waits(spans, kind == kinds.index("call"), number[WAIT])

    def _copies(self, spans: np.ndarray, of: np.ndarray, number: dict[Colour, int]) -> np.ndarray:
        engines, engine = codes_of(spans["engine"][of])
        names, name = codes_of(spans["name"][of])
        by_name = np.array([number[_OF_COPY[n]] if n in _OF_COPY else -1 for n in names], np.int8)[name]
        by_engine = np.array([number[_OF_ENGINE.get(e, OTHER_COPY)] for e in engines], np.int8)[engine]
        # The name first: where there is one copy engine, it does the copies of both directions.
        codes: np.ndarray = np.where(by_name >= 0, by_name, by_engine)
        return codes

    def _kernels(self, spans: np.ndarray, of: np.ndarray, number: dict[Colour, int]) -> np.ndarray:
        names, name = codes_of(spans["name"][of])
        chosen = np.arange(len(names))
        if len(names) > len(KERNELS):  # the names that take most time get a colour of their own
            time = np.bincount(name, spans["end"][of] - spans["start"][of], len(names))
            chosen = np.sort(np.argsort(-time, kind="stable")[: len(KERNELS)])
        code = np.full(len(names), number[OTHER_KERNELS], np.int8)
        for i, n in enumerate(chosen):
            code[n] = len(self.colours)
            self.colours.append(Colour(f"k{i}", str(names[n]), "kernel", "kernels", KERNELS[i], True))
        codes: np.ndarray = code[name]
        return codes

    def _waits(self, spans: np.ndarray, calls: np.ndarray, code: int) -> None:
        """Calls that waited have the cause of the end of their wait, or say so by their name."""
        names, name = codes_of(spans["name"])
        waits = np.array(["Synchronize" in str(n) for n in names], bool)[name]
        self.codes[calls & (waits | (spans["cause"] >= 0))] = code
