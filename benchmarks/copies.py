"""Measures the time of copies between the host and a GPU: python benchmarks/copies.py --cpp PROGRAM [--json].

256 MiB of pageable and of page-locked memory, both ways, compared with cudaMemcpy from C++ (PROGRAM, built from
benchmarks/cpp/copy_rates.cu, prints JSON). Also a new device array of 1 KiB from a NumPy array, compared with CuPy's
asarray and torch, if they are installed. All take turns, round after round. The table shows the median time and the
median of the ratios in the same round.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import time
import timeit
from collections.abc import Callable
from typing import Any

import numpy as np

import cuscope as cs

BYTES = 256 << 20
COPIES = ("pageable_to_device", "pageable_to_host", "pinned_to_device", "pinned_to_host")


def gigabytes_a_second(copy: Callable[[], object], count: int = 5) -> float:
    samples = []
    for _ in range(count + 1):
        cs.synchronize()
        begin = time.perf_counter()
        copy()
        cs.synchronize()
        samples.append(BYTES / (time.perf_counter() - begin) / 1e9)
    return statistics.median(samples[1:])  # the first one warms up


def rates() -> dict[str, float]:
    device = cs.empty(BYTES, np.uint8)
    pageable = np.ones(BYTES, np.uint8)
    pinned = cs.pinned_empty(BYTES, np.uint8)
    return {
        "pageable_to_device": gigabytes_a_second(lambda: device.copy_from(pageable)),
        "pageable_to_host": gigabytes_a_second(lambda: device.copy_to(pageable)),
        "pinned_to_device": gigabytes_a_second(lambda: device.copy_from(pinned)),
        "pinned_to_host": gigabytes_a_second(lambda: device.copy_to(pinned)),
    }


def small_arrays() -> tuple[dict[str, tuple[str, dict[str, Any]]], dict[str, str]]:
    """A statement that makes a device array of 1 KiB, for each package, and the reasons for missing packages."""
    array = np.ones(256, np.float32)
    statements = {"cuscope": ("to_device(array)", {"to_device": cs.to_device, "array": array})}
    missing = {}
    try:
        import cupy

        statements["cupy"] = ("asarray(array)", {"asarray": cupy.asarray, "array": array})
    except Exception as error:  # an error of another package must not end the measurement
        missing["cupy"] = f"{type(error).__name__}: {error}"
    try:
        import torch

        statements["torch"] = ("tensor.cuda()", {"tensor": torch.from_numpy(array)})
        torch.zeros(1).cuda()
    except Exception as error:
        missing["torch"] = f"{type(error).__name__}: {error}"
    return statements, missing


def microseconds(statement: str, names: dict[str, Any], count: int) -> float:
    cs.synchronize()
    elapsed = timeit.Timer(statement, globals=names).timeit(count)
    cs.synchronize()
    return elapsed / count * 1e6


def measure(program: str | None, rounds: int, count: int) -> dict[str, Any]:
    ours: dict[str, list[float]] = {copy: [] for copy in COPIES}
    theirs: dict[str, list[float]] = {copy: [] for copy in COPIES}
    statements, missing = small_arrays()
    small: dict[str, list[float]] = {name: [] for name in statements}
    for statement, names in statements.values():
        microseconds(statement, names, count)
    for _ in range(rounds):
        if program:
            output = subprocess.run([program], capture_output=True, text=True, check=True, timeout=120).stdout
            for copy, value in json.loads(output).items():
                theirs[copy].append(float(value))
        for copy, rate in rates().items():
            ours[copy].append(rate)
        for name, (statement, names) in statements.items():
            small[name].append(microseconds(statement, names, count))

    def ratio(above: list[float], below: list[float]) -> float:
        return statistics.median(a / b for a, b in zip(above, below, strict=True))

    result: dict[str, Any] = {
        "gigabytes_a_second": {"cuscope": {copy: statistics.median(v) for copy, v in ours.items()}},
        "to_device_1_kib_microseconds": {name: statistics.median(v) for name, v in small.items()},
        "to_device_1_kib_ratio": {
            name: ratio(v, small["cuscope"]) for name, v in small.items() if name != "cuscope"
        },
        "missing": missing,
    }
    if program:
        result["gigabytes_a_second"]["c++"] = {copy: statistics.median(v) for copy, v in theirs.items()}
        result["ratio_to_c++"] = {copy: ratio(ours[copy], theirs[copy]) for copy in COPIES}
    return result


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--cpp", metavar="PROGRAM", help="the C++ program built from benchmarks/cpp")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--count", type=int, default=500, help="small arrays in a row")
    options = parser.parse_args()
    if not any(device.kind == "cuda" for device in cs.devices()):
        print("no GPU: nothing to measure", file=sys.stderr)
        return 1
    cs.set_device(cs.Device("cuda:0"))
    result = measure(options.cpp, options.rounds, options.count)
    if options.json:
        print(json.dumps(result, indent=2))
        return 0
    print(f"{'GB/s, 256 MiB':<28}" + "".join(f"{copy:>20}" for copy in COPIES))
    for name, row in result["gigabytes_a_second"].items():
        print(f"{name:<28}" + "".join(f"{row[copy]:20.1f}" for copy in COPIES))
    if "ratio_to_c++" in result:
        row = result["ratio_to_c++"]
        print(f"{'cuscope / c++':<28}" + "".join(f"{row[copy]:20.2f}" for copy in COPIES))
    for name, time_ in result["to_device_1_kib_microseconds"].items():
        times = result["to_device_1_kib_ratio"].get(name)
        print(
            f"1 KiB to the device: {name:<10}{time_:8.2f} us"
            + (f", {times:.2f} x cuscope's" if times else "")
        )
    for name, reason in result["missing"].items():
        print(f"{name}: not measured: {reason}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
