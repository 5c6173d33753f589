"""Measures reductions of many shapes and dtypes on a GPU, as calls: python benchmarks/reductions.py [--json] [--random N].

Sums over every axis of usual shapes and of shapes with a short side, a sum of every second row and third column, max,
min, argmax, any and sum of small integers, and sums of 2^10 to 2^28 floats. PyTorch and CuPy reduce the same memory if
they are installed. A kernel that only reads shows the rate of the memory. All take turns in one process, round after
round, in the legacy default stream. The table shows medians in GB/s of the elements that are reduced, by CUDA events
around a number of calls and by the time of the calls until the device has finished.

With --random N, the cases are N random shapes of one to three axes. Only PyTorch is compared, and only the cases in
which PyTorch is faster are printed.
"""

from __future__ import annotations

import argparse
import json
import math
import statistics
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

import cuscope as cs

READER = """
__global__ void __launch_bounds__(512) read(const uint4* data, long long vectors, unsigned* never) {
    const long long step = (long long)gridDim.x * blockDim.x;
    unsigned all = 0;
    long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    for (; i + 7 * step < vectors; i += 8 * step) {
        uint4 v[8];
#pragma unroll
        for (int k = 0; k < 8; ++k) v[k] = __ldcg(data + i + k * step);
#pragma unroll
        for (int k = 0; k < 8; ++k) all |= v[k].x & v[k].y & v[k].z & v[k].w;
    }
    for (; i < vectors; i += step) all |= data[i].x & data[i].y & data[i].z & data[i].w;
    if (all == 0x12345678) *never = all;
}
"""
MOST = 1 << 30  # bytes of the largest array
SHAPES: tuple[tuple[int, ...], ...] = (
    (4096, 4096),
    (32768, 8192),
    (65536, 256),
    (512, 512, 512),
    (4, 1 << 26),
    (1 << 26, 4),
    (1000003, 3),
    (17, 65537, 5),
)
SMALL = ("int8", "uint8", "int16", "uint16", "bool")
RANDOM = ("float16", "int8", "int32")  # dtypes of random shapes, beside float32


@dataclass
class Case:
    name: str
    op: str
    of: Callable[[Any], Any]  # from the flat array of a package to the operand
    axis: int | None
    dtype: str
    count: int  # of the elements that are reduced

    @property
    def bytes(self) -> int:
        return self.count * np.dtype(self.dtype).itemsize


def shaped(shape: tuple[int, ...]) -> Callable[[Any], Any]:
    return lambda flat: flat[: math.prod(shape)].reshape(shape)


def cases() -> Iterator[Case]:
    for shape in SHAPES:
        for axis in range(len(shape)):
            yield Case(f"{shape} axis {axis}", "sum", shaped(shape), axis, "float32", math.prod(shape))
    rows, columns = 1 << 13, 3 << 12
    yield Case(
        f"({rows}, {columns})[::2, 1::3]",
        *("sum", lambda flat: shaped((rows, columns))(flat)[::2, 1::3]),
        *(None, "float32", rows // 2 * (columns // 3)),
    )
    for dtype in SMALL:
        for op in ("max", "min", "argmax", "any", "sum"):
            yield Case(f"2^27 {dtype}", op, shaped((1 << 27,)), None, dtype, 1 << 27)
    for op in ("max", "argmax"):
        yield Case("2^27 float32", op, shaped((1 << 27,)), None, "float32", 1 << 27)
    for exponent in range(10, 29):
        yield Case(f"2^{exponent} float32", "sum", shaped((1 << exponent,)), None, "float32", 1 << exponent)


def random_cases(count: int, seed: int) -> Iterator[Case]:
    """Of 1 to 256 MB and at most 2^27 elements. Extents of each magnitude are equally likely."""
    random = np.random.default_rng(seed)
    for _ in range(count):
        dtype = str(random.choice(("float32", *RANDOM)))
        elements = min(2 ** random.uniform(20, 28) / np.dtype(dtype).itemsize, 1 << 27)
        parts = np.sort(random.uniform(0, 1, random.integers(0, 3)))  # of the exponents of extents
        exponents = np.diff([0, *parts, 1])
        shape = tuple(max(1, int(elements**exponent)) for exponent in exponents)
        axis = int(random.integers(len(shape)))
        op = str(
            random.choice(["sum", "max", "argmax", "mean"] if dtype[0] == "f" else ["sum", "max", "argmax"])
        )
        yield Case(f"{shape} {dtype} axis {axis}", op, shaped(shape), axis, dtype, math.prod(shape))


def memory(dtypes: Sequence[str]) -> dict[str, cs.DeviceArray]:
    """Flat arrays that share no memory, one of floats and one for each dtype."""
    random = np.random.default_rng(1)
    piece = 1 << 24
    arrays = {"float32": cs.empty(MOST // 4, np.float32)}
    values = random.random(piece, np.float32)
    for begin in range(0, arrays["float32"].size, piece):
        arrays["float32"][begin : begin + piece].copy_from(values)
    for dtype in dtypes:
        # No maximum is a type's largest value, and no bool is true: any has to read everything.
        piece_of = np.zeros(piece, dtype) if dtype == "bool" else random.integers(0, 120, piece).astype(dtype)
        arrays[dtype] = cs.empty(1 << 27, dtype)
        for begin in range(0, 1 << 27, piece):
            arrays[dtype][begin : begin + piece].copy_from(piece_of)
    return arrays


def call_of_cuscope(case: Case, operand: Any) -> Callable[[], object]:
    function, axis = getattr(cs, case.op), case.axis
    return lambda: function(operand, axis=axis)


def call_of_torch(case: Case, operand: Any) -> Callable[[], object]:
    import torch

    name = {"max": "amax", "min": "amin"}.get(case.op, case.op)
    function, axis = getattr(torch, name), case.axis
    if axis is None:
        return lambda: function(operand)
    return lambda: function(operand, dim=axis)


def call_of_cupy(case: Case, operand: Any) -> Callable[[], object]:
    import cupy

    function, axis = getattr(cupy, case.op), case.axis
    return lambda: function(operand, axis=axis)


def from_torch(array: cs.DeviceArray) -> Any:
    import torch

    return torch.from_dlpack(array)


def from_cupy(array: cs.DeviceArray) -> Any:
    import cupy

    return cupy.asarray(array)


PACKAGES = {
    "cuscope": (lambda array: array, call_of_cuscope),
    "torch": (from_torch, call_of_torch),
    "cupy": (from_cupy, call_of_cupy),
}


def reader(case: Case, flat: cs.DeviceArray) -> Callable[[], object]:
    """Reads as many bytes as the case reduces; for a step in the last axis, the sectors that this touches."""
    kernel = cs.Module(READER).read
    never = cs.zeros(1, np.uint32)
    vectors = case.bytes * (3 if "::3" in case.name else 1) // 16
    grid = max(1, min(vectors // 512, 4 * cs.current_device().properties.multiprocessor_count))
    return lambda: kernel[grid, 512](flat, vectors, never)


def timed(call: Callable[[], object], calls: int) -> tuple[float, float]:
    """Seconds a call: by events, and by the clock."""
    start, stop = cs.Event(), cs.Event()
    cs.synchronize()
    begin = time.perf_counter()
    start.record()
    for _ in range(calls):
        call()
    stop.record()
    cs.synchronize()
    wall = time.perf_counter() - begin
    return (stop - start) * 1e-3 / calls, wall / calls


def measure(
    all_cases: Iterator[Case], rounds: int, packages: Sequence[str], dtypes: Sequence[str]
) -> dict[str, Any]:
    arrays, missing = memory(dtypes), {}
    flats: dict[str, dict[str, Any]] = {}
    for package in packages:
        convert, _ = PACKAGES[package]
        flats[package] = {}
        for dtype, array in arrays.items():
            try:
                flats[package][dtype] = convert(array)
            except Exception as error:  # the package or the dtype is missing
                missing[f"{package} {dtype}"] = f"{type(error).__name__}: {error}"
    rows = []
    for case in all_cases:
        contenders = {"read": reader(case, arrays[case.dtype])}
        for package in packages:
            if case.dtype not in flats[package]:
                continue
            try:
                call = PACKAGES[package][1](case, case.of(flats[package][case.dtype]))
                call()
                cs.synchronize()
                contenders[package] = call
            except Exception as error:
                missing[f"{package} {case.name} {case.op}"] = f"{type(error).__name__}: {error}"
        # About 2 ms of a round for each package.
        calls = {name: max(2, min(40, int(2e-3 / timed(call, 2)[1]))) for name, call in contenders.items()}
        samples: dict[str, list[tuple[float, float]]] = {name: [] for name in contenders}
        for _ in range(rounds):
            for name, call in contenders.items():
                samples[name].append(timed(call, calls[name]))
        row: dict[str, Any] = {"case": case.name, "op": case.op, "bytes": case.bytes}
        for name, of in samples.items():
            on_device, wall = (statistics.median(times) for times in zip(*of, strict=True))
            row[name] = {
                "events_us": on_device * 1e6,
                "wall_us": wall * 1e6,
                "events_gb_s": case.bytes / on_device / 1e9,
                "wall_gb_s": case.bytes / wall / 1e9,
            }
        operand = case.of(arrays[case.dtype])
        row["kernel"] = cs.reduce.explain(operand, op=case.op, axis=case.axis)
        rows.append(row)
    return {"device": cs.current_device().properties.name, "cases": rows, "missing": missing}


def print_random(result: dict[str, Any]) -> None:
    both = [row for row in result["cases"] if "torch" in row and "cuscope" in row]
    times = [(row["torch"]["wall_us"] / row["cuscope"]["wall_us"], row) for row in both]
    if not times:
        print("PyTorch was not measured")
        return
    mean = math.exp(statistics.fmean(math.log(ratio) for ratio, _ in times))
    slower = sorted((pair for pair in times if pair[0] < 1), key=lambda pair: pair[0])
    print(
        f"{result['device']}: {len(times)} random shapes; PyTorch takes {mean:.2f} times as long by the clock "
        f"(geometric mean), and is faster in {len(slower)} cases"
    )
    for ratio, row in slower:
        of = row["read"]["events_us"] / row["cuscope"]["events_us"]
        print(
            f"  {ratio:.2f}  {row['case']} {row['op']}: {row['cuscope']['wall_us']:.1f} us, PyTorch "
            f"{row['torch']['wall_us']:.1f}; {of:.2f} of reading's rate by events"
        )


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--only", default="", help="cases whose name and operation contain this")
    parser.add_argument("--random", type=int, default=0, metavar="N", help="N random shapes instead")
    parser.add_argument("--seed", type=int, default=1, help="of the random shapes")
    options = parser.parse_args()
    chosen = random_cases(options.random, options.seed) if options.random else cases()
    wanted = (case for case in chosen if options.only in f"{case.name} {case.op}")
    packages = ("cuscope", "torch") if options.random else tuple(PACKAGES)
    result = measure(wanted, options.rounds, packages, RANDOM if options.random else SMALL)
    if options.random and not options.json:
        print_random(result)
        return 0
    if options.json:
        print(json.dumps(result, indent=2))
        return 0
    names = ("read", *PACKAGES)
    print(result["device"])
    print(
        f"{'GB/s by events':<34}"
        + "".join(f"{name:>9}" for name in names)
        + "   by the clock"
        + "".join(f"{name:>9}" for name in names)
    )
    for row in result["cases"]:
        line = f"{row['case'] + ' ' + row['op']:<34}"
        for key, gap in (("events_gb_s", ""), ("wall_gb_s", " " * 15)):
            line += gap + "".join(f"{row[name][key]:9.0f}" if name in row else f"{'-':>9}" for name in names)
        print(line)
    for name, reason in result["missing"].items():
        print(f"{name}: not measured: {reason}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
