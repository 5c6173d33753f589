"""Packages to compare with, if they are installed and work."""

from __future__ import annotations

import importlib
from types import ModuleType
from typing import Any

from cuscope.bench._subject import Run

__all__ = ["cupy_on"]


def cupy_on(run: Run) -> tuple[ModuleType, Any] | None:
    """CuPy, with the device and the stream of a run current in this thread; or None, with the reason in
    ``run.missing``. Simulated devices have no peers."""
    if run.device.simulated:
        return None
    try:
        cupy = importlib.import_module("cupy")
        cupy.cuda.Device(int(run.device.name.partition(":")[2])).use()
        of_others = getattr(cupy.cuda.Stream, "from_external", None)  # since 14
        stream = of_others(run.stream) if of_others else cupy.cuda.ExternalStream(run.stream.handle)
        stream.use()
        cupy.zeros(1)
    except Exception as error:  # an error of another package must not end the measurement
        run.missing["cupy"] = f"{type(error).__name__}: {error}"
        return None
    return cupy, stream
