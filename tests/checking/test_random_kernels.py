"""Random kernels with overruns and races: the check finds what an independent oracle finds, and nothing else.

tools/random_checks.py runs as many as you like.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

import cuscope as cs

sys.path.insert(0, str(Path(__file__).parent))

from random_kernels import checked, differences, random_kernel

SCALE = float(os.environ.get("CUSCOPE_TEST_SCALE", "1"))
IN_ONE_SOURCE = 50
SOURCES = max(1, round(2 * SCALE))


@pytest.mark.parametrize("source", range(SOURCES))
def test_the_check_finds_what_the_oracle_finds(source):
    kernels = [random_kernel(1000 * source + n, f"kernel_{n}") for n in range(IN_ONE_SOURCE)]
    with cs.Device("host:0"):
        for kernel, report, begin in checked(kernels):
            wrong = differences(kernel, report, begin)
            assert wrong == [], f"{kernel.source()}\n{report}"


def test_the_oracle_finds_races_and_overruns():
    mistakes = [random_kernel(seed, "kernel").mistakes() for seed in range(100)]
    assert 5 < sum(bool(found.outside) for found in mistakes) < 60
    assert 3 < sum(bool(found.never_written) for found in mistakes) < 40
    assert 30 < sum(any(found.races.values()) for found in mistakes) < 95
