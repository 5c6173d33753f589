"""Times on a device and on its host, for `calibrate`.

A device's time is taken between events. Nothing starts before all commands of a measurement are in their streams: a
kernel holds them back meanwhile. So the costs of the host's calls are no part of it.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable, Sequence

from .._core import Device, Event, Module, Stream, clock

__all__ = ["Bench"]

SOURCE = """
extern "C" __global__ void nothing() {}
extern "C" __global__ void spin(long long cycles) {
    const long long begin = clock64();
    while (clock64() - begin < cycles) {}
}
extern "C" __global__ void stream_copy(const float4* in, float4* out, long long count) {
    const long long step = (long long)gridDim.x * blockDim.x;
    for (long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x; i < count; i += step) out[i] = in[i];
}
"""
SHORTEST_HOLD, LONGEST_HOLD = 100_000, 400_000_000  # nanoseconds
ROUNDS = 9  # on a GPU; a model has no noise

Enqueue = Callable[[Sequence[Stream]], object]


class Bench:
    """Measures on one device, which is the current one."""

    def __init__(self, device: Device) -> None:
        self.device = device
        self.rounds = 1 if device.simulated else ROUNDS
        module = Module(SOURCE)
        self.nothing, self.spin_kernel, self.stream_copy = module.nothing, module.spin, module.stream_copy
        self.gate = Stream(non_blocking=True)
        self._streams: list[Stream] = []
        self._hold = SHORTEST_HOLD
        self.clock_cost = 0.0  # nanoseconds
        self.clock_cost = self.host_time(lambda: None)

    def close(self) -> None:
        self.device.synchronize()
        for stream in [self.gate, *self._streams]:
            stream.close()

    def streams(self, count: int) -> list[Stream]:
        """So many streams that were made one after the other."""
        while len(self._streams) < count:
            self._streams.append(Stream(non_blocking=True))
        return self._streams[:count]

    def spin(self, stream: Stream, nanoseconds: float) -> None:
        """Launch a kernel of one block that takes so long."""
        # A simulated device is told the time, and its kernel need not look at a clock.
        cycles = 0 if self.device.simulated else round(nanoseconds * self.device.properties.clock_rate * 1e-6)
        self.spin_kernel.launch(cycles, grid=1, block=1, stream=stream, duration=nanoseconds * 1e-9)

    def host_time(self, act: Callable[[], object]) -> float:
        """The nanoseconds of the host for `act`."""
        times = []
        for _ in range(self.rounds):
            self.device.synchronize()
            begin = clock()
            act()
            times.append((clock() - begin) * 1e9 - self.clock_cost)
        return statistics.median(times)

    def one(self, enqueue: Callable[[Stream], object]) -> float:
        """The nanoseconds of the device for commands of one stream."""
        return self._median(lambda streams: enqueue(streams[0]), [self.gate])[0]

    def each(self, enqueue: Enqueue, streams: Sequence[Stream]) -> list[float]:
        """The nanoseconds from one moment, before which none of the streams works, to the end of each stream's work."""
        return self._median(enqueue, streams)

    def _median(self, enqueue: Enqueue, streams: Sequence[Stream]) -> list[float]:
        rounds = [self._times(enqueue, streams) for _ in range(self.rounds)]
        return [statistics.median(times) for times in zip(*rounds, strict=True)]

    def _times(self, enqueue: Enqueue, streams: Sequence[Stream]) -> list[float]:
        start, stops = Event(), [Event() for _ in streams]
        while True:
            self.device.synchronize()
            self.spin(self.gate, self._hold)
            start.record(self.gate)
            for stream in streams:
                if stream is not self.gate:
                    stream.wait(start)
            enqueue(streams)
            for stop, stream in zip(stops, streams, strict=True):
                stop.record(stream)
            held = not start.query()
            for stop in stops:
                stop.synchronize()
            if held or self._hold >= LONGEST_HOLD:
                return [(stop - start) * 1e6 for stop in stops]
            self._hold *= 4
