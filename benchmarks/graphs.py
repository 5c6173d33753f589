"""Measures the cost of graphs on a GPU: python benchmarks/graphs.py --cpp PROGRAM [--json].

A chain of kernels replayed as a graph, launched one by one, the launch of the graph alone, and its capture for each
kernel, from Python. The same is measured from C++ (PROGRAM, built from benchmarks/cpp/graph_costs.cu, prints JSON), and
from CuPy and PyTorch if they are installed. Each library has a process of its own (cuscope.bench._graph_calls), which
is started anew after some rounds, because starts of one program differ. All processes run on the same processor and
take turns. The table shows the median time and the median of the ratios to C++ in the same round.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
from typing import Any

from cuscope.bench._calls import Peer, on_one_processor
from cuscope.bench._graph_calls import CALLS, PEERS

Times = dict[str, dict[str, list[float]]]


def take_turns(program: str | None, kernels: int, rounds: int, times: Times) -> dict[str, str]:
    """Appends to the times; names the missing packages, with the reasons."""
    peers = {name: Peer(name, kernels, module="cuscope.bench._graph_calls") for name in PEERS}
    for _ in range(rounds):
        if program:
            command = [program, str(kernels)]
            output = subprocess.run(command, capture_output=True, text=True, check=True, timeout=120).stdout
            for call, value in json.loads(output).items():
                times["c++"][call].append(float(value))
        for call in CALLS:
            share = kernels if call == "capture" else 1
            for name, peer in peers.items():
                if call in peer.calls:
                    times[name][call].append(peer.microseconds(call) / share)
    for peer in peers.values():
        peer.close()
    return {name: peer.missing for name, peer in peers.items() if peer.missing}


def measure(program: str | None, kernels: int, processes: int, rounds: int) -> dict[str, Any]:
    missing: dict[str, str] = {}
    times: Times = {name: {call: [] for call in CALLS} for name in ("c++", *PEERS)}
    for _ in range(processes):
        missing |= take_turns(program, kernels, rounds, times)
    for name in missing:
        del times[name]
    return {
        "kernels": kernels,
        "microseconds": {
            name: {call: statistics.median(v) for call, v in by_call.items() if v}
            for name, by_call in times.items()
        },
        "ratio_to_c++": {
            name: {
                call: statistics.median(
                    ours / theirs for ours, theirs in zip(v, times["c++"][call], strict=True)
                )
                for call, v in by_call.items()
                if v
            }
            for name, by_call in times.items()
            if program and name != "c++"
        },
        "missing": missing,
    }


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--cpp", metavar="PROGRAM", help="the C++ program built from graph_costs.cu")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--processes", type=int, default=2, help="starts of each package")
    parser.add_argument("--rounds", type=int, default=5, help="with each start")
    parser.add_argument("--kernels", type=int, nargs="+", default=[1, 10, 100, 1000], help="of the chain")
    options = parser.parse_args()
    on_one_processor()
    results = [
        measure(options.cpp, kernels, options.processes, options.rounds) for kernels in options.kernels
    ]
    if options.json:
        print(json.dumps(results, indent=2))
    else:
        for result in results:
            print(f"{result['kernels']:>6} kernels, us  " + "".join(f"{call:>12}" for call in CALLS))
            for name, row in result["microseconds"].items():
                cells = (f"{row[call]:12.3f}" if call in row else " " * 12 for call in CALLS)
                print(f"{name:<20}" + "".join(cells))
            for name, row in result["ratio_to_c++"].items():
                cells = (f"{row[call]:12.2f}" if call in row else " " * 12 for call in CALLS)
                print(f"{name + ' / c++':<20}" + "".join(cells))
            for name, reason in result["missing"].items():
                print(f"{name}: not measured: {reason}")
    return 1 if any("cuscope" in result["missing"] for result in results) else 0


if __name__ == "__main__":
    sys.exit(main())
