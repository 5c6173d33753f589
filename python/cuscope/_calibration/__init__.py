"""``cs.calibrate``: measures a device, and makes a device model of the results."""

from __future__ import annotations

from contextlib import closing
from typing import Any

from .._core import Device, current_device
from .._models import MOST_NAME, Model, model
from .._public import show_as_public
from . import calls, commands, copies, engines, on_device, properties
from .bench import Bench

__all__ = ["calibrate"]


def calibrate(device: Device | None = None, *, name: str | None = None) -> Model:
    """Measure a device, and return a model of it that add_host_device() simulates.

    It takes some seconds, and about an eighth of the device's memory. Nothing else should use the device or load the
    machine meanwhile. The host's times are those of calls from C++. `Model.source` of the result names the fields that
    are estimates. docs/models.md shows how you simulate your own GPU on a laptop.

    Parameters
    ----------
    device : Device, optional
        Default: the current device. Of a simulated device you get its model back, up to rounding.
    name : str, optional
        The name of the model. Default: that of the device.

    Raises
    ------
    CudaError
        A call of the runtime failed.
    MemoryError
        The device or the host does not have the memory.
    ValueError
        The name is not allowed, or what was measured contradicts itself: then measure again.

    CUDA has no such function.

    >>> import cuscope as cs
    >>> model = cs.calibrate(cs.add_host_device("k20x"), name="mine")
    >>> model.name, model.copy_engines
    ('mine', 2)
    """
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


show_as_public(calibrate)


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
