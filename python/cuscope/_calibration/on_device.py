"""Copies on the device and memsets, within the second-level cache and beyond it.

Such a command takes latency + max(bytes beyond the cache / memory's rate, all bytes / cache's rate) + finish. Bytes are
those read and written.
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
    fields["memset_rate"] = 1 / _slope(sizes[2:], fills[2:])
    if in_cache > 0.95 * per_byte / 2:
        fields |= {"cache_rate": NO_CACHE, "cached_bytes": 0}
        base = copies[-1] - largest * per_byte
    else:
        fields["cache_rate"] = min(NO_CACHE, 1 / max(in_cache, 1 / NO_CACHE))
        fields["cached_bytes"] = max(0, round(2 * largest - (copies[-1] - base) * 2 / per_byte))
    base = max(0.0, base)
    finish = base * (1 - LATENCY_PART)
    if engines > 0:
        finish = min(max(0.0, copies[0] - _occupied(bench, copy, copies[0])), base)
    fields["device_copy_finish_ns"] = round(finish)
    fields["device_copy_latency_ns"] = round(base - finish)
    return fields


def _slope(sizes: Sequence[int], times: Sequence[float]) -> float:
    return max((times[1] - times[0]) / (sizes[1] - sizes[0]), 1e-6)


def _occupied(bench: Bench, copy: Callable[[int, Stream], object], alone: float) -> float:
    """How long a copy occupies its engine: the second one of two streams ends so much later than the first."""

    def two(streams: Sequence[Stream]) -> None:
        for stream in streams:
            copy(IN_CACHE[0], stream)

    return max(bench.each(two, bench.streams(2))) - alone
