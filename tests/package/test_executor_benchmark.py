"""The benchmarks of kernels on simulated devices."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

import pytest

from support import TESTS

pytestmark = [pytest.mark.no_sanitizer("it measures times"), pytest.mark.subprocess]


def measured(benchmark: str) -> Any:
    """The answer of a benchmark that runs as quickly as possible."""
    path = TESTS.parent / "benchmarks" / benchmark
    answer = subprocess.run(
        [sys.executable, str(path), "--quick", "--repeats", "1", "--json"],
        check=True,
        capture_output=True,
        text=True,
    )
    return json.loads(answer.stdout)


def test_the_benchmark_gives_a_positive_time_for_every_operation():
    times = measured("executor.py")

    assert [name for name in times if name.startswith("barrier")] == [
        f"barrier, block of {threads}" for threads in (32, 64, 128, 256, 512, 1024)
    ]
    assert {name.split(",")[-1].strip() for name in times if name.startswith("product")} == {
        "naive",
        "tiles of 16",
        "tiles of 32",
    }
    assert {"shared atomicAdd, unsigned", "shared atomicAdd, float", "tree reduction"} <= set(times)
    assert all(time > 0 for time in times.values())


def test_the_benchmark_of_counting_measures_every_kind_of_launch():
    times = measured("counting.py")

    assert {"mandelbrot", "tree_reduction", "naive_product", "tiled_product<32>", "copy", "histogram"} <= set(
        times
    )
    assert all(set(its) == {"launch", "count", "profile"} and min(its.values()) > 0 for its in times.values())
