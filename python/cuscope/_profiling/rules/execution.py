"""Rules about the threads that execute instructions, and the blocks of the grid."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from ..records import LANES, ProfiledLine, ProfileFinding

if TYPE_CHECKING:
    from ..profile import Profile

__all__ = ["divergent", "doubles", "idle_lanes", "imbalance", "partial_warp", "small_grid"]

DIVERGENT = 0.1  # of the branches of a line
IDLE = 0.75  # of the threads of a warp are active
LEAST_SHARE = 0.1  # of the instructions
DOUBLES = 0.05  # of the operations
IMBALANCE = 1.5


def _threads(profile: Profile) -> int:
    x, y, z = profile.block
    return x * y * z


def _warp(profile: Profile) -> float:
    """The mean number of threads in a warp of the block."""
    threads = _threads(profile)
    return threads / -(-threads // LANES)


def _share(line: ProfiledLine, profile: Profile) -> float:
    everything = sum(one.instructions for one in profile.lines)
    return line.instructions / everything if everything else 0.0


def _idle_share(profile: Profile) -> float:
    """The part of the issued thread instructions that lanes in other branches leave out."""
    instructions = profile.counters["instructions"] * _warp(profile)
    return 1 - profile.counters["thread_instructions"] / instructions if instructions else 0.0


def divergent(profile: Profile) -> Iterator[ProfileFinding]:
    """Lanes of a warp go different ways at a branch, and the warp executes both ways one after the other."""
    idle = _idle_share(profile)
    if idle < 0.05:
        return
    everything = sum(line.divergent_branches for line in profile.lines)
    for line in profile.lines:
        if not line.number or line.divergent_branches < max(1, DIVERGENT * line.branches, 0.05 * everything):
            continue
        text = (
            f"lanes of a warp go different ways in {line.divergent_branches} of {line.branches} branches, and "
            f"{100 * idle:.0f} % of the kernel's lanes wait for others"
        )
        advice = (
            "Let the condition depend on the warp instead of the lane: sort the data, or compute the threads that work "
            "so that they are neighbours."
        )
        numbers = {
            "branches": line.branches,
            "divergent_branches": line.divergent_branches,
            "idle_share": idle,
        }
        weight = idle * line.divergent_branches / everything
        yield ProfileFinding("divergent", line.number, text, advice, numbers, weight)


def idle_lanes(profile: Profile) -> Iterator[ProfileFinding]:
    """Few lanes of the warps execute a line that has many instructions."""
    for line in profile.lines:
        share, full = _share(line, profile), _warp(profile)
        if not line.number or share < LEAST_SHARE or line.active_threads >= IDLE * full:
            continue
        text = (
            f"{line.active_threads:.1f} of {full:.3g} lanes are active here, in {100 * share:.0f} % of the kernel's "
            "instructions"
        )
        advice = "Give the lanes of a warp the same amount of work, or let warps without work end."
        numbers = {"active_threads": line.active_threads, "instruction_share": share}
        weight = share * (1 - line.active_threads / full) * 0.9
        yield ProfileFinding("idle lanes", line.number, text, advice, numbers, weight)


def partial_warp(profile: Profile) -> Iterator[ProfileFinding]:
    """The threads of a block do not fill its last warp."""
    threads = _threads(profile)
    rest = threads % LANES
    if not rest:
        return
    warps = -(-threads // LANES)
    wasted = (LANES - rest) / (warps * LANES)
    text = (
        f"blocks of {threads} threads have {warps} warps, of which the last has {rest} of 32 lanes"
        if warps > 1
        else f"a block of {threads} thread{'s' if threads > 1 else ''} has {rest} of the 32 lanes of a warp"
    )
    advice = "Make the number of threads in a block a multiple of 32."
    numbers = {"threads": threads, "lanes": rest}
    yield ProfileFinding("partial warp", 0, text, advice, numbers, wasted * 0.8)


def doubles(profile: Profile) -> Iterator[ProfileFinding]:
    """Operations with doubles, of which the device does fewer than of those with floats.

    A kernel that reads or writes elements of 8 bytes is meant to compute with doubles.
    """
    if any(one.space == "global" and one.bytes == 8 for line in profile.lines for one in line.accesses):
        return
    peaks = profile.peaks
    slower = peaks["operations32"] / peaks["operations64"]
    rows = profile._facts["code"]
    everything = sum(row["threads"] * (row["operations32"] + row["operations64"]) for row in rows)
    by_line: dict[str, float] = {}
    for row in rows:
        by_line[row["line"]] = by_line.get(row["line"], 0.0) + row["threads"] * row["operations64"]
    for place, count in by_line.items():
        number = place.rpartition(":")[2]
        if not everything or count < DOUBLES * everything or not number.isdigit():
            continue
        share = count / everything
        text = (
            f"{100 * share:.0f} % of the kernel's floating-point operations are with doubles here; the device does "
            f"{slower:.3g} times as many with floats"
        )
        advice = "If float is precise enough, write constants with an f, as in 0.5f, and call sqrtf in place of sqrt."
        weight = share * (1 - 1 / slower) * 0.6
        yield ProfileFinding("doubles", int(number), text, advice, {"share": share, "slower": slower}, weight)


def small_grid(profile: Profile) -> Iterator[ProfileFinding]:
    """The grid has fewer blocks than the device has multiprocessors."""
    multiprocessors = profile.device.properties.multiprocessor_count
    if profile.blocks >= multiprocessors:
        return
    idle = multiprocessors - profile.blocks
    text = (
        f"the grid has {profile.blocks} block{'s' if profile.blocks > 1 else ''} for {multiprocessors} multiprocessors, "
        f"so {idle} have nothing to do"
    )
    advice = "Launch more blocks: smaller ones, or more work at once."
    numbers = {"blocks": profile.blocks, "multiprocessors": multiprocessors}
    yield ProfileFinding("small grid", 0, text, advice, numbers, 0.01 * idle / multiprocessors)


def imbalance(profile: Profile) -> Iterator[ProfileFinding]:
    """One multiprocessor has much more to do than the others."""
    time = profile.time
    multiprocessors = profile.device.properties.multiprocessor_count
    if time is None or time.imbalance < IMBALANCE or profile.blocks < multiprocessors:
        return
    text = f"the busiest multiprocessor has {time.imbalance:.2g} times the mean work, because blocks differ or their number does not fit"
    advice = "Let blocks take the next piece of work when they are done, or make them smaller."
    yield ProfileFinding(
        "imbalance", 0, text, advice, {"imbalance": time.imbalance}, 0.5 * (1 - 1 / time.imbalance)
    )
