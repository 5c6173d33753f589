"""``cs.trace``: records what the host and its devices do."""

from __future__ import annotations

import threading
import warnings
from functools import cache
from types import TracebackType
from typing import Any, SupportsIndex

from .. import _core
from .._models import models
from .._wheels import wheel_folders
from . import ranges
from .records import spans_of_parts
from .trace import Trace

__all__ = ["trace"]

MOST_BYTES = 512 << 20

_core.set_range_variable(ranges.innermost_range)


class _Ranges:
    """Hands the ranges of `cs.range` to the recordings that run."""

    range_begin = staticmethod(_core.begin_range)
    range_end = staticmethod(_core.end_range)


_RANGES = _Ranges()
# Held while the recorder of ranges is chosen: another thread may begin a trace while one ends here.
_SETTING = threading.Lock()


class trace:  # noqa: N801 - used like a function
    """Record what the host and its devices do in a part of a program.

    ``with cs.trace() as t:`` records the calls of all host threads, and the work of all devices that ends before the
    block does. Afterwards ``t`` is a `Trace`. On a simulated device the spans are exact, and recording changes no time.
    On a GPU, events around the work measure it; or CUPTI, NVIDIA's library for traces, if the environment variable
    ``CUSCOPE_TRACE_GPU`` is 1. If CUPTI is missing or serves another tool, a warning and `Trace.notes` say so.

    Parameters
    ----------
    limit
        The most bytes that the records may take. Spans beyond it are counted in `Trace.dropped`.
    wait
        Wait for all devices at the end of the block, as `Device.synchronize` does, so that the trace has all the work
        that the block has issued. There is no wait if the block raises. Streams that are being captured are left out.

    Examples
    --------
    >>> import cuscope as cs
    >>> x = cs.zeros(1024)
    >>> cs.synchronize()
    >>> with cs.trace() as t:
    ...     x.fill(1)
    >>> t.spans["kind"].tolist()
    ['call', 'memset']
    """

    def __init__(self, *, limit: int = MOST_BYTES, wait: bool = True) -> None:
        if not isinstance(limit, SupportsIndex):
            raise TypeError(f"limit: takes an int, the most bytes of records, not {type(limit).__name__}")
        if limit < 0:
            raise ValueError(f"limit: {limit} bytes; it is 0 or more")
        self._limit = limit
        self._wait = wait
        self._running: list[tuple[Any, Trace]] = []

    def __enter__(self) -> Trace:
        _core.set_wheel_folders(wheel_folders())
        recorder = _core.Recorder(self._limit)
        recorder.start()
        try:
            _warn(recorder.problems())
        except Warning:  # warnings are errors in this program
            recorder.stop()
            raise
        with _SETTING:
            ranges.set_recorder(_RANGES)
        self._running.append((recorder, Trace.__new__(Trace)))
        return self._running[-1][1]

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        recorder, made = self._running.pop()
        try:
            if self._wait and kind is None:
                recorder.wait()
        finally:
            recorder.stop()
            with _SETTING:
                if not _core.recording():
                    ranges.set_recorder(None)
            spans, about = spans_of_parts(recorder.parts(), _core.activity_names())
            devices = {device.name: _about(device) for device in recorder.devices()}
            Trace.__init__(made, spans, devices=devices, **about)


def _warn(problems: dict[str, str]) -> None:
    for problem in problems.values():
        warnings.warn(f"cs.trace: {problem}", RuntimeWarning, stacklevel=3)


@cache
def _links() -> dict[str, float]:
    """The bandwidth of the host's link for each model of a simulated device, in GB/s."""
    return {model.name: model.host_to_device_rate for model in models()}


def _about(device: _core.Device) -> dict[str, Any]:
    return {
        "model": device.model,
        "pcie_bandwidth": _links().get(device.model.removesuffix(" model")) if device.simulated else None,
        "simulated": device.simulated,
        "multiprocessors": device.properties.multiprocessor_count,
        "copy_engines": device.properties.async_engine_count,
    }
