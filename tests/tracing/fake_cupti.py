"""A CUPTI that a test tells which work has ended: what cuscope makes of CUPTI's records can be tested without a GPU.

Import it in a process of its own, before the first trace of a GPU: CUPTI is loaded once.
"""

from __future__ import annotations

import ctypes
import os
import subprocess
import tempfile
import threading
from pathlib import Path

import numpy as np

from cuscope import _core
from cuscope.tracing.records import spans_of_parts
from cuscope.tracing.trace import Trace

KERNEL, COPY, MEMSET, PEER_COPY = 10, 1, 2, 22

# The layouts of CUPTI 13, up to the last field that is of interest, in the order of cupti_activity.h.
_IDS = [("device", "u4"), ("context", "u4"), ("stream", "u4")]
_LAYOUTS = {
    KERNEL: [
        ("kind", "u4"), ("configuration", "V4"), ("partitioned", "V8"), ("start", "u8"), ("end", "u8"), ("completed", "u8"),
        *_IDS, ("grid", "i4", 3), ("block", "i4", 3), ("static_shared", "i4"), ("dynamic_shared", "i4"), ("local", "V8"),
        ("correlation", "u4"), ("grid_id", "u8"), ("name", "u8"), ("reserved", "u8"), ("queued", "u8"),
        ("submitted", "u8"), ("launch", "V8"), ("graph_node", "u8"),
    ],
    COPY: [
        ("kind", "u4"), ("copy_kind", "u1"), ("source", "u1"), ("destination", "u1"), ("flags", "u1"), ("bytes", "u8"),
        ("start", "u8"), ("end", "u8"), *_IDS, ("correlation", "u4"), ("runtime_correlation", "u4"), ("padding", "u4"),
        ("reserved", "u8"), ("graph_node", "u8"),
    ],
    PEER_COPY: [
        ("kind", "u4"), ("copy_kind", "u1"), ("source", "u1"), ("destination", "u1"), ("flags", "u1"), ("bytes", "u8"),
        ("start", "u8"), ("end", "u8"), *_IDS, ("devices", "V16"), ("correlation", "u4"), ("reserved", "u8"),
        ("graph_node", "u8"),
    ],
}  # fmt: skip
MORE = 64  # bytes that a later version appends


def _compile() -> ctypes.CDLL:
    folder = Path(tempfile.mkdtemp())
    library = folder / "libcupti.so"
    source = Path(__file__).with_suffix(".c")
    subprocess.run(
        [os.environ.get("CC", "cc"), "-shared", "-fPIC", "-pthread", "-o", library, source], check=True
    )
    os.environ |= {"CUSCOPE_CUPTI": str(library), "CUSCOPE_TRACE_GPU": "1"}
    fake = ctypes.CDLL(str(library))
    fake.fake_timestamp.restype = ctypes.c_uint64
    return fake


fake = _compile()
_names: list[ctypes.c_char_p] = []  # CUPTI's names of kernels outlive its records, too


def refuse(function: str, result: int) -> None:
    fake.fake_refuse(function.encode(), result)


def record(kind: int, **fields) -> None:
    """Let CUPTI have a record. Missing fields are 0."""
    made = np.zeros((), np.dtype(_LAYOUTS[kind]))
    made["kind"] = kind
    if name := fields.pop("name", None):
        _names.append(ctypes.c_char_p(name.encode()))
        fields["name"] = ctypes.cast(_names[-1], ctypes.c_void_p).value
    for field, value in fields.items():
        made[field] = value
    data = made.tobytes() + b"\xff" * MORE
    fake.fake_record(data, ctypes.c_size_t(len(data)))


_this_thread = threading.local()


def _launch() -> None:
    """Within a traced call: what the driver tells CUPTI."""
    if correlation := getattr(_this_thread, "correlation", 0):
        fake.fake_launch(correlation)


class Traced:
    """Traced calls of the GPU's runtime. On a machine without a GPU they fail, which a trace does not mind."""

    def __init__(self) -> None:
        _core.contract("cuda")  # defines the methods
        self._contract = _core.TracedContract("cuda", _launch)
        self.calls = self._contract.contract()

    def start(self, most_bytes: int = 1 << 24) -> None:
        self.part = self._contract.start(most_bytes)
        self.now = int(fake.fake_timestamp()) if fake.fake_subscribed() else 0

    def stop(self) -> Trace:
        self.records = self._contract.stop(self.part)
        spans, about = spans_of_parts({"cuda": self.records}, _core.activity_names())
        return Trace(spans, **about)

    def call(self, correlation: int) -> None:
        """A call of the host that CUPTI gives this number."""
        _this_thread.correlation = correlation
        self.calls.memset(0, 0, 4)
        _this_thread.correlation = 0

    def times(self, start: int, end: int) -> dict[str, int]:
        """Times of a record, in nanoseconds since the trace began."""
        return {"start": self.now + start, "end": self.now + end}


def work(trace: Trace) -> np.ndarray:
    return trace.spans[trace.spans["device"] != ""]
