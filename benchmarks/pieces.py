"""Measures the pieces that a call is made of: python benchmarks/pieces.py [--device D] [--cpp PROGRAM] [--json].

Arrays, views, exchanges with other libraries, streams, events, small copies, host functions and graph updates, each as
a person writes it in Python. PyTorch and CuPy do the same in this process if they are installed, and take turns with
cuscope, sample after sample. The table shows the median time of a call in microseconds, and the median over the rounds
of the peer's time divided by cuscope's. PROGRAM (built from benchmarks/cpp/call_costs.cu, prints JSON) adds the cost of
the CUDA calls themselves.

On a simulated device the times are processor time of this thread, which includes the simulation; there are no peers.
"""

from __future__ import annotations

import argparse
import contextlib
import importlib
import json
import statistics
import subprocess
import sys
import time
import timeit
from collections.abc import Callable
from typing import Any

import numpy as np

import cuscope as cs
from cuscope.bench._calls import SOURCE, on_one_processor

# A description of each piece, in the order of the table.
PIECES = {
    "allocate": "a new array of 1,024 float32, and its release",
    "allocate_zeros": "the same, filled with zeros",
    "slice": "x[1:] of 1,024 elements",
    "item": "x[1] of 32 x 32 elements",
    "reshape": "1,024 elements as 32 x 32",
    "transpose": "x.T of 32 x 32 elements",
    "asarray": "asarray of an array of the same library",
    "from_torch": "asarray of a PyTorch tensor",
    "from_cupy": "asarray of a CuPy array",
    "to_torch": "torch.from_dlpack of an array",
    "to_cupy": "cupy.asarray of an array",
    "dlpack": "a DLPack capsule, and its release",
    "current_stream": "the current stream",
    "with_stream": "enter and leave a stream",
    "to_device": "1 KiB of NumPy to a new array",
    "to_host": "4 KiB to a new NumPy array",
    "new_event": "a new event without timing",
    "new_event_record": "a new event, recorded",
    "record": "an event recorded again",
    "new_stream": "a new stream, and its release",
    "host_function": "a host function that does nothing",
    "graph_update": "other arguments for a kernel of an executable graph",
    "copy_batch": "two copies of 4 KiB by one call",
}
# statement, its names
Pieces = dict[str, tuple[str, dict[str, Any]]]


def of_cuscope(device: cs.Device, others: dict[str, Any]) -> tuple[Pieces, Callable[[], None]]:
    """The pieces of cuscope, and a function that waits for them. `others` has modules and arrays of the peers."""
    stream, event = cs.Stream(), cs.Event(timing=False)
    flat, square = cs.zeros(1024), cs.zeros((32, 32))
    launch = cs.Module(SOURCE).four[1, 32, stream]
    graph = cs.Graph()
    node = graph.add_kernel(launch, args=(flat, flat, flat, 256))
    names = {
        "cs": cs,
        "np": np,
        "flat": flat,
        "square": square,
        "host": np.zeros(256, np.float32),
        "stream": stream,
        "event": event,
        "nothing": _nothing,
        "pairs": [(cs.zeros(1024), flat), (cs.zeros(1024), flat)],
        "launch": launch,
        "node": node,
        "exe": graph.instantiate(),
        **others,
    }
    statements = {
        "allocate": "cs.empty(1024)",
        "allocate_zeros": "cs.zeros(1024)",
        "slice": "flat[1:]",
        "item": "square[1]",
        "reshape": "flat.reshape(32, 32)",
        "transpose": "square.T",
        "asarray": "cs.asarray(flat)",
        "from_torch": "cs.asarray(tensor)",
        "from_cupy": "cs.asarray(ndarray)",
        "to_torch": "torch.from_dlpack(flat)",
        "to_cupy": "cupy.asarray(flat)",
        "dlpack": "flat.__dlpack__()",
        "current_stream": "cs.current_stream()",
        "with_stream": "with stream: pass",
        "to_device": "cs.to_device(host)",
        "to_host": "flat.to_host()",
        "new_event": "cs.Event(timing=False)",
        "new_event_record": "cs.Event(timing=False).record(stream)",
        "record": "event.record(stream)",
        "new_stream": "cs.Stream()",
        "host_function": "stream.host_function(nothing)",
        "graph_update": "exe.set_kernel(node, launch, args=(flat, flat, flat, 255))",
        "copy_batch": "cs.copy_batch(pairs, stream=stream)",
    }

    def wait() -> None:
        stream.synchronize()
        device.synchronize()

    return _usable(statements, names), wait


def of_torch(number: int, others: dict[str, Any]) -> Pieces:
    torch = importlib.import_module("torch")
    torch.cuda.set_device(number)
    flat, square = torch.zeros(1024, device="cuda"), torch.zeros((32, 32), device="cuda")
    event, stream = torch.cuda.Event(), torch.cuda.Stream()
    event.record(stream)
    others |= {"torch": torch, "tensor": flat}
    names = {
        "flat": flat,
        "square": square,
        "host": torch.zeros(256),
        "event": event,
        "stream": stream,
        **others,
    }
    return _usable(
        {
            "allocate": "torch.empty(1024, device='cuda')",
            "allocate_zeros": "torch.zeros(1024, device='cuda')",
            "slice": "flat[1:]",
            "item": "square[1]",
            "reshape": "flat.reshape(32, 32)",
            "transpose": "square.T",
            "asarray": "torch.as_tensor(flat)",
            "from_cupy": "torch.from_dlpack(ndarray)",
            "to_cupy": "cupy.asarray(flat)",
            "dlpack": "flat.__dlpack__()",
            "current_stream": "torch.cuda.current_stream()",
            "with_stream": "with torch.cuda.stream(stream): pass",
            "to_device": "host.to('cuda')",
            "to_host": "flat.to('cpu')",
            "new_event": "torch.cuda.Event()",
            "new_event_record": "torch.cuda.Event().record(stream)",
            "record": "event.record(stream)",
            "new_stream": "torch.cuda.Stream()",  # from a pool of 32 streams
        },
        names,
    )


def of_cupy(number: int, others: dict[str, Any]) -> Pieces:
    cupy = importlib.import_module("cupy")
    cupy.cuda.Device(number).use()
    flat, square = cupy.zeros(1024, cupy.float32), cupy.zeros((32, 32), cupy.float32)
    stream, event = cupy.cuda.Stream(non_blocking=False), cupy.cuda.Event(disable_timing=True)
    event.record(stream)
    others |= {"cupy": cupy, "ndarray": flat}
    names = {
        "flat": flat,
        "square": square,
        "host": np.zeros(256, np.float32),
        "stream": stream,
        "event": event,
        "nothing": _nothing,
        **others,
    }
    return _usable(
        {
            "allocate": "cupy.empty(1024, cupy.float32)",
            "allocate_zeros": "cupy.zeros(1024, cupy.float32)",
            "slice": "flat[1:]",
            "item": "square[1]",
            "reshape": "flat.reshape(32, 32)",
            "transpose": "square.T",
            "asarray": "cupy.asarray(flat)",
            "from_torch": "cupy.asarray(tensor)",
            "to_torch": "torch.from_dlpack(flat)",
            "dlpack": "flat.__dlpack__()",
            "current_stream": "cupy.cuda.get_current_stream()",
            "with_stream": "with stream: pass",
            "to_device": "cupy.asarray(host)",
            "to_host": "flat.get()",
            "new_event": "cupy.cuda.Event(disable_timing=True)",
            "new_event_record": "cupy.cuda.Event(disable_timing=True).record(stream)",
            "record": "event.record(stream)",
            "new_stream": "cupy.cuda.Stream()",
            "host_function": "stream.launch_host_func(nothing, None)",
        },
        names,
    )


def _nothing(*_: object) -> None:
    pass


def _usable(statements: dict[str, str], names: dict[str, Any]) -> Pieces:
    """Leaves out the statements that need a library which is not there."""
    libraries = {"torch": "torch", "tensor": "torch", "cupy": "cupy", "ndarray": "cupy"}
    absent = [word for word in libraries if word not in names]
    return {
        piece: (statement, names)
        for piece, statement in statements.items()
        if not any(word in statement for word in absent)
    }


def _peers(number: int, missing: dict[str, str]) -> tuple[dict[str, Pieces], dict[str, Any]]:
    makers = {"torch": of_torch, "cupy": of_cupy}
    others: dict[str, Any] = {}
    for name in list(makers):  # the first time only to learn which of them are there
        try:
            makers[name](number, others)
        except Exception as error:  # an error of another package must not end the measurement
            missing[name] = f"{type(error).__name__}: {error}"
            del makers[name]
    return {name: make(number, others) for name, make in makers.items()}, others


def measure(
    device: cs.Device,
    *,
    rounds: int,
    count: int,
    program: str | None = None,
    only: list[str] | None = None,
) -> dict[str, Any]:
    missing: dict[str, str] = {}
    peers: dict[str, Pieces] = {}
    others: dict[str, Any] = {}
    if not device.simulated:
        peers, others = _peers(int(device.name.partition(":")[2]), missing)
    with device:
        ours, wait = of_cuscope(device, others)
        packages = {"cuscope": ours, **peers}
        clock = time.thread_time if device.simulated else time.perf_counter
        times = {
            piece: {name: [] for name, pieces in packages.items() if piece in pieces}
            for piece in only or PIECES
        }
        floor: dict[str, list[float]] = {}
        for turn in range(rounds + 1):  # the first round warms up
            if program:
                command = subprocess.run([program], capture_output=True, text=True, check=True, timeout=120)
                for piece, value in json.loads(command.stdout).items():
                    if piece in times:
                        floor.setdefault(piece, []).append(float(value))
            for piece, by_name in times.items():
                for name, samples in by_name.items():
                    statement, names = packages[name][piece]
                    timer = timeit.Timer(statement, timer=clock, globals=names)
                    taken = timer.timeit(count) / count * 1e6
                    wait()
                    if turn:
                        samples.append(taken)
    return {
        "device": device.name,
        "simulated": device.simulated,
        "clock": "processor time" if device.simulated else "time",
        "rounds": rounds,
        "count": count,
        "microseconds": {
            piece: {name: statistics.median(samples) for name, samples in by_name.items()}
            | ({"c++": statistics.median(floor[piece])} if piece in floor else {})
            for piece, by_name in times.items()
        },
        "ratio": {
            piece: {
                name: statistics.median(
                    theirs / ours for theirs, ours in zip(samples, by_name["cuscope"], strict=True)
                )
                for name, samples in by_name.items()
                if name != "cuscope" and "cuscope" in by_name
            }
            for piece, by_name in times.items()
        },
        "missing": missing,
    }


def show(result: dict[str, Any]) -> None:
    names = list(dict.fromkeys(name for row in result["microseconds"].values() for name in row))
    peers = list(dict.fromkeys(name for row in result["ratio"].values() for name in row))
    print(f"{result['device']}: microseconds a call ({result['clock']})")
    print(
        f"{'':<18}"
        + "".join(f"{name:>10}" for name in names)
        + "".join(f"{name + ' /':>10}" for name in peers)
    )
    for piece, row in result["microseconds"].items():
        ratio = result["ratio"][piece]
        cells = [f"{row[name]:10.3f}" if name in row else " " * 10 for name in names]
        cells += [f"{ratio[name]:10.2f}" if name in ratio else " " * 10 for name in peers]
        print(f"{piece:<18}" + "".join(cells) + f"  {PIECES[piece]}")
    for name, reason in result["missing"].items():
        print(f"{name}: not measured: {reason}")


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--device", default=None, help="cuda:0, host:0, ... (default: the current device)")
    parser.add_argument(
        "--cpp", metavar="PROGRAM", help="the C++ program built from benchmarks/cpp/call_costs.cu"
    )
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--rounds", type=int, default=21)
    parser.add_argument("--count", type=int, default=256, help="calls in a row")
    parser.add_argument("--only", nargs="+", choices=list(PIECES), help="these pieces")
    options = parser.parse_args(arguments)
    with contextlib.suppress(OSError):
        on_one_processor()
    device = cs.Device(options.device) if options.device else cs.current_device()
    result = measure(
        device, rounds=options.rounds, count=options.count, program=options.cpp, only=options.only
    )
    if options.json:
        print(json.dumps(result, indent=2))
    else:
        show(result)
    return 0


if __name__ == "__main__":
    sys.exit(main())
