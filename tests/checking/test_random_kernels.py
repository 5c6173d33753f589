"""Random kernels with overruns and races: the check finds what an independent oracle finds, and nothing else."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import numpy as np
import pytest

import cuscope as cs

sys.path.insert(0, str(Path(__file__).parent))

from random_kernels import Kernel, random_kernel

SCALE = float(os.environ.get("CUSCOPE_TEST_SCALE", "1"))
IN_ONE_SOURCE = 25
SOURCES = max(1, round(6 * SCALE))


def compare(kernel: Kernel, begin: int, module: cs.Module) -> None:
    outside, races = kernel.mistakes()
    with cs.check() as report:
        x = cs.full(kernel.elements, -5, np.int32)
        y = cs.zeros(kernel.blocks * kernel.threads, np.int32)
        module[kernel.name][kernel.blocks, kernel.threads](x, y)
    says = f"{kernel.source()}\noracle: {outside}, {races}\n{report}"

    def step(line: str) -> int:
        return int(line.split(":")[1]) - begin - kernel.line(0)

    assert {f.kind for f in report.findings} <= {"out of bounds", "race"}, says
    assert {step(f.line) for f in report.findings if f.kind == "out of bounds"} == outside, says
    for array in "xs":
        found = [f for f in report.findings if f.kind == "race" and (f.memory != "") == (array == "x")]
        pairs = races[array]
        assert bool(found) == bool(pairs), says
        for race in found:
            one = step(race.line)
            if race.other_line == "":  # the other thread is not known
                assert any(one in pair for pair in pairs), says
            else:
                assert frozenset((one, step(race.other_line))) in pairs, says


@pytest.mark.parametrize("source", range(SOURCES))
def test_the_check_finds_what_the_oracle_finds(source):
    kernels = [random_kernel(1000 * source + n, f"kernel_{n}") for n in range(IN_ONE_SOURCE)]
    with cs.Device("host:0"):
        module = cs.Module("".join(kernel.source() for kernel in kernels), file_name="random.cu")
        begin = 0
        for kernel in kernels:
            compare(kernel, begin, module)
            begin += kernel.source().count("\n")


def test_the_oracle_finds_races_and_overruns():
    mistakes = [random_kernel(seed, "kernel").mistakes() for seed in range(100)]
    assert 5 < sum(bool(outside) for outside, _ in mistakes) < 60
    assert 30 < sum(any(races.values()) for _, races in mistakes) < 95
