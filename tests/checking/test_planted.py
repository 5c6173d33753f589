"""Each small kernel with a mistake is found at its line, and without the mistake there is no finding."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

import cuscope as cs

sys.path.insert(0, str(Path(__file__).parent))

from planted import Planted, Sources
from planted_kernels import CASES

# The runs under sanitizers set the variable below 1. They take every fifth kernel of each kind of mistake, because the
# compilation takes most of the time. All other runs take all kernels.
STEP = 1 if float(os.environ.get("CUSCOPE_TEST_SCALE", "1")) >= 1 else 5
SOME = [
    case
    for kind in sorted({case.kind for case in CASES})
    for case in [case for case in CASES if case.kind == kind][::STEP]
]
NAMES = [case.kernel for case in SOME]
SOURCES = Sources(SOME)


class Devices:
    """A simulated device to use. A kernel with a mistake may lose it; then there is another one."""

    device: cs.Device | None = None

    @classmethod
    def usable(cls) -> cs.Device:
        try:
            if cls.device is not None:
                cls.device.synchronize()
        except cs.CudaError:
            cls.device = None
        if cls.device is None:
            cls.device = cs.add_host_device("h200")
        return cls.device


def test_there_are_at_least_150_mistakes():
    assert len({case.kernel for case in CASES}) == len(CASES) >= 150


@pytest.mark.parametrize("case", SOME, ids=NAMES)
def test_the_mistake_is_found_at_its_line(case: Planted):
    with Devices.usable():
        report = SOURCES.run(case, mended=False)
    found = [f for f in report.findings if f.kind == case.kind and f.severity == case.severity]
    assert found, str(report)
    assert {f.kernel for f in report.findings} == {case.kernel}
    if (line := SOURCES.line(case, "here")) != "":
        lines = {f.line for f in found} | {f.other_line for f in found}
        assert line in lines, str(report)
    if (other := SOURCES.line(case, "other")) != "":
        assert any({f.line, f.other_line} == {line, other} for f in found), str(report)
    assert any(case.says in f"{f.text} {f.advice} {f.memory}" for f in found), str(report)


@pytest.mark.parametrize("case", SOME, ids=NAMES)
def test_without_the_mistake_nothing_is_found(case: Planted):
    with Devices.usable():
        report = SOURCES.run(case, mended=True)
    assert report.findings == [], str(report)
    assert report.launches == 1
    assert report.unchecked == []
