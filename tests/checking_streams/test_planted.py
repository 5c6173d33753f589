"""Each small program with a mistake in the order of its calls is found with both lines, and mended there is no finding."""

from __future__ import annotations

import functools
import re

import pytest

import cuscope as cs
from checking_streams import programs_of_memory, programs_of_streams
from checking_streams.planted import KERNELS, Program, run

PROGRAMS = [*programs_of_streams.PROGRAMS, *programs_of_memory.PROGRAMS]
NAMES = [program.name for program in PROGRAMS]
all_programs = pytest.mark.parametrize("program", PROGRAMS, ids=NAMES)


@functools.cache
def module_of(device: cs.Device) -> cs.Module:
    return cs.Module(KERNELS, device=device)


def skip_on_a_gpu(program: Program, device: cs.Device) -> None:
    if program.host_only and not device.simulated:
        pytest.skip("only a simulated device knows what the kernels access, or has a second device")


def test_there_are_at_least_forty_programs():
    assert len(set(NAMES)) == len(NAMES) >= 40


@all_programs
def test_the_mistake_is_found_with_both_lines(program: Program, device, tmp_path):
    skip_on_a_gpu(program, device)
    report = run(program, tmp_path, module_of(device), mended=False)
    found = [finding for finding in report.findings if finding.kind == program.kind]
    assert found, str(report)
    lines = [(finding.other_line, finding.line) for finding in found]
    numbers = [tuple(int(line.rpartition(":")[2] or 0) for line in pair) for pair in lines]
    wanted = [program.line(1), program.line(2)]
    assert any(all(w in (None, n) for w, n in zip(wanted, pair, strict=True)) for pair in numbers), str(
        report
    )
    # The reader may win the race, and then it reads memory that nothing has written yet.
    also_true = {"never written"} if program.kind == "race between streams" else set()
    assert {finding.kind for finding in report.findings} - also_true == {program.kind}, str(report)
    assert program.says in str(report)
    for finding in found:
        assert len(finding.calls) == len(finding.streams) == 2
        assert not re.search(r"\{\d\}", str(finding)), "names of streams are filled in"
        assert len(finding.drawing.splitlines()) == 2
        assert finding.advice


@all_programs
def test_the_mended_program_has_no_finding(program: Program, device, tmp_path):
    skip_on_a_gpu(program, device)
    report = run(program, tmp_path, module_of(device), mended=True)
    assert not report, str(report)
