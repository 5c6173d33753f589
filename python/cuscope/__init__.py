"""The CUDA runtime for Python: buffers, streams, events and kernels, on a GPU or simulated.

>>> import numpy as np
>>> import cuscope as cs
>>> mod = cs.Module('''
... __global__ void vec_add(const float* a, const float* b, float* c, int n) {
...     int i = blockDim.x * blockIdx.x + threadIdx.x;
...     if (i < n) c[i] = a[i] + b[i];
... }''')
>>> a, b = np.random.default_rng(0).random((2, 1 << 10), dtype=np.float32)
>>> d_a, d_b = cs.to_device(a), cs.to_device(b)
>>> d_c = cs.empty_like(d_a)
>>> mod.vec_add[4, 256](d_a, d_b, d_c, a.size)
>>> np.array_equal(d_c.to_host(), a + b)
True
"""

from __future__ import annotations

import importlib
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from . import _core, _display, _progress, _public
from ._arrays import empty_like, zeros_like
from ._core import (
    AccessPolicyWindow,
    Capture,
    Counts,
    CudaArray,
    Device,
    DeviceArray,
    DeviceProperties,
    Event,
    ExternalSemaphore,
    FunctionAttributes,
    GlobalCounts,
    Graph,
    GraphExec,
    GraphNode,
    GraphUpdate,
    Kernel,
    KernelLaunch,
    KernelTime,
    MemoryBarrier,
    MemoryInfo,
    MemoryPool,
    MipmappedArray,
    Module,
    Parameter,
    Pending,
    PendingReason,
    PendingWork,
    PointerAttributes,
    PoolStatistics,
    Registration,
    Stream,
    Surface,
    TensorMap,
    Texture,
    WaitValue,
    WriteValue,
    all,
    any,
    argmax,
    argmin,
    as_stream,
    asarray,
    build_config,
    clock,
    copy_batch,
    current_device,
    current_stream,
    device_view,
    devices,
    dot,
    empty,
    empty_managed,
    empty_pitched,
    empty_plain,
    exchange_capture_mode,
    from_dlpack,
    full,
    host_work,
    max,
    mean,
    min,
    pending,
    pinned_empty,
    pointer_attributes,
    prod,
    register,
    set_device,
    sum,
    synchronize,
    to_device,
    zeros,
)
from ._errors import CaptureError, CompileError, CudaError, OutOfMemoryError, PendingWarning
from ._matmul import Matmul, Variant, matmul
from ._progress import show_progress
from ._reduce import Reduce, reduce

if TYPE_CHECKING:
    from . import figures, tracing
    from ._calibration import calibrate
    from ._checking import CheckReport, Finding, check
    from ._info import info
    from ._models import Model, add_host_device, model, models
    from ._profiling import Profile, ProfiledAccess, ProfiledLine, ProfileFinding, ProfilePicture
    from .tracing.ranges import range
    from .tracing.recording import trace  # not from .tracing, where type checkers find the module trace

__version__: str = build_config["version"]

__all__ = [
    # devices
    "Device", "DeviceProperties", "MemoryInfo", "current_device", "devices", "set_device", "synchronize", "clock",
    "host_work",
    # models of simulated devices
    "Model", "add_host_device", "calibrate", "model", "models",
    # streams and events
    "Event", "ExternalSemaphore", "MemoryBarrier", "Stream", "WaitValue", "WriteValue", "as_stream", "current_stream",
    # memory
    "MemoryPool", "PointerAttributes", "PoolStatistics", "Registration", "copy_batch", "device_view",
    "empty_managed", "empty_pitched", "empty_plain", "pointer_attributes", "register",
    "DeviceArray", "empty", "empty_like", "full", "pinned_empty", "to_device", "zeros", "zeros_like",
    "CudaArray", "MipmappedArray", "Surface", "TensorMap", "Texture",
    # arrays of other libraries
    "asarray", "from_dlpack",
    # modules and kernels
    "AccessPolicyWindow", "Counts", "FunctionAttributes", "GlobalCounts", "Kernel", "KernelLaunch", "KernelTime", "Module",
    "Parameter",
    # profiles of kernels
    "Profile", "ProfileFinding", "ProfilePicture", "ProfiledAccess", "ProfiledLine",
    # graphs
    "Capture", "Graph", "GraphExec", "GraphNode", "GraphUpdate", "exchange_capture_mode",
    # operations
    "Matmul", "Reduce", "Variant", "matmul", "reduce",
    "all", "any", "argmax", "argmin", "dot", "max", "mean", "min", "prod", "sum",
    # the commands in flight
    "Pending", "PendingReason", "PendingWarning", "PendingWork", "pending",
    # checks
    "CheckReport", "Finding", "check",
    # traces
    "range", "trace", "tracing", "figures",
    # bars of long waits
    "show_progress",
    # errors
    "CaptureError", "CompileError", "CudaError", "OutOfMemoryError",
    # about
    "__version__", "info",
]  # fmt: skip

# The modules of these names are loaded when a program first asks for one of them. These modules take longer to load than
# all others, and many programs need none of them.
_LATER = {
    "figures": "figures",
    "calibrate": "_calibration",
    "info": "_info",
    **dict.fromkeys(("Model", "add_host_device", "model", "models"), "_models"),
    **dict.fromkeys(("tracing", "range", "trace"), "tracing"),
    **dict.fromkeys(("CheckReport", "Finding", "check"), "_checking"),
    **dict.fromkeys(("Profile", "ProfileFinding", "ProfilePicture", "ProfiledAccess", "ProfiledLine"), "_profiling"),
}  # fmt: skip


def load_ipython_extension(shell: Any) -> None:
    """Add the magics to IPython or a notebook: ``%load_ext cuscope`` calls this. docs/notebooks.md shows them."""
    from ._notebook import load  # needs IPython

    load(shell)


def __getattr__(name: str) -> Any:
    if name not in _LATER:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    module = importlib.import_module(f".{_LATER[name]}", __name__)
    value = module if name == _LATER[name] else getattr(module, name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return __all__


_display.add_to_classes()

# The modules that are loaded later do this for their own names.
_public.show_as_public(
    *(value for name, value in list(globals().items()) if name in __all__ and callable(value))
)

_core.set_up_lines(str(Path(__file__).parent) + os.sep)
_progress.start()
if os.environ.get("CUSCOPE_CHECK"):
    importlib.import_module("._checking", __name__).start_from_environment()
