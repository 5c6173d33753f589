"""Measures how much longer a launch takes within a trace: python benchmarks/tracing.py [--device NAME] [--json].

Batches of launches of a kernel that does nothing, outside of a trace and within one, in turns; the device is waited for
after each batch. The result is the median time of a launch in each, and the median difference of turns: of the call
alone, and of the call with the device's work, which on a simulated device is the rate of the simulation. The first batch
of a trace, in which the trace gets its memory and its events, stands apart. It also says how long the begin and the end
of a trace take, and how many of the launches have a span.
On a GPU, events measure the work, or CUPTI with CUSCOPE_TRACE_GPU=1.
"""

from __future__ import annotations

import argparse
import json
import time
from typing import Any

import numpy as np

import cuscope as cs
from cuscope.bench._calls import SOURCE, on_one_processor

WARM_UP = 20  # batches: the first ones fill caches and wake the processor


def batch(launch: Any, array: cs.DeviceArray, stream: cs.Stream, count: int) -> tuple[float, float]:
    """Microseconds of a launch: of the call, and of the call and the device's work."""
    begin = time.perf_counter()
    for _ in range(count):
        launch(array, array, array, 256)
    called = time.perf_counter()
    stream.synchronize()
    end = time.perf_counter()
    return (called - begin) / count * 1e6, (end - begin) / count * 1e6


def measure(rounds: int, batches: int, count: int) -> dict[str, Any]:
    def median() -> Any:
        return np.median([batch(launch, array, stream, count) for _ in range(batches)], axis=0)

    module, stream = cs.Module(SOURCE), cs.Stream()
    launch, array = module.four[1, 32, stream], cs.zeros(256, np.float32, stream=stream)
    begin = time.perf_counter()
    with cs.trace():
        batch(launch, array, stream, count)
    first = time.perf_counter() - begin
    for _ in range(WARM_UP):
        batch(launch, array, stream, count)
    without, within, firsts, begins, ends, spans = [], [], [], [], [], 0
    for _ in range(rounds):
        without.append(median())
        begin = time.perf_counter()
        with cs.trace() as t:
            begun = time.perf_counter()
            firsts.append(batch(launch, array, stream, count))
            within.append(median())
            end = time.perf_counter()
        begins.append(begun - begin)
        ends.append(time.perf_counter() - end)
        spans += int((t.spans["kind"] == "kernel").sum())
    called_without, worked_without = np.transpose(without)
    called_within, worked_within = np.transpose(within)
    return {
        "device": cs.current_device().model,
        "source": t.source,
        "notes": t.notes,
        "microseconds_without": float(np.median(called_without)),
        "microseconds_within": float(np.median(called_within)),
        "microseconds_more": float(np.median(called_within - called_without)),
        "microseconds_more_in_the_first_batch": float(np.median(np.transpose(firsts)[0] - called_without)),
        "microseconds_with_work_without": float(np.median(worked_without)),
        "microseconds_with_work_within": float(np.median(worked_within)),
        "ratio_with_work": float(np.median(worked_within / worked_without)),
        "milliseconds_of_the_first_trace": first * 1e3,
        "milliseconds_to_begin": float(np.median(begins)) * 1e3,
        "milliseconds_to_end": float(np.median(ends)) * 1e3,
        "launches": rounds * (batches + 1) * count,
        "spans": spans,
    }


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--device", help="the first device, if it is not given")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--batches", type=int, default=12, help="batches of a round, in and out of a trace")
    parser.add_argument("--count", type=int, default=256, help="launches of a batch")
    options = parser.parse_args()
    on_one_processor()
    if options.device:
        cs.set_device(cs.Device(options.device))
    result = measure(options.rounds, options.batches, options.count)
    if options.json:
        print(json.dumps(result, indent=2))
        return
    for name, value in result.items():
        print(f"{name.replace('_', ' '):<34}{f'{value:.3f}' if isinstance(value, float) else value}")


if __name__ == "__main__":
    main()
