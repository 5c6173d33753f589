"""The costs of single calls from Python: in this process, or for each other package in a process of its own.

The work of one package in a CUDA context, above all in its legacy default stream, slows the calls of all others there. So
each peer is a process that uses one ordinary stream and nothing else. ``python -m cuscope.bench._calls`` is such a process.
"""

from __future__ import annotations

import importlib
import json
import os
import statistics
import subprocess
import sys
import time
import timeit
from collections.abc import Callable
from typing import Any

import numpy as np

import cuscope as cs

__all__ = ["CALLS", "PEERS", "Calls", "Peer", "microseconds", "of_cuscope", "on_one_processor", "serve"]

SOURCE = 'extern "C" __global__ void four(const float* a, const float* b, float* c, int n) {}'
CALLS = ("launch", "event_record", "stream_wait", "stream_query")
BATCHES = 21
# name -> (statement, its names, a function that waits for it). A statement, because the call of a function
# around it would be measured too.
Calls = dict[str, tuple[str, dict[str, Any], Callable[[], object]]]


def of_cuscope(device: cs.Device) -> Calls:
    cs.set_device(device)
    module = cs.Module(SOURCE)
    stream, event = cs.Stream(), cs.Event(timing=False)
    a = cs.zeros(256, np.float32, stream=stream)
    event.record(stream)
    names = {"launch": module.four[1, 32, stream], "a": a, "event": event, "stream": stream}
    return {
        "launch": ("launch(a, a, a, 256)", names, stream.synchronize),
        "event_record": ("event.record(stream)", names, stream.synchronize),
        "stream_wait": ("stream.wait(event)", names, stream.synchronize),
        "stream_query": ("stream.query()", names, stream.synchronize),
    }


def _of_cuscope(number: int) -> Calls:
    return of_cuscope(cs.Device(f"cuda:{number}"))


def _of_cupy(number: int) -> Calls:
    cupy = importlib.import_module("cupy")
    cupy.cuda.Device(number).use()
    stream, event = cupy.cuda.Stream(non_blocking=False), cupy.cuda.Event(disable_timing=True)
    stream.use()
    event.record(stream)
    a = cupy.zeros(256, cupy.float32)
    names = {
        "kernel": cupy.RawKernel(SOURCE, "four"),
        "grid": (1,),
        "block": (32,),
        "arguments": (a, a, a, np.int32(256)),
        "event": event,
        "stream": stream,
    }
    return {
        "launch": ("kernel(grid, block, arguments)", names, stream.synchronize),
        "event_record": ("event.record(stream)", names, stream.synchronize),
        "stream_wait": ("stream.wait_event(event)", names, stream.synchronize),
        "stream_query": ("stream.done", names, stream.synchronize),
    }


def _of_cuda_core(number: int) -> Calls:
    try:
        core = importlib.import_module("cuda.core")
        core.Device  # noqa: B018
    except (ImportError, AttributeError):
        core = importlib.import_module("cuda.core.experimental")  # before 1.0

    device = core.Device(number)
    device.set_current()
    # The same kind of stream as for the other packages: one that waits for the legacy default stream.
    stream = device.create_stream(options=core.StreamOptions(nonblocking=False))
    options = core.ProgramOptions(std="c++17", arch=f"sm_{device.arch}")
    kernel = core.Program(SOURCE, code_type="c++", options=options).compile("cubin").get_kernel("four")
    names = {
        "launch": core.launch,
        "stream": stream,
        "config": core.LaunchConfig(grid=1, block=32),
        "kernel": kernel,
        "a": device.allocate(1024, stream=stream),
        "event": stream.record(),
        "n": np.int32(256),
    }
    return {  # cuda.core's streams have no query
        "launch": ("launch(stream, config, kernel, a, a, a, n)", names, stream.sync),
        "event_record": ("stream.record(event)", names, stream.sync),
        "stream_wait": ("stream.wait(event)", names, stream.sync),
    }


PEERS: dict[str, Callable[[int], Calls]] = {
    "cuscope": _of_cuscope,
    "cupy": _of_cupy,
    "cuda.core": _of_cuda_core,
}


def on_one_processor() -> None:
    """Keeps this process, and the processes that it starts from here on, on one processor, so that different processors
    cannot cause different times. There are other causes: even so, the same call differed by two thirds between two
    starts of one program."""
    os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})


def _wake_the_processor(seconds: float = 0.05) -> None:
    """Runs the processor up to speed: after a process had slept until its turn, calls took up to twice as long."""
    end = time.perf_counter() + seconds
    while time.perf_counter() < end:
        pass


def microseconds(
    statement: str,
    names: dict[str, Any],
    synchronise: Callable[[], object],
    count: int,
    *,
    clock: Callable[[], float] = time.perf_counter,
    batches: int = BATCHES,
) -> float:
    """The time of one call, measured as in benchmarks/cpp: the median over batches of `count` calls in a row. `count` is
    small enough that the device's queue never fills."""
    timer = timeit.Timer(statement, timer=clock, globals=names)
    if clock is time.perf_counter:
        _wake_the_processor()
    samples = []
    for _ in range(batches):
        synchronise()
        samples.append(timer.timeit(count))
    synchronise()
    return statistics.median(samples) / count * 1e6


class Peer:
    """A package in a process of its own, on the GPU with this number; `missing` gives the reason if it cannot be used.

    `module` is the module that the process runs; it must call serve().
    """

    def __init__(
        self, name: str, count: int, number: int = 0, *, module: str = "cuscope.bench._calls"
    ) -> None:
        command = [sys.executable, "-m", module, name, str(count), str(number)]
        self._name = name
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._input, self._output = self._process.stdin, self._process.stdout
        first = self._output.readline()
        answer: dict[str, Any] = json.loads(first) if first else {"missing": "its process ended", "calls": []}
        self.missing: str = answer["missing"]
        self.calls: list[str] = answer["calls"]

    def microseconds(self, call: str) -> float:
        self._input.write(f"{call}\n")
        self._input.flush()
        answer = self._output.readline()
        if not answer:
            raise RuntimeError(f"{self._name}: its process ended when {call} was measured")
        return float(answer)

    def close(self) -> None:
        self._process.communicate()


def serve(of_peer: Callable[[], Calls], count: int, *, batches: int = BATCHES) -> None:
    """Measures the call that each line of the input names. The first answer lists the calls, or says why there are none."""

    def answer(value: object) -> None:
        sys.stdout.write(f"{json.dumps(value)}\n")
        sys.stdout.flush()

    try:
        calls = of_peer()
    except Exception as error:  # an error of another package must not end the measurement
        answer({"missing": f"{type(error).__name__}: {error}", "calls": []})
        return
    answer({"missing": "", "calls": list(calls)})
    for line in sys.stdin:
        answer(microseconds(*calls[line.strip()], count, batches=batches))


if __name__ == "__main__":
    serve(lambda: PEERS[sys.argv[1]](int(sys.argv[3])), int(sys.argv[2]))
