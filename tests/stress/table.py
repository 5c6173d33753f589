"""The table of operations: the public names that each uses, and the errors that a race may make it raise."""

from __future__ import annotations

import fnmatch
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from workers import Worker

import cuscope as cs


@dataclass(frozen=True)
class Operation:
    run: Callable[[Worker], Any]
    covers: tuple[str, ...]
    # Errors of this operation alone, in addition to errors that any operation may raise.
    errors: tuple[str, ...]
    simulated_only: bool

    @property
    def name(self) -> str:
        return self.run.__name__


OPERATIONS: dict[str, Operation] = {}


def operation(
    *covers: str, errors: tuple[str, ...] = (), simulated_only: bool = False
) -> Callable[[Any], Any]:
    def add(run: Callable[[Worker], Any]) -> Callable[[Worker], Any]:
        OPERATIONS[run.__name__] = Operation(run, covers, errors, simulated_only)
        return run

    return add


# Errors that a race may cause anywhere: a name of CudaError, or a part of an exception's text.
CAPTURE_ERRORS = {
    "cudaErrorStreamCapture" + kind
    for kind in (
        "Unsupported",
        "Invalidated",
        "Merge",
        "Unmatched",
        "Unjoined",
        "Isolation",
        "Implicit",
        "WrongThread",
    )
} | {"cudaErrorCapturedEvent"}
RACES = (
    "is closed",
    "was closed",
    "was destroyed",
    "the stream is being captured already",
    "the stream is not being captured",  # another thread's call has invalidated the capture
    "the event was last recorded in a capture, which has ended",
)

EXEMPT = {
    "Device.reset": "takes everything from all threads: tests/package/test_object_states.py",
    "Device.set_limit": "is refused while a kernel is loaded, and stays: tests/launching/test_launching.py",
    "Device.limit": "goes with set_limit",
    "Device.enable_peer_access": "needs a second device: tests/interop/test_peers.py",
    "Device.disable_peer_access": "needs a second device: tests/interop/test_peers.py",
    "add_host_device": "devices are never taken away again",
    "calibrate": "wants a device that nothing else uses: tests/package/test_calibrate.py",
    "CaptureError": "an exception",
    "CompileError": "an exception",
    "CudaError": "an exception",
    "OutOfMemoryError": "an exception",
    "PendingWarning": "a warning",
    "info": "asks compilers, which takes seconds",
    "show_progress": "is one setting of the process: tests/package/test_progress.py",
}


def members(type_: type) -> set[str]:
    return {name for name in vars(type_) if not name.startswith("_")}


def surface() -> set[str]:
    """Every operation that a program can use, as Class, Class.method or function."""
    names: set[str] = set()
    for name in cs.__all__:
        value = getattr(cs, name)
        if isinstance(value, type):
            names |= {name} | {f"{name}.{member}" for member in members(value)}
        elif callable(value) and not name.startswith("_"):
            names.add(name)
    return {name for name in names if not any(name.startswith(error + ".") for error in EXEMPT)}


def covered() -> set[str]:
    patterns = {pattern for each in OPERATIONS.values() for pattern in each.covers}
    return {
        name for name in surface() if name in EXEMPT or any(fnmatch.fnmatchcase(name, p) for p in patterns)
    }


def read_all(thing: Any) -> None:
    """Reads each property of objects that hold earlier answers of a device."""
    for name in members(type(thing)):
        getattr(thing, name)
