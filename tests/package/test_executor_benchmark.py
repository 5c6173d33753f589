"""The benchmarks of kernels on simulated devices."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from support import TESTS

pytestmark = [pytest.mark.no_sanitizer("it measures times"), pytest.mark.subprocess]


def test_the_benchmark_gives_a_positive_time_for_every_operation():
    benchmark = TESTS.parent / "benchmarks" / "executor.py"
    answer = subprocess.run(
        [sys.executable, str(benchmark), "--quick", "--repeats", "1", "--json"],
        check=True,
        capture_output=True,
        text=True,
    )

    times = json.loads(answer.stdout)

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
    benchmark = TESTS.parent / "benchmarks" / "counting.py"
    answer = subprocess.run(
        [sys.executable, str(benchmark), "--quick", "--repeats", "1", "--json"],
        check=True,
        capture_output=True,
        text=True,
    )

    times = json.loads(answer.stdout)

    assert {"mandelbrot", "reduction", "naive_product", "tiled_product", "copy", "histogram"} <= set(times)
    assert all(set(its) == {"launch", "count", "profile"} and min(its.values()) > 0 for its in times.values())
