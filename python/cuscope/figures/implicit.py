"""Implicit synchronization: two kernels on two streams, and one more operation between them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, get_args

import numpy as np

from .._core import empty_plain, pinned_empty
from .._models import Model
from ..tracing import Trace
from .choices import check
from .program import Program, record

__all__ = ["implicit_synchronization"]

Operation = Literal[
    "none",
    "page-locked allocation",
    "device allocation",
    "memset",
    "copy on device",
    "default stream",
    "shared memory configuration",
]


def implicit_synchronization(model: Model | str = "h200", *, operation: Operation = "none") -> Trace:
    """Kernels of 2 ms on two streams, and between them an operation of the list in the CUDA C++ Programming Guide.

    A memset, a copy on the device and a kernel go to the legacy default stream, where cudaMemset and cudaMemcpy put
    them. Such an operation waits for the first kernel, and the second one waits for it. The allocations, and the other
    shared memory configuration, only take the host's time: on simulated devices the kernels overlap. See the CUDA C++
    Programming Guide, "Implicit Synchronization". Raises ValueError for another ``operation``.

    >>> import cuscope as cs
    >>> for operation in ("none", "memset", "device allocation"):
    ...     print(operation, cs.figures.implicit_synchronization(operation=operation).overlap("kernel", "kernel") > 0.5)
    none True
    memset False
    device allocation True
    """
    check("operation", operation, get_args(Operation))

    def prepare(program: Program) -> Callable[[], None]:
        first, second = program.streams(2)
        source, destination = program.on_device(), program.on_device()
        size = program.bytes
        kernel = program.kernel
        operations: dict[str, Callable[[], object]] = {
            "none": lambda: None,
            "page-locked allocation": lambda: program.keep(pinned_empty(size, np.uint8)),
            "device allocation": lambda: program.keep(empty_plain(size, np.uint8)),
            "memset": lambda: destination.fill(1),
            "copy on device": lambda: destination.copy_from(source),
            "default stream": program.launch,
            "shared memory configuration": lambda: setattr(kernel, "preferred_shared_memory_carveout", 50),
        }

        def run() -> None:
            program.launch(first, time=2_000_000)
            operations[operation]()
            program.launch(second, time=2_000_000)

        return run

    return record(model, prepare)
