"""``Trace``: what the host and its devices did during a part of a program."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from .spans import spans_from_rows

__all__ = ["Trace"]


class Trace:
    """The spans of a part of a program: runtime calls of the host, and work of the devices.

    `cs.trace` makes it. The methods read the table `spans`; none of them changes it.
    """

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
        self._spans = spans
        self._spans.flags.writeable = False
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
        return len(self._spans)
