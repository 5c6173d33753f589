"""The axis of time: which part of the trace a picture shows, and where its ticks stand."""

from __future__ import annotations

import math

import numpy as np

__all__ = ["extent_of", "ticks_of"]

_UNITS = ((1_000_000_000, "s"), (1_000_000, "ms"), (1_000, "us"), (1, "ns"))


def extent_of(spans: np.ndarray) -> tuple[int, int]:
    """From the first span's start to the last span's end, in ns; from 0 where little is before the first span."""
    if not len(spans):
        return 0, 1
    begin, end = int(spans["start"].min()), int(max(spans["end"].max(), spans["start"].max()))
    if 0 <= begin <= end // 10:
        begin = 0
    return begin, max(end, begin + 1)


def ticks_of(begin: int, end: int, most: int) -> list[tuple[int, str]]:
    """Round times, at most ``most``, with their labels: 0, 20 us, 40 us. Late ones count from ``begin``: +20 us."""
    step = _round_step((end - begin) / most)
    size, unit = next((u for u in _UNITS if step * 2 >= u[0] or (end - begin) >= u[0] * 2), (1, "ns"))
    far = begin > 1000 * step
    first = begin if far else -(-begin // step) * step
    ticks = []
    for time in range(first, end + 1, step):
        value = (time - begin if far else time) / size
        text = f"{value:.9f}".rstrip("0").rstrip(".") if value % 1 else f"{value:.0f}"
        ticks.append((time, f"{'+' if far else ''}{text} {unit}"))
    return ticks


def _round_step(least: float) -> int:
    if least <= 1:
        return 1
    power = 10 ** math.floor(math.log10(least))
    return next(int(power * m) for m in (1, 2, 5, 10) if power * m >= least - 1e-9)
