"""The figures of CUDA's documents on streams: small programs, run on a simulated device, as traces.

Each function runs a program on a device of the given model (a name, or a `Model`), and returns its `Trace`: a notebook
shows it, `svg()` and `plot()` draw it, and `spans` has the nanoseconds. The trace names the device after its model and
numbers the streams from 1, so that a figure is the same on every run. The current device stays as it is. An unknown
model raises ValueError, as in `cuscope.add_host_device`.

>>> import cuscope as cs
>>> t = cs.figures.depth_first("c1060")
>>> t.overlap("copy", "kernel")
0.0
"""

from .chunks import breadth_first, depth_first, one_stream
from .copies import copy_and_kernel, host_memory
from .dependent_launch import dependent_launch
from .graphs import graph_beside_stream
from .implicit import implicit_synchronization
from .kernels import half_kernels
from .priorities import priorities

__all__ = [
    "breadth_first",
    "copy_and_kernel",
    "depth_first",
    "dependent_launch",
    "graph_beside_stream",
    "half_kernels",
    "host_memory",
    "implicit_synchronization",
    "one_stream",
    "priorities",
]
