"""Random programs: the check finds races where an oracle finds them, and no others."""

from __future__ import annotations

import os

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings

import cuscope as cs
from checking_streams.planted import KERNELS, N
from checking_streams.random_programs import Oracle, programs, text_of

SCALE = float(os.environ.get("CUSCOPE_TEST_SCALE", "1"))
SETTINGS = settings(
    max_examples=max(20, round(400 * SCALE)), deadline=None, suppress_health_check=list(HealthCheck)
)


@pytest.fixture(scope="module")
def modules():
    return {}


def races_found(program: list, device: cs.Device, module: cs.Module) -> set[tuple[int, int]]:
    """The lines of the pairs that the check reports."""
    code = compile(text_of(program), "random_program.py", "exec")
    with cs.check() as report:
        h = cs.pinned_empty(N)
        x, y = cs.zeros(N), cs.zeros(N)
        h.fill(0)
        names = {
            "k": module,
            "n": N,
            "device": device,
            "default": device.default_stream,
            "blocking": cs.Stream(),
            "a": cs.Stream(non_blocking=True),
            "b": cs.Stream(non_blocking=True),
            "e": cs.Event(),
            "f": cs.Event(),
            "x": x,
            "y": y,
            "h": h,
        }
        device.synchronize()
        exec(code, names)
    found = set()
    for finding in report.findings:
        if finding.kind == "event never recorded":
            continue
        assert finding.calls, str(report)
        found.add(
            tuple(int(line.removeprefix("random_program.py:")) for line in (finding.other_line, finding.line))
        )
    return found


@SETTINGS
@given(program=programs)
def test_races_are_found_where_the_oracle_finds_them(program, device, modules):
    if device not in modules:
        modules[device] = cs.Module(KERNELS, device=device)
    oracle = Oracle()
    oracle.run(program)
    races = oracle.races()

    found = races_found(program, device, modules[device])

    wanted = set().union(*races.values())
    assert found <= wanted, f"not races: {found - wanted}\n{text_of(program)}"
    for array, pairs in races.items():
        if pairs:
            first = min(line for _, line in pairs)
            assert any(line == first for _, line in found), f"{array} in line {first}\n{text_of(program)}"


def test_the_oracle_knows_the_usual_cases():
    def races(*program):
        oracle = Oracle()
        oracle.run(list(program))
        return set().union(*oracle.races().values())

    assert races(("set", "a", "x"), ("read", "b", "x")) == {(1, 2)}
    assert races(("set", "a", "x"), ("record", "a", "e"), ("wait", "b", "e"), ("read", "b", "x")) == set()
    assert races(("set", "default", "x"), ("read", "blocking", "x")) == set()
    assert races(("fetch", "a", "x"), ("look", None, None)) == {(1, 2)}
    assert races(("read", "a", "x"), ("read", "b", "x")) == set()


def test_kernels_that_count_with_atomic_operations_are_no_race(device, modules):
    if not device.simulated:
        pytest.skip("only a simulated device knows what the kernels access")
    module = cs.Module(KERNELS, device=device)
    with cs.check() as report:
        counter = cs.zeros(1, np.uint32)
        device.synchronize()
        for _ in range(4):
            module.count[1, 32, cs.Stream(non_blocking=True)](counter)
    assert not report, str(report)
