"""``python -m cuscope calibrate``: measures a device into the file of a device model."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from pathlib import Path

from .. import _models
from .._core import Device, current_device
from .._errors import CudaError

__all__ = ["add_arguments", "run"]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--device", metavar="D", help="cuda:0, host:0, ... (default: the current device)")
    parser.add_argument("--out", metavar="FILE", help="write the model to this file (default: print it)")
    parser.add_argument("--name", help="the name of the model (default: that of the device)")


def run(options: argparse.Namespace, calibrate: Callable[..., _models.Model]) -> int:
    """The exit code is 1 if the device cannot be measured, or the file cannot be written."""
    try:
        if options.out and not Path(options.out).resolve().parent.is_dir():
            raise FileNotFoundError(f"--out: there is no folder {Path(options.out).resolve().parent}")
        device = current_device() if options.device is None else Device(options.device)
        model = calibrate(device, name=options.name)
        if options.out is None:
            print(model.to_json(), end="")
            return 0
        model.save(options.out)
    except (ValueError, OSError, MemoryError, CudaError) as error:
        print(f"FAILED: {error}", file=sys.stderr)
        return 1
    print(model)
    print(
        f"Written to {options.out}. To simulate it: cs.add_host_device(cs.Model.load({str(options.out)!r}))"
    )
    return 0
