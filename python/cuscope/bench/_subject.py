"""The types of the benchmarks: a subject, its cases, and the contenders in a case."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

import cuscope as cs

__all__ = ["Case", "Contender", "Roof", "Row", "Run", "Subject"]

OURS = "cuscope"


def _itself(operand: Any) -> Any:
    return operand


@dataclass(frozen=True)
class Contender:
    """A package's implementation of a case."""

    call: Callable[..., object]
    """Enqueues the work in the stream of the run. Takes the operands of a set."""
    operand: Callable[[Any], Any] = _itself
    """An operand as the package sees it: the same memory, such as ``cupy.asarray``."""


@dataclass(frozen=True)
class Case:
    """One line of the table: one operation at one size, done by each contender with the same operands."""

    name: str
    size: int
    amount: float
    """Bytes moved, or operations done, by one call."""
    contenders: Mapping[str, Contender]
    """The contenders by name. OURS is the one that the others are compared with."""
    operands: Callable[[int], Sequence[Sequence[Any]]]
    """Makes a number of sets of operands, each in memory of its own. The last operand is the result."""
    footprint: int
    """Bytes of the device's memory that one set takes."""
    check: Callable[[Sequence[Any]], None] | None = None
    """Raises Mismatch if the result in a set of operands, which was poisoned before, is wrong."""
    asynchronous: bool = True
    """Does a call return before its work is done? Only then can the stream be held while calls are enqueued."""
    intensity: float | None = None
    """Operations for each byte of memory that must be moved, for a roofline plot."""


@dataclass(frozen=True)
class Row:
    """The measurements of a case: medians, by contender."""

    case: str
    size: int
    microseconds: dict[str, float]
    rate: dict[str, float] = field(default_factory=dict)
    ratio: dict[str, float] = field(default_factory=dict)
    """Each peer's time divided by ours: the median over the rounds of the quotients within a round."""
    rounds: int = 1
    intensity: float | None = None


@dataclass(frozen=True)
class Roof:
    """The limits of a device: operations and bytes per second."""

    peak: float
    bandwidth: float


@dataclass
class Run:
    """The input of a subject: device, time, sizes. The subject stores here why a peer is missing."""

    device: cs.Device
    sizes: Sequence[int]
    seconds: float
    stream: cs.Stream
    progress: Callable[[str, int, int], None]
    """Called for each case before it is measured, with its name, its number from 0, and the number of cases."""
    missing: dict[str, str] = field(default_factory=dict)

    def random(self, count: int, dtype: npt.DTypeLike = np.float32) -> npt.NDArray[Any]:
        """Numbers from -1 to 1, or any bytes for integers. Equal for equal counts and dtypes."""
        generator = np.random.default_rng(count)
        kind = np.dtype(dtype)
        if kind.kind in "iu":
            return np.frombuffer(generator.bytes(count * kind.itemsize), kind)
        if kind == np.float32:  # without wider temporaries, which would be large
            numbers = generator.random(count, np.float32)
            numbers *= 2
            numbers -= 1
            return numbers
        return generator.uniform(-1, 1, count).astype(kind)


@dataclass(frozen=True)
class Subject:
    """One argument of the command."""

    name: str
    help: str
    sizes: tuple[int, ...]
    """The sizes that are measured without --sizes."""
    size_kind: Literal["bytes", "elements", "n", "calls", "kernels"]
    rows: Callable[[Run], Iterable[Row]]
    """Measures; made by `_measure.rows_of` from a function that yields cases."""
    unit: str = ""
    """The unit of the rates, such as GB/s; none if there are only times."""
    plot: Literal["times", "rates", "roofline"] = "rates"
    roof: Callable[[cs.Device], Roof] | None = None
