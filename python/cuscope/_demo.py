"""The demonstration: ``vec_add`` from source over 2^22 random numbers, every element checked against NumPy."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

import cuscope as cs

__all__ = ["Report", "Step", "first_difference", "run"]

SOURCE = """\
__global__ void vec_add(const float* a, const float* b, float* c, int n) {
    int i = blockDim.x * blockIdx.x + threadIdx.x;
    if (i < n) c[i] = a[i] + b[i];
}
"""
ELEMENTS = 1 << 22
BLOCK = 256


@dataclass(frozen=True)
class Step:
    """One step of the demonstration and the time that it took."""

    name: str
    milliseconds: float
    bytes_moved: int


@dataclass(frozen=True)
class Report:
    """The result of the demonstration; ``str()`` of it is the text for the terminal."""

    device: str
    model: str
    simulated: bool
    elements: int
    steps: list[Step] = field(default_factory=list)
    difference: dict[str, Any] | None = None

    @property
    def passed(self) -> bool:
        """Was every element equal to NumPy's?"""
        return self.difference is None

    def as_dict(self) -> dict[str, Any]:
        """The report as plain values, for JSON."""
        return {**asdict(self), "time": self._clock(), "passed": self.passed}

    def _clock(self) -> str:
        return "simulated" if self.simulated else "measured"

    def __str__(self) -> str:
        lines = [
            f"device    {self.device} ({self.model})",
            f"kernel    vec_add over {self.elements:,} float32, compiled from source",
            "",
        ]
        for step in self.steps:
            rate = f"{step.bytes_moved / step.milliseconds / 1e6:9.1f} GB/s" if step.bytes_moved else ""
            lines.append(f"  {step.name:<9}{step.milliseconds:10.4f} ms  {self._clock()}  {rate}".rstrip())
        lines.append("")
        if self.difference is None:
            lines.append(f"PASSED: all {self.elements:,} elements are equal to NumPy's a + b")
        else:
            lines.append(
                "FAILED: the first difference is at index {index}: "
                "got {got!r}, NumPy has {expected!r}".format(**self.difference)
            )
        return "\n".join(lines)


def first_difference(got: npt.NDArray[Any], expected: npt.NDArray[Any]) -> dict[str, Any] | None:
    """The first element that differs, or None. A NaN counts as a difference, because it equals nothing.

    >>> first_difference(np.array([1.0, 2.0]), np.array([1.0, 3.0]))
    {'index': 1, 'got': 2.0, 'expected': 3.0}
    """
    different = np.flatnonzero(~(got == expected))
    if different.size == 0:
        return None
    index = int(different[0])
    return {"index": index, "got": got[index].item(), "expected": expected[index].item()}


def run(device: cs.Device, *, elements: int = ELEMENTS, source: str | None = None) -> Report:
    """Run the demonstration on a device; `source` replaces the kernel's source."""
    a, b = np.random.default_rng(0).random((2, elements), dtype=np.float32)
    with device:
        module = cs.Module(SOURCE if source is None else source)
        _ = (
            module.vec_add.attributes
        )  # starts the device and loads the kernel, so that the steps below do not include that
        steps: list[Step] = []

        begin = cs.clock()
        d_a, d_b, d_c = (cs.empty(elements, np.float32) for _ in range(3))
        cs.synchronize()
        steps.append(Step("allocate", (cs.clock() - begin) * 1e3, 0))

        def copy_in() -> None:
            d_a.copy_from(a)
            d_b.copy_from(b)

        result = np.full(elements, np.nan, np.float32)
        grid = -(-elements // BLOCK)
        steps.append(Step("copy in", _timed(copy_in), a.nbytes + b.nbytes))
        launch = _timed(lambda: module.vec_add[grid, BLOCK](d_a, d_b, d_c, elements))
        steps.append(Step("launch", launch, 3 * a.nbytes))
        steps.append(Step("copy out", _timed(lambda: d_c.copy_to(result)), result.nbytes))
    return Report(
        device=device.name,
        model=device.model,
        simulated=device.simulated,
        elements=elements,
        steps=steps,
        difference=first_difference(result, a + b),
    )


def _timed(work: Callable[[], object]) -> float:
    start, stop = cs.Event(), cs.Event()
    start.record()
    work()
    stop.record()
    stop.synchronize()
    return stop - start
