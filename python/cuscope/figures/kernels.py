"""Two kernels that need half of the device each, on four pairs of streams."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, get_args

from .._core import Stream
from .._models import Model
from ..tracing import Trace
from .choices import check
from .program import Program, record

__all__ = ["half_kernels"]

Streams = Literal["default", "default and created", "default and non-blocking", "two created"]


def half_kernels(model: Model | str = "h200", *, streams: Streams = "default") -> Trace:
    """Two kernels with room for both: whether they overlap depends on their streams.

    In the legacy default stream they follow each other. So do a kernel in the default stream and one in a created
    stream, because the default stream waits for created streams and they wait for it. A stream with ``non_blocking=True``
    does not take part in this; two created streams do not wait for each other. See the CUDA C++ Programming Guide,
    "Default Stream" and "Concurrent Kernel Execution". Raises ValueError for other ``streams``.

    >>> import cuscope as cs
    >>> for streams in ("default", "default and created", "default and non-blocking", "two created"):
    ...     print(streams, round(cs.figures.half_kernels(streams=streams).overlap("kernel", "kernel")))
    default 0
    default and created 0
    default and non-blocking 1
    two created 1
    """
    check("streams", streams, get_args(Streams))

    def prepare(program: Program) -> Callable[[], None]:
        first: Stream | None = None
        second: Stream | None = None
        if streams == "two created":
            first, second = program.streams(2)
        elif streams != "default":
            [second] = program.streams(1, non_blocking=streams == "default and non-blocking")

        def run() -> None:
            for stream in (first, second):
                program.launch(stream, part=0.5, time=1_000_000)

        return run

    return record(model, prepare)
