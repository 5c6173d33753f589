"""The counters of a whole kernel."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .profile import Profile

__all__ = ["counters_of"]

COUNTED = (
    "global_loads", "global_stores", "global_atomics", "global_load_requests", "global_store_requests",
    "global_load_sectors", "global_store_sectors", "global_load_bytes", "global_store_bytes",
    "shared_loads", "shared_stores", "shared_atomics", "shared_load_requests", "shared_store_requests",
    "shared_load_wavefronts", "shared_store_wavefronts", "shared_load_bank_conflicts", "shared_store_bank_conflicts",
)  # fmt: skip


def counters_of(profile: Profile) -> dict[str, float]:
    lines = profile.lines
    instructions = sum(line.instructions for line in lines)
    thread_instructions = sum(line.thread_instructions for line in lines)
    branches = sum(line.branches for line in lines)
    divergent = sum(line.divergent_branches for line in lines)
    made: dict[str, float] = {
        "instructions": instructions,
        "thread_instructions": thread_instructions,
        "active_threads": thread_instructions / instructions if instructions else 0.0,
        "operations": sum(line.operations for line in lines),
        "branches": branches,
        "divergent_branches": divergent,
        "branch_efficiency": 1 - divergent / branches if branches else 1.0,
    }
    made.update({name: getattr(profile.counts, name) for name in COUNTED})
    made["atomic_addresses"] = sum(
        one.addresses for line in lines for one in line.accesses if one.kind == "atomic"
    )
    if profile.time is not None:
        made["dram_bytes"] = profile.time.dram_bytes
        made["l2_bytes"] = profile.time.l2_bytes
    return made
