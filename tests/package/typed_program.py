"""A program that mypy checks in lint, with names of modules that are loaded later. It is not run."""

from typing_extensions import assert_type

import cuscope as cs
import cuscope.tracing


def traced(x: cs.DeviceArray) -> cuscope.tracing.Trace:
    with cs.trace() as t, cs.range("fill"):
        x.fill(1)
    return assert_type(t, cuscope.tracing.Trace)


def checked() -> list[cs.Finding]:
    with cs.check() as report:
        cs.synchronize()
    return report.findings


def small_model() -> cs.Device:
    model: cs.Model = cs.model("h200", name="small", multiprocessors=20)
    return cs.add_host_device(model)


def calibrated(device: cs.Device) -> cs.Model:
    return cs.calibrate(device, name="mine")
