"""Measures calls of operations as a program makes them: python benchmarks/operations.py [--device D] [--json].

Sums, extremes and products of device arrays, called from Python in a loop, with a new result and with out=. On a GPU
beside PyTorch, CuPy, cuda.compute (CUB, prepared) and nvmath-python (prepared), where they are installed. All packages
are in one process and take turns, round after round. The table has medians of the time of one call, and of the ratios to
cuscope's time in the same round. "until done": the loop's time until the device is done; else the host's time alone. The first row, a launch of a kernel with four arguments, is the scale.
"""

from __future__ import annotations

import argparse
import json
import statistics
from typing import Any

import numpy as np

import cuscope as cs
from cuscope.bench._subject import OURS
from cuscope.bench.operations import cases, measured, packages

SIZES = [1 << power for power in range(10, 25)]


def measure(device: cs.Device, sizes: list[int], seconds: float, count: int) -> dict[str, Any]:
    missing: dict[str, str] = {}
    every = cases(sizes)
    rows = []
    for n in sizes:
        calls = packages(device, n, missing)
        for case in (case for size, case in every if size == n):
            times = measured(calls, case, seconds / len(every), count)
            rows.append(
                {
                    "case": case,
                    "elements": n,
                    "microseconds": {name: statistics.median(values) for name, values in times.items()},
                    "ratio": {
                        name: statistics.median(np.divide(values, times[OURS]))
                        for name, values in times.items()
                        if name != OURS
                    },
                    "rounds": len(times[OURS]),
                }
            )
    if device.simulated:
        array = np.ones(min(sizes), np.float32)
        on_host = {OURS: _of_host_array(device, array)}
        times = measured(on_host, "sum of a NumPy array", seconds / len(every), count)
        rows.append(
            {
                "case": "sum of a NumPy array",
                "elements": array.size,
                "microseconds": {OURS: statistics.median(times[OURS])},
                "ratio": {},
                "rounds": len(times[OURS]),
            }
        )
    return {"device": device.name, "model": device.model, "rows": rows, "missing": missing}


def _of_host_array(device: cs.Device, array: Any) -> Any:
    from cuscope.bench._operation_calls import Calls

    return Calls({"sum of a NumPy array": "cs.sum(a)"}, {"cs": cs, "a": array}, device.synchronize)


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--device", help="cuda:0, host:0, ... (default: the current device)")
    parser.add_argument("--sizes", help="numbers of elements, with commas (default: 2^10 to 2^24)")
    parser.add_argument("--seconds", type=float, default=60.0, help="for all of it")
    parser.add_argument("--count", type=int, default=100, help="calls in a row")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    device = cs.Device(options.device) if options.device else cs.current_device()
    sizes = [int(size) for size in options.sizes.split(",")] if options.sizes else SIZES
    with device:
        result = measure(device, sizes, options.seconds, options.count)
    if options.json:
        print(json.dumps(result, indent=2))
        return 0
    names = list(dict.fromkeys(name for row in result["rows"] for name in row["microseconds"]))
    print(f"{device.name} ({device.model}), microseconds a call")
    print(f"{'':<28}{'elements':>10}" + "".join(f"{name:>14}" for name in names))
    for row in result["rows"]:
        shown = row["microseconds"]
        print(
            f"{row['case']:<28}{row['elements']:>10}"
            + "".join(f"{shown[name]:14.2f}" if name in shown else " " * 14 for name in names)
        )
    for name, reason in result["missing"].items():
        print(f"{name}: not measured: {reason}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
