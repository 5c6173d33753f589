"""The fields of a model that a device tells by itself."""

from __future__ import annotations

from typing import Any

from .._core import Device
from .._models import field_range

__all__ = ["read"]

RENAMED = {"multiprocessors": "multiprocessor_count"}
NAMES = (
    "compute_capability_major",
    "compute_capability_minor",
    "multiprocessors",
    "total_global_memory",
    "warp_size",
    "max_threads_per_block",
    "max_threads_per_multiprocessor",
    "max_blocks_per_multiprocessor",
    "max_block_dim",
    "max_grid_dim",
    "registers_per_block",
    "registers_per_multiprocessor",
    "shared_memory_per_block",
    "shared_memory_per_block_optin",
    "shared_memory_per_multiprocessor",
    "total_constant_memory",
    "memory_pitch",
    "texture_alignment",
    "texture_pitch_alignment",
    "l2_cache_size",
    "memory_bus_width",
    "clock_rate",
    "memory_clock_rate",
    "integrated",
    "can_map_host_memory",
    "unified_addressing",
    "managed_memory",
    "concurrent_managed_access",
    "pageable_memory_access",
    "stream_priorities_supported",
    "host_register_supported",
    "host_register_read_only_supported",
    "memory_pools_supported",
    "cooperative_launch",
)


def read(device: Device) -> dict[str, Any]:
    """What cudaGetDeviceProperties says, and the priorities of streams."""
    values = {name: getattr(device.properties, RENAMED.get(name, name)) for name in NAMES}
    values = {name: _within(name, value) for name, value in values.items()}
    values["least_priority"], values["greatest_priority"] = device.stream_priority_range
    if device.compute_capability[0] < 9:
        values["multiprocessor_groups"] = ()
    return values


def _within(name: str, value: Any) -> Any:
    """The value, or the nearest one that a model may have: a driver says 0 for clocks that it does not know."""
    if isinstance(value, bool):
        return value
    least, most = field_range(name)
    if isinstance(value, tuple):
        return tuple(min(max(one, int(least)), int(most)) for one in value)
    return min(max(value, int(least)), int(most))
