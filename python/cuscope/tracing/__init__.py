"""Traces: what the host and its devices did, when, and why."""

from .trace import Trace

__all__ = ["Trace"]
