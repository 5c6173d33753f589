"""Traces: what the host and its devices did, when, and why."""

from .loading import load
from .trace import Trace

__all__ = ["Trace", "load"]
