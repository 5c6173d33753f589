"""Makes src/ops/calibration.inc from measurements of an H200: python tools/predicted_times.py [--check].

Reads benchmarks/results/h200_matmul.json and h200_reductions.json, and h100_matmul.json for kernels that were measured on
an H100 alone: it has the multiprocessors and the clock of an H200. Every second size of each kernel is left out:
tests/operations/test_prediction.py checks that the formula predicts the times at these sizes, too.
"""

from __future__ import annotations

import argparse
import json
import math
import sys
from pathlib import Path
from typing import NamedTuple

from cuscope import _core

ROOT = Path(__file__).resolve().parent.parent
RESULTS = ROOT / "benchmarks" / "results"
TARGET = ROOT / "src" / "ops" / "calibration.inc"
MULTIPROCESSORS = 132
LAUNCH = 3.0  # microseconds for a launch of a product


class Instance(NamedTuple):
    """The tile that a block of a kernel computes, and the number of blocks that a multiprocessor holds."""

    tile: tuple[int, int]
    resident: int


def instances() -> dict[str, Instance]:
    return {name: Instance((m, n), resident) for name, m, n, resident in _core.matmul_instances()}


def times_of_matmul() -> dict[str, dict[int, float]]:
    """Microseconds by kernel and n."""
    times: dict[str, dict[int, float]] = {}
    for gpu in ("h100", "h200"):
        of_gpu: dict[str, dict[int, float]] = {}
        for rows in json.loads((RESULTS / f"{gpu}_matmul.json").read_text())["rows"].values():
            for n, name, rate, _ in rows:
                of_gpu.setdefault(name, {})[n] = 2 * n**3 / rate / 1e6
        times |= of_gpu
    return times


def times_of_reductions() -> dict[str, dict[int, float]]:
    times: dict[str, dict[int, float]] = {}
    for name, n, microseconds in json.loads((RESULTS / "h200_reductions.json").read_text())["rows"]:
        times.setdefault(name.lstrip("0123456789_"), {})[n] = microseconds
    return times


def calibrated(times: dict[int, float]) -> dict[int, float]:
    return dict(sorted(times.items())[::2])


def fit_matmul(instance: Instance, times: dict[int, float]) -> tuple[float, float]:
    """(fill, picoseconds) of src/ops/prediction.cpp with the smallest of the largest relative errors."""
    best = (math.inf, 0.0, 0.0)
    # If several values fit the measurements equally well, take the one closest to that of most kernels.
    for fill in sorted((step / 20 for step in range(21)), key=lambda fill: abs(fill - 0.75)):
        work = {}
        for n in times:
            blocks = math.ceil(n / instance.tile[0]) * math.ceil(n / instance.tile[1])
            each = math.ceil(blocks / MULTIPROCESSORS)
            work[n] = each * n / (fill + (1 - fill) * min(1.0, each / instance.resident))
        weights = {n: work[n] / times[n] for n in times}
        cost = sum(weights[n] * (times[n] - LAUNCH) / times[n] for n in times) / sum(
            weight**2 for weight in weights.values()
        )
        error = max(abs((LAUNCH + cost * work[n]) / times[n] - 1) for n in times)
        if error < best[0] - 1e-3:
            best = (error, fill, cost)
    return best[1], best[2] * 1e6


def launches(name: str, n: int) -> tuple[int, int]:
    """The number of launches of a rung, and the number of elements of all launches together."""
    block = {
        "interleaved_modulo": 256,
        "interleaved_strided": 256,
        "sequential": 256,
        "first_add_during_load": 512,
        "unrolled_last_warp": 512,
        "fully_unrolled": 512,
    }.get(name)
    if block is None:
        return (2 if name in ("grid_stride", "two_kernels") else 1), n
    count = elements = 0
    while True:
        count, elements, n = count + 1, elements + n, -(-n // block)
        if n == 1:
            return count, elements


def fit_reduction(name: str, times: dict[int, float]) -> tuple[float, float]:
    """(microseconds, picoseconds) of src/ops/prediction.cpp."""
    best = (math.inf, 0.0, 0.0)
    largest = max(times)
    for step in range(10, 140):
        launch = step / 20
        count, elements = launches(name, largest)
        each = (times[largest] - launch * count) / elements
        error = 0.0
        for n, time in times.items():
            count, elements = launches(name, n)
            error = max(error, abs((launch * count + each * elements) / time - 1))
        if error < best[0] - 1e-6:
            best = (error, launch, each)
    return best[1], best[2] * 1e6


def text() -> str:
    known = instances()
    lines = [
        "// Made by tools/predicted_times.py of benchmarks/results/: change those.",
        "",
        f"constexpr double matmul_launch_microseconds = {LAUNCH};",
        "",
        "constexpr OfMatmul of_matmul[] = {",
    ]
    for name, times in times_of_matmul().items():
        if name in known:
            fill, picoseconds = fit_matmul(known[name], calibrated(times))
            lines.append(f'    {{"{name}", {fill:.2f}, {picoseconds:.1f}}},')
    lines += ["};", "", "constexpr OfReduction of_reduction[] = {"]
    for name, times in times_of_reductions().items():
        microseconds, picoseconds = fit_reduction(name, calibrated(times))
        lines.append(f'    {{"{name}", {microseconds:.2f}, {picoseconds:.4f}}},')
    return "\n".join([*lines, "};", ""])


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--check", action="store_true", help="only say whether the file is what it would be")
    options = parser.parse_args()
    made = text()
    if options.check:
        if TARGET.read_text() == made:
            return 0
        print(
            f"{TARGET.relative_to(ROOT)} is not what tools/predicted_times.py makes: run it", file=sys.stderr
        )
        return 1
    TARGET.write_text(made)
    return 0


if __name__ == "__main__":
    sys.exit(main())
