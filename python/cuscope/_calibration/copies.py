"""Copies between host and device: their rates, and the parts of their latency.

docs/simulation.md explains the parts. A copy of page-locked memory takes

    lead + ramp * min(1, bytes / ramp_bytes) + latency + bytes / rate + finish

The whole constant part is fitted to copies of many sizes. Copies behind each other in one stream show the latency,
which occupies the engine. A small copy beside a large one shows the finish, which does not occupy it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from .._core import DeviceArray, Stream, empty_plain, pinned_empty
from .bench import Bench

__all__ = ["measure"]

LARGEST = 64 << 20
SIZES = [1 << k for k in range(17, 27)]  # bytes: 128 KiB to LARGEST
PAGEABLE_SIZES = (8 << 20, 32 << 20)
SMALLEST = 1024  # bytes: a small copy, where copies of small sizes differ from the others
TRAIN = 16  # copies behind each other
LEAD_PART = 0.25  # of lead and finish, where only their sum is known: as on the H200

LEAST_RAMP = 100  # nanoseconds
SHORTEST = 1e-6  # nanoseconds a byte, against noise

Copy = Callable[[int, Stream], object]


class Fit(NamedTuple):
    constant: float  # lead, latency and finish
    ramp: float
    ramp_bytes: float
    rates: tuple[float, float]  # bytes per nanosecond, to the device and to the host

    def time(self, direction: int, size: int) -> float:
        return self.constant + self.ramp * min(1, size / self.ramp_bytes) + size / self.rates[direction]


class _Copies:
    """Copies of page-locked memory."""

    def __init__(self, bench: Bench) -> None:
        self.bench = bench
        self.on_device = [empty_plain(LARGEST, np.uint8) for _ in range(2)]
        self.on_host = [pinned_empty(LARGEST, np.uint8) for _ in range(2)]
        for array in self.on_host:
            array[:] = 1

    def to_device(self, size: int, stream: Stream) -> None:
        self.on_device[0][:size].copy_from(self.on_host[0][:size], stream=stream)

    def to_host(self, size: int, stream: Stream) -> None:
        self.on_device[1][:size].copy_to(self.on_host[1][:size], stream=stream)

    @property
    def directions(self) -> tuple[Copy, Copy]:
        return self.to_device, self.to_host

    def time(self, direction: int, size: int) -> float:
        return self.bench.one(lambda stream: self.directions[direction](size, stream))


def measure(bench: Bench, engines: int) -> dict[str, Any]:
    copies = _Copies(bench)
    fit = _fit([[copies.time(direction, size) for size in SIZES] for direction in range(2)])
    latency = _latency(copies, fit)
    small = _small_copies(copies, fit)
    rest = max(0.0, fit.constant - latency)
    finish = _finish(copies, fit, latency, small) if engines > 0 else None
    if finish is None or not 0 <= finish <= rest:
        finish = rest * (1 - LEAD_PART)
    fields = {
        "host_to_device_rate": fit.rates[0],
        "device_to_host_rate": fit.rates[1],
        "copy_lead_ns": round(rest - finish),
        "copy_latency_ns": round(latency),
        "copy_finish_ns": round(finish),
        "copy_ramp_ns": round(fit.ramp),
        "copy_ramp_bytes": max(1, round(fit.ramp_bytes)),
        **small,
        "both_directions_rate": _both_directions(copies, finish) if engines > 1 else 1.0,
    }
    return fields | _pageable(bench, copies.on_device[0])


def _fit(times: Sequence[Sequence[float]]) -> Fit:
    """The constants that fit both directions best; without a ramp, if that is as good."""

    def error(log_bytes: float) -> float:
        return _solve(times, 2.0**log_bytes)[0]

    low, high = math.log2(SIZES[0]) + 0.5, math.log2(SIZES[-1]) - 1
    best = min((low + i / 8 for i in range(int((high - low) * 8))), key=error)
    for step in (2.0**-k for k in range(4, 16)):
        best = min((best - step, best, best + step), key=error)
    least, fit = _solve(times, 2.0**best)
    flat, plain = _solve(times, None)
    if fit.ramp < LEAST_RAMP or fit.constant < 0 or flat < max(2 * least, 1e-4):
        return plain
    return fit


def _solve(times: Sequence[Sequence[float]], ramp_bytes: float | None) -> tuple[float, Fit]:
    """The largest relative error, and the other constants. They are linear, so that least squares find them."""
    rows = []
    for direction, of_direction in enumerate(times):
        for size, time in zip(SIZES, of_direction, strict=True):
            ramp = 0.0 if ramp_bytes is None else min(1, size / ramp_bytes)
            of_rates = [size if direction == one else 0.0 for one in range(2)]
            rows.append([part / time for part in (1.0, ramp, *of_rates)])
    matrix = np.array(rows)
    scale = np.maximum(np.abs(matrix).max(axis=0), 1e-12)
    found = np.linalg.lstsq(matrix / scale, np.ones(len(rows)), rcond=None)[0] / scale
    error = float(np.abs(matrix @ found - 1).max())
    constant, ramp, *per_byte = found.tolist()
    rates = tuple(1 / max(one, SHORTEST) for one in per_byte)
    if ramp_bytes is None:
        return error, Fit(max(0.0, constant), 0.0, 1.0, (rates[0], rates[1]))
    return error, Fit(constant, ramp, ramp_bytes, (rates[0], rates[1]))


def _latency(copies: _Copies, fit: Fit) -> float:
    """Copies of one stream follow each other without lead and finish, but with the latency."""
    latencies = []
    for direction, copy in enumerate(copies.directions):
        size = min(max(1 << 20, round(fit.rates[direction] * 50_000)), LARGEST)
        train = partial(_repeat, copy, size)
        each = (copies.bench.one(train) - copies.time(direction, size)) / (TRAIN - 1)
        latencies.append(each - size / fit.rates[direction])
    return min(max(0.0, sum(latencies) / 2), fit.constant)


def _repeat(copy: Copy, size: int, stream: Stream) -> None:
    for _ in range(TRAIN):
        copy(size, stream)


def _small_copies(copies: _Copies, fit: Fit) -> dict[str, int]:
    """The size up to which copies take times of their own, and these times."""
    times = [copies.time(direction, SMALLEST) for direction in range(2)]
    differences = [abs(times[i] / fit.time(i, SMALLEST) - 1) for i in range(2)]
    direction = 0 if differences[0] > differences[1] else 1
    if differences[direction] < 0.15:
        return {"small_copy_bytes": 0, "small_to_device_ns": 0, "small_to_host_ns": 0}
    small, other = SMALLEST, SIZES[0]
    while other - small > 1:
        size = (small + other) // 2
        time = copies.time(direction, size)
        if abs(time - times[direction]) < abs(time - fit.time(direction, size)):
            small = size
        else:
            other = size
    return {
        "small_copy_bytes": small,
        "small_to_device_ns": round(times[0]),
        "small_to_host_ns": round(times[1]),
    }


def _finish(copies: _Copies, fit: Fit, latency: float, small: dict[str, int]) -> float | None:
    """How long a stream waits after the last byte of a copy, while its engine is free for a small copy."""
    whole = small["small_to_device_ns"]
    occupied = min(latency + SMALLEST / fit.rates[0], whole)
    if small["small_copy_bytes"] == 0 or whole - occupied > LEAD_PART * (fit.constant - latency):
        return None  # the small copy may have a finish itself

    def small_behind_large(streams: Sequence[Stream]) -> None:
        copies.to_device(SIZES[3], streams[0])
        copies.bench.spin(streams[1], fit.time(0, SIZES[3]) / 4)  # so that the large one has the engine
        copies.to_device(SMALLEST, streams[1])

    large, behind = copies.bench.each(small_behind_large, copies.bench.streams(2))
    return large - behind + occupied


def _both_directions(copies: _Copies, finish: float) -> float:
    """What is left of the rate, from the direction that ends first: it runs beside the other one for its whole time."""

    def both(streams: Sequence[Stream]) -> None:
        copies.to_device(LARGEST, streams[0])
        copies.to_host(LARGEST, streams[1])

    alone = [copies.time(direction, LARGEST) for direction in range(2)]
    together = copies.bench.each(both, copies.bench.streams(2))
    first = min(range(2), key=lambda direction: together[direction])
    return min(max((alone[first] - finish) / (together[first] - finish), 0.01), 1.0)


def _pageable(bench: Bench, array: DeviceArray) -> dict[str, float]:
    """The rates alone: the calls wait, so the host's clock takes the time."""
    host = np.ones(PAGEABLE_SIZES[-1], np.uint8)

    def rate(copy: Callable[[int], object]) -> float:
        first, second = (bench.host_time(partial(copy, size)) for size in PAGEABLE_SIZES)
        return (PAGEABLE_SIZES[1] - PAGEABLE_SIZES[0]) / max(second - first, 1.0)

    def to_device(size: int) -> None:
        array[:size].copy_from(host[:size], stream=bench.gate)
        bench.gate.synchronize()

    def to_host(size: int) -> None:
        array[:size].copy_to(host[:size], stream=bench.gate)
        bench.gate.synchronize()

    return {
        "pageable_host_to_device_rate": rate(to_device),
        "pageable_device_to_host_rate": rate(to_host),
    }
