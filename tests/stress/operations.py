"""Operations of the public classes on objects that other threads may close, replace or capture at any time.

Each operation is a function of a Worker, with the public names that it uses. test_stress.py compares these names with
the public classes, so a new public operation needs an entry in one of the files imported here, or a reason in EXEMPT.
The order of the imports is the order of the table, from which a seed chooses.
"""

from __future__ import annotations

# isort: off
import stream_operations  # noqa: F401
import memory_operations  # noqa: F401
import kernel_operations  # noqa: F401
import graph_operations  # noqa: F401
import array_operations  # noqa: F401
import trace_operations  # noqa: F401
import picture_operations  # noqa: F401

# isort: on
from table import CAPTURE_ERRORS, EXEMPT, OPERATIONS, RACES, Operation, covered, surface
from workers import Objects, Worker

__all__ = [
    "CAPTURE_ERRORS",
    "EXEMPT",
    "OPERATIONS",
    "RACES",
    "Objects",
    "Operation",
    "Worker",
    "covered",
    "surface",
]
