"""Rules about copies between the host and a device."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ..facts import Facts
from ..findings import Finding
from ..intervals import intersection, length, union
from ..units import bytes_text, percent_text, rate_text, time_text

__all__ = ["one_copy_engine", "pageable_copies", "shared_stream", "small_copies"]

LEAST_PAGEABLE = 4096  # bytes; the fixed time of smaller copies is most of them, in page-locked memory, too
SMALL_COUNT = 8  # copies of a line; fewer are not many
SMALL_RATE = 0.5  # of the model's bandwidth
SHARED_PART = 0.1  # of the duration, which kernels and copies each take at least
SHARED_OVERLAP = 0.05  # of the shorter one of both, which is hidden at most
CHUNKS = 8  # that the estimate assumes if the program makes one copy
MOST_CHUNKS = 64

_WAYS = {"copy to device": "to the device", "copy to host": "to the host"}


def _saved_by_rate(bytes_: int, takes: int, bandwidth: float | None) -> int | None:
    """The time that copies at the model's bandwidth, in GB/s, would save."""
    return max(0, int(takes - bytes_ / bandwidth)) if bandwidth else None


def _bandwidth(facts: Facts, rows: np.ndarray) -> float | None:
    """Of the host's link to the device that the rows are on; None: unknown."""
    return facts.links.get(facts.spans["device"][rows[0]])


def pageable_copies(facts: Facts) -> Iterator[Finding]:
    """Copies of pageable memory are slow, and the host waits in them."""
    kernels = facts.when(facts.kernels)
    pageable = facts.spans["pageable"] & (facts.spans["bytes"] >= LEAST_PAGEABLE)
    for line, rows in facts.by_line(facts.copies & pageable).items():
        times = facts.when(rows)
        takes, bytes_ = length(times), int(facts.spans["bytes"][rows].sum())
        if not facts.matters(takes):
            continue
        calls = np.unique(facts.call[rows])
        held = length(facts.when(calls[calls >= 0]))
        host = f" The host stays in the calls for {time_text(held)}." if held else ""
        alone = 1 - length(intersection(times, kernels)) / takes
        beside = f" During {percent_text(alone)} of that time no kernel runs." if length(kernels) else ""
        bandwidth = _bandwidth(facts, rows)
        instead = f" at {rate_text(bandwidth)}" if bandwidth else ""
        yield Finding(
            "pageable copies",
            f"{line or 'The program'} copies {bytes_text(bytes_)} of pageable memory in {time_text(takes)} "
            f"({rate_text(bytes_ / takes)}).{host}{beside} Put the data into page-locked memory: cs.pinned_empty copies"
            f"{instead}, while the host goes on and kernels run.",
            line,
            _saved_by_rate(bytes_, takes, bandwidth),
            rows,
        )


def small_copies(facts: Facts) -> Iterator[Finding]:
    """Many copies far below the bandwidth: the fixed cost of each one dominates."""
    for engine, way in _WAYS.items():
        mask = facts.copies & (facts.spans["engine"] == engine) & ~facts.spans["pageable"]
        for line, rows in facts.by_line(mask).items():
            bandwidth = _bandwidth(facts, rows)
            takes, bytes_ = int(facts.takes[rows].sum()), int(facts.spans["bytes"][rows].sum())
            if bandwidth is None or len(rows) < SMALL_COUNT or not facts.matters(takes):
                continue
            if bytes_ <= 0 or bytes_ / takes >= SMALL_RATE * bandwidth:
                continue
            yield Finding(
                "small copies",
                f"{line or 'The program'} makes {len(rows)} copies {way} of {bytes_text(bytes_ / len(rows))} on average "
                f"at {rate_text(bytes_ / takes)}, where the device can copy {rate_text(bandwidth)}: each one takes "
                f"{time_text(takes / len(rows))}, most of it fixed. Put the data into one array and copy it once.",
                line,
                _saved_by_rate(bytes_, takes, bandwidth),
                rows,
            )


def one_copy_engine(facts: Facts) -> Iterator[Finding]:
    """The only copy engine makes one direction wait for the other."""
    rows, since = facts.delays("engine")
    engine = facts.spans["engine"]
    cause = facts.spans["cause"][rows]
    both = np.isin(engine[rows].astype(str), list(_WAYS)) & np.isin(engine[cause].astype(str), list(_WAYS))
    both &= engine[rows] != engine[cause]
    for device, about, here in facts.devices:
        chosen = both & here[rows]
        waits = length(union(since[chosen], facts.starts[rows[chosen]]))
        if about.get("copy_engines") == 1 and facts.matters(waits):
            yield Finding(
                "one copy engine",
                f"{device} has one copy engine for both directions: copies wait {time_text(waits)} for copies in the "
                "other direction. A device with two copy engines does both at once; on this one, copy fewer bytes.",
                facts.main_line(rows[chosen]),
                None,
                rows[chosen],
            )


def shared_stream(facts: Facts) -> Iterator[Finding]:
    """Copies and kernels share one stream, so no copy is hidden, and a pipeline would be shorter."""
    for _, about, here in facts.devices:
        chosen = np.flatnonzero(here & facts.work)
        streams = np.unique(facts.spans["stream"][chosen])
        if len(streams) != 1 or streams[0] < 0:
            continue
        engine = facts.spans["engine"][chosen]
        stages = {
            name: facts.when(chosen[engine == name]) for name in ("copy to device", "kernels", "copy to host")
        }
        kernels = stages["kernels"]
        copies = facts.when(chosen[(engine == "copy to device") | (engine == "copy to host")])
        least = min(length(kernels), length(copies))
        if not facts.matters(least, SHARED_PART):
            continue
        if length(intersection(kernels, copies)) > SHARED_OVERLAP * least:
            continue
        takes = [length(times) for times in stages.values()]
        if about.get("copy_engines") == 1:
            takes = [takes[0] + takes[2], takes[1]]
        made = max(int((engine == name).sum()) for name in _WAYS)
        chunks = min(made, MOST_CHUNKS) if made > 1 else CHUNKS
        # The first chunk goes through all stages; each further one adds the longest stage.
        pipeline = (sum(takes) + (chunks - 1) * max(takes)) // chunks
        pageable = (
            " and page-locked memory (cs.pinned_empty)" if facts.spans["pageable"][chosen].any() else ""
        )
        yield Finding(
            "shared stream",
            f"Copies ({time_text(length(copies))}) and kernels ({time_text(length(kernels))}) share one stream, so no "
            f"copy runs beside a kernel. If the work can be split into independent chunks, issue the chunks in "
            f"turn to two or more streams (cs.Stream){pageable}: with {chunks} chunks they take about "
            f"{time_text(pipeline)} in place of {time_text(sum(takes))}.",
            facts.main_line(chosen[engine == "kernels"]),
            sum(takes) - pipeline,
            chosen,
        )
