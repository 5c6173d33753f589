"""What runs beside what: copy engines, kernels, and the queues between the host and the device."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from .._core import Stream, empty_plain, pinned_empty
from .bench import Bench

__all__ = ["measure"]

BYTES = 16 << 20  # of the copies that may overlap
SHORT, LONG = 200_000, 5_000_000  # nanoseconds of kernels
MOST_QUEUES, MOST_GRIDS = 128, 256


def measure(bench: Bench) -> dict[str, Any]:
    engines = _copy_engines(bench)
    concurrent = engines > 0 and _concurrent_kernels(bench)
    queues = _hardware_queues(bench)
    return {
        "copy_engines": engines,
        "concurrent_kernels": concurrent,
        "resident_grids": _resident_grids(bench) if concurrent else 1,
        "hardware_queues": queues,
        "separate_copy_queues": engines > 0 and queues == 1 and _separate_copy_queues(bench),
        "signal_delay": engines > 0 and _signal_delay(bench),
    }


def _copy_engines(bench: Bench) -> int:
    """By experiment, since some GPUs count engines that share one link: 0, 1, or the device's number from 2 on."""
    to_device, to_host = empty_plain(BYTES, np.uint8), empty_plain(BYTES, np.uint8)
    source, target = pinned_empty(BYTES, np.uint8), pinned_empty(BYTES, np.uint8)
    two = bench.streams(2)
    alone = bench.one(lambda stream: to_device.copy_from(source, stream=stream))
    back = bench.one(lambda stream: to_host.copy_to(target, stream=stream))

    def both_directions(streams: Sequence[Stream]) -> None:
        to_device.copy_from(source, stream=streams[0])
        to_host.copy_to(target, stream=streams[1])

    if max(bench.each(both_directions, two)) < 0.75 * (alone + back):
        return max(2, min(bench.device.properties.async_engine_count, 8))

    def beside_kernel(streams: Sequence[Stream]) -> None:
        bench.spin(streams[0], alone)
        to_device.copy_from(source, stream=streams[1])

    return 1 if max(bench.each(beside_kernel, two)) < 1.5 * alone else 0


def _concurrent_kernels(bench: Bench) -> bool:
    def two_kernels(streams: Sequence[Stream]) -> None:
        for stream in streams:
            bench.spin(stream, SHORT)

    return max(bench.each(two_kernels, bench.streams(2))) < 1.5 * SHORT


def _resident_grids(bench: Bench) -> int:
    """The most kernels of one block that end together."""

    def many_kernels(streams: Sequence[Stream]) -> None:
        for stream in streams:
            bench.spin(stream, LONG)

    together, not_together = 1, MOST_GRIDS + 1
    while not_together - together > 1:
        count = (together + not_together) // 2
        if max(bench.each(many_kernels, bench.streams(count))) < 1.5 * LONG:
            together = count
        else:
            not_together = count
    return together


def _hardware_queues(bench: Bench) -> int:
    """How far apart two streams with one queue are: a kernel then waits for the other stream's second kernel."""
    streams = bench.streams(MOST_QUEUES + 1)

    def kernels(pair: Sequence[Stream]) -> None:
        for stream in (pair[0], pair[0], pair[1]):
            bench.spin(stream, SHORT)

    for number in range(1, MOST_QUEUES):
        second, other = bench.each(kernels, [streams[0], streams[number]])
        if other > second - SHORT / 2:
            return number
    return MOST_QUEUES


def _separate_copy_queues(bench: Bench) -> bool:
    """Does a copy pass the kernels that were issued before it in another stream?"""
    array, source = empty_plain(BYTES, np.uint8), pinned_empty(BYTES, np.uint8)
    alone = bench.one(lambda stream: array.copy_from(source, stream=stream))

    def copy_behind_kernels(streams: Sequence[Stream]) -> None:
        bench.spin(streams[0], 2 * alone)
        bench.spin(streams[0], 2 * alone)
        array.copy_from(source, stream=streams[1])

    return bench.each(copy_behind_kernels, bench.streams(2))[1] < 1.5 * alone


def _signal_delay(bench: Bench) -> bool:
    """Does a copy behind a kernel wait for a longer kernel that was issued next, in another stream?"""
    array, target = empty_plain(4096, np.uint8), pinned_empty(4096, np.uint8)
    kernels = [SHORT, 3 * SHORT]

    def copy_behind_first(streams: Sequence[Stream]) -> None:
        for stream, time in zip(streams, kernels, strict=True):
            bench.spin(stream, time)
        array.copy_to(target, stream=streams[0])

    first, second = bench.each(copy_behind_first, bench.streams(2))
    return first > second
