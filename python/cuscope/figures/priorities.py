"""Priorities of streams: a kernel that fills the device, and a small one behind it."""

from __future__ import annotations

from collections.abc import Callable

from .._core import Stream, current_device
from .._models import Model
from ..tracing import Trace
from .program import COPY, Program, record

__all__ = ["priorities"]


def priorities(model: Model | str = "h200", *, prioritized: bool = True) -> Trace:
    """A kernel with four times as many blocks as fit on the device, and a small kernel that is launched after it.

    When blocks of the large kernel end, waiting blocks of the stream with the greatest priority take their places. With
    a greater priority the small kernel starts when the first blocks of the large kernel end; without it, it starts when
    all of them have started. See the CUDA C++ Programming Guide, "Stream Priorities".

    >>> import cuscope as cs
    >>> first, last = cs.figures.priorities(), cs.figures.priorities(prioritized=False)
    >>> for t in (first, last):
    ...     large, small = t.spans[t.spans["kind"] == "kernel"]
    ...     print(small["start"] == large["end"])
    False
    True
    """

    def prepare(program: Program) -> Callable[[], None]:
        least, greatest = current_device().stream_priority_range
        large, small = Stream(priority=least), Stream(priority=greatest if prioritized else least)

        def run() -> None:
            program.launch(large, part=4, time=4 * COPY)
            program.launch(small, part=0.5)

        return run

    return record(model, prepare)
