"""Copies on the device and memsets, within the second-level cache and beyond it.

Such a command takes latency + bytes / rate + finish. The rate of a copy, whose bytes are read and written, is that of the
cache up to cached_bytes, that of memory from one and a half times as many bytes, and a mean of both between. A memset of
few bytes takes less time.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

from .._core import Stream, empty_plain
from .bench import Bench

__all__ = ["measure"]

IN_CACHE = (1 << 20, 4 << 20)  # bytes of a copy
LEAST, MOST = 64 << 20, 512 << 20  # bytes of the largest copy
LATENCY_PART = 0.4  # of latency and finish, where only their sum shows: as on the H200
NO_CACHE = 1e6  # bytes per nanosecond
SMALL_MEMSETS = (256, 1024, 2048, 4096, 8192, 16384)  # bytes
CLOSE = 20  # nanoseconds: times that differ by less are equal


def measure(bench: Bench, engines: int) -> dict[str, Any]:
    cache = bench.device.properties.l2_cache_size
    largest = min(max(LEAST, 4 * cache), MOST, bench.device.memory_info().free // 4) // 4096 * 4096
    sizes = [*IN_CACHE, largest // 2, largest]
    source, target = empty_plain(largest, np.uint8), empty_plain(largest, np.uint8)
    source.fill(1)

    def copy(size: int, stream: Stream) -> None:
        target[:size].copy_from(source[:size], stream=stream)

    def fill(size: int, stream: Stream) -> None:
        target[:size].fill(0, stream=stream)

    copies = [bench.one(partial(copy, size)) for size in sizes]
    fills = [bench.one(partial(fill, size)) for size in sizes]
    per_byte = _slope(sizes[2:], copies[2:])  # of a copy's bytes, each of which is read and written
    in_cache = _slope(sizes[:2], copies[:2]) / 2
    base = copies[0] - 2 * sizes[0] * in_cache  # latency and finish
    fields: dict[str, Any] = {"device_to_device_rate": 1 / per_byte}
    set_per_byte = _slope(sizes[2:], fills[2:])
    fields["memset_rate"] = 1 / set_per_byte
    if in_cache > 0.95 * per_byte / 2:
        fields |= {"cache_rate": NO_CACHE, "cached_bytes": 0}
        base = copies[-1] - largest * per_byte
    else:
        fields["cache_rate"] = min(NO_CACHE, 1 / max(in_cache, 1 / NO_CACHE))
        fields["cached_bytes"] = _cached(
            lambda size: bench.one(partial(copy, size)) - base, in_cache, per_byte / 2, largest
        )
    base = max(0.0, base)
    fields |= _small_memsets(lambda size: bench.one(partial(fill, size)), base, set_per_byte)
    finish = base * (1 - LATENCY_PART)
    if engines > 0:
        finish = min(max(0.0, copies[0] - _occupied(bench, copy, copies[0])), base)
    fields["device_copy_finish_ns"] = round(finish)
    fields["device_copy_latency_ns"] = round(base - finish)
    return fields


def _slope(sizes: Sequence[int], times: Sequence[float]) -> float:
    return max((times[1] - times[0]) / (sizes[1] - sizes[0]), 1e-6)


def _cached(time: Callable[[int], float], in_cache: float, in_memory: float, largest: int) -> int:
    """Looks for a copy of which a part stays in the cache. Its time tells how many bytes, read and written, fit."""
    low, high = IN_CACHE[1], largest
    while high - low > 4096:
        size = (low + high) // 8192 * 4096
        lost = (time(size) / (2 * size) - in_cache) / (in_memory - in_cache)
        if 0.1 < lost < 0.9:
            return round(2 * size / (1 + lost / 2))
        low, high = (size, high) if lost < 0.5 else (low, size)
    return 2 * low


def _small_memsets(time: Callable[[int], float], base: float, per_byte: float) -> dict[str, int]:
    """From the memset of one byte, and the largest one that is faster than base + size * per_byte."""
    smallest = time(1)
    last, last_time = 0, 0.0
    for size in SMALL_MEMSETS:
        taken = time(size)
        if taken > base + size * per_byte - CLOSE:
            break
        last, last_time = size, taken
    if last == 0:
        return {"small_memset_bytes": 0, "small_memset_ns": 0}
    whole = base + last * per_byte
    return {
        "small_memset_bytes": round(last * (whole - smallest) / max(1.0, last_time - smallest)),
        "small_memset_ns": round(smallest),
    }


def _occupied(bench: Bench, copy: Callable[[int, Stream], object], alone: float) -> float:
    """How long a copy occupies its engine: the second one of two streams ends so much later than the first."""

    def two(streams: Sequence[Stream]) -> None:
        for stream in streams:
            copy(IN_CACHE[0], stream)

    return max(bench.each(two, bench.streams(2))) - alone
