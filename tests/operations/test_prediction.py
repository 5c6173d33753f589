"""The simulated H200 takes as long for the package's kernels as the real one, at sizes that were not calibrated."""

from __future__ import annotations

import numpy as np
import pytest

import cuscope as cs
from cuscope import _core
from support import load_program

pytestmark = pytest.mark.host_only("times of a GPU are measured")
WITHIN = 0.30


TOOL = load_program("tools/predicted_times.py")
HELD_BACK = [
    (kernel, n, time)
    for kernel, times in TOOL.times_of_matmul().items()
    if kernel in TOOL.instances()
    for n, time in sorted(times.items())[1::2]
]
REDUCTIONS = [
    (variant, n, time)
    for variant, times in TOOL.times_of_reductions().items()
    for n, time in sorted(times.items())[1::2]
]


def seconds_of_sum(device, variant: str, n: int) -> float:
    """The time of all launches of a sum of float32: a launch takes a fixed time and a time for each element."""
    count, elements = TOOL.launches(variant, n)
    fixed = _core.predict_reduction(device, variant, 0, 4)
    return (_core.predict_reduction(device, variant, elements, 4) + (count - 1) * fixed) / 1e9


@pytest.mark.parametrize(("kernel", "n", "measured"), HELD_BACK)
def test_predicted_times_of_products_are_within_the_documented_error(device, kernel, n, measured):
    predicted = _core.predict_matmul_instance(device, kernel, n, n, n) / 1e3

    assert predicted == pytest.approx(measured, rel=WITHIN)


@pytest.mark.parametrize(("variant", "n", "measured"), REDUCTIONS)
def test_predicted_times_of_sums_are_within_the_documented_error(device, variant, n, measured):
    assert seconds_of_sum(device, variant, n) * 1e6 == pytest.approx(measured, rel=WITHIN)


def simulated(stream: cs.Stream, work) -> float:
    """Milliseconds from event to event."""
    start, stop = cs.Event(), cs.Event()
    start.record(stream)
    work()
    stop.record(stream)
    stop.synchronize()
    return stop - start


@pytest.mark.parametrize("variant", ["naive", "shared_tiles", "warp_tiles", "auto"])
def test_a_launch_takes_as_long_as_predicted(device, variant):
    a = cs.to_device(np.ones((128, 128), np.float32))
    with cs.Stream() as stream:
        cs.matmul(a, a, variant=variant)
        taken = simulated(stream, lambda: cs.matmul(a, a, variant=variant))

    predicted = _core.predict_matmul(device, variant, "float32", 128, 128, 128, 1) / 1e6
    assert predicted - 1e-6 <= taken <= predicted + 0.005  # events hold single precision


def test_calibration_file_is_the_output_of_the_tool(capsys):
    assert TOOL.TARGET.read_text() == TOOL.text()
