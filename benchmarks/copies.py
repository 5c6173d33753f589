"""Measures the time of copies between the host and a GPU: python benchmarks/copies.py --cpp PROGRAM [--json].

256 MiB of pageable and of page-locked memory, both ways, compared with cudaMemcpy from C++ (PROGRAM, built from
benchmarks/cpp/copy_rates.cu, prints JSON). NumPy arrays of other layouts than C order, to the device and back, new
results of to_host(), and small arrays, compared with CuPy and torch, if they are installed. All take turns, round after
round. The table shows the median time and the median of the ratios in the same round.
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

COPIES = ("pageable_to_device", "pageable_to_host", "pinned_to_device", "pinned_to_host")
SIZES = (1 << 10, 64 << 10, 512 << 10, 2 << 20, 8 << 20)


def middle_axes(matrix: Any) -> Any:
    blocks = matrix.reshape(matrix.shape[0] // 64, 64, matrix.shape[1] // 16, 16)
    return blocks.transpose(0, 2, 1, 3) if isinstance(blocks, cs.DeviceArray) else blocks.swapaxes(1, 2)


# A view of a matrix with as many rows as columns or twice as many, for NumPy, cuscope, CuPy and torch. Its elements are
# in C order once they are copied.
LAYOUTS: dict[str, Callable[[Any], Any]] = {
    "C order": lambda a: a,
    "transposed": lambda a: a.T,
    "every second column": lambda a: a[:, ::2],
    "left half": lambda a: a[:, : a.shape[1] // 2],
    "reversed": lambda a: a[::-1, ::-1],
    "middle axes": middle_axes,
}


class Library:
    """How a library copies a NumPy array to a new array of its own, and that to a new NumPy array in C order."""

    def __init__(
        self, up: Callable[[Any], Any], down: Callable[[Any], Any], wait: Callable[[], object]
    ) -> None:
        self.up, self.down, self.wait = up, down, wait


def libraries() -> tuple[dict[str, Library], dict[str, str]]:
    """The libraries that are installed, and for each other library the reason why it is not measured."""
    found = {"cuscope": Library(cs.to_device, lambda x: x.to_host(), cs.synchronize)}
    missing = {}
    try:
        import cupy

        found["cupy"] = Library(cupy.asarray, cupy.asnumpy, cupy.cuda.Device().synchronize)
        cupy.zeros(1)
    except Exception as error:  # an error of another package must not end the measurement
        found.pop("cupy", None)
        missing["cupy"] = f"{type(error).__name__}: {error}"
    try:
        import torch

        torch.zeros(1).cuda()
        found["torch"] = Library(
            lambda a: torch.from_numpy(a).cuda().contiguous(),
            lambda x: x.contiguous().cpu().numpy(),
            torch.cuda.synchronize,
        )
    except Exception as error:
        missing["torch"] = f"{type(error).__name__}: {error}"
    return found, missing


def seconds(copy: Callable[[], object], wait: Callable[[], object]) -> float:
    """The time of one copy; its result is dropped before the clock stops, as in a loop."""
    wait()
    begin = time.perf_counter()
    copy()
    wait()
    return time.perf_counter() - begin


def rates(nbytes: int, count: int = 5) -> dict[str, float]:
    device = cs.empty(nbytes, np.uint8)
    pageable = np.ones(nbytes, np.uint8)
    pinned = cs.pinned_empty(nbytes, np.uint8)
    copies: dict[str, Callable[[], object]] = {
        "pageable_to_device": lambda: device.copy_from(pageable),
        "pageable_to_host": lambda: device.copy_to(pageable),
        "pinned_to_device": lambda: device.copy_from(pinned),
        "pinned_to_host": lambda: device.copy_to(pinned),
    }
    result = {}
    for name, copy in copies.items():
        samples = [nbytes / seconds(copy, cs.synchronize) / 1e9 for _ in range(count + 1)]
        result[name] = statistics.median(samples[1:])  # the first one warms up
    return result


class Turns:
    """Copies that take turns. A copy that a library refuses is left out."""

    def __init__(self) -> None:
        self.copies: dict[tuple[str, str], tuple[Callable[[], object], Callable[[], object]]] = {}
        self.samples: dict[tuple[str, str], list[float]] = {}
        self.refused: dict[str, str] = {}

    def add(self, case: str, library: str, copy: Callable[[], object], wait: Callable[[], object]) -> None:
        try:
            seconds(copy, wait)  # warms up
        except Exception as error:  # negative steps in torch, for example
            self.refused[f"{case}, {library}"] = f"{type(error).__name__}: {error}"
            return
        self.copies[case, library] = copy, wait
        self.samples[case, library] = []

    def take(self) -> None:
        for key, (copy, wait) in self.copies.items():
            self.samples[key].append(seconds(copy, wait))

    def table(self, value: Callable[[float], float]) -> dict[str, dict[str, float]]:
        result: dict[str, dict[str, float]] = {}
        for (case, library), samples in self.samples.items():
            result.setdefault(case, {})[library] = value(statistics.median(samples))
        return result


def layouts(nbytes: int, found: dict[str, Library], rounds: int) -> dict[str, Any]:
    """GB/s of the copied elements, for each layout, direction and library."""
    side = int((nbytes / 4) ** 0.5) // 64 * 64
    base = np.arange(side * side, dtype=np.float32).reshape(side, side)
    refused: dict[str, str] = {}
    result: dict[str, Any] = {"to_device": {}, "to_host": {}}
    for dtype in (np.float32, np.uint8):
        matrix = base if dtype is np.float32 else base.view(np.uint8).reshape(2 * side, 2 * side)
        for name, layout in LAYOUTS.items():
            view = layout(matrix)
            case = f"{name}, {np.dtype(dtype)}"
            up, down = Turns(), Turns()
            for library, copies in found.items():
                up.add(case, library, lambda copies=copies, view=view: copies.up(view), copies.wait)
                try:
                    there = layout(copies.up(matrix))
                except Exception as error:
                    refused[f"{case}, {library}"] = f"{type(error).__name__}: {error}"
                    continue
                down.add(case, library, lambda copies=copies, there=there: copies.down(there), copies.wait)
            for _ in range(rounds):
                up.take()
                down.take()
            result["to_device"] |= up.table(lambda time_, n=view.nbytes: n / time_ / 1e9)
            result["to_host"] |= down.table(lambda time_, n=view.nbytes: n / time_ / 1e9)
            refused |= up.refused | down.refused
    result["refused"] = refused
    return result


def new_results(nbytes: int, found: dict[str, Library], rounds: int) -> dict[str, float]:
    """GB/s of copies to a NumPy array that exists, to new arrays that are dropped, and to new arrays that are kept."""
    there = cs.to_device(np.ones(nbytes, np.uint8))
    existing = np.ones(nbytes, np.uint8)
    kept: list[np.ndarray[Any, Any]] = []
    turns = Turns()
    turns.add("copy_to an array", "cuscope", lambda: there.copy_to(existing), cs.synchronize)
    turns.add("to_host, dropped", "cuscope", lambda: there.to_host(), cs.synchronize)
    turns.add("to_host, kept", "cuscope", lambda: kept.append(there.to_host()), cs.synchronize)
    for library, copies in found.items():
        if library != "cuscope":
            theirs = copies.up(existing)
            turns.add(f"{library}, dropped", library, lambda c=copies, t=theirs: c.down(t), copies.wait)
    for _ in range(rounds):
        turns.take()
        kept.clear()
    return {case: nbytes / statistics.median(samples) / 1e9 for (case, _), samples in turns.samples.items()}


def small_arrays(found: dict[str, Library], rounds: int, count: int) -> dict[str, Any]:
    """Microseconds of a new array on the device, and of a new NumPy array, for each size and library."""
    result: dict[str, Any] = {"to_device": {}, "to_host": {}}
    for size in SIZES:
        array = np.ones(size // 4, np.float32)
        loops = max(1, min(count, (64 << 20) // size))
        samples: dict[str, dict[str, list[float]]] = {
            way: {library: [] for library in found} for way in result
        }
        for turn in range(rounds + 1):
            for library, copies in found.items():
                there = copies.up(array)
                for way, copy, source in (("to_device", copies.up, array), ("to_host", copies.down, there)):
                    copies.wait()
                    elapsed = timeit.Timer("copy(x)", globals={"copy": copy, "x": source}).timeit(loops)
                    copies.wait()
                    if turn > 0:  # the first one warms up
                        samples[way][library].append(elapsed / loops * 1e6)
        for way, values in samples.items():
            result[way][str(size)] = {name: statistics.median(v) for name, v in values.items()}
    return result


def measure(program: str | None, nbytes: int, rounds: int, count: int) -> dict[str, Any]:
    ours: dict[str, list[float]] = {copy: [] for copy in COPIES}
    theirs: dict[str, list[float]] = {copy: [] for copy in COPIES}
    found, missing = libraries()
    for _ in range(rounds):
        if program:
            output = subprocess.run([program], capture_output=True, text=True, check=True, timeout=120).stdout
            for copy, value in json.loads(output).items():
                theirs[copy].append(float(value))
        for copy, rate in rates(nbytes).items():
            ours[copy].append(rate)
    result: dict[str, Any] = {
        "bytes": nbytes,
        "gigabytes_a_second": {"cuscope": {copy: statistics.median(v) for copy, v in ours.items()}},
        "layouts_gigabytes_a_second": layouts(nbytes, found, rounds),
        "results_gigabytes_a_second": new_results(nbytes, found, rounds),
        "small_microseconds": small_arrays(found, rounds, count),
        "missing": missing,
    }
    if program:
        result["gigabytes_a_second"]["c++"] = {copy: statistics.median(v) for copy, v in theirs.items()}
        result["ratio_to_c++"] = {
            copy: statistics.median(a / b for a, b in zip(ours[copy], theirs[copy], strict=True))
            for copy in COPIES
        }
    return result


def show(result: dict[str, Any]) -> None:
    size = f"GB/s, {result['bytes'] >> 20} MiB"
    print(f"{size:<28}" + "".join(f"{copy:>20}" for copy in COPIES))
    for name, row in result["gigabytes_a_second"].items():
        print(f"{name:<28}" + "".join(f"{row[copy]:20.1f}" for copy in COPIES))
    if "ratio_to_c++" in result:
        row = result["ratio_to_c++"]
        print(f"{'cuscope / c++':<28}" + "".join(f"{row[copy]:20.2f}" for copy in COPIES))
    names = [name for name in ("cuscope", "cupy", "torch") if name not in result["missing"]]

    def table(title: str, rows: dict[str, dict[str, float]], digits: int) -> None:
        print(f"\n{title:<36}" + "".join(f"{name:>10}" for name in names))
        for case, row in rows.items():
            cells = (f"{row[name]:10.{digits}f}" if name in row else f"{'-':>10}" for name in names)
            print(f"{case:<36}" + "".join(cells))

    for way in ("to_device", "to_host"):
        table(f"{way}, {size}", result["layouts_gigabytes_a_second"][way], 1)
    print(f"\n{'new results, ' + size:<36}")
    for case, rate in result["results_gigabytes_a_second"].items():
        print(f"{case:<36}{rate:10.1f}")
    for way in ("to_device", "to_host"):
        table(f"{way}, us for so many bytes", result["small_microseconds"][way], 1)
    for name, reason in (result["missing"] | result["layouts_gigabytes_a_second"]["refused"]).items():
        print(f"{name}: not measured: {reason.splitlines()[0]}")


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--cpp", metavar="PROGRAM", help="the C++ program built from benchmarks/cpp")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--count", type=int, default=500, help="small arrays in a row")
    parser.add_argument("--mebibytes", type=int, default=256, help="the size of large arrays")
    parser.add_argument("--device", default="cuda:0", help="host:0 tries the program; its times mean little")
    options = parser.parse_args(arguments)
    if options.device not in [device.name for device in cs.devices()]:
        print(f"no {options.device}: nothing to measure", file=sys.stderr)
        return 1
    cs.set_device(cs.Device(options.device))
    result = measure(options.cpp, options.mebibytes << 20, options.rounds, options.count)
    if options.json:
        print(json.dumps(result, indent=2))
    else:
        show(result)
    return 0


if __name__ == "__main__":
    sys.exit(main())
