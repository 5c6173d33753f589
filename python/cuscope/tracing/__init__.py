"""Traces: what the host and its devices did, when, and why."""

from .loading import load
from .ranges import range
from .trace import Trace

__all__ = ["Trace", "load", "range"]
