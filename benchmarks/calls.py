"""What a call costs on a GPU: python benchmarks/calls.py --cpp PROGRAM [--json].

A 4-argument launch, an event record and a stream wait, from Python, beside the same from C++ (PROGRAM: built from
benchmarks/cpp, it prints JSON), CuPy and cuda.core where they are installed. Each has a process of its own: what one
does in a context, above all in its legacy default stream, slows the calls of all others there. Each uses one ordinary
stream and nothing else, and is started several times: even two streams of one process were seen to differ by a fifth.
All take turns, round after round; what is printed is the median time and the median of the ratios to C++ in the same round.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import timeit
from collections.abc import Callable
from typing import Any

import numpy as np

SOURCE = 'extern "C" __global__ void four(const float* a, const float* b, float* c, int n) {}'
CALLS = ("launch", "event_record", "stream_wait")
BATCHES = 21
# name -> (statement, its names, what waits for it): a statement, because a function around it would count as well
Calls = dict[str, tuple[str, dict[str, Any], Callable[[], object]]]


def of_cuscope() -> Calls:
    import cuscope as cs

    cs.set_device(cs.Device("cuda:0"))
    module = cs.Module(SOURCE)
    stream, event = cs.Stream(), cs.Event(timing=False)
    a = cs.zeros(256, np.float32, stream=stream)
    event.record(stream)
    names = {"launch": module.four[1, 32, stream], "a": a, "event": event, "stream": stream}
    return {
        "launch": ("launch(a, a, a, 256)", names, stream.synchronize),
        "event_record": ("event.record(stream)", names, stream.synchronize),
        "stream_wait": ("stream.wait(event)", names, stream.synchronize),
    }


def of_cupy() -> Calls:
    import cupy

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
    }


def of_cuda_core() -> Calls:
    try:
        from cuda import core
    except ImportError:
        from cuda.core import experimental as core  # before 1.0

    device = core.Device()
    device.set_current()
    # The same kind of stream as everybody's here: one that waits for the legacy default stream.
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
    return {
        "launch": ("launch(stream, config, kernel, a, a, a, n)", names, stream.sync),
        "event_record": ("stream.record(event)", names, stream.sync),
        "stream_wait": ("stream.wait(event)", names, stream.sync),
    }


PEERS = {"cuscope": of_cuscope, "cupy": of_cupy, "cuda.core": of_cuda_core}


def microseconds(
    statement: str, names: dict[str, Any], synchronise: Callable[[], object], count: int
) -> float:
    """The time of one call, as benchmarks/cpp measures it: the median of batches of `count` in a row, few enough that
    the device's queue never fills."""
    timer = timeit.Timer(statement, globals=names)
    samples = []
    for _ in range(BATCHES):
        synchronise()
        samples.append(timer.timeit(count))
    synchronise()
    return statistics.median(samples) / count * 1e6


def serve(peer: str, count: int) -> None:
    """In a peer's process: measures the call that each line of the input names. The first answer is what is missing."""
    try:
        calls = PEERS[peer]()
    except Exception as error:  # another package's, whatever it is, does not end the measurement
        print(json.dumps(f"{type(error).__name__}: {error}"), flush=True)
        return
    print(json.dumps(""), flush=True)
    for line in sys.stdin:
        print(microseconds(*calls[line.strip()], count), flush=True)


class Peer:
    def __init__(self, name: str, count: int) -> None:
        command = [sys.executable, __file__, "--serve", name, "--count", str(count)]
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.missing: str = json.loads(self._answer())

    def _answer(self) -> str:
        assert self._process.stdout is not None
        return self._process.stdout.readline() or '"its process ended"'

    def microseconds(self, call: str) -> float:
        assert self._process.stdin is not None
        print(call, file=self._process.stdin, flush=True)
        return float(self._answer())

    def close(self) -> None:
        self._process.communicate()


def measure(program: str | None, processes: int, rounds: int, count: int) -> dict[str, Any]:
    missing: dict[str, str] = {}
    times: dict[str, dict[str, list[float]]] = {
        name: {call: [] for call in CALLS} for name in ("c++", *PEERS)
    }
    for _ in range(processes):
        peers = {name: Peer(name, count) for name in PEERS}
        missing |= {name: peer.missing for name, peer in peers.items() if peer.missing}
        for _ in range(rounds):
            if program:
                output = subprocess.run(
                    [program], capture_output=True, text=True, check=True, timeout=120
                ).stdout
                for call, value in json.loads(output).items():
                    if call in CALLS:
                        times["c++"][call].append(float(value))
            for call in CALLS:
                for name, peer in peers.items():
                    if name not in missing:
                        times[name][call].append(peer.microseconds(call))
        for peer in peers.values():
            peer.close()
    for name in missing:
        del times[name]
    result: dict[str, Any] = {"microseconds": {}, "ratio_to_c++": {}, "missing": missing}
    for name, by_call in times.items():
        result["microseconds"][name] = {call: statistics.median(v) for call, v in by_call.items() if v}
        if program and name != "c++":
            result["ratio_to_c++"][name] = {
                call: statistics.median(
                    ours / theirs for ours, theirs in zip(v, times["c++"][call], strict=True)
                )
                for call, v in by_call.items()
            }
    return result


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--cpp", metavar="PROGRAM", help="the C++ program built from benchmarks/cpp")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--processes", type=int, default=4, help="starts of each package")
    parser.add_argument("--rounds", type=int, default=4, help="with each start")
    parser.add_argument("--count", type=int, default=256, help="calls in a row")
    parser.add_argument("--serve", choices=PEERS, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.serve:
        serve(options.serve, options.count)
        return 0
    result = measure(options.cpp, options.processes, options.rounds, options.count)
    if options.json:
        print(json.dumps(result, indent=2))
        return 0
    print(f"{'microseconds a call':<24}" + "".join(f"{call:>16}" for call in CALLS))
    for name, row in result["microseconds"].items():
        print(f"{name:<24}" + "".join(f"{row[call]:16.3f}" if call in row else " " * 16 for call in CALLS))
    for name, row in result["ratio_to_c++"].items():
        print(f"{name + ' / c++':<24}" + "".join(f"{row[call]:16.2f}" for call in CALLS))
    for name, reason in result["missing"].items():
        print(f"{name}: not measured: {reason}")
    return 1 if "cuscope" in result["missing"] else 0


if __name__ == "__main__":
    sys.exit(main())
