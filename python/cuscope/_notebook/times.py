"""The result of ``%gpu_timeit``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from .._core import Device

__all__ = ["GpuTimes"]


class GpuTimes:
    """The times of the runs of a statement, in seconds: on the host, and on the device.

    `%gpu_timeit -o` returns it. `host` has the time until the statement returned, `device_times` the time between two
    events around it, each divided by the number of repetitions in a run. `wall` is the time of a repetition that passed
    in your room, with the wait for the device.
    """

    def __init__(
        self,
        host: Sequence[float],
        device_times: Sequence[float],
        repetitions: int,
        device: Device,
        wall: float,
    ) -> None:
        self.host = np.array(host)
        self.device_times = np.array(device_times)
        self.repetitions = repetitions
        self.device = device
        self.wall = wall

    @property
    def simulated(self) -> bool:
        """Whether the times come from the model of a simulated device."""
        return self.device.simulated

    def _line(self, name: str, times: np.ndarray[Any, Any]) -> str:
        low, middle, high = (_text(float(t)) for t in np.quantile(times, [0, 0.5, 1]))
        spread = "" if low == high else f"   ({low} to {high})"
        return f"{name:<7}{middle:>9}{spread}"

    def __str__(self) -> str:
        runs = f"{len(self.host)} runs" if len(self.host) != 1 else "1 run"
        each = f" of {self.repetitions} repetitions" if self.repetitions != 1 else ""
        lines = [
            f"{self.device.name}, median of {runs}{each}",
            self._line("host", self.host),
            self._line("device", self.device_times),
        ]
        if self.simulated:
            lines[0] += f"; both times are simulated ({self.device.model})"
            lines.append(f"the simulation itself took {_text(self.wall)} for each repetition")
        return "\n".join(lines)

    def __repr__(self) -> str:
        host, work = (_text(float(np.median(times))) for times in (self.host, self.device_times))
        simulated = ", simulated" if self.simulated else ""
        return f"<GpuTimes on {self.device.name}: host {host}, device {work}{simulated}>"


def _text(seconds: float) -> str:
    for factor, unit in ((1, "s"), (1e3, "ms"), (1e6, "us")):
        if seconds * factor >= 1:
            return f"{seconds * factor:.3g} {unit}"
    return f"{seconds * 1e9:.3g} ns"
