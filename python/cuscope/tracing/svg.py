"""A trace as an SVG: one file without scripts, for light and dark pages, below 100 kB however long the trace is."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING

import numpy as np

from .._theme import IDENTITY, identified
from .axis import extent_of, ticks_of
from .boxes import Boxes, boxes_of
from .colours import Colour, Palette
from .hover import box_label, box_text, clean, plural, span_text
from .labels import is_code, labels_of
from .rows import Row, rows_of, sections_of
from .style import style_sheet
from .text_width import fitted, text_width

if TYPE_CHECKING:
    from .trace import Trace

__all__ = ["LIMIT", "draw"]

LIMIT = 100_000  # bytes
SMALLEST_BOX = 90  # bytes of a box; more boxes than LIMIT / SMALLEST_BOX cannot fit
MARGIN, INDENT, GAP = 12, 10, 3  # pixels
THEMED = {"range": "csRange", "call": "csCall", "wait": "csHatch", "graph": "csGraph", "stall": "csHatch"}
NEUTRAL = ("range", "call", "graph")  # their rows and names explain them


@dataclass(frozen=True)
class _Detail:
    """How much a picture shows. The first detail whose picture is small enough is drawn."""

    pixels: float  # boxes narrower than this are merged
    streams: int  # how much of the hover text: see span_text
    engines: int
    rows: int  # most rows of a group
    lanes: int  # most lanes of a row


_DETAILS = (
    _Detail(1, 2, 2, 16, 16),
    _Detail(1, 2, 1, 16, 16),
    _Detail(1, 1, 0, 16, 16),
    _Detail(1, 0, 0, 16, 16),
    _Detail(2, 0, 0, 16, 16),
    _Detail(4, 0, 0, 16, 16),
    _Detail(8, 0, 0, 16, 12),
    _Detail(16, 0, 0, 12, 8),
    _Detail(32, 0, 0, 8, 4),
    _Detail(1e9, 0, 0, 5, 1),
)


def draw(trace: Trace, *, show: str | Iterable[str] | None = None, width: int = 960) -> str:
    """The picture of a trace, ``width`` pixels wide, with the sections ``show`` (see `rows.SECTIONS`)."""
    sections = sections_of(show)
    if width < 300:
        raise ValueError(f"width is {width}; a picture is at least 300 pixels wide")
    palette = Palette(trace.spans)
    rows: list[Row] = []
    drawing, text = None, ""
    for i, detail in enumerate(_DETAILS):
        last = i == len(_DETAILS) - 1
        if i == 0 or detail.rows != _DETAILS[i - 1].rows:
            rows = rows_of(trace, sections, detail.rows)
        if not rows:
            return _identified([_empty(width)], width, 96, [])
        if drawing is None or not drawing.same_boxes(rows, detail):
            drawing = _Drawing(trace, palette, rows, detail, width)
        drawing.detail = detail
        if last or drawing.box_count * SMALLEST_BOX < LIMIT:
            text = drawing.text()
            if len(text.encode()) < LIMIT:
                break
    return text


def _identified(body: list[str], width: int, height: float, colours: list[Colour]) -> str:
    """The whole picture."""
    size = f"{width}", f"{height:.0f}"
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" id="{IDENTITY}" class="cuscope-trace" role="img" '
        f'aria-label="Timeline of a trace" width="{size[0]}" height="{size[1]}" viewBox="0 0 {size[0]} {size[1]}" '
        'style="max-width:100%;height:auto">'
    )
    patterns = (  # diagonal stripes for waits, thin upright lines for boxes of many spans
        f'<defs><pattern id="{IDENTITY}h" width="6" height="6" patternUnits="userSpaceOnUse" '
        'patternTransform="rotate(45)"><rect class="csHatchB" width="6" height="6"/>'
        '<rect class="csHatchA" width="2.4" height="6"/></pattern>'
        f'<pattern id="{IDENTITY}m" width="3" height="6" patternUnits="userSpaceOnUse">'
        '<rect class="csPaper" width="0.7" height="6" opacity="0.45"/></pattern></defs>'
    )
    paper = f'<rect class="csPaper" width="{size[0]}" height="{size[1]}" rx="6"/>'
    return identified(
        "\n".join([head, style_sheet(IDENTITY, colours), patterns, paper, *body, "</svg>"]), "cs"
    )


def _empty(width: int) -> str:
    lines = (
        ("csInk csM csBold", 44, "Nothing to draw: this trace has no spans."),
        ("csSoft csM", 64, "Copies, kernels and runtime calls inside `with cs.trace() as t:` appear here."),
    )
    return "\n".join(
        f'<text class="{style}" x="{width / 2:.0f}" y="{y}">{_text(text)}</text>' for style, y, text in lines
    )


class _Drawing:
    def __init__(self, trace: Trace, palette: Palette, rows: list[Row], detail: _Detail, width: int) -> None:
        self.trace, self.palette, self.rows, self.detail, self.width = trace, palette, rows, detail, width
        self.begin, self.end = extent_of(trace.spans)
        labels = [text_width(clean(row.label, 24), 11) for row in rows]
        self.left = round(MARGIN + INDENT + min(max([60.0, *labels]), 180) + 12)
        self.plot = width - self.left - MARGIN
        self.scale = self.plot / (self.end - self.begin)
        resolution = detail.pixels / self.scale
        spans, codes = trace.spans, palette.codes
        self.bars = [boxes_of(spans, r.spans, r.lanes, codes, resolution, detail.lanes) for r in rows]
        marks = max(detail.pixels, 2) / self.scale
        self.marks = [boxes_of(spans, r.ticks, np.zeros(len(r.ticks), np.int32), codes, marks) for r in rows]
        self.box_count = sum(map(len, self.bars)) + sum(map(len, self.marks))

    def same_boxes(self, rows: list[Row], detail: _Detail) -> bool:
        """Whether this drawing has the boxes of ``detail``: only the hover texts differ."""
        mine = self.detail
        return rows is self.rows and (mine.pixels, mine.lanes) == (detail.pixels, detail.lanes)

    def text(self) -> str:
        self.used: set[int] = set()  # colours of the picture
        self.named: set[int] = set()  # colours that a bar names in full
        body: list[str] = []
        bands: list[str] = []
        pieces: list[list[float]] = []  # where lines of the grid begin and end: not across the headings
        y = 26.0
        group = section = ""
        for row, bars, marks in zip(self.rows, self.bars, self.marks, strict=True):
            if row.group != group:
                y += 8 if group else 4
                label = _text(clean(row.group, 80))
                body.append(f'<text class="csInk csBold" x="{MARGIN}" y="{y + 12:.0f}">{label}</text>')
                y += 18
                section = row.section
                pieces.append([y, y])
            elif section == "streams" and row.section == "engines":
                y += 3
                body.append(
                    f'<text class="csSoft csCaption" x="{MARGIN + INDENT}" y="{y + 10:.0f}">ENGINES</text>'
                )
                y += 14
            section, group = row.section, row.group
            y += self._row(bands, body, row, bars, marks, y) + GAP
            pieces[-1][1] = y
        bottom = y + 2
        axis = self._axis(pieces)
        legend, height = self._legend(bottom + 6)
        note = self._note(height)
        colours = [self.palette.colours[c] for c in sorted(self.used)]
        return _identified(
            [*bands, axis, *body, *legend, *note], self.width, height + (18 if note else 0), colours
        )

    def _axis(self, pieces: list[list[float]]) -> str:
        parts = []
        for time, label in ticks_of(self.begin, self.end, max(self.plot // 90, 2)):
            x = self._x(time)
            half = text_width(label, 11) / 2
            lines = "".join(f"M{x:.1f} {top:.0f}V{bottom:.0f}" for top, bottom in pieces)
            parts.append(f'<path class="csGrid" d="{lines}"/>')
            x = min(x, self.width - 4 - half)  # the last label stays within the picture
            parts.append(f'<text class="csSoft csM" x="{x:.1f}" y="16">{label}</text>')
        if ticks_of(self.begin, self.end, 2)[0][1].startswith("+"):
            start = f"from {self.begin / 1e9:.6f} s"
            parts.append(f'<text class="csSoft" x="{MARGIN}" y="16">{start}</text>')
        return "".join(parts)

    def _x(self, time: float) -> float:
        return self.left + (time - self.begin) * self.scale

    def _row(self, bands: list[str], body: list[str], row: Row, bars: Boxes, marks: Boxes, y: float) -> float:
        lanes = int(bars.lane.max(initial=0)) + 1
        lane_height = 20 if lanes == 1 else 16 if lanes <= 8 else max(6, 128 // lanes)
        height = lanes * lane_height + 2
        label = _text(fitted([clean(row.label, 60)], 11, self.left - MARGIN - INDENT - 8))
        middle = y + height / 2 + 4
        body.append(
            f'<text class="csInk csLabel" x="{MARGIN + INDENT}" y="{middle:.1f}"><title>'
            f"{_text(clean(row.about, 300))}</title>{label}</text>"
        )
        size = " csSmall" if lanes > 1 else ""
        bands.append(
            f'<rect class="csBand" x="{self.left}" y="{y:.0f}" width="{self.plot}" height="{height}" rx="3"/>'
        )
        body.append(f'<g class="csRow{size}" transform="translate({self.left} {y + 1:.0f})">')
        starts = ((bars.start - self.begin) * self.scale).tolist()
        ends = ((bars.end - self.begin) * self.scale).tolist()
        tops = (bars.lane * lane_height).tolist()
        codes = bars.code.tolist()
        for i, (x0, x1, top) in enumerate(zip(starts, ends, tops, strict=True)):
            wide = max(x1 - x0, 0.8)
            wide -= 0.6 if wide > 3 else 0  # a seam between neighbours
            body.append(
                self._bar(row, bars, i, codes[i], min(x0, self.plot - 0.8), wide, top, lane_height - 1)
            )
        for i in range(len(marks)):
            body.append(self._mark(row, marks, i, height - 2))
        body.append("</g>")
        return height

    def _style(self, code: int) -> str:
        self.used.add(code)
        key = self.palette.colours[code].key
        return THEMED.get(key, f"cs-{key}")

    def _bar(
        self, row: Row, bars: Boxes, i: int, code: int, x: float, wide: float, top: float, high: float
    ) -> str:
        parts = []
        strip = (top, high)
        if bars.count[i] > 1:
            hover = box_text(bars, i, self.palette.colours)
            strata = self._strata(bars, i, top, high)
            strip = max(((y, h) for c, y, h in strata if c == code), key=lambda s: s[1])
        else:
            level = self.detail.engines if row.section == "engines" else self.detail.streams
            hover = span_text(self.trace, int(bars.first[i]), level)
            strata = [(code, top, high)]
        for c, y, h in strata:
            rounded = ' rx="2"' if wide > 5 and len(strata) == 1 else ""
            parts.append(
                f'<rect class="{self._style(c)}" x="{x:.1f}" y="{_short(y)}" width="{wide:.1f}" '
                f'height="{_short(h)}"{rounded}/>'
            )
        if bars.count[i] > 1 and wide > 6:
            parts.append(
                f'<rect class="csMany" x="{x:.1f}" y="{_short(top)}" width="{wide:.1f}" height="{_short(high)}"/>'
            )
        text = self._bar_text(bars, i, code, x, wide, *strip) if wide > 14 and strip[1] >= 12 else ""
        return f"<g><title>{_text(hover)}</title>{''.join(parts)}{text}</g>"

    def _strata(self, bars: Boxes, i: int, top: float, high: float) -> list[tuple[int, float, float]]:
        """The colours of a merged box, above each other, each as high as its share of the time."""
        share = bars.busy[i] if bars.busy[i].any() else bars.counts[i]
        some = [(int(c), float(s)) for c, s in zip(bars.codes, share, strict=True) if s > 0]
        some.sort()
        whole = sum(s for _, s in some)
        strata, y = [], top
        for c, s in some:
            h = round(high * s / whole, 1)
            if h >= 0.5:
                strata.append((c, round(y, 1), h))
                y += h
        return strata

    def _bar_text(
        self, bars: Boxes, i: int, code: int, x: float, wide: float, top: float, high: float
    ) -> str:
        colour = self.palette.colours[code]
        size = 11.0 if high >= 17 else 9.5
        if bars.count[i] > 1:
            labels = [box_label(bars, i, self.palette.colours)]
        else:
            labels = labels_of(self.trace.spans[int(bars.first[i])], colour)
        text = fitted(labels, size, wide - 5)
        if not text:
            return ""
        if (
            text in labels
            and not is_code(text)
            and ("\u00d7" in text or bars.count[i] == 1 or not colour.kernel)
        ):
            self.named.add(code)
        ink = "csInk" if not colour.fill else "csW" if colour.ink == "#fff" else "csD"
        y = top + high / 2 + size * 0.36
        return f'<text class="{ink} csM" x="{x + wide / 2:.1f}" y="{y:.1f}">{_text(text)}</text>'

    def _mark(self, row: Row, marks: Boxes, i: int, height: float) -> str:
        code = int(marks.code[i])
        self.used.add(code)
        colour = self.palette.colours[code]
        style = f"cs-{colour.key}" if colour.fill else "csMark"
        level = self.detail.streams if row.section == "streams" else 0
        one = marks.count[i] == 1
        hover = (
            span_text(self.trace, int(marks.first[i]), level)
            if one
            else box_text(marks, i, self.palette.colours)
        )
        x = (marks.start[i] - self.begin) * self.scale
        wide = max((marks.end[i] - marks.start[i]) * self.scale, 0)
        shape = f"M{x - 3.5:.1f} 0h{wide + 7:.1f}L{x + wide + 0.6:.1f} 6V{height:.0f}H{x - 0.6:.1f}V6z"
        if wide > 3:
            shape = f"M{x:.1f} 0h{wide:.1f}v4h-{wide:.1f}z"
        return f'<g><title>{_text(hover)}</title><path class="{style}" d="{shape}"/></g>'

    def _legend(self, y: float) -> tuple[list[str], float]:
        """The colours that no bar names; and where the picture ends."""
        colours = self.palette.colours
        order = sorted(self.used, key=lambda c: (colours[c].key == "others", c))
        entries = [c for c in order if c not in self.named and colours[c].key not in NEUTRAL]
        if not entries:
            return [], y + 4
        parts, x = [], float(self.left)
        y += 4
        for c in entries:
            colour = colours[c]
            label = clean(labels_of(None, colour)[0], 40)
            wide = 18 + text_width(label, 11) + 16
            if x > self.left and x + wide > self.width:
                x, y = self.left, y + 18
            if colour.key == "event":
                shape = f"M{x + 2:.0f} {y:.0f}h7L{x + 6.1:.1f} {y + 6:.0f}v6h-1.2v-6z"
                parts.append(f'<path class="csMark" d="{shape}"/>')
            else:
                style = THEMED.get(colour.key, f"cs-{colour.key}")
                parts.append(f'<rect class="{style}" x="{x:.0f}" y="{y:.0f}" width="12" height="12" rx="2"/>')
            parts.append(f'<text class="csSoft" x="{x + 17:.0f}" y="{y + 10:.0f}">{_text(label)}</text>')
            x += wide
        return parts, y + 22

    def _note(self, y: float) -> list[str]:
        if not self.trace.dropped:
            return []
        text = f"{plural(self.trace.dropped, 'more span')} not kept: the trace had reached its limit."
        return [f'<text class="csSoft" x="{self.left}" y="{y + 8:.0f}">{text}</text>']


def _text(text: str) -> str:
    return escape(text, quote=False)


def _short(value: float) -> str:
    return f"{value:.1f}".removesuffix(".0")
