"""``cs.calibrate``: measures a device, and makes a device model of the results."""

from __future__ import annotations

from contextlib import closing
from typing import Any

from .._core import Device, current_device
from .._models import MOST_NAME, Model, model
from . import calls, commands, copies, engines, on_device, properties
from .bench import Bench

__all__ = ["calibrate"]


def calibrate(device: Device | None = None, *, name: str | None = None) -> Model:
    if device is None:
        device = current_device()
    if not isinstance(device, Device):
        raise TypeError(f"device: takes a Device or None, not {type(device).__name__}")
    if name is None:
        plain = "".join(c for c in device.model if c.isascii() and c.isprintable())
        name = plain.removesuffix(" model")[:MOST_NAME] or "calibrated"
    base = model("h200" if device.compute_capability >= (7, 0) else "k20x")
    model(base, name=name)  # refuses a wrong name before anything is measured
    with device, closing(Bench(device)) as bench:
        fields = properties.read(device)
        fields |= calls.measure(bench)
        fields |= engines.measure(bench)
        fields |= copies.measure(bench, fields["copy_engines"])
        fields |= on_device.measure(bench, fields["copy_engines"])
        fields |= commands.measure(bench, fields)
    if device.compute_capability < (6, 0):  # devices of this time have no link of their own
        fields["link_rate"] = fields["host_to_device_rate"]
    made = model(base, name=name, **{field: _rounded(value) for field, value in fields.items()})
    estimated = [field for field in made.to_dict() if field not in fields and field not in ("name", "source")]
    return model(made, name=name, source=_source(device, base, estimated))


def _rounded(value: Any) -> Any:
    return float(f"{value:.6g}") if isinstance(value, float) else value  # no measurement has more digits


def _source(device: Device, base: Model, estimated: list[str]) -> str:
    text = f"Measured on {device.name} ({device.model}) by cuscope.calibrate()."
    text += (
        " Estimates: the split of a copy's latency into lead and finish, where small copies do not show it"
    )
    if estimated:
        text += f"; {', '.join(estimated)}, which are those of {base.name}"
    return f"{text}."
