"""The rows of a profile: instructions that access memory, lines of the source, and findings."""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Mapping
from itertools import pairwise

__all__ = ["ProfileFinding", "ProfiledAccess", "ProfiledLine"]

LANES = 32
SECTOR = 32  # bytes
ROW = 128  # bytes of a cache line, and of one word in each of the 32 banks


def _ratio(a: float, b: float) -> float:
    return a / b if b else 0.0


@dataclasses.dataclass(frozen=True)
class ProfiledAccess:
    """One instruction of a line that accesses one array or ``__shared__`` variable; from `ProfiledLine.accesses`.

    Nsight Compute shows such numbers in the table of its page "Source", on a GPU.

    >>> import numpy as np, cuscope as cs
    >>> with cs.Device("host:0"):
    ...     kernel = cs.Module("__global__ void twice(float* x) { x[threadIdx.x] *= 2; }").twice
    ...     profile = kernel.profile(cs.zeros(64, np.float32), grid=1, block=64)
    >>> [(one.kind, one.memory, one.sectors_per_request) for one in profile.line(1).accesses]
    [('load', 'x', 4.0), ('store', 'x', 4.0)]
    """

    line: int
    """The number of the line, counted from 1; 0 if it is not known."""
    kind: str
    """'load', 'store' or 'atomic'."""
    space: str
    """'global' or 'shared'."""
    memory: str
    """The argument or the variable that is accessed; 'memory' if it has no name."""
    bytes: int
    """The size of one thread's access."""
    requests: int
    """Executions by warps."""
    threads: int
    """Executions by threads."""
    sectors: int
    """Of loads and stores of global memory: the sectors of 32 bytes that the requests touch."""
    ideal_sectors: int
    """The sectors that hold as many bytes as the lanes of each request ask for, if these are fewer."""
    wavefronts: int
    """Of shared memory: the steps in which the 32 banks serve the requests."""
    ideal_wavefronts: int
    """The wavefronts without bank conflicts."""
    addresses: int
    """Of atomic operations: different addresses, summed over the requests."""
    example: tuple[int | None, ...]
    """The request that needs most sectors or wavefronts, the first of them: for each lane the distance of its address
    from the begin of the memory, in bytes; None for a lane that takes no part."""
    example_cost: int
    """The sectors or wavefronts of this request; of an atomic operation, the most threads at one address."""
    example_block: int
    """The number of its block in the grid."""
    example_warp: int
    """The number of its warp in the block."""
    example_begin: int = 0
    """The address of the memory's begin, modulo 128."""

    @property
    def sectors_per_request(self) -> float:
        """sectors / requests."""
        return _ratio(self.sectors, self.requests)

    @property
    def ideal_sectors_per_request(self) -> float:
        """ideal_sectors / requests."""
        return _ratio(self.ideal_sectors, self.requests)

    @property
    def wavefronts_per_request(self) -> float:
        """wavefronts / requests."""
        return _ratio(self.wavefronts, self.requests)

    @property
    def conflict_ways(self) -> float:
        """wavefronts / ideal_wavefronts: 8.0 for an 8-way bank conflict, 1.0 without one."""
        return _ratio(self.wavefronts, self.ideal_wavefronts)

    @property
    def stride(self) -> int | None:
        """The distance in bytes between the addresses of neighbouring lanes that take part, if most have the same."""
        taken = [at for at in self.example if at is not None]
        steps = Counter(after - before for before, after in pairwise(taken))
        if not steps:
            return None
        step, count = steps.most_common(1)[0]
        return step if count >= 0.6 * steps.total() else None

    @property
    def shape(self) -> tuple[object, ...]:
        """Instructions with the same shape differ in nothing that a reader of the line could see."""
        first = next((at for at in self.example if at is not None), 0)
        pattern = tuple(None if at is None else at - first for at in self.example)
        return self.kind, self.space, self.memory, self.bytes, pattern


@dataclasses.dataclass(frozen=True)
class ProfiledLine:
    """The counters of one line of a kernel's source; from `Profile.lines`.

    Instructions are estimated from the code of the processor's compiler; all other counters are counted. Nsight
    Compute shows such numbers in the table of its page "Source", on a GPU.

    >>> import numpy as np, cuscope as cs
    >>> with cs.Device("host:0"):
    ...     kernel = cs.Module("__global__ void twice(float* x) { x[threadIdx.x] *= 2; }").twice
    ...     profile = kernel.profile(cs.zeros(64, np.float32), grid=1, block=64)
    >>> line = profile.line(1)
    >>> line.executions, line.active_threads, line.load_sectors, line.store_sectors
    (2, 32.0, 8, 8)
    """

    file: str
    """The name of the source; empty for code that belongs to no line."""
    number: int
    """The number of the line, counted from 1; 0 for code that belongs to no line."""
    text: str
    """The line itself, without spaces around it; empty if the source is not known."""
    executions: int
    """How often warps executed the line: the most of its basic blocks."""
    thread_executions: int
    """How often threads executed the line."""
    instructions: float
    """Instructions of warps, estimated; accesses to memory are among them."""
    thread_instructions: float
    """Instructions of threads, estimated."""
    operations: float
    """Operations of threads with floats and doubles, estimated; a fused multiplication and addition counts twice."""
    branches: int
    """Conditional jumps that warps executed, in the code of the processor's compiler."""
    divergent_branches: int
    """Conditional jumps behind which lanes of a warp went different ways."""
    accesses: tuple[ProfiledAccess, ...]
    """The instructions of the line that access memory."""

    def _sum(self, name: str, kind: str, space: str) -> int:
        return sum(getattr(one, name) for one in self.accesses if one.kind == kind and one.space == space)

    @property
    def active_threads(self) -> float:
        """The threads that execute an instruction of the line together, of 32."""
        return _ratio(self.thread_instructions, self.instructions) or _ratio(
            self.thread_executions, self.executions
        )

    @property
    def requests(self) -> int:
        """Loads and stores of global memory by warps."""
        return self.load_requests + self.store_requests

    @property
    def sectors(self) -> int:
        """The sectors of global memory that these loads and stores touch."""
        return self.load_sectors + self.store_sectors

    @property
    def ideal_sectors(self) -> int:
        """The sectors that hold as many bytes as the lanes of each request ask for, if these are fewer."""
        return self._sum("ideal_sectors", "load", "global") + self._sum("ideal_sectors", "store", "global")

    @property
    def sectors_per_request(self) -> float:
        """sectors / requests."""
        return _ratio(self.sectors, self.requests)

    @property
    def ideal_sectors_per_request(self) -> float:
        """ideal_sectors / requests."""
        return _ratio(self.ideal_sectors, self.requests)

    @property
    def load_requests(self) -> int:
        """Loads of global memory by warps."""
        return self._sum("requests", "load", "global")

    @property
    def store_requests(self) -> int:
        """Stores to global memory by warps."""
        return self._sum("requests", "store", "global")

    @property
    def load_sectors(self) -> int:
        """The sectors that the loads touch."""
        return self._sum("sectors", "load", "global")

    @property
    def store_sectors(self) -> int:
        """The sectors that the stores touch."""
        return self._sum("sectors", "store", "global")

    @property
    def shared_requests(self) -> int:
        """Loads and stores of shared memory by warps."""
        return self._sum("requests", "load", "shared") + self._sum("requests", "store", "shared")

    @property
    def wavefronts(self) -> int:
        """The wavefronts of the loads and stores of shared memory."""
        return self._sum("wavefronts", "load", "shared") + self._sum("wavefronts", "store", "shared")

    @property
    def bank_conflicts(self) -> int:
        """The wavefronts beyond the fewest that any arrangement of the data would need."""
        return self.wavefronts - sum(
            self._sum("ideal_wavefronts", kind, "shared") for kind in ("load", "store")
        )

    @property
    def atomics(self) -> int:
        """Atomic operations of threads, on global and shared memory."""
        return self._sum("threads", "atomic", "global") + self._sum("threads", "atomic", "shared")


@dataclasses.dataclass(frozen=True)
class ProfileFinding:
    """Something that makes a kernel slow, with its line and its numbers; from `Profile.findings`.

    CUDA has no such class; Nsight Compute's rules give similar advice on a GPU.

    >>> import numpy as np, cuscope as cs
    >>> with cs.Device("host:0"):
    ...     kernel = cs.Module("__global__ void half(float* x) { x[2 * threadIdx.x] = 1; }").half
    ...     profile = kernel.profile(cs.zeros(64, np.float32), grid=1, block=32)
    >>> finding = profile.findings[0]
    >>> finding.rule, finding.line, finding.numbers["sectors_per_request"]
    ('uncoalesced', 1, 8.0)
    """

    rule: str
    """The name of the rule; docs/profiling.md lists all."""
    line: int
    """The number of the line; 0 if the finding is about the whole kernel."""
    text: str
    """What was found, in a sentence with numbers."""
    advice: str
    """What to do."""
    numbers: Mapping[str, float] = dataclasses.field(hash=False)
    """The numbers in the sentence, by name."""
    weight: float = dataclasses.field(default=0, repr=False)
    """How much of the kernel's work it concerns, from 0 to 1. Findings are in this order."""

    def __str__(self) -> str:
        where = f"line {self.line}: " if self.line else ""
        return f"{where}{self.text}. {self.advice}"
