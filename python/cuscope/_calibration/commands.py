"""Kernels, graphs, host functions, memory operations, and the way between the host and the device."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .._core import Event, MemoryBarrier, Stream, WaitValue, WriteValue, clock, empty_plain, host_work
from .._errors import CudaError
from .bench import Bench

__all__ = ["measure"]

MANY = 33
THREADS = 256
LEAST, MOST = 64 << 20, 512 << 20  # bytes of the largest kernel
COPIED = 4096  # bytes of a copy in a graph
SPIN = 200_000  # nanoseconds of the kernel that the host waits for
FARTHEST = 65_536  # nanoseconds: a command that the device does not see by then takes longer than any
USUAL_SUBMIT = 400  # nanoseconds, where it is too short to be seen


def measure(bench: Bench, known: dict[str, Any]) -> dict[str, Any]:
    fields = _kernels(bench)
    fields |= _graphs(bench, fields["minimum_kernel_ns"])
    fields |= _copies_in_graphs(bench, known)
    fields["host_function_ns"] = round(_each(bench, lambda stream: stream.host_function(lambda: None)))
    fields |= _memory_operations(bench)
    fields |= _host_and_device(bench, known)
    return fields


def _each(bench: Bench, enqueue: Callable[[Stream], object], count: int = MANY) -> float:
    """The nanoseconds of one of many commands of one stream."""

    def many(stream: Stream) -> None:
        for _ in range(count):
            enqueue(stream)

    return max(0.0, (bench.one(many) - bench.one(enqueue)) / (count - 1))


def _kernels(bench: Bench) -> dict[str, Any]:
    shortest = _each(bench, lambda stream: bench.nothing.launch(grid=1, block=1, stream=stream))
    largest = min(
        max(LEAST, 4 * bench.device.properties.l2_cache_size), MOST, bench.device.memory_info().free // 4
    )
    grid = bench.device.properties.multiprocessor_count * max(1, bench.stream_copy.occupancy(THREADS))
    sizes = [largest // 4 // 4096 * 4096, largest // 2 // 4096 * 4096]  # bytes of each of two arrays
    times = []
    for size in sizes:
        source, target = empty_plain(size // 4, np.float32), empty_plain(size // 4, np.float32)
        source.fill(1)
        target.fill(0)

        def copy(stream: Stream, source: Any = source, target: Any = target, count: int = size // 16) -> None:
            bench.stream_copy.launch(source, target, count, grid=grid, block=THREADS, stream=stream)

        times.append(bench.one(copy))
    per_byte = max((times[1] - times[0]) / (2 * (sizes[1] - sizes[0])), 1e-6)
    start_up = min(max(0.0, times[1] - 2 * sizes[1] * per_byte), shortest)
    return {
        "kernel_rate": 1 / per_byte,
        "kernel_latency_ns": round(start_up),
        "minimum_kernel_ns": round(shortest),
    }


def _in_graphs(bench: Bench, enqueue: Callable[[Stream], object]) -> tuple[float, float]:
    """The nanoseconds of a graph with one such command, and of each more that follows it."""
    times = []
    for count in (1, MANY):
        stream = bench.streams(1)[0]
        with stream.capture() as graph:
            for _ in range(count):
                enqueue(stream)
        exe = graph.instantiate()
        exe.launch(bench.gate)  # the first launch brings it to the device
        times.append(bench.one(exe.launch))
    return times[0], max(0.0, (times[1] - times[0]) / (MANY - 1))


def _graphs(bench: Bench, shortest: int) -> dict[str, Any]:
    one, more = _in_graphs(bench, lambda stream: bench.nothing.launch(grid=1, block=1, stream=stream))
    node = min(more, shortest)
    return {"graph_kernel_ns": round(node), "graph_start_ns": round(max(0.0, one - node))}


def _copies_in_graphs(bench: Bench, known: dict[str, Any]) -> dict[str, Any]:
    """A copy takes latency + bytes / rate + finish, and only the latency is shorter in a graph."""
    source, target = (empty_plain(COPIED, np.uint8) for _ in range(2))
    source.fill(1)
    _, node = _in_graphs(bench, lambda stream: target.copy_from(source, stream=stream))
    rate = known["cache_rate"] / 2 if known["cached_bytes"] else known["device_to_device_rate"]
    latency = node - COPIED / rate - known["device_copy_finish_ns"]
    return {"graph_copy_latency_ns": round(min(max(0.0, latency), known["device_copy_latency_ns"]))}


def _memory_operations(bench: Bench) -> dict[str, Any]:
    """Nothing where the device has no such operations."""
    array = empty_plain(1, np.uint32)
    array.fill(0)
    write = WriteValue(array, 1)

    def batch(operation: WriteValue | WaitValue | MemoryBarrier, count: int) -> float:
        return bench.one(lambda stream: stream.batch_mem_op([write, *[operation] * count]))

    try:
        alone = batch(write, 0)
        of: dict[str, WriteValue | WaitValue | MemoryBarrier] = {
            "write_value_ns": write,
            "wait_value_ns": WaitValue(array, 1),
            "memory_barrier_ns": MemoryBarrier(),
        }
        fields = {name: round(max(0.0, (batch(one, MANY) - alone) / MANY)) for name, one in of.items()}
    except CudaError:
        return {}
    return {**fields, "memory_operations_ns": max(0, round(alone) - fields["write_value_ns"])}


def _host_and_device(bench: Bench, known: dict[str, Any]) -> dict[str, Any]:
    """When the device sees a command, and when the host sees its end.

    The sum of both shows in a wait. A query shows the first one, if it is not shorter than the query itself.
    """
    start, stop = Event(), Event()

    def wait_for_kernel() -> None:
        start.record(bench.gate)
        bench.spin(bench.gate, SPIN)
        stop.record(bench.gate)
        stop.synchronize()

    both = bench.host_time(wait_for_kernel) - known["call_event_record_ns"]
    both = max(0.0, both - (stop - start) * 1e6)
    submit = _submit_latency(bench, known["call_event_query_ns"])
    if submit is None:
        submit = min(USUAL_SUBMIT, both)
    return {"submit_latency_ns": round(min(submit, both)), "wake_up_ns": round(max(0.0, both - submit))}


def _submit_latency(bench: Bench, query_cost: float) -> float | None:
    """None: it is shorter than the query of an event."""

    def seen_after(nanoseconds: float) -> bool:
        seen = []
        for _ in range(bench.rounds):
            bench.device.synchronize()
            event = Event().record(bench.gate)
            if nanoseconds > 0:
                host_work(nanoseconds * 1e-9)
            seen.append(event.query())
        return sum(seen) * 2 > len(seen)

    if seen_after(0):
        return None
    begin = clock()
    host_work(0)
    beside = (clock() - begin) * 1e9 - bench.clock_cost
    low, high = 0.0, float(FARTHEST)
    while high - low > (0.5 if bench.device.simulated else 50):
        middle = (low + high) / 2
        low, high = (low, middle) if seen_after(middle) else (middle, high)
    return high + beside + query_cost
