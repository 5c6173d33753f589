"""The times of a chain of kernels with a graph and without: in this process, or for each package in its own process.

``python -m cuscope.bench._graph_calls`` is such a process; see _calls.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable

import numpy as np

import cuscope as cs
from cuscope.bench._calls import SOURCE, Calls, serve

__all__ = ["BATCHES", "CALLS", "PEERS", "REPEATS", "of_cuscope"]

# For a chain of kernels: the whole chain as one graph, and as single launches; the host's cost to launch the
# graph, and to capture it.
CALLS = ("replay", "plain", "launch", "capture")
BATCHES = 11
REPEATS = 4  # runs in a row, for the time of one


def of_cuscope(device: cs.Device, kernels: int) -> Calls:
    cs.set_device(device)
    stream = cs.Stream()
    a = cs.zeros(256, np.float32, stream=stream)
    launch = cs.Module(SOURCE).four[1, 32, stream]
    stream.begin_capture()
    for _ in range(kernels):
        launch(a, a, a, 256)
    names = {
        "launch": launch,
        "a": a,
        "chain": range(kernels),
        "stream": stream,
        "exe": stream.end_capture().instantiate(),
    }
    chain = "for _ in chain: launch(a, a, a, 256)"
    wait = stream.synchronize
    return {
        "replay": ("exe.launch(stream); stream.synchronize()", names, wait),
        "plain": (f"{chain}\nstream.synchronize()", names, wait),
        "launch": ("exe.launch(stream)", names, wait),
        "capture": (f"stream.begin_capture()\n{chain}\nstream.end_capture()", names, wait),
    }


def _of_cupy(number: int, kernels: int) -> Calls:
    cupy = importlib.import_module("cupy")
    cupy.cuda.Device(number).use()
    stream = cupy.cuda.Stream(non_blocking=False)
    stream.use()
    a = cupy.zeros(256, cupy.float32)
    kernel = cupy.RawKernel(SOURCE, "four")
    names = {
        "kernel": kernel,
        "grid": (1,),
        "block": (32,),
        "arguments": (a, a, a, np.int32(256)),
        "chain": range(kernels),
        "stream": stream,
    }
    kernel((1,), (32,), names["arguments"])
    stream.synchronize()
    stream.begin_capture()
    for _ in range(kernels):
        kernel((1,), (32,), names["arguments"])
    names["graph"] = stream.end_capture()
    chain = "for _ in chain: kernel(grid, block, arguments)"
    wait = stream.synchronize
    return {
        "replay": ("graph.launch(stream); stream.synchronize()", names, wait),
        "plain": (f"{chain}\nstream.synchronize()", names, wait),
        "launch": ("graph.launch(stream)", names, wait),
        "capture": (f"stream.begin_capture()\n{chain}\nstream.end_capture()", names, wait),
    }


def _of_torch(number: int, kernels: int) -> Calls:
    """PyTorch has no kernels written by the user, so it adds in place. Only the cost of a launch is comparable."""
    torch = importlib.import_module("torch")
    torch.cuda.set_device(number)
    a = torch.zeros(256, device="cuda")
    stream = torch.cuda.Stream()
    with torch.cuda.stream(stream):
        a.add_(1)
    stream.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph, stream=stream):
        for _ in range(kernels):
            a.add_(1)
    return {"launch": ("graph.replay()", {"graph": graph, "kept": a}, torch.cuda.synchronize)}


PEERS: dict[str, Callable[[int, int], Calls]] = {
    "cuscope": lambda number, kernels: of_cuscope(cs.Device(f"cuda:{number}"), kernels),
    "cupy": _of_cupy,
    "torch": _of_torch,
}


if __name__ == "__main__":
    serve(lambda: PEERS[sys.argv[1]](int(sys.argv[3]), int(sys.argv[2])), REPEATS, batches=BATCHES)
