"""Measures the launches of corpus.py, or simulates them: python benchmarks/blind/measure.py [DEVICE] [KERNEL ...].

DEVICE is a GPU (cuda:0), or the model of a simulated device (h200, which is the default, or h100). Without names of
kernels, the microseconds of each launch go to a file beside this one: h200.csv or h100.csv, after the name of the GPU,
or simulated_h200.csv, after the model. Each first launch is checked against NumPy (reference.py). A GPU then launches
twelve times between two events, nine times over; the result is the median for one launch. A simulated device takes the
same time each time, so one launch is enough.

The simulated times were written before the kernels ran on a GPU for the first time. If the other file of the GPU or
model is there, the script prints a row for each launch, and how far the times are apart.
"""

from __future__ import annotations

import csv
import os
import statistics
import sys
import time
from pathlib import Path
from typing import Any

import corpus
import numpy as np
import reference

import cuscope as cs

FOLDER = Path(__file__).resolve().parent
REPETITIONS, LAUNCHES = 9, 12


def checked_launch(
    name: str, kernel: cs.Kernel, grid: Any, block: Any, host: list[Any]
) -> tuple[list[Any], str]:
    """The arguments on the device, and the part that bounds the simulated time."""
    arguments = corpus.on_device(host)
    bound = ""
    if cs.current_device().simulated:
        bound = str(kernel.explain_time(*arguments, grid=grid, block=block).bound)
    else:
        kernel.launch(*arguments, grid=grid, block=block)
    after = [value.to_host() if isinstance(value, cs.DeviceArray) else value for value in arguments]
    reference.CHECKS[name](host, after)
    return arguments, bound


def microseconds(kernel: cs.Kernel, grid: Any, block: Any, arguments: list[Any]) -> float:
    """A launch between two events."""
    repetitions, launches = (1, 1) if cs.current_device().simulated else (REPETITIONS, LAUNCHES)
    stream = cs.Stream()
    cs.synchronize()
    kernel[grid, block, stream](*arguments)
    stream.synchronize()
    taken = []
    for _ in range(repetitions):
        start = stream.record()
        for _ in range(launches):
            kernel[grid, block, stream](*arguments)
        stop = stream.record()
        stream.synchronize()
        taken.append((stop - start) / launches * 1e3)
    return statistics.median(taken)


def read(file: Path) -> dict[tuple[str, str], dict[str, str]]:
    with file.open() as text:
        return {(row["kernel"], row["case"]): row for row in csv.DictReader(text)}


def compare(
    measured: dict[tuple[str, str], dict[str, str]], simulated: dict[tuple[str, str], dict[str, str]]
) -> None:
    print("\n| kernel | GPU, us | simulated, us | ratio | bound by |\n|---|---|---|---|---|")
    ratios = []
    for launch, row in measured.items():
        if launch in simulated:
            ratios.append(float(simulated[launch]["us"]) / float(row["us"]))
            print(
                f"| {' '.join(launch)} | {float(row['us']):.1f} | {float(simulated[launch]['us']):.1f} | "
                f"{ratios[-1]:.2f} | {simulated[launch]['bound']} |"
            )
    off = sorted(max(ratio, 1 / ratio) for ratio in ratios)
    print(
        f"\n{len(off)} launches, median of the ratio {statistics.median(ratios):.2f}, half of them within "
        f"{statistics.median(off):.2f} x, 90 % within {off[int(np.ceil(0.9 * len(off))) - 1]:.2f} x, the farthest "
        f"{off[-1]:.2f} x"
    )


def main(device: str = "h200", *names: str) -> int:
    os.environ.pop("CUSCOPE_KERNEL_TIME", None)
    simulated = ":" not in device
    cs.set_device(cs.add_host_device(device) if simulated else cs.Device(device))
    gpu = device if simulated else cs.current_device().name.split()[1].lower()  # "NVIDIA H200"
    files = {False: FOLDER / f"{gpu}.csv", True: FOLDER / f"simulated_{gpu}.csv"}
    rows, wrong = [], 0
    for index, (name, source, cases) in enumerate(corpus.K):
        if names and name not in names:
            continue
        kernel = cs.Module(source)[name]
        for case, (grid, block, specification) in enumerate(cases):
            began = time.perf_counter()
            host = specification(np.random.default_rng(2 * index))
            try:
                arguments, bound = checked_launch(name, kernel, grid, block, host)
            except (AssertionError, cs.CudaError) as error:
                print(f"{name} {case}: WRONG: {' '.join(str(error).split())[:300]}", flush=True)
                wrong += 1
                continue
            us = microseconds(kernel, grid, block, arguments)
            rows.append([name, case, f"{us:.2f}", *([bound] if simulated else [])])
            took = time.perf_counter() - began
            print(f"{name:<16} {case} {us:10.2f} us {bound:<14} right, {took:.1f} s", flush=True)
    if not names:
        with files[simulated].open("w", newline="") as text:
            writer = csv.writer(text, lineterminator="\n")
            writer.writerow(["kernel", "case", "us", *(["bound"] if simulated else [])])
            writer.writerows(rows)
    if all(file.exists() for file in files.values()):
        compare(read(files[False]), read(files[True]))
    return int(wrong > 0)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
