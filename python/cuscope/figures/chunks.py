"""Chunks of data that are copied in, computed and copied out: on one stream, and on two in both orders of issue."""

from __future__ import annotations

from collections.abc import Callable

from .._models import Model
from ..tracing import Trace
from .program import COPY, Program, record

__all__ = ["breadth_first", "depth_first", "one_stream"]

Step = Callable[[int], None]


def one_stream(model: Model | str = "h200", *, chunks: int = 2, kernel: float = 1) -> Trace:
    """One stream copies chunks in, computes them and copies them out: nothing overlaps.

    A copy in takes about 200 us on every model, a kernel ``kernel`` times 200 us. See the CUDA C++ Programming Guide,
    "Streams".

    >>> import cuscope as cs
    >>> t = cs.figures.one_stream("k20x")
    >>> t.overlap("copy", "kernel")
    0.0
    """
    return record(model, lambda program: _chunks(program, 1, chunks, kernel, depth=True))


def depth_first(
    model: Model | str = "h200", *, chunks: int = 2, streams: int = 2, kernel: float = 1
) -> Trace:
    """Streams by turns: the copy in, the kernel and the copy out of a chunk are issued before the next chunk.

    A device with two copy engines copies one chunk in while another one is computed or copied out. With one copy
    engine (`c1060`) the next copy in waits for the copy out before it, and nothing overlaps. A copy in takes
    about 200 us on every model, a kernel ``kernel`` times 200 us. See the CUDA C++ Programming Guide, "Overlapping Behavior".

    >>> import cuscope as cs
    >>> cs.figures.depth_first("c1060").overlap("copy", "kernel")
    0.0
    >>> cs.figures.depth_first("h200").overlap("copy", "kernel") > 0.4
    True
    """
    return record(model, lambda program: _chunks(program, streams, chunks, kernel, depth=True))


def breadth_first(
    model: Model | str = "h200", *, chunks: int = 2, streams: int = 2, kernel: float = 1
) -> Trace:
    """Streams with a chunk each: first all copies in are issued, then all kernels, then all copies out.

    Then even a device with one copy engine (`c1060`) copies while it computes. On `fermi` the copies out start late:
    the device sees the ends of kernels that were issued one behind the other together. Arguments as in `depth_first`.
    See the CUDA C++ Programming Guide, "Overlapping Behavior".

    >>> import cuscope as cs
    >>> for model in ("c1060", "fermi"):
    ...     depth, breadth = cs.figures.depth_first(model), cs.figures.breadth_first(model)
    ...     print(model, "breadth first" if breadth.duration < depth.duration else "depth first")
    c1060 breadth first
    fermi depth first
    """
    return record(model, lambda program: _chunks(program, streams, chunks, kernel, depth=False))


def _chunks(program: Program, streams: int, chunks: int, kernel: float, *, depth: bool) -> Callable[[], None]:
    for argument, value in (("chunks", chunks), ("streams", streams)):
        if value < 1:
            raise ValueError(f"{argument}: {value}; there is at least one")
    of = program.streams(streams)
    host = [program.on_host() for _ in range(chunks)]
    device = [program.on_device() for _ in range(chunks)]

    steps: tuple[Step, ...] = (
        lambda i: device[i].copy_from(host[i], stream=of[i % streams]),
        lambda i: program.launch(of[i % streams], time=kernel * COPY),
        lambda i: device[i].copy_to(host[i], stream=of[i % streams]),
    )

    def run() -> None:
        together = 1 if depth else streams
        for first in range(0, chunks, together):
            for step in steps:
                for i in range(first, min(first + together, chunks)):
                    step(i)

    return run
