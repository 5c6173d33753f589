"""Times: of the device between two events, of the pieces of work in a trace, and those measured on a GPU before."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from .._core import Stream, current_stream
from ..tracing import Trace

__all__ = ["milliseconds", "results", "work"]


def milliseconds(run: Callable[[], object], stream: Stream | None = None) -> float:
    """The device's time for the work that ``run`` puts into the stream (default: the current one), between two events.

    On a simulated device it is the time of the model.

    >>> import cuscope as cs
    >>> from cuscope import course
    >>> x = cs.zeros(1000)
    >>> course.milliseconds(lambda: x.fill(1)) > 0
    True
    """
    stream = current_stream() if stream is None else stream
    start = stream.record()
    run()
    stop = stream.record()
    stop.synchronize()
    return stop - start


def work(trace: Trace, name: str, stream: Stream | int | None = None) -> list[tuple[int, int]]:
    """The pieces of work of this name in a trace, as (start, end) in nanoseconds, in the order of their starts.

    ``stream`` chooses the work of one stream, by the stream or its id.

    >>> import cuscope as cs
    >>> from cuscope import course
    >>> [one, other] = course.work(cs.figures.half_kernels(streams="default"), "kernel")
    >>> other[0] == one[1]
    True
    """
    spans = trace.spans[trace.spans["device"] != ""]
    chosen = spans["name"] == name
    if stream is not None:
        chosen &= spans["stream"] == (stream.id if isinstance(stream, Stream) else stream)
    return [(int(span["start"]), int(span["end"])) for span in spans[chosen]]


def results(name: str, device: str = "h200") -> dict[str, Any]:
    """Times that were measured on a GPU: "matmul", "reductions" or "topics" (additions, walks, transposes).

    ``device`` is "h200" for an NVIDIA H200, or "h100" for an NVIDIA H100, which has "matmul" alone. The entry "device" names
    the GPU, "what" the benchmark and its units, and "rows" has the numbers. Raises ValueError for another name or device.

    >>> from cuscope import course
    >>> course.results("reductions")["device"]
    'NVIDIA H200'
    """
    folder = Path(__file__).parent / "results"
    names = sorted(path.stem for path in folder.glob("*.json"))
    if f"{device}_{name}" not in names:
        there = ", ".join(" of ".join(reversed(each.split("_"))) for each in names)
        raise ValueError(f"name, device: there are no results {name!r} of {device!r}; there are {there}")
    found: dict[str, Any] = json.loads((folder / f"{device}_{name}.json").read_text())
    return found
