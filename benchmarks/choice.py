"""Is "auto" the fastest variant of cs.matmul? python benchmarks/choice.py [--shapes 300] [--seed 1] [--json FILE]

Random shapes of all dtypes, on a GPU. For each, "auto" and every variant that takes the dtype without rounding it take
turns, called from Python on arrays that are the same in each call. The script prints the shapes where "auto" takes more
than 1.05 times as long as the best variant, and how many there are. It also counts how many of these shapes are behind by
more than half a microsecond, because turns of one and the same kernel differ by as much. A variant that takes three times
as long as another in its first calls is left out of the turns.
"""

from __future__ import annotations

import argparse
import json
import statistics
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

import cuscope as cs

DTYPES = {
    "float16": ["coalesced", "shared_tiles", "tensor_cores", "wgmma", "tma"],
    "float32": ["coalesced", "shared_tiles", "warp_tiles", "split_floats"],
    "float64": ["coalesced", "shared_tiles", "warp_tiles", "tensor_cores"],
    "int8": ["coalesced", "shared_tiles", "tensor_cores"],
    "int16": ["coalesced", "shared_tiles"],
    "int32": ["coalesced", "shared_tiles", "warp_tiles", "byte_planes", "wgmma_planes"],
    "int64": ["coalesced", "shared_tiles", "warp_tiles", "byte_planes", "wgmma_planes"],
    "complex64": ["coalesced", "shared_tiles"],
}
LARGEST = 2.0**35  # multiplications
SECONDS = 3e-3  # of calls in a turn
NOISE = 0.5  # microseconds


def random_shape(rng: np.random.Generator) -> tuple[int, int, int]:
    while True:
        m, n, k = (int(x) for x in np.round(2 ** rng.uniform(0, 13, 3)))
        if rng.random() < 0.5:  # half of them have rows of whole chunks of 16 bytes
            n, k = -(-n // 16) * 16, -(-k // 16) * 16
        if m * n * k <= LARGEST:
            return m, n, k


def operand(rng: np.random.Generator, shape: tuple[int, int], dtype: str) -> cs.Array:
    if dtype.startswith("int"):
        limits = np.iinfo(dtype)
        return cs.to_device(rng.integers(limits.min, limits.max, shape, dtype, endpoint=True))
    return cs.to_device(rng.standard_normal(shape).astype(dtype))


def seconds(call: Callable[[], object], count: int) -> float:
    cs.synchronize()
    begin = time.perf_counter()
    for _ in range(count):
        call()
    cs.synchronize()
    return (time.perf_counter() - begin) / count


def race(calls: dict[str, Callable[[], object]], rounds: int = 9) -> dict[str, float]:
    first = {}
    for name, call in calls.items():
        call()
        first[name] = min(seconds(call, 2), seconds(call, 2))
    best = min(first.values())
    taken: dict[str, list[float]] = {
        name: [] for name, time in first.items() if time <= 3 * best or name == "auto"
    }
    names = list(taken)
    for turn in range(rounds):
        # Each variant begins some rounds, because calls take another time after calls of a slower kernel.
        begin = turn % len(names)
        for name in names[begin:] + names[:begin]:
            taken[name].append(seconds(calls[name], max(1, min(50, round(SECONDS / first[name])))))
    return {name: statistics.median(times) for name, times in taken.items()}


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--shapes", type=int, default=300)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--json")
    options = parser.parse_args()
    rng = np.random.default_rng(options.seed)
    rows: list[dict[str, Any]] = []
    for index in range(options.shapes):
        dtype = list(DTYPES)[index % len(DTYPES)]
        m, n, k = random_shape(rng)
        a, b = operand(rng, (m, k), dtype), operand(rng, (k, n), dtype)
        out = cs.empty((m, n), a.dtype)
        calls = {
            variant: partial(cs.matmul, a, b, out=out, variant=variant)
            for variant in ["auto", *DTYPES[dtype]]
        }
        times = race(calls)
        best = min(times, key=lambda name: times[name])
        rows.append(
            {
                "dtype": dtype,
                "shape": [m, n, k],
                "auto": cs.matmul.explain(a, b).split(":")[0],
                "microseconds": {name: round(time * 1e6, 1) for name, time in times.items()},
                "ratio": round(times["auto"] / times[best], 3),
            }
        )
        if rows[-1]["ratio"] > 1.05:
            print(json.dumps(rows[-1]), flush=True)
    slow = [row["microseconds"] for row in rows if row["ratio"] > 1.05]
    clearly = sum(times["auto"] > min(times.values()) + NOISE for times in slow)
    print(f'{len(rows)} shapes; "auto" is more than 5 % slower than the best variant in {len(slow)}')
    print(f"of these, by more than {NOISE} us in {clearly}")
    if options.json:
        Path(options.json).write_text(
            json.dumps({"device": cs.current_device().properties.name, "rows": rows}, indent=0)
        )
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
