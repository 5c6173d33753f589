"""What can be measured: a subject, the cases that it consists of, and who takes part in them."""

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
    """One package's way to do a case."""

    call: Callable[..., object]
    """Enqueues it in the stream of the run, given the operands of a set."""
    operand: Callable[[Any], Any] = _itself
    """An operand as the package sees it: the same memory, such as ``cupy.asarray``."""


@dataclass(frozen=True)
class Case:
    """One line of the table: one thing at one size, done by each contender with the same operands."""

    name: str
    size: int
    amount: float
    """Bytes moved, or operations done, by one call."""
    contenders: Mapping[str, Contender]
    """By name; OURS is what the others are compared with."""
    operands: Callable[[int], Sequence[Sequence[Any]]]
    """So many sets of operands, each in memory of its own; the last operand is the result."""
    footprint: int
    """Bytes of the device's memory that one set takes."""
    check: Callable[[Sequence[Any]], None] | None = None
    """Raises Mismatch if the result in a set of operands, which was poisoned before, is wrong."""
    asynchronous: bool = True
    """Does a call return before its work is done? Only then can the stream be held while calls are enqueued."""
    intensity: float | None = None
    """Operations for each byte of memory that has to be moved, where the plot is a roofline."""


@dataclass(frozen=True)
class Row:
    """What was measured of a case: medians, by contender."""

    case: str
    size: int
    microseconds: dict[str, float]
    rate: dict[str, float] = field(default_factory=dict)
    ratio: dict[str, float] = field(default_factory=dict)
    """How many times as long as ours each peer took: the median over rounds, each compared with ours of the same round."""
    rounds: int = 1
    intensity: float | None = None


@dataclass(frozen=True)
class Roof:
    """What a device can do at most: operations and bytes a second."""

    peak: float
    bandwidth: float


@dataclass
class Run:
    """What a subject is told: where, how long, which sizes; and where it leaves why a peer is missing."""

    device: cs.Device
    sizes: Sequence[int]
    seconds: float
    stream: cs.Stream
    progress: Callable[[str, int, int], None]
    """Told of each case before it is measured: its name, its number from 0, and how many there are."""
    missing: dict[str, str] = field(default_factory=dict)

    def random(self, count: int, dtype: npt.DTypeLike = np.float32) -> npt.NDArray[Any]:
        """Numbers from -1 to 1, or any bytes for integers: the same for the same count and dtype."""
        generator = np.random.default_rng(count)
        kind = np.dtype(dtype)
        if kind.kind in "iu":
            return np.frombuffer(generator.bytes(count * kind.itemsize), kind)
        if kind == np.float32:  # with no wider ones on the way, which are large
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
    """What is measured unless --sizes says it."""
    size_kind: Literal["bytes", "elements", "n", "calls", "kernels"]
    rows: Callable[[Run], Iterable[Row]]
    """Measures; `_measure.rows_of` makes it of a function that gives cases."""
    unit: str = ""
    """Of the rates, such as GB/s; none where only times count."""
    plot: Literal["times", "rates", "roofline"] = "rates"
    roof: Callable[[cs.Device], Roof] | None = None
