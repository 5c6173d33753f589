"""Measures the cost of runtime calls on a GPU: python benchmarks/calls.py --cpp PROGRAM [--json].

A 4-argument launch, an event record, a stream wait and a stream query, from Python. The same calls are measured from
C++ (PROGRAM, built from benchmarks/cpp, prints JSON), and from CuPy and cuda.core if they are installed. Each library
has a process of its own (cuscope.bench._calls), which is started several times: even two streams of one process were
seen to differ by a fifth. All processes run on the same processor and take turns, round after round. The table shows
the median time and the median of the ratios to C++ in the same round.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
from typing import Any

from cuscope.bench._calls import CALLS, PEERS, Peer, on_one_processor


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
                    if call in peer.calls:
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
                if v
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
    options = parser.parse_args()
    on_one_processor()
    result = measure(options.cpp, options.processes, options.rounds, options.count)
    if options.json:
        print(json.dumps(result, indent=2))
        return 0
    print(f"{'microseconds a call':<24}" + "".join(f"{call:>16}" for call in CALLS))
    for name, row in result["microseconds"].items():
        print(f"{name:<24}" + "".join(f"{row[call]:16.3f}" if call in row else " " * 16 for call in CALLS))
    for name, row in result["ratio_to_c++"].items():
        print(
            f"{name + ' / c++':<24}"
            + "".join(f"{row[call]:16.2f}" if call in row else " " * 16 for call in CALLS)
        )
    for name, reason in result["missing"].items():
        print(f"{name}: not measured: {reason}")
    return 1 if "cuscope" in result["missing"] else 0


if __name__ == "__main__":
    sys.exit(main())
