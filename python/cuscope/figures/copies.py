"""A copy to the device beside a kernel: by the host's memory, and by the way of copying."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, get_args

from .._models import Model
from ..tracing import Trace
from .choices import check
from .program import COPY, Program, record

__all__ = ["copy_and_kernel", "host_memory"]

Copy = Literal["synchronous", "same stream", "different streams"]


def host_memory(model: Model | str = "h200", *, pageable: bool = False) -> Trace:
    """A copy on one stream, then a kernel on another, with page-locked or with pageable memory of the host.

    The call of a page-locked copy returns before the copy starts, so that the kernel is issued at once and both
    overlap. For pageable memory the call returns when the memory has been read: the kernel starts after the copy, which
    takes longer, too. See the CUDA C++ Programming Guide, "Page-Locked Host Memory" and "Overlap of Data Transfer and
    Kernel Execution".

    >>> import cuscope as cs
    >>> cs.figures.host_memory().overlap("kernel", "copy") > 0.9
    True
    >>> cs.figures.host_memory(pageable=True).overlap("kernel", "copy") < 0.1
    True
    """

    def prepare(program: Program) -> Callable[[], None]:
        copying, computing = program.streams(2)
        host, device = program.on_host(pageable=pageable), program.on_device()

        def run() -> None:
            device.copy_from(host, stream=copying)
            program.launch(computing)

        return run

    return record(model, prepare)


def copy_and_kernel(model: Model | str = "h200", *, copy: Copy = "synchronous") -> Trace:
    """A page-locked copy, then a kernel: three ways of copying.

    Synchronous: the host waits for the copy, as cudaMemcpy does, and launches the kernel afterwards. Same stream: the
    host issues both at once, and the kernel starts when the copy ends. Different streams: both overlap, so that the
    kernel must not need the copy. See the CUDA C++ Programming Guide, "Asynchronous Concurrent Execution". Raises
    ValueError for another ``copy``.

    >>> import cuscope as cs
    >>> for copy in ("synchronous", "same stream", "different streams"):
    ...     print(copy, cs.figures.copy_and_kernel(copy=copy).overlap("kernel", "copy") > 0.9)
    synchronous False
    same stream False
    different streams True
    """
    check("copy", copy, get_args(Copy))

    def prepare(program: Program) -> Callable[[], None]:
        first, second = program.streams(2)
        host, device = program.on_host(), program.on_device()

        def run() -> None:
            device.copy_from(host, stream=first)
            if copy == "synchronous":
                first.synchronize()
            program.launch(second if copy == "different streams" else first, time=COPY)

        return run

    return record(model, prepare)
