"""The text that a picture shows when the mouse rests on a span or on a box of merged spans."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from .boxes import Boxes
from .colours import Colour
from .units import bytes_text, rate_text, time_text

if TYPE_CHECKING:
    from .trace import Trace

__all__ = ["box_label", "box_text", "clean", "plural", "short_name", "span_text"]

LONGEST_NAME = 100
_WHY = {
    "stream order": "started when {} before it in its stream ended",
    "event": "started when its event came: {} ended",
    "default stream": "started when {} ended: a rule of the default stream",
    "graph": "started when {} ended: an edge of the graph",
    "queue": "waited in its hardware queue for {}",
    "engine": "waited for its copy engine, busy with {}",
    "multiprocessors": "waited for room on the multiprocessors, taken by {}",
}


def clean(text: object, longest: int = LONGEST_NAME) -> str:
    """A name without the characters that XML forbids, and not longer than ``longest``."""
    some = str(text)[: longest + 1]
    if not some.isprintable():
        some = "".join(c if c.isprintable() else " " if c in "\t\n\r" else "\ufffd" for c in some)
    return some if len(some) <= longest else some[: longest - 1] + "\u2026"


def plural(count: int, noun: str, nouns: str = "") -> str:
    """A count with its noun: 1 kernel, 1,250 kernels."""
    return f"{count:,} {noun if count == 1 else nouns or noun + 's'}"


def short_name(name: str) -> str:
    """The name of a kernel without its template arguments, parameters, return type and namespaces."""
    for bracket in "<(":
        place = name.find(bracket)
        if place > 0:
            name = name[:place]
    return name.rstrip().rpartition(" ")[2].rpartition("::")[2] or name


def box_label(boxes: Boxes, i: int, colours: Sequence[Colour]) -> str:
    """ "37 kernels": the spans of a merged box, of the colour that takes most of its time."""
    colour = colours[boxes.code[i]]
    some = [
        c for c, code in enumerate(boxes.codes) if colours[code].kernel == colour.kernel and colour.kernel
    ]
    if some:
        kinds = np.count_nonzero(boxes.counts[i][some])
        count = int(boxes.counts[i][some].sum())
        return f"{count:,} \u00d7 {short_name(colour.label)}" if kinds == 1 else plural(count, "kernel")
    return plural(int(boxes.counts[i][list(boxes.codes).index(boxes.code[i])]), colour.noun, colour.nouns)


def box_text(boxes: Boxes, i: int, colours: Sequence[Colour]) -> str:
    """The hover text of a merged box: how many spans of which kinds, and how long they took."""
    kernels, others = [], []
    count = 0
    for code, n in zip(boxes.codes, boxes.counts[i], strict=True):
        colour = colours[code]
        if n and colour.kernel:
            count += int(n)
            kernels.append(f"{n:,} {clean(colour.label, 60)}")
        elif n:
            others.append(plural(int(n), colour.noun, colour.nouns))
    if kernels:
        others.insert(0, f"{plural(count, 'kernel')} ({', '.join(kernels)})")
    start, end, busy = int(boxes.start[i]), int(boxes.end[i]), int(boxes.busy[i].sum())
    lines = [", ".join(others), f"{time_text(start)} to {time_text(end)}"]
    if busy:
        lines.insert(1, f"{time_text(busy)} in all, {time_text(busy / int(boxes.count[i]))} each on average")
    return "\n".join(lines)


def span_text(trace: Trace, i: int, level: int = 2) -> str:
    """The hover text of a span. Level 2 is all of it, 1 leaves out the reasons, 0 has only name and time."""
    span = trace.spans[i]
    name = clean(span["name"] or span["kind"])
    took = int(span["end"]) - int(span["start"])
    lines = [
        f"{name}: {time_text(took)}" if took else name,
        f"starts at {_moment(trace, int(span['start']))}",
    ]
    if level == 0:
        return "\n".join(lines)
    lines += _work(span, took)
    if level == 2:
        lines += _reasons(trace, span)
    if span["line"]:
        lines.append(clean(span["line"]))
    return "\n".join(lines)


def _moment(trace: Trace, time: int) -> str:
    """A moment, exact to four digits of the trace's duration."""
    size, unit = next(
        (u for u in ((1e9, "s"), (1e6, "ms"), (1e3, "us")) if trace.duration >= u[0]), (1, "ns")
    )
    text = f"{time / size:.{3 if size > 1 else 0}f}"
    return f"{text.rstrip('0').rstrip('.') if '.' in text else text} {unit}"


def _work(span: np.void, took: int) -> list[str]:
    lines = []
    if span["bytes"] > 0:
        size = int(span["bytes"])
        text = bytes_text(size)
        if span["kind"] in ("copy", "memset") and took:
            text += f" at {rate_text(size / took)}"
        if span["kind"] == "copy" and span["pageable"]:
            text += ", pageable host memory"
        lines.append(text)
    if span["grid"].any():
        text = f"grid {_extent(span['grid'])}, block {_extent(span['block'])}"
        if span["shared_bytes"]:
            text += f", {bytes_text(int(span['shared_bytes']))} of shared memory"
        lines.append(text)
    return lines


def _extent(extent: np.ndarray) -> str:
    x, y, z = map(int, extent)
    return f"{x} x {y} x {z}" if z > 1 else f"{x} x {y}" if y > 1 else f"{x}"


def _reasons(trace: Trace, span: np.void) -> list[str]:
    cause = int(span["cause"])
    known = 0 <= cause < len(trace.spans)
    waited = int(span["start"]) - int(span["issued"])
    late = f", {time_text(waited)} after it was issued" if span["issued"] >= 0 and waited > 0 else ""
    if span["kind"] == "call":
        return [f"waited until {_named(trace, cause)} ended"] if known else []
    if span["reason"] == "issued":
        return ["started as soon as it was issued"]
    if span["reason"] in _WHY:
        other = _named(trace, cause) if known else "other work"
        return [_WHY[span["reason"]].format(other) + late]
    return [f"started {late[2:]}"] if late else []


def _named(trace: Trace, i: int) -> str:
    span: Any = trace.spans[i]
    name = clean(short_name(span["name"]) if span["kind"] == "kernel" else span["name"] or span["kind"], 60)
    if span["stream"] < 0:
        return name
    stream = trace.streams.get(int(span["stream"]), {}).get("label") or f"stream {span['stream']}"
    return f"{name} of {clean(stream, 40)}"
