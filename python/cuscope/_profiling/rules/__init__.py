"""The rules that explain a profile. Each is a function that yields findings."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

from ..records import ProfileFinding
from . import execution, memory

if TYPE_CHECKING:
    from ..profile import Profile

__all__ = ["RULES", "findings_of"]

Rule = Callable[["Profile"], Iterable[ProfileFinding]]

RULES: tuple[Rule, ...] = (
    memory.uncoalesced,
    memory.misaligned,
    memory.bank_conflict,
    memory.repeated_reads,
    memory.narrow,
    memory.atomics,
    execution.divergent,
    execution.idle_lanes,
    execution.partial_warp,
    execution.doubles,
    execution.small_grid,
    execution.imbalance,
)


def findings_of(profile: Profile) -> list[ProfileFinding]:
    """The most important first; of equal ones, in the order of the source, then of the rules."""
    found = [finding for rule in RULES for finding in rule(profile)]
    return sorted(found, key=lambda finding: (-finding.weight, finding.line))
