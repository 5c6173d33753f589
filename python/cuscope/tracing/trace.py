"""``Trace``: what the host and its devices did during a part of a program."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from os import PathLike
from typing import Any

import numpy as np

from . import dicts, plot, saving, summary, svg, widget
from .spans import SPAN, spans_from_rows

__all__ = ["Trace"]


class Trace:
    """The spans of a part of a program: runtime calls of the host, and work of the devices.

    `cs.trace` makes it. The methods read the table `spans`; none of them changes it.
    """

    _spans: np.ndarray | None = None  # while the trace is recording

    def __init__(
        self,
        spans: np.ndarray,
        *,
        duration: int,
        source: str = "simulation",
        dropped: int = 0,
        devices: Mapping[str, Mapping[str, Any]] | None = None,
        streams: Mapping[int, Mapping[str, Any]] | None = None,
        threads: Mapping[int, str] | None = None,
    ) -> None:
        spans.flags.writeable = False
        self._spans = spans
        self._duration = duration
        self._source = source
        self._dropped = dropped
        self._devices = {name: dict(about) for name, about in (devices or {}).items()}
        self._streams = {number: dict(about) for number, about in (streams or {}).items()}
        self._threads = dict(threads or {})

    @classmethod
    def from_spans(cls, rows: Iterable[Mapping[str, Any]], **attributes: Any) -> Trace:
        """Make a trace from mappings with any of the columns of `spans`.

        The columns `cause`, `call`, `graph` and `range` are positions in ``rows``. Missing columns are 0, -1 or "".
        ``attributes`` are the trace's own: duration, source, dropped, devices, streams, threads.
        """
        spans = spans_from_rows(rows)
        attributes.setdefault("duration", int(spans["end"].max(initial=0)))
        return cls(spans, **attributes)

    @property
    def spans(self) -> np.ndarray:
        """The spans, a structured array sorted by start. It cannot be written to."""
        if self._spans is None:
            raise RuntimeError("the trace is still recording: read it after its with block")
        return self._spans

    @property
    def duration(self) -> int:
        """How long the trace took, in nanoseconds."""
        return self._duration

    @property
    def source(self) -> str:
        """Where the spans come from: "simulation", "cupti" or "events"."""
        return self._source

    @property
    def dropped(self) -> int:
        """How many spans were not kept, because the trace had reached its limit."""
        return self._dropped

    @property
    def devices(self) -> dict[str, dict[str, Any]]:
        """About each device, by name: model, simulated, multiprocessors, copy_engines and bandwidths."""
        return self._devices

    @property
    def streams(self) -> dict[int, dict[str, Any]]:
        """About each stream, by id: device, label, priority and blocking."""
        return self._streams

    @property
    def threads(self) -> dict[int, str]:
        """The names of the host's threads, by number."""
        return self._threads

    def __len__(self) -> int:
        return len(self.spans)

    def __str__(self) -> str:
        """A summary in plain text: engines, the work that took the most time, and the waits of the host."""
        return summary.text(self)

    def __eq__(self, other: object) -> bool:
        """Whether both have the same spans and attributes."""
        if not isinstance(other, Trace):
            return NotImplemented
        return all(getattr(self, name) == getattr(other, name) for name in dicts.ATTRIBUTES) and all(
            np.array_equal(self.spans[column], other.spans[column]) for column in SPAN.names or ()
        )

    __hash__ = None  # type: ignore[assignment]

    def save(self, path: str | PathLike[str]) -> None:
        """Write the trace to a file, or leave the file of this name as it was if that fails.

        The end of ``path`` is .json or .json.gz, for Perfetto (ui.perfetto.dev), chrome://tracing and `load`; or .svg,
        for a picture. Equal traces make equal files. Raises ValueError for other names, and OSError if the file cannot
        be written.

        >>> import cuscope as cs, tempfile
        >>> t = cs.tracing.Trace.from_spans([{"kind": "range", "name": "step", "start": 0, "end": 10, "thread": 0}])
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     t.save(f"{folder}/t.json")
        ...     print(len(cs.tracing.load(f"{folder}/t.json")))
        1
        """
        saving.save(self, path)

    def to_dict(self) -> dict[str, Any]:
        """The trace as a dictionary of plain Python objects: its attributes, and the columns of `spans` as lists.

        >>> from cuscope.tracing import Trace
        >>> t = Trace.from_spans([{"name": "a", "start": 0, "end": 10}, {"name": "b", "start": 4, "end": 9}])
        >>> t.to_dict()["duration"], t.to_dict()["spans"]["start"]
        (10, [0, 4])
        """
        return dicts.to_dict(self)

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Trace:
        """The trace that `to_dict` made the dictionary of, even after it went through JSON.

        Raises ValueError if something is missing, or if the columns do not belong together.

        >>> from cuscope.tracing import Trace
        >>> t = Trace.from_spans([{"name": "a", "start": 0, "end": 10}])
        >>> Trace.from_dict(t.to_dict()) == t
        True
        """
        return dicts.from_dict(data)

    def svg(self, show: str | Iterable[str] | None = None, *, width: int = 960) -> str:
        """Return a picture of the trace as text: an SVG without scripts, below 100 kB, for light and dark pages.

        A notebook shows it without this call. The rows are threads of the host, streams and engines; work that
        overlaps within a row stands in lanes. Neighbours narrower than a pixel are drawn as one box, and the hover
        text says how many they are.

        Args:
            show: the sections to draw, of "ranges", "calls", "streams" and "engines". By default, all.
            width: the width of the picture in pixels, at least 300.

        Raises:
            ValueError: ``show`` names another section, or ``width`` is too small.
        """
        return svg.draw(self, show=show, width=width)

    def plot(self, ax: Any = None, *, show: str | Iterable[str] | None = None) -> Any:
        """Draw the trace with Matplotlib, with the rows and colours of `svg`. Returns the axes.

        Args:
            ax: the axes to draw into. By default, those of a new figure.
            show: the sections to draw, of "ranges", "calls", "streams" and "engines". By default, all.

        Raises:
            ImportError: Matplotlib is not installed.
            ValueError: ``show`` names another section.
        """
        return plot.draw(self, ax, show=show)

    def widget(self, show: str | Iterable[str] | None = None) -> Any:
        """Return a picture for a notebook that you can zoom and pan with the mouse or the keyboard.

        The wheel zooms, dragging pans, the arrow keys pan, + and - zoom, and 0 shows the whole trace.

        Args:
            show: the sections to draw, of "ranges", "calls", "streams" and "engines". By default, all.

        Raises:
            ImportError: anywidget is not installed.
            ValueError: ``show`` names another section.
        """
        return widget.view(self, show=show)

    def _repr_svg_(self) -> str:
        return svg.draw(self)

    def _repr_html_(self) -> str:
        # JupyterLab shows an SVG as an image, which has no hover text and does not know the theme of the page.
        return f"<div>{svg.draw(self)}</div>"
