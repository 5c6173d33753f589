"""What tests of traces on a GPU share."""

from __future__ import annotations

import functools
import warnings

import numpy as np

import cuscope as cs
from cuscope.tracing import Trace


@functools.cache
def problem() -> str:
    """Why CUPTI does not record here; empty if it does."""
    gpus = [device for device in cs.devices() if not device.simulated]
    if not gpus:
        return "there is no GPU"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with gpus[0], cs.trace() as t:
            cs.zeros(1).fill(0)
    return " ".join(t.notes)


def work(trace: Trace) -> np.ndarray:
    return trace.spans[trace.spans["device"] != ""]


def of_kind(trace: Trace, kind: str) -> np.ndarray:
    return trace.spans[trace.spans["kind"] == kind]


def kernels(trace: Trace) -> np.ndarray:
    return of_kind(trace, "kernel")
