"""Compares simulated times of kernels with a GPU's: python tools/kernel_times.py FOLDER [KERNEL ...].

FOLDER holds corpus.py, with the kernels, their launches and their arguments, and h200.csv, with the microseconds that
an H200 took for them. The script prints a row for each launch: the measured and the simulated time between two events,
their ratio, the part of the device that bounds the simulated time, and the real seconds of the first launch. Then it
prints the median of the ratios, and how many are far off, for all kernels and for each half of them.
"""

from __future__ import annotations

import csv
import os
import statistics
import sys
import time
from pathlib import Path

import numpy as np

import cuscope as cs


def microseconds(kernel: cs.Kernel, grid: object, block: object, arguments: list[object]) -> float:
    stream = cs.Stream()
    cs.synchronize()
    start = stream.record()
    kernel.launch(*arguments, grid=grid, block=block, stream=stream)
    stop = stream.record()
    stream.synchronize()
    return (stop - start) * 1e3


def summary(name: str, ratios: list[float]) -> str:
    off = [max(ratio, 1 / ratio) for ratio in ratios]
    near = sum(o <= 1.5 for o in off)
    return (
        f"{name}: {len(off)} launches, median of the ratio {statistics.median(ratios):.2f}, half of them within "
        f"{statistics.median(off):.2f} x, {near} within 1.5 x, the farthest {max(off):.2f} x"
    )


def main(folder: str, *names: str) -> None:
    sys.path.insert(0, folder)
    import corpus  # of the folder

    os.environ.pop("CUSCOPE_KERNEL_TIME", None)
    cs.set_device(cs.Device("host:0"))
    with Path(folder, "h200.csv").open() as file:
        measured = {(row["kernel"], int(row["case"])): float(row["us"]) for row in csv.DictReader(file)}
    halves: tuple[list[float], list[float]] = ([], [])
    print("| kernel | H200, us | simulated, us | ratio | bound by | seconds of the first launch |")
    print("|---|---|---|---|---|---|")
    for index, (name, source, cases) in enumerate(corpus.K):
        if names and name not in names:
            continue
        kernel = getattr(cs.Module(source), name)
        for case, (grid, block, specification) in enumerate(cases):
            arguments = corpus.arrays(specification, np.random.default_rng(2 * index))
            began = time.perf_counter()
            explained = kernel.explain_time(*arguments, grid=grid, block=block)
            first = time.perf_counter() - began
            simulated = microseconds(kernel, grid, block, arguments)
            ratio = simulated / measured[name, case]
            halves[index % 2].append(ratio)
            print(
                f"| {name} {case} | {measured[name, case]:.1f} | {simulated:.1f} | {ratio:.2f} | {explained.bound} | "
                f"{first:.1f} |",
                flush=True,
            )
    print()
    for half, ratios in (("all", [*halves[0], *halves[1]]), ("even kernels", halves[0]), ("odd", halves[1])):
        if ratios:
            print(summary(half, ratios))


if __name__ == "__main__":
    main(*sys.argv[1:])
