"""Traces: what the host and its devices did, when, and why.

>>> import cuscope as cs
>>> t = cs.tracing.Trace.from_spans([{"kind": "kernel", "name": "saxpy", "start": 0, "end": 900, "device": "host:0"}])
>>> print(t)
trace of 900 ns (simulation): 0 calls, 1 spans of devices
<BLANKLINE>
work   count   total    mean  bandwidth
saxpy      1  900 ns  900 ns
"""

from .._public import show_as_public
from .loading import load
from .ranges import range
from .recording import trace
from .trace import Trace

__all__ = ["Trace", "load", "range", "trace"]

show_as_public(range, trace)
