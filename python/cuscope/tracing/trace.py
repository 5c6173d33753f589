"""``Trace``: what the host and its devices did during a part of a program."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from os import PathLike
from typing import Any, overload

import numpy as np

from . import analysis, dicts, plot, saving, summary, svg, widget
from .critical_path import CriticalPath, critical_path
from .explain import explain
from .findings import Findings
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
        notes: Iterable[str] = (),
    ) -> None:
        spans.flags.writeable = False
        self._spans = spans
        self._duration = duration
        self._source = source
        self._dropped = dropped
        self._devices = {name: dict(about) for name, about in (devices or {}).items()}
        self._streams = {number: dict(about) for number, about in (streams or {}).items()}
        self._threads = dict(threads or {})
        self._notes = list(notes)

    @classmethod
    def from_spans(cls, rows: Iterable[Mapping[str, Any]], **attributes: Any) -> Trace:
        """Make a trace from mappings with any of the columns of `spans`.

        The columns `cause`, `call`, `graph` and `range` are positions in ``rows``. Missing columns are 0, -1 or "".
        ``attributes`` are the trace's own: duration, source, dropped, devices, streams, threads, notes.
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
        """Where the spans of work come from: "simulation"; for a GPU "events" or "cupti"; "calls" if work has no spans."""
        return self._source

    @property
    def dropped(self) -> int:
        """How many spans were not kept, because the trace had reached its limit."""
        return self._dropped

    @property
    def devices(self) -> dict[str, dict[str, Any]]:
        """About each device, by name: model, simulated, multiprocessors, copy_engines, and pcie_bandwidth in GB/s or None."""
        return self._devices

    @property
    def streams(self) -> dict[int, dict[str, Any]]:
        """About each stream, by id: device, label, priority and blocking."""
        return self._streams

    @property
    def threads(self) -> dict[int, str]:
        """The names of the host's threads, by number."""
        return self._threads

    @property
    def notes(self) -> list[str]:
        """What the trace lacks and how to get it, in sentences: for example that CUPTI is not installed."""
        return self._notes

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
            ax: the axes to draw into. By default, the axes of a new figure.
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

    def _repr_svg_(self) -> str | None:
        return None if self._spans is None else svg.draw(self)

    def _repr_html_(self) -> str | None:
        if self._spans is None:  # it is still recording
            return None
        # JupyterLab shows an SVG as an image, which has no hover text and does not know the theme of the page.
        return f"<div>{svg.draw(self)}</div>"

    def overlap(self, a: Any, b: Any) -> float:
        """The fraction of the time of ``a`` during which ``b`` runs, too: the part that ``b`` hides.

        ``a`` and ``b`` are selections: a kind ("copy"), an engine ("copy to device"), a device ("cuda:0"), an engine of a
        device ("cuda:0 kernels"), the name of a kernel, a call or a range, a stream, its id or its label. A span does not
        hide itself, so ``overlap("kernel", "kernel")`` is the fraction of the time of kernels with two or more of them.
        It is 0 if ``a`` takes no time. Raises ValueError if the trace has nothing of that name; the message lists the
        names that it has.

        >>> from cuscope.tracing import Trace
        >>> t = Trace.from_spans([
        ...     {"kind": "copy", "start": 0, "end": 100, "device": "host:0"},
        ...     {"kind": "kernel", "start": 75, "end": 300, "device": "host:0"},
        ... ])
        >>> t.overlap("copy", "kernel")
        0.25
        """
        return analysis.overlap(self, a, b)

    @overload
    def busy(self) -> dict[str, float]: ...
    @overload
    def busy(self, what: Any) -> float: ...

    def busy(self, what: Any = None) -> float | dict[str, float]:
        """The fraction of the trace's duration during which ``what``, a selection as in `overlap`, runs.

        Without an argument: a dictionary with the fraction of each engine and each stream that worked. Its keys are
        selections, too. If the trace has several devices, the keys begin with the device.

        >>> from cuscope.tracing import Trace
        >>> work = {"kind": "kernel", "device": "host:0", "engine": "kernels", "stream": 7}
        >>> t = Trace.from_spans([{**work, "start": 0, "end": 150}], duration=200)
        >>> t.busy("kernels"), t.busy()
        (0.75, {'kernels': 0.75, 'stream 7': 0.75})
        """
        return analysis.busy(self, what)

    def gaps(self, what: Any = None) -> np.ndarray:
        """The times during which ``what``, a selection as in `overlap`, does not run; None: no device works.

        The answer is a structured array in the order of time with the fields start and end in nanoseconds, and after and
        before: the rows in `spans` of the work on both sides, -1 at the start and the end of the trace. Spans that take
        no time are left out. So the gaps and `busy` add up to the duration.

        >>> from cuscope.tracing import Trace
        >>> t = Trace.from_spans([
        ...     {"kind": "kernel", "start": 0, "end": 10, "device": "host:0"},
        ...     {"kind": "kernel", "start": 30, "end": 40, "device": "host:0"},
        ... ])
        >>> t.gaps().tolist()
        [(10, 30, 0, 1)]
        """
        return analysis.gaps(self, what)

    def critical_path(self) -> CriticalPath:
        """The chain of spans that made the trace as long as it was: each one started when the one before it ended.

        It goes back from the last end: from work to its cause or, if the host had just issued it, to its call; from a call
        to the call before it on its thread or, if the call waited, to the work that it waited for. A GPU does not tell
        causes. There the path takes the latest end in the same stream or on the same copy engine; such a hop is marked
        as inferred.

        >>> from cuscope.tracing import Trace
        >>> t = Trace.from_spans([
        ...     {"kind": "call", "name": "cudaLaunchKernel", "start": 0, "end": 3000, "thread": 0, "line": "p.py:7"},
        ...     {"kind": "kernel", "name": "add", "start": 3400, "end": 9000, "call": 0, "reason": "issued"},
        ... ])
        >>> t.critical_path()
        critical path, 9 us in 3 hops: kernel 5.6 us (62 %), call 3 us (33 %), launch latency 400 ns (4 %)
            start     takes  hop                                      started by       line
             0 ns      3 us  call cudaLaunchKernel                                     p.py:7
             3 us    400 ns  (launch latency)
           3.4 us    5.6 us  kernel add                               issued           p.py:7
        """
        return critical_path(self)

    def explain(self) -> Findings:
        """What bounds the program, and what to change, in sentences with numbers and the line of the program.

        The answer prints as a list of sentences. Each element of its ``findings`` has the sentence, the name of its rule,
        the line, the weight (the most nanoseconds that the change can save; None: not computed) and the rows in `spans` that
        it is about. The sentences about the whole program come first, then advice by descending weight. Savings
        do not add up: two sentences may be about the same time. A rule says nothing if the trace does not have the
        columns that it needs, as on a GPU, which does not tell why work started.

        >>> from cuscope.tracing import Trace
        >>> copy = {"kind": "copy", "engine": "copy to device", "device": "host:0", "line": "p.py:12"}
        >>> t = Trace.from_spans([{**copy, "start": 0, "end": 970, "bytes": 9000}], duration=1000)
        >>> print(t.explain())
        - Copies to the device bound the program: they are busy 970 ns of 1 us (97 %). Copy fewer bytes, for
          example in a smaller dtype, or keep arrays on the device.
        """
        return explain(self)
