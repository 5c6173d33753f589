"""The numbers about a trace that the rules of `Trace.explain` share. Each is computed when a rule first needs it."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from .causes import Causes, causes_of, function_of, waiting_calls
from .critical_path import CriticalPath
from .intervals import complement, union
from .selection import device_work, devices_of, of_kinds, rows_by, stream_work
from .spans import ENGINES

if TYPE_CHECKING:
    from .trace import Trace

__all__ = ["Facts"]

LEAST_OF_LINK = 1 << 20  # bytes of a copy whose rate is that of the link
LEAST_SHARE = 0.01  # of the duration: less is not worth a sentence
ALLOCATIONS = {
    "cudaMalloc",
    "cudaMallocPitch",
    "cudaMalloc3D",
    "cudaMallocArray",
    "cudaMalloc3DArray",
    "cudaMallocMipmappedArray",
    "cudaMallocManaged",
    "cudaFree",
    "cudaFreeArray",
    "cudaFreeMipmappedArray",
    "cudaHostAlloc",
    "cudaMallocHost",
    "cudaFreeHost",
    "cudaHostRegister",
    "cudaHostUnregister",
}


class Facts:
    """A trace, and its masks, times and sets of times. A mask has an element for each span."""

    def __init__(self, trace: Trace) -> None:
        self.trace = trace
        self.spans = trace.spans
        self.duration = trace.duration

    def matters(self, time: float, share: float = LEAST_SHARE) -> bool:
        """Whether the time is at least this share of the trace's duration, and more than nothing."""
        return time > 0 and time >= share * self.duration

    def share(self, time: float) -> float:
        return time / self.duration if self.duration else 0.0

    # Columns in one piece each.
    @cached_property
    def starts(self) -> np.ndarray:
        return np.asarray(np.clip(self.spans["start"], 0, self.duration))

    @cached_property
    def ends(self) -> np.ndarray:
        return np.asarray(np.clip(self.spans["end"], 0, self.duration))

    @cached_property
    def takes(self) -> np.ndarray:
        return np.asarray(self.ends - self.starts)

    @cached_property
    def call(self) -> np.ndarray:
        return np.ascontiguousarray(self.spans["call"])

    @cached_property
    def lines(self) -> np.ndarray:
        """The line of each span; of device work without one, the line of its call."""
        lines = self.spans["line"]
        return np.where((lines == "") & (self.call >= 0), lines[self.call], lines)

    @cached_property
    def functions(self) -> np.ndarray:
        """The function of each call, without the marks of its version; "" for other spans."""
        names = self.spans["name"].tolist()
        plain = {name: function_of(name) for name in set(names)}
        return np.where(self.calls, np.array([plain[name] for name in names], object), "")

    @cached_property
    def causes(self) -> Causes:
        return causes_of(self.trace)

    @cached_property
    def path(self) -> CriticalPath:
        return self.trace.critical_path()

    # Masks.
    @cached_property
    def kernels(self) -> np.ndarray:
        return of_kinds(self.spans, "kernel")

    @cached_property
    def copies(self) -> np.ndarray:
        return of_kinds(self.spans, "copy")

    @cached_property
    def work(self) -> np.ndarray:
        return device_work(self.spans)

    @cached_property
    def calls(self) -> np.ndarray:
        return of_kinds(self.spans, "call")

    @cached_property
    def host_functions(self) -> np.ndarray:
        return of_kinds(self.spans, "host function")

    @cached_property
    def allocating(self) -> np.ndarray:
        """Calls that allocate or free memory while the device or the host waits."""
        return np.fromiter((name in ALLOCATIONS for name in self.functions), bool, len(self.spans))

    @cached_property
    def issuers_of_pageable(self) -> np.ndarray:
        """Calls that issued a copy of pageable memory: they wait for a part of it or for all of it."""
        mask = np.zeros(len(self.spans), bool)
        calls = self.call[self.spans["pageable"]]
        mask[calls[calls >= 0]] = True
        return mask

    @cached_property
    def waiting(self) -> np.ndarray:
        """Calls that wait for the device because the program asked for it."""
        waits = waiting_calls(self.spans) | (self.calls & (self.spans["cause"] >= 0))
        return np.asarray(waits & ~self.allocating & ~self.issuers_of_pageable)

    # Sets of times.
    def when(self, rows: np.ndarray) -> np.ndarray:
        """The times of some spans, a mask or rows."""
        return union(self.starts[rows], self.ends[rows])

    @cached_property
    def working(self) -> np.ndarray:
        return self.when(self.work)

    @cached_property
    def idle(self) -> np.ndarray:
        """The times when no device works."""
        return complement(self.working, 0, self.duration)

    @cached_property
    def gaps(self) -> np.ndarray:
        """`Trace.gaps` between work: not the times before the first and after the last."""
        gaps = self.trace.gaps()
        return np.asarray(gaps[(gaps["after"] >= 0) & (gaps["before"] >= 0)])

    @cached_property
    def in_program(self) -> np.ndarray:
        """The times when the host is in no runtime call: it runs the program's own code."""
        return complement(self.when(self.calls), 0, self.duration)

    def delays(self, reason: str) -> tuple[np.ndarray, np.ndarray]:
        """The rows of work that started late for this reason, and since when each could have started otherwise.

        That is the end of the work before it in its stream, the time when the device could see it, and, for work that
        waited for a queue or an engine, the time when it was ready.
        """
        spans = self.spans
        rows = np.flatnonzero((spans["reason"] == reason) & (spans["cause"] >= 0))
        since = np.maximum(spans["issued"][rows], self._ends_before_in_stream[rows])
        known = spans["issued"][rows] >= 0
        if reason in ("queue", "engine"):
            known &= spans["ready"][rows] >= 0
            since = np.maximum(since, spans["ready"][rows])
        late = known & (self.starts[rows] > since)
        return rows[late], since[late]

    @cached_property
    def _ends_before_in_stream(self) -> np.ndarray:
        """When the span before each span in its stream ended; 0: none."""
        found = np.zeros(len(self.spans), np.int64)
        rows = np.flatnonzero(stream_work(self.spans) & (self.spans["graph"] < 0))
        for inside in rows_by(self.spans["stream"][rows], rows).values():
            found[inside[1:]] = np.maximum.accumulate(self.ends[inside])[:-1]
        return found

    # Parts.
    @cached_property
    def devices(self) -> list[tuple[str, dict[str, Any], np.ndarray]]:
        """Each device: its name, its entry in `Trace.devices`, the mask of its spans."""
        names = devices_of(self.trace)
        return [(name, self.trace.devices.get(name, {}), self.spans["device"] == name) for name in names]

    @cached_property
    def links(self) -> dict[str, float]:
        """The bandwidth of the host's link to each device for which it is known, in GB/s.

        It is the model's, or else the best rate of large copies of page-locked memory in the trace.
        """
        engine, bytes_ = self.spans["engine"], self.spans["bytes"]
        large = self.copies & ~self.spans["pageable"] & (bytes_ >= LEAST_OF_LINK)
        large &= (engine == "copy to device") | (engine == "copy to host")
        found = {}
        for device, about, here in self.devices:
            rows = np.flatnonzero(large & here)
            if about.get("pcie_bandwidth"):
                found[device] = float(about["pcie_bandwidth"])
            elif len(rows):
                found[device] = float((bytes_[rows] / np.maximum(self.takes[rows], 1)).max())
        return found

    @cached_property
    def engines(self) -> list[tuple[str, str, np.ndarray, np.ndarray]]:
        """Each engine that worked: its device, its name, its rows and its times."""
        found = []
        for device, _, here in self.devices:
            for engine, rows in self.grouped(np.flatnonzero(here), self.spans["engine"]).items():
                if engine:
                    found.append((device, engine, rows, self.when(rows)))
        return sorted(found, key=lambda one: (one[0], ENGINES.index(one[1])))

    def by_line(self, mask: np.ndarray) -> dict[str, np.ndarray]:
        """The rows of the mask for each line."""
        return self.grouped(np.flatnonzero(mask), self.lines)

    @staticmethod
    def grouped(rows: np.ndarray, column: np.ndarray) -> dict[Any, np.ndarray]:
        """Some rows for each value of a column of objects, in the order of their first appearance."""
        values = column[rows].tolist()
        numbers = {value: i for i, value in enumerate(dict.fromkeys(values))}
        found = rows_by(np.fromiter(map(numbers.__getitem__, values), np.int64, len(values)), rows)
        return {value: found[i] for value, i in numbers.items()}

    def main_line(self, rows: np.ndarray) -> str:
        """The line whose spans take longest, of these rows."""
        parts = self.grouped(rows, self.lines)
        return str(max(parts, key=lambda line: int(self.takes[parts[line]].sum()))) if parts else ""
