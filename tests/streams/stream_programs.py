"""Random stream programs with the times that an NVIDIA H200 took for them.

`h200_programs.txt` holds 40 programs, drawn at random and run on one H200 (CUDA 13.0, driver 580) by a C++ program:
nine runs of each, from an idle device to an idle device; least, median and most milliseconds. `h200_more_programs.txt`
holds 100 programs of the same kind, from another H200, that were measured later. A line below `program` is a call: its kind, its stream (-1: the legacy default stream) and its numbers.

    h2d, d2h, d2d, memset    bytes (page-locked memory of the host)
    spin                     blocks, threads of a block, nanoseconds that every block takes
    record, wait             the number of the event

`python tests/streams/stream_programs.py [model]` prints the simulated times beside the measured ones.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path

import numpy as np

import cuscope as cs

FILE = Path(__file__).with_name("h200_programs.txt")
MORE = Path(__file__).with_name("h200_more_programs.txt")
LARGEST = 64 << 20  # bytes of a copy

KERNEL = "__global__ void spin() { }"


@dataclass
class StreamProgram:
    number: int
    streams: int
    non_blocking: bool
    least: float  # milliseconds, as measured
    median: float
    most: float
    calls: list[tuple[str, int, list[int]]]


def read_programs(file: Path = FILE) -> list[StreamProgram]:
    programs: list[StreamProgram] = []
    for line in file.read_text().splitlines():
        words = line.split()
        if not words or line.startswith("#"):
            continue
        if words[0] == "program":
            number, streams = int(words[1]), int(words[2])
            least, median, most = (float(word) for word in words[4:7])
            programs.append(
                StreamProgram(number, streams, words[3] == "non_blocking", least, median, most, [])
            )
        else:
            programs[-1].calls.append((words[0], int(words[1]), [int(word) for word in words[2:]]))
    return programs


class Runner:
    """Runs programs on a device. The streams share their buffers: the contents have no effect on the times."""

    def __init__(self, device: cs.Device) -> None:
        self.device = device
        with device:
            self.kernel = cs.Module(KERNEL).spin
            self.host_in, self.host_out = (cs.pinned_empty(LARGEST, np.uint8) for _ in range(2))
            self.first, self.second = (cs.empty(LARGEST, np.uint8) for _ in range(2))
            # Kept for all programs: destroying streams costs time, perhaps while the next program is timed.
            self.streams = {kind: [cs.Stream(non_blocking=kind) for _ in range(8)] for kind in (False, True)}
            self.events = [cs.Event(timing=False) for _ in range(64)]

    def time(self, program: StreamProgram) -> float:
        """Milliseconds of the host's clock from an idle device to an idle device."""
        with self.device:
            streams = [*self.streams[program.non_blocking][: program.streams], self.device.default_stream]
            self.device.synchronize()
            start = cs.clock()
            for kind, stream, numbers in program.calls:
                self._call(kind, streams[stream], numbers)
            self.device.synchronize()
            return (cs.clock() - start) * 1e3

    def _call(self, kind: str, stream: cs.Stream, numbers: list[int]) -> None:
        n = numbers[0]
        if kind == "h2d":
            self.first[:n].copy_from(self.host_in[:n], stream=stream)
        elif kind == "d2h":
            self.second[:n].copy_to(self.host_out[:n], stream=stream)
        elif kind == "d2d":
            self.second[:n].copy_from(self.first[:n], stream=stream)
        elif kind == "memset":
            self.second[:n].fill(1, stream=stream)
        elif kind == "spin":
            blocks, threads, nanoseconds = numbers
            resident = self.kernel.occupancy(threads) * self.device.properties.multiprocessor_count
            whole = -(-blocks // resident) * nanoseconds * 1e-9
            self.kernel.launch(grid=blocks, block=threads, stream=stream, duration=whole)
        elif kind == "record":
            self.events[n].record(stream)
        else:
            stream.wait(self.events[n])


def main() -> None:
    with cs.add_host_device(sys.argv[1] if len(sys.argv) > 1 else "h200") as device:
        runner = Runner(device)
        for file in (FILE, MORE):
            print(f"{file.name}\nprogram  simulated ms  least  median  most measured  simulated / median")
            errors = []
            for program in read_programs(file):
                simulated = runner.time(program)
                errors.append(abs(simulated / program.median - 1))
                measured = f"{program.least:8.4f} {program.median:8.4f} {program.most:8.4f}"
                print(f"{program.number:7} {simulated:13.4f} {measured} {simulated / program.median:12.4f}")
            median, high, most = np.percentile(errors, [50, 95, 100]) * 100
            print(f"error: median {median:.2f} %, 95th percentile {high:.1f} %, most {most:.1f} %")


if __name__ == "__main__":
    main()
