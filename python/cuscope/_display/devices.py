"""The picture of a device: its multiprocessors, memory and engines."""

from __future__ import annotations

from .. import _core
from .cards import BUSY, GOOD, QUIET, ask, byte_text, card

__all__ = ["device"]

ACROSS, CELL, MOST_CELLS = 22, 9, 528  # multiprocessors in a row of the picture; pixels; most that are drawn


def device(d: _core.Device) -> str:
    properties = d.properties
    copies = properties.async_engine_count
    engines = {0: "none that works beside kernels", 1: "1, for both directions"}.get(copies, str(copies))
    rate = 2e3 * properties.memory_clock_rate * properties.memory_bus_width / 8e9
    rows = [
        ("model", d.model),
        ("compute capability", ".".join(map(str, d.compute_capability))),
        ("multiprocessors", properties.multiprocessor_count),
        ("threads", f"up to {properties.max_threads_per_multiprocessor} on each"),
        ("memory", byte_text(properties.total_global_memory) + (f", {rate:,.0f} GB/s" if rate else "")),
        ("L2 cache", byte_text(properties.l2_cache_size) if properties.l2_cache_size else None),
        ("copy engines", engines),
        ("kernels", "at the same time" if properties.concurrent_kernels else "one at a time"),
    ]
    return card(
        d.name,
        rows,
        about="simulated" if d.simulated else "GPU",
        state=_state(d),
        below=_drawing(properties.multiprocessor_count),
    )


def _state(d: _core.Device) -> tuple[str, str]:
    """pending() waits for nothing and touches no device that was not used."""
    if not _core.may_look():
        return QUIET, "state unknown"
    count = ask(lambda: len(_core.pending(d)))
    if count is None:
        return QUIET, "state unknown"
    return (BUSY, f"{count} in flight") if count else (GOOD, "idle")


def _drawing(count: int) -> str:
    """A square for each multiprocessor."""
    shown = min(count, MOST_CELLS)
    high = -(-shown // ACROSS) * CELL
    squares = "".join(
        f"M{i % ACROSS * CELL} {i // ACROSS * CELL}h{CELL - 2}v{CELL - 2}h-{CELL - 2}z" for i in range(shown)
    )
    size = f'width="{ACROSS * CELL}" height="{high}" viewBox="0 0 {ACROSS * CELL} {high}"'
    more = f"<div class='csSoft'>and {count - shown} more</div>" if count > shown else ""
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" {size} style="display:block;margin:.5em 0 0" role="img">'
        f"<title>{count} multiprocessors</title>"
        f'<path d="{squares}" fill="{GOOD}" fill-opacity=".55"/></svg>{more}'
    )
