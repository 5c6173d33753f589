"""A trace in Matplotlib: the rows and the colours of the SVG, in the style of the user's rcParams."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np

from .axis import extent_of
from .boxes import Boxes, boxes_of
from .colours import Colour, Palette
from .hover import box_label, clean
from .labels import is_code, labels_of
from .rows import Row, rows_of, sections_of
from .style import THEMES
from .text_width import fitted

if TYPE_CHECKING:
    from .trace import Trace

__all__ = ["draw"]

MOST_BARS = 20_000  # more spans are merged as in the SVG
LANE = 0.8  # height of a row's only lane; rows are 1 apart
HEADING = 0.9
THEMED = {
    "range": "csRange",
    "call": "csCall",
    "wait": "csHatchB",
    "stall": "csHatchB",
    "graph": "csGraph",
}


def draw(trace: Trace, ax: Any, *, show: str | Iterable[str] | None) -> Any:
    try:
        import matplotlib as mpl
        from matplotlib import pyplot as plt
    except ImportError as error:
        raise ImportError(
            "Trace.plot needs Matplotlib: pip install matplotlib (Trace.svg needs nothing)"
        ) from error
    rows = rows_of(trace, sections_of(show))
    if ax is None:
        width = mpl.rcParams["figure.figsize"][0]
        height = sum(map(_height, rows)) + HEADING * len({row.group for row in rows})
        _, ax = plt.subplots(figsize=(max(width, 9), 1 + 0.28 * max(height, 2)), layout="constrained")
    _Plot(trace, ax, rows).draw()
    return ax


def _height(row: Row) -> float:
    return max(1.0, 0.7 * min(row.lane_count, 16))


class _Plot:
    def __init__(self, trace: Trace, ax: Any, rows: list[Row]) -> None:
        self.trace, self.ax, self.rows = trace, ax, rows
        self.palette = Palette(trace.spans)
        self.begin, self.end = extent_of(trace.spans)
        extent = self.end - self.begin
        units = ((10**9, "s"), (10**6, "ms"), (10**3, "us"))
        self.unit, self.unit_name = next((u for u in units if extent >= 2 * u[0]), (1, "ns"))
        self.ink = _rgb(self._rc("text.color"))
        dark = sum(_rgb(ax.get_facecolor())) < 1.5
        self.theme = {
            c: value for classes, _, value in THEMES["dark" if dark else "light"] for c in classes.split(",")
        }
        self.used: set[int] = set()
        self.named: set[int] = set()

    @staticmethod
    def _rc(name: str) -> Any:
        import matplotlib as mpl

        parameters: Any = mpl.rcParams
        return parameters[name]

    def draw(self) -> None:
        ax = self.ax
        box = ax.get_window_extent()
        self.points = box.width * 72 / ax.figure.dpi / (self.end - self.begin)  # of a nanosecond
        ax.set_xlim(self.begin / self.unit, self.end / self.unit)
        places, y, group = [], 0.0, ""
        total = sum(map(_height, self.rows)) + HEADING * len({row.group for row in self.rows})
        self.points_up = box.height * 72 / ax.figure.dpi / max(total, 1)  # of a row
        for row in self.rows:
            if row.group != group:
                ax.annotate(
                    clean(row.group, 80),
                    (0, y + 0.45),
                    xycoords=("axes fraction", "data"),
                    va="center",
                    fontsize="small",
                    fontweight="bold",
                )
                y, group = y + HEADING, row.group
            height = _height(row)
            self._row(row, y, height)
            places.append(y + height / 2)
            y += height
        ax.set_ylim(max(y, 1), 0)
        ax.set_yticks(places, [clean(row.label, 40) for row in self.rows])
        ax.tick_params(axis="y", length=0)
        ax.set_xlabel(f"time ({self.unit_name})")
        ax.grid(visible=True, axis="x", alpha=0.4)
        ax.grid(visible=False, axis="y")
        ax.set_axisbelow(True)
        for side in ("top", "left", "right"):
            ax.spines[side].set_visible(False)
        if not self.rows:
            ax.text(0.5, 0.5, "This trace has no spans.", ha="center", va="center", transform=ax.transAxes)
        self._legend()

    def _row(self, row: Row, y: float, height: float) -> None:
        spans, codes = self.trace.spans, self.palette.codes
        many = len(spans) > MOST_BARS
        resolution = 0.75 / self.points if many else 0  # a pixel of most screens
        bars = boxes_of(spans, row.spans, row.lanes, codes, resolution, 16 if many else 1 << 30)
        step = height / (int(bars.lane.max(initial=0)) + 1)
        for code in np.unique(bars.code).tolist():
            of = np.flatnonzero(bars.code == code)
            self._bars(row, bars, of, code, y, step)
        if len(row.ticks):
            marks = boxes_of(spans, row.ticks, np.zeros(len(row.ticks), np.int32), codes, 2 / self.points)
            self.used.update(map(int, marks.code))
            x = marks.start / self.unit
            self.ax.vlines(x, y + height * 0.1, y + height * 0.9, color=self.ink, linewidth=1)
            at = np.full(len(x), y + height * 0.14)
            self.ax.plot(x, at, linestyle="", marker="v", markersize=4, color=self.ink)

    def _bars(self, row: Row, bars: Boxes, of: np.ndarray, code: int, y: float, step: float) -> None:
        from matplotlib.collections import PolyCollection

        self.used.add(code)
        x0, x1 = bars.start[of] / self.unit, bars.end[of] / self.unit
        bottom = y + bars.lane[of] * step + step * (1 - LANE) / 2
        top = bottom + step * LANE
        corners = np.stack(
            [np.stack([x0, x1, x1, x0], axis=1), np.stack([bottom, bottom, top, top], axis=1)], axis=2
        )
        colour = self.palette.colours[code]
        wide = (bars.end[of] - bars.start[of]) * self.points
        seam, fill = _rgb(self.ax.get_facecolor()), self._fill(colour)
        hatch = "////" if colour.key in ("wait", "stall") else None
        self.ax.add_collection(
            PolyCollection(
                list(corners),
                facecolor=fill,
                edgecolor=self.theme["csHatchA"] if hatch else [seam if w > 4 else _rgb(fill) for w in wide],
                linewidth=0.5 if hatch else [0.5 if w > 4 else 0.2 for w in wide],
                hatch=hatch,
                label=f"{row.section}: {row.label}: {colour.label}",
            ),
            autolim=False,
        )
        size = min(float(self._size("small")), 9)
        if step * LANE * self.points_up < size:
            return
        for i in np.flatnonzero(wide > 2 * size)[:400].tolist():
            self._text(
                bars, int(of[i]), colour, code, (x0[i] + x1[i]) / 2, (bottom[i] + top[i]) / 2, wide[i], size
            )

    def _text(
        self, bars: Boxes, i: int, colour: Colour, code: int, x: float, y: float, wide: float, size: float
    ) -> None:
        if bars.count[i] > 1:
            labels = [box_label(bars, i, self.palette.colours)]
        else:
            labels = labels_of(self.trace.spans[int(bars.first[i])], colour)
        text = fitted(labels, size, wide - 4)
        if not text:
            return
        if text in labels and not is_code(text) and (bars.count[i] == 1 or not colour.kernel):
            self.named.add(code)
        ink = colour.ink if colour.fill else self.ink
        # A "$" would begin a formula.
        self.ax.text(
            x, y, text, fontsize=size, color=ink, ha="center", va="center", clip_on=True, parse_math=False
        )

    def _size(self, name: str) -> float:
        from matplotlib.font_manager import FontProperties

        return FontProperties(size=name).get_size_in_points()

    def _fill(self, colour: Colour) -> str:
        return colour.fill or self.theme[THEMED.get(colour.key, "csMark")]

    def _legend(self) -> None:
        from matplotlib.patches import Patch
        from matplotlib.transforms import ScaledTranslation

        colours = self.palette.colours
        neutral = ("range", "call", "graph", "event")
        entries = [c for c in sorted(self.used) if c not in self.named and colours[c].key not in neutral]
        if entries:
            patches = [
                Patch(
                    facecolor=self._fill(colours[c]),
                    label=clean(labels_of(None, colours[c])[0], 40),
                    hatch="////" if colours[c].key in ("wait", "stall") else None,
                    edgecolor=self.theme["csHatchA"],
                )
                for c in entries
            ]
            below = ScaledTranslation(0, -36 / 72, self.ax.figure.dpi_scale_trans)  # the label of the axis
            self.ax.legend(
                handles=patches,
                loc="upper left",
                bbox_to_anchor=(0, 0),
                bbox_transform=self.ax.transAxes + below,
                borderaxespad=0,
                ncols=4,
                fontsize="small",
                frameon=False,
            )


def _rgb(colour: Any) -> tuple[float, float, float]:
    from matplotlib.colors import to_rgb

    return to_rgb(colour)
