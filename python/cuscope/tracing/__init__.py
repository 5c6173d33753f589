"""Traces: what the host and its devices did, when, and why."""

from .recording import trace
from .trace import Trace

__all__ = ["Trace", "trace"]
