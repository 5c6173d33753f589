"""The rules of `Trace.explain`: functions that take `Facts` and yield a `Finding` where their condition holds.

A rule stays silent where the trace does not know a column that the condition needs.
"""

from __future__ import annotations

from . import copies, headlines, host, streams

__all__ = ["ADVICE", "HEADLINES"]

# About the whole program. Their findings come first, in this order.
HEADLINES = (
    headlines.dropped_spans,
    headlines.measured_by_events,
    headlines.bounding_engine,
    headlines.no_bound,
)

# What to change. Their findings are sorted by weight.
ADVICE = (
    copies.pageable_copies,
    copies.shared_stream,
    copies.small_copies,
    copies.one_copy_engine,
    host.waits,
    host.launch_bound,
    host.allocations,
    host.program_code,
    streams.default_stream,
    streams.hardware_queue,
    streams.host_functions,
    streams.small_kernels,
)
