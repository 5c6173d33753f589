"""A trace as a widget of a notebook: `widget.js` draws it on a canvas, and zooms and pans without Python."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from .axis import extent_of
from .boxes import Boxes, boxes_of
from .colours import Palette, codes_of
from .hover import box_text, clean, span_text
from .rows import rows_of, sections_of
from .style import THEMES

if TYPE_CHECKING:
    from .trace import Trace

__all__ = ["COLUMNS", "MARK", "Packing", "view"]

MOST_BOXES = 250_000  # of the finest level
MOST_TEXTS = 4_000  # boxes of a level that have their whole hover text; others have name and times
COARSEST = 2_000  # resolutions in the whole trace
FINER = 4  # how many times finer the next level is
MOST_LANES = 32  # of a row
MARK = 65_535  # the lane of an event record

# The columns of a level, one after the other, little-endian. Times count from the beginning of the picture.
COLUMNS = (
    ("start", "<f8"),
    ("length", "<f8"),
    ("name", "<u4"),
    ("count", "<u4"),
    ("lane", "<u2"),
    ("colour", "<u2"),
)


def view(trace: Trace, *, show: str | Iterable[str] | None) -> Any:
    return _widget_class()(Packing(trace, sections_of(show)))


@cache
def _widget_class() -> Any:
    try:
        import anywidget
        import traitlets
    except ImportError as error:
        raise ImportError("Trace.widget needs anywidget: pip install anywidget") from error
    base: Any = anywidget.AnyWidget

    class TraceWidget(base):  # type: ignore[misc]
        """The timeline of a trace; the wheel zooms, dragging pans."""

        _esm = Path(__file__).with_name("widget.js").read_text(encoding="utf-8")
        head = traitlets.Dict().tag(sync=True)
        data = traitlets.Bytes().tag(sync=True)

        def __init__(self, packing: Packing) -> None:
            head, data = packing.whole()
            super().__init__(head=head, data=data)
            self.on_msg(lambda _widget, content, _buffers: self._send_window(packing, content))

        def _send_window(self, packing: Packing, content: Any) -> None:
            """The page asks for the spans of a window that its levels show too coarsely."""
            about, data = packing.window(*(float(content[key]) for key in ("from", "to", "resolution")))
            self.send(about, [data])

    return TraceWidget


class Packing:
    """The picture as the widget gets it: a description, and boxes as bytes."""

    def __init__(self, trace: Trace, sections: tuple[str, ...]) -> None:
        self.trace = trace
        self.rows = rows_of(trace, sections, most=64)
        self.palette = Palette(trace.spans)
        self.begin, self.end = extent_of(trace.spans)
        self.names, self.name_of = codes_of(trace.spans["name"])

    def whole(self) -> tuple[dict[str, Any], bytes]:
        """The description of the picture with all its levels, and the boxes of the levels."""
        parts: list[bytes] = []
        levels: list[dict[str, Any]] = []
        for resolution, level in self._levels():
            levels.append({"offset": sum(map(len, parts)), **self._about(level, resolution)})
            parts.append(_bytes(level, self.begin, self.name_of))
        rows = [
            {
                "group": clean(row.group, 80),
                "section": row.section,
                "label": clean(row.label, 60),
                "lanes": min(row.lane_count, MOST_LANES),
            }
            for row in self.rows
        ]
        colours = [
            {"key": c.key, "label": clean(c.label, 60), "fill": c.fill, "ink": c.ink}
            for c in self.palette.colours
        ]
        themes = {
            name: {one: value for classes, _, value in rules for one in classes.split(",")}
            for name, rules in THEMES.items()
        }
        head = {
            "begin": self.begin,
            "end": self.end,
            "rows": rows,
            "colours": colours,
            "names": [clean(name) for name in self.names],
            "levels": levels,
            "themes": themes,
        }
        return head, b"".join(parts)

    def window(self, start: float, end: float, resolution: float) -> tuple[dict[str, Any], bytes]:
        """A level of the spans between two times, which count from the beginning of the picture."""
        resolution = max(resolution, (end - start) / (10 * COARSEST))  # no page is wider
        level = self._boxes(resolution, start + self.begin, end + self.begin)
        about = {"offset": 0, "from": start, "to": end, **self._about(level, resolution)}
        return about, _bytes(level, self.begin, self.name_of)

    def _levels(self) -> Iterator[tuple[float, _Level]]:
        """From coarse to fine, until every span is a box of its own, or there are too many boxes."""
        resolution = (self.end - self.begin) / COARSEST
        first = True
        while True:
            level = self._boxes(resolution)
            boxes = [b for pair in level for b in pair]
            if sum(map(len, boxes)) > MOST_BOXES and not first:
                return
            exact = all(len(b) == int(b.count.sum()) for b in boxes)
            yield (0.0 if exact else resolution), level
            if exact:
                return
            first = False
            resolution = resolution / FINER if resolution > 1 else 0

    def _boxes(self, resolution: float, start: float | None = None, end: float = 0) -> _Level:
        spans, codes = self.trace.spans, self.palette.codes
        level = []
        for row in self.rows:
            of, lanes, ticks = row.spans, row.lanes, row.ticks
            if start is not None:
                inside = (spans["end"][of] >= start) & (spans["start"][of] <= end)
                of, lanes = of[inside], lanes[inside]
                ticks = ticks[(spans["start"][ticks] >= start) & (spans["start"][ticks] <= end)]
            bars = boxes_of(spans, of, lanes, codes, resolution, MOST_LANES)
            level.append((bars, boxes_of(spans, ticks, np.zeros(len(ticks), np.int32), codes, resolution)))
        return level

    def _about(self, level: _Level, resolution: float) -> dict[str, Any]:
        boxes = [b for pair in level for b in pair]
        texts: list[str] = []
        if sum(map(len, boxes)) <= MOST_TEXTS:
            texts = [
                span_text(self.trace, int(b.first[i]))
                if b.count[i] == 1
                else box_text(b, i, self.palette.colours)
                for b in boxes
                for i in range(len(b))
            ]
        return {"resolution": resolution, "counts": list(map(len, boxes)), "texts": texts}


# A level: for each row of the picture the boxes of its bars and of its marks.
_Level = list[tuple[Boxes, Boxes]]


def _bytes(level: _Level, begin: int, name_of: np.ndarray) -> bytes:
    columns: dict[str, list[np.ndarray]] = {name: [] for name, _ in COLUMNS}
    for pair in level:
        for kind, boxes in enumerate(pair):
            columns["start"].append(boxes.start - begin)
            columns["length"].append(boxes.end - boxes.start)
            columns["name"].append(name_of[boxes.first])
            columns["count"].append(boxes.count)
            columns["lane"].append(np.full(len(boxes), MARK) if kind else boxes.lane)
            columns["colour"].append(boxes.code)
    data = b""
    for name, code in COLUMNS:
        some = np.concatenate([np.empty(0, np.int64), *columns[name]])
        data += some.astype(np.dtype(code)).tobytes()
    return data + bytes(-len(data) % 8)
