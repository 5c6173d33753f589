"""A graph beside a stream."""

from __future__ import annotations

from collections.abc import Callable

from .._core import Graph
from .._models import Model
from ..tracing import Trace
from .program import COPY, THREADS, Program, record

__all__ = ["graph_beside_stream"]


def graph_beside_stream(model: Model | str = "h200") -> Trace:
    """A graph of a copy, two kernels and a copy is launched into one stream, beside a kernel on another stream.

    Each node starts when the nodes before it have ended, so that both kernels of the graph run at the same time. The
    kernel on the other stream does not wait for the graph. See the CUDA C++ Programming Guide, "CUDA Graphs".

    >>> import cuscope as cs
    >>> t = cs.figures.graph_beside_stream()
    >>> t.spans["name"][t.spans["graph"] >= 0].tolist()
    ['host to device', 'kernel', 'kernel', 'device to host']
    """

    def prepare(program: Program) -> Callable[[], None]:
        launching, beside = program.streams(2)
        host, device = program.on_host(), program.on_device()
        kernel = program.kernel.configure(grid=program.blocks(0.25), block=THREADS, duration=COPY * 1e-9)
        graph = Graph()
        copied = graph.add_copy(device, host)
        computed = [graph.add_kernel(kernel, args=(), after=copied) for _ in range(2)]
        graph.add_copy(host, device, after=computed)
        executable = graph.instantiate()

        def run() -> None:
            executable.launch(launching)
            program.launch(beside, time=3 * COPY)

        return run

    return record(model, prepare)
