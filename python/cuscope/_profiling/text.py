"""A profile as text for a terminal."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING

from ..tracing.units import time_text
from .building import base_name

if TYPE_CHECKING:
    from .profile import Profile
    from .records import ProfiledLine

__all__ = ["HEADS", "cells_of", "explain", "heading", "legend", "model_of"]

WIDTH = 118
MOST_TEXT = 48


def model_of(profile: Profile) -> str:
    """The name of the device's model: "h200"."""
    return profile.device.model.removesuffix(" model")


def heading(profile: Profile) -> str:
    """One line about the launch."""
    text = (
        f"{profile.kernel}: grid {_dim(profile.grid)}, block {_dim(profile.block)}, "
        f"{profile.counted_blocks} of {profile.blocks} blocks counted"
    )
    if profile.time is not None:
        text += (
            f"; {time_text(profile.time.seconds * 1e9)} on {model_of(profile)}, bound by {profile.time.bound}"
        )
    return text


def _dim(dim: tuple[int, int, int]) -> str:
    kept = list(dim)
    while len(kept) > 1 and kept[-1] == 1:
        kept.pop()
    return " x ".join(map(str, kept))


def _per_request(actual: float, ideal: float) -> str:
    text = f"{actual:.1f}"
    return text if abs(actual - ideal) < 0.05 else f"{text} ({ideal:.1f})"


def cells_of(line: ProfiledLine, all_instructions: float) -> tuple[str, ...]:
    """The share of the instructions, the active threads, and the accesses of a line."""
    share = line.instructions / all_instructions if all_instructions else 0.0
    ideal_wavefronts = (
        (line.wavefronts - line.bank_conflicts) / line.shared_requests if line.shared_requests else 0
    )
    return (
        f"{100 * share:.1f}",
        f"{line.active_threads:.1f}",
        str(line.requests) if line.requests else "",
        _per_request(line.sectors_per_request, line.ideal_sectors_per_request) if line.requests else "",
        str(line.shared_requests) if line.shared_requests else "",
        _per_request(line.wavefronts / line.shared_requests, ideal_wavefronts)
        if line.shared_requests
        else "",
        str(line.atomics) if line.atomics else "",
    )


HEADS = ("line", "instr %", "lanes", "requests", "sectors", "shared", "wavefronts", "atomics", "")


def legend(compares: bool) -> str:
    """The meaning of the columns. `compares`: some cells have a second number in brackets."""
    text = "instr %: share of the estimated instructions; lanes: threads that work together"
    return text + ("; sectors, wavefronts: of a request (the fewest that would do)" if compares else "")


def explain(profile: Profile) -> str:
    everything = sum(line.instructions for line in profile.lines)
    own = profile._own_file
    rows: list[tuple[str, ...]] = [HEADS]
    for line in profile.lines:
        if not line.instructions and not line.branches:
            continue  # the line with the name of the kernel, for example
        file = base_name(line.file)
        name = str(line.number) if file == own else f"{file}:{line.number}" if line.number else "none"
        text = line.text if len(line.text) <= MOST_TEXT else line.text[: MOST_TEXT - 3] + "..."
        rows.append((name, *cells_of(line, everything), text))
    used = [i for i in range(len(HEADS)) if i in (0, 1, 2, 8) or any(row[i] for row in rows[1:])]
    widths = {i: max(len(row[i]) for row in rows) for i in used}
    table = ["  ".join(row[i] if i == 8 else row[i].rjust(widths[i]) for i in used).rstrip() for row in rows]
    parts = [heading(profile), *table]
    parts += textwrap.wrap(legend(any("(" in row[4] + row[6] for row in rows[1:])), WIDTH)
    for finding in profile.findings:
        parts += textwrap.wrap(str(finding), WIDTH, initial_indent="* ", subsequent_indent="  ")
    if not profile.findings:
        parts.append("no rule has anything to say about this kernel")
    if profile.note:
        parts += textwrap.wrap(profile.note, WIDTH)
    return "\n".join(parts)
