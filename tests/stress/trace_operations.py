"""Traces and ranges, which record the calls of all threads, and models of devices."""

from __future__ import annotations

import numpy as np
from table import operation
from workers import Worker

import cuscope as cs


@operation("trace", "range")
def trace(w: Worker) -> None:
    # Without the wait: other threads may capture their streams.
    with cs.trace(wait=False, limit=1 << 20) as t, cs.range("stress"):
        cs.full(16, 1, np.int32)
    assert "range" in t.spans["kind"].tolist()
    str(t)


@operation("Model*", "model", "models")
def model(w: Worker) -> None:
    made = cs.model(w.random.choice(cs.models()), submit_latency_ns=500)
    assert cs.Model.from_json(made.to_json()) == made
