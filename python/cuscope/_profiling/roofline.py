"""The drawing of a roofline."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from .svg import finished, label
from .text import model_of

if TYPE_CHECKING:
    from .profile import Profile

__all__ = ["draw", "numbers_of"]

WIDTH, HEIGHT = 620, 360
LEFT, RIGHT, TOP, BOTTOM = 76, 20, 40, 46


def _short(value: float) -> str:
    for name, size in (("P", 1e15), ("T", 1e12), ("G", 1e9), ("M", 1e6), ("k", 1e3)):
        if value >= size:
            return f"{value / size:.3g} {name}"
    return f"{value:.3g} "


def numbers_of(profile: Profile) -> dict[str, float | str]:
    """The rate of the launch, its roof, and the operations for each byte of memory and of the L2 cache."""
    time = profile.time
    if time is None:
        raise ValueError(
            f"profile of {profile.kernel}: no time is known, because no block was counted to its end"
        )
    scale = profile.blocks / profile.counted_blocks
    doubles = sum(row["threads"] * row["operations64"] for row in profile._facts["code"])
    operations = profile.counters["operations"]
    if operations:
        kind, work = "floating-point operations", operations * scale
        roof = profile.peaks["operations64" if doubles > 0.5 * operations else "operations32"]
    else:
        kind, work = "instructions of warps", profile.counters["instructions"] * scale
        roof = profile.peaks["instructions"]
    numbers: dict[str, float | str] = {"kind": kind, "rate": work / time.seconds, "roof": roof}
    for name, count in (("dram", time.dram_bytes), ("l2", time.l2_bytes)):
        if count > 0:
            numbers[f"{name}_intensity"] = work / count
    return numbers


def draw(profile: Profile) -> str:
    numbers = numbers_of(profile)
    rate, roof = float(numbers["rate"]), float(numbers["roof"])
    levels = [
        (name, title, profile.peaks[f"{name}_bytes"], float(numbers[f"{name}_intensity"]))
        for name, title in (("dram", "DRAM"), ("l2", "L2"))
        if f"{name}_intensity" in numbers
    ]
    ridges = [roof / profile.peaks[f"{name}_bytes"] for name in ("dram", "l2")]
    xs = [x for *_, x in levels] + ridges
    left, right = math.floor(math.log10(min(xs) / 3)), math.ceil(math.log10(max(xs) * 3))
    top = math.ceil(math.log10(roof * 1.5))
    bottom = min(math.floor(math.log10(max(rate, 1.0) / 2)), top - 2)

    def at(x: float, y: float) -> tuple[float, float]:
        across = (math.log10(x) - left) / (right - left)
        up = (math.log10(y) - bottom) / (top - bottom)
        return LEFT + across * (WIDTH - LEFT - RIGHT), HEIGHT - BOTTOM - up * (HEIGHT - TOP - BOTTOM)

    body = [label(12, 20, f"{profile.kernel}: {numbers['kind']} on {model_of(profile)}", "csInk csBold")]
    for power in range(left, right + 1):
        x, y = at(10.0**power, 10.0**bottom)
        body.append(f'<path class="csGrid" d="M{x:.1f} {TOP}V{y:.1f}"/>')
        body.append(label(x, y + 15, f"{10.0**power:g}", "csSoft csM"))
    for power in range(bottom, top + 1):
        x, y = at(10.0**left, 10.0**power)
        body.append(f'<path class="csGrid" d="M{x:.1f} {y:.1f}H{WIDTH - RIGHT}"/>')
        body.append(label(x - 6, y + 4, f"{_short(10.0**power).strip()}/s", "csSoft csE"))
    body.append(
        label((LEFT + WIDTH - RIGHT) / 2, HEIGHT - 10, f"{numbers['kind']} for each byte", "csSoft csM")
    )
    for name, title in (("dram", "DRAM"), ("l2", "L2")):
        bandwidth = profile.peaks[f"{name}_bytes"]
        begin = max(10.0**left, 10.0**bottom / bandwidth)
        x0, y0 = at(begin, begin * bandwidth)
        x1, y1 = at(roof / bandwidth, roof)
        x2, _ = at(10.0**right, roof)
        body.append(
            f'<path class="csRoof" stroke-width="1.6" d="M{x0:.1f} {y0:.1f}L{x1:.1f} {y1:.1f}H{x2:.1f}"/>'
        )
        across, up, style = (-8, -8, "csSoft csE") if name == "l2" else (8, 14, "csSoft")
        text = f"{title}: {_short(bandwidth)}B/s"
        body.append(label((x0 + x1) / 2 + across, (y0 + y1) / 2 + up, text, style))
    x, y = at(10.0**right, roof)
    body.append(label(x - 4, y - 6, f"{_short(roof).strip()}/s", "csSoft csE"))
    for name, title, bandwidth, intensity in levels:
        x, y = at(intensity, max(rate, 10.0**bottom))
        style = "csWant" if name == "dram" else "csBank1"
        reached = rate / min(roof, bandwidth * intensity)
        about = f"{title}: {intensity:.3g} for each byte, {_short(rate)}/s: {100 * reached:.0f} % of the roof"
        body.append(
            f'<circle class="{style}" cx="{x:.1f}" cy="{y:.1f}" r="5"><title>{about}</title></circle>'
        )
        body.append(
            label(x, y + (18 if name == "dram" else -10), f"{title} {100 * reached:.0f} %", "csInk csM")
        )
    return finished(body, WIDTH, HEIGHT, f"Roofline of {profile.kernel}")
