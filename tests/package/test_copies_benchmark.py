"""The benchmark of copies has a rate for every layout, direction and size."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from support import TESTS, load_program

pytestmark = pytest.mark.no_sanitizer("it measures times")
PROGRAM = TESTS.parent / "benchmarks/copies.py"


def test_every_copy_is_measured(device):
    options = ("--device", device.name, "--mebibytes", "1", "--rounds", "1", "--count", "2", "--json")
    copies = load_program("benchmarks/copies.py")

    done = subprocess.run(
        [sys.executable, PROGRAM, *options], capture_output=True, text=True, timeout=200, check=True
    )

    result = json.loads(done.stdout)
    layouts = result["layouts_gigabytes_a_second"]
    assert result["gigabytes_a_second"]["cuscope"].keys() == set(copies.COPIES)
    for way in ("to_device", "to_host"):
        assert {case.partition(",")[0] for case in layouts[way]} == set(copies.LAYOUTS)
        assert all(row["cuscope"] > 0 for row in layouts[way].values())
        assert result["small_microseconds"][way].keys() == {str(size) for size in copies.SIZES}
    assert {"copy_to an array", "to_host, dropped", "to_host, kept"} <= result[
        "results_gigabytes_a_second"
    ].keys()
    assert not [case for case in layouts["refused"] if case.endswith("cuscope")]
