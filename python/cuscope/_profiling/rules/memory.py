"""Rules about accesses to memory."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from ..records import ROW, SECTOR, ProfiledAccess, ProfileFinding

if TYPE_CHECKING:
    from ..profile import Profile

__all__ = ["atomics", "bank_conflict", "misaligned", "narrow", "repeated_reads", "uncoalesced"]

WASTE = 1.25  # times as many sectors as would do
WAYS = 1.5  # times as many wavefronts as would do
LEAST_SHARE = 0.02  # of all sectors or wavefronts of the kernel
READS = 4.0  # how often each sector is read
ATOMIC_SHARE = 0.3  # of the time


def _accesses(profile: Profile, space: str) -> list[ProfiledAccess]:
    return [one for line in profile.lines for one in line.accesses if one.space == space and one.line]


def _verb(kind: str) -> str:
    return {"load": "read", "store": "store to", "atomic": "update"}[kind]


def _elements(stride: int, size: int) -> str:
    """ ", a stride of 2 elements" if the stride is a number of elements that matters."""
    if size and stride % size == 0 and abs(stride) > size:
        return f", a stride of {stride // size} elements"
    return ""


def _share(profile: Profile, *parts: str) -> float:
    """The largest of these parts of the device's time, in relation to the time of the launch; at least a tenth, so that
    launches that are too small for the device show their mistakes first.
    """
    time = profile.time
    if time is None or time.seconds <= 0:
        return 1.0
    return min(1.0, max(0.1, max(time.parts[part] for part in parts) / time.seconds))


def _is_misaligned(one: ProfiledAccess) -> bool:
    """Neighbouring lanes access neighbouring elements, but the first of them does not begin a sector."""
    return one.stride == one.bytes and one.sectors <= one.ideal_sectors + one.requests


def uncoalesced(profile: Profile) -> Iterator[ProfileFinding]:
    """A request touches more sectors than its bytes need."""
    accesses = _accesses(profile, "global")
    everything = sum(one.sectors for one in accesses)
    for one in accesses:
        waste = one.sectors - one.ideal_sectors
        if (
            not one.requests
            or one.sectors < WASTE * one.ideal_sectors
            or waste < max(1, LEAST_SHARE * everything)
            or _is_misaligned(one)
        ):
            continue
        stride = one.stride or None  # 0: groups of lanes read one address each
        if stride is None:
            how = f"the lanes {_verb(one.kind)} {one.memory} at addresses far apart"
            advice = "Sort the work so that neighbouring lanes access neighbouring elements, or stage it in shared memory."
        else:
            how = f"neighbouring lanes {_verb(one.kind)} {one.memory} {abs(stride)} bytes apart" + _elements(
                abs(stride), one.bytes
            )
            if abs(stride) < SECTOR:
                advice = (
                    "Let neighbouring lanes access neighbouring elements; if these are fields of a structure, give each "
                    "field an array of its own."
                )
            else:
                advice = (
                    "Let threadIdx.x run along the elements that are neighbours in memory, or go through a tile in "
                    "shared memory."
                )
        numbers = {
            "sectors_per_request": one.sectors_per_request,
            "ideal_sectors_per_request": one.ideal_sectors_per_request,
            "requests": one.requests,
        }
        if stride is not None:
            numbers["stride"] = stride
        text = f"{one.sectors_per_request:.1f} sectors a request where {one.ideal_sectors_per_request:.1f} would do: {how}"
        weight = waste / everything * _share(profile, "DRAM", "L2", "shared memory", "latency")
        yield ProfileFinding("uncoalesced", one.line, text, advice, numbers, weight)


def misaligned(profile: Profile) -> Iterator[ProfileFinding]:
    """Neighbouring elements that begin in the middle of a sector cost one sector more in each request."""
    accesses = _accesses(profile, "global")
    everything = sum(one.sectors for one in accesses)
    for one in accesses:
        waste = one.sectors - one.ideal_sectors
        if not _is_misaligned(one) or waste < LEAST_SHARE * everything or waste < max(1, 0.5 * one.requests):
            continue
        first = next(at for at in one.example if at is not None)
        distance = (first + one.example_begin) % SECTOR
        text = (
            f"{one.sectors_per_request:.1f} sectors a request where {one.ideal_sectors_per_request:.1f} would do: warps "
            f"{_verb(one.kind)} {one.memory} from {distance} bytes behind the begin of a sector of 32 bytes on"
        )
        advice = "Let the first lane of each warp access an address that is a multiple of 32 bytes, for example by padding rows."
        numbers = {
            "sectors_per_request": one.sectors_per_request,
            "ideal_sectors_per_request": one.ideal_sectors_per_request,
            "distance": distance,
        }
        weight = waste / everything * _share(profile, "DRAM", "L2")
        yield ProfileFinding("misaligned", one.line, text, advice, numbers, weight)


def bank_conflict(profile: Profile) -> Iterator[ProfileFinding]:
    """Lanes want different words of one bank of shared memory."""
    accesses = [one for one in _accesses(profile, "shared") if one.kind != "atomic"]
    everything = sum(one.wavefronts for one in accesses)
    for one in accesses:
        extra = one.wavefronts - one.ideal_wavefronts
        if one.conflict_ways < WAYS or extra < LEAST_SHARE * everything:
            continue
        stride = one.stride
        how = f"the lanes {_verb(one.kind)} {one.memory} at words that share banks"
        advice = "Arrange the data so that the lanes of a warp use different banks: (address / 4) % 32."
        if stride:
            how = f"neighbouring lanes {_verb(one.kind)} {one.memory} {abs(stride)} bytes apart"
            if stride % ROW == 0:
                how += ", in the same bank"
                advice = "Pad each row by one element, as in tile[32][33], so that a column lies in 32 banks."
            elif abs(stride) < ROW:
                advice = "Let neighbouring lanes access neighbouring words."
            else:
                advice = "Pad the rows so that their length in words is odd."
        text = (
            f"{one.conflict_ways:.0f}-way bank conflict: {one.wavefronts_per_request:.1f} wavefronts a request where "
            f"{one.ideal_wavefronts / one.requests:.1f} would do: {how}"
        )
        numbers = {
            "ways": one.conflict_ways,
            "wavefronts_per_request": one.wavefronts_per_request,
            "requests": one.requests,
        }
        if stride is not None:
            numbers["stride"] = stride
        yield ProfileFinding(
            "bank conflict",
            one.line,
            text,
            advice,
            numbers,
            extra / everything * _share(profile, "shared memory"),
        )


def repeated_reads(profile: Profile) -> Iterator[ProfileFinding]:
    """The warps of the kernel load the same sectors of an argument again and again."""
    accesses = [one for one in _accesses(profile, "global") if one.kind == "load"]
    everything = sum(one.sectors for one in accesses)
    for name, different in profile.different_load_sectors.items():
        loaded = profile.counts.by_argument[name].load_sectors
        if not different or loaded < READS * different or loaded < 0.1 * everything:
            continue
        mine = [one for one in accesses if name in one.memory.split(", ")]
        if not mine:
            continue
        # Sectors that a request fetches in vain are another rule's business.
        ideal = sum(one.ideal_sectors for one in mine)
        times = loaded / different
        if ideal < READS * different:
            continue
        lines = sorted({one.line for one in mine})
        most = max(mine, key=lambda one: one.sectors)
        elsewhere = f" (lines {', '.join(map(str, lines))})" if len(lines) > 1 else ""
        text = (
            f"{name} is read {times:.1f} times from global memory{elsewhere}: {loaded} sectors are requested, of which "
            f"{different} are different"
        )
        advice = (
            "Load a tile into shared memory once and let all threads of the block read it there, or keep values that one "
            "thread uses again in registers."
        )
        numbers = {"times": times, "sectors": loaded, "different_sectors": different}
        weight = (
            loaded
            / everything
            * (1 - 1 / times)
            * _share(profile, "DRAM", "L2", "shared memory", "latency")
            * 0.5
        )
        yield ProfileFinding("repeated reads", most.line, text, advice, numbers, weight)


def narrow(profile: Profile) -> Iterator[ProfileFinding]:
    """Lanes access one or two bytes each, so that a request moves a sector or two."""
    accesses = [one for one in _accesses(profile, "global") if one.kind != "atomic"]
    requests = sum(one.requests for one in accesses)
    for one in accesses:
        if one.bytes > 2 or one.requests < 0.25 * requests or one.stride != one.bytes:
            continue
        text = f"each lane accesses {one.bytes} byte{'s' if one.bytes > 1 else ''} of {one.memory}, so a request has {one.sectors_per_request:.1f} sectors"
        advice = f"Let each thread access 4 or more bytes at once, for example as {'uchar4' if one.bytes == 1 else 'ushort2'}."
        numbers = {"bytes": one.bytes, "sectors_per_request": one.sectors_per_request}
        weight = one.requests / requests * _share(profile, "shared memory", "issue", "latency") * 0.3
        yield ProfileFinding("narrow", one.line, text, advice, numbers, weight)


def atomics(profile: Profile) -> Iterator[ProfileFinding]:
    """Atomic operations on global memory take a large part of the time."""
    time = profile.time
    if time is None or time.parts["atomics"] < ATOMIC_SHARE * time.seconds:
        return
    accesses = [one for one in _accesses(profile, "global") if one.kind == "atomic"]
    if not accesses:
        return
    everything = sum(one.addresses for one in accesses)
    most = max(accesses, key=lambda one: one.addresses)
    share = min(1.0, time.parts["atomics"] / time.seconds)
    text = (
        f"{most.threads} threads {_verb(most.kind)} {most.memory} by atomic operations, at "
        f"{most.addresses / most.requests:.1f} addresses a request; atomic operations take {100 * share:.0f} % of the time"
    )
    advice = "Add up in shared memory or in registers first, and let each block update global memory once."
    numbers = {
        "threads": most.threads,
        "addresses_per_request": most.addresses / most.requests,
        "time_share": share,
    }
    yield ProfileFinding("atomics", most.line, text, advice, numbers, share * most.addresses / everything)
