"""Traces that the tests share."""

import numpy as np

from cuscope.tracing import Trace
from cuscope.tracing.spans import KINDS

DEVICES = {
    "host:0": {"model": "NVIDIA H200", "simulated": True, "multiprocessors": 132, "memory_bandwidth": 4800.0},
    "host:1": {"model": "NVIDIA H200", "simulated": True, "pcie_bandwidth": None},
}


def copy_and_kernel() -> Trace:
    """A range with a copy, and a kernel that waits for it."""
    device = {"device": "host:0", "stream": 7}
    copy = {**device, "kind": "copy", "name": "host to device", "engine": "copy to device", "bytes": 1 << 20}
    kernel = {
        **device,
        "kind": "kernel",
        "name": "saxpy",
        "engine": "kernels",
        "grid": (4096, 1, 1),
        "block": (256, 1, 1),
    }
    return Trace.from_spans(
        [
            {"kind": "range", "name": "step 1", "start": 0, "end": 9000, "thread": 0, "line": "p.py:3"},
            {"kind": "call", "name": "cudaMemcpyAsync", "start": 100, "end": 1100, "thread": 0, "range": 0},
            {
                **copy,
                "start": 1500,
                "end": 5501,
                "call": 1,
                "reason": "issued",
                "issued": 1100,
                "pageable": True,
            },
            {"kind": "call", "name": "cudaLaunchKernel", "start": 1200, "end": 2200, "thread": 0, "range": 0},
            {
                **kernel,
                "start": 5501,
                "end": 8000,
                "call": 3,
                "reason": "stream order",
                "cause": 2,
                "line": "p.py:5",
            },
        ],
        devices=DEVICES,
        streams={7: {"device": "host:0", "label": "stream 7", "priority": 0, "blocking": True}},
        threads={0: "MainThread"},
        duration=9500,
    )


def random_trace(seed: int, count: int = 300) -> Trace:
    """Spans that overlap in every way, with relations of every kind."""
    rng = np.random.default_rng(seed)
    names = ["saxpy", 'quote " and \\', "größe", "line\nbreak", "control \x01", "}]", ""]
    rows = []
    for i in range(count):
        kind = KINDS[rng.integers(len(KINDS))]
        start = int(rng.integers(0, 2000))
        row = {"kind": kind, "name": names[rng.integers(len(names))], "start": start}
        row["end"] = start + int(rng.integers(0, 300)) * int(rng.integers(0, 2))
        if kind in ("range", "call"):
            row["thread"] = int(rng.integers(-1, 3))
            row["stream"] = int(rng.integers(-1, 2))
        else:
            row |= {"device": f"host:{rng.integers(2)}", "stream": int(rng.integers(-1, 4))}
            row |= {
                "engine": ["", "kernels", "copy to host"][rng.integers(3)],
                "thread": int(rng.integers(-1, 2)),
            }
            row |= {
                "bytes": int(rng.integers(0, 3)) << 40,
                "shared_bytes": int(rng.integers(0, 2)),
                "reason": "event",
            }
            row |= {"grid": tuple(rng.integers(0, 2**32, 3).tolist()), "pageable": bool(rng.integers(2))}
            row |= {
                "issued": int(rng.integers(-1, 5)),
                "ready": int(rng.integers(-1, 5)),
                "line": f"p.py:{i % 7}",
            }
        row |= {relation: int(rng.integers(-1, count)) for relation in ("cause", "call", "graph", "range")}
        rows.append(row)
    return Trace.from_spans(
        rows, devices=DEVICES, streams={0: {"label": "legacy default"}}, source="cupti", dropped=3
    )
