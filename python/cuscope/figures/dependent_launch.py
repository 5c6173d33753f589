"""Programmatic dependent launch: the second kernel of a stream starts before the first one has ended."""

from __future__ import annotations

from collections.abc import Callable

from .._core import Module
from .._models import Model
from ..tracing import Trace
from .program import Program, record

__all__ = ["dependent_launch"]

# The kernels wait by the clock, so that the simulation knows when each part of them takes place.
SOURCE = """
__device__ void wait(long long nanoseconds) {
    long long begin, now;
    asm volatile("mov.u64 %0, %globaltimer;" : "=l"(begin));
    do asm volatile("mov.u64 %0, %globaltimer;" : "=l"(now)); while (now - begin < nanoseconds);
}
__global__ void primary() {
    wait(100000);
    cudaTriggerProgrammaticLaunchCompletion();
    wait(100000);
}
__global__ void secondary() {
    wait(80000);
    cudaGridDependencySynchronize();
    wait(100000);
}
"""


def dependent_launch(model: Model | str = "h200", *, programmatic: bool = True) -> Trace:
    """Two kernels of one stream: the second one begins with 80 us of work that does not need the first.

    The first kernel runs for 200 us and calls cudaTriggerProgrammaticLaunchCompletion() in the middle. Launched with
    ``programmatic=True`` the second kernel starts there, and waits in cudaGridDependencySynchronize() for the end of the
    first. Otherwise it starts when the first one has ended. GPUs can do it from compute capability 9.0 on. See the CUDA
    C++ Programming Guide, "Programmatic Dependent Launch and Synchronization".

    >>> import cuscope as cs
    >>> early, late = cs.figures.dependent_launch(), cs.figures.dependent_launch(programmatic=False)
    >>> round(early.overlap("primary", "secondary"), 1), late.overlap("primary", "secondary")
    (0.5, 0.0)
    """

    def prepare(program: Program) -> Callable[[], None]:
        module = Module(SOURCE)
        [stream] = program.streams(1)

        def run() -> None:
            module.primary.launch(grid=1, block=32, stream=stream)
            module.secondary.launch(grid=1, block=32, stream=stream, programmatic=programmatic)

        return run

    return record(model, prepare)
