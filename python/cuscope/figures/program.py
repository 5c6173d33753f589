"""The program of a figure: a simulated device of its own, and the trace of the work that a figure gives it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from .._core import DeviceArray, Kernel, Module, Stream, empty_plain, pinned_empty
from .._models import Model, add_host_device
from .._models import model as model_of
from ..tracing import Trace, trace
from ..tracing.spans import RELATIONS

__all__ = ["COPY", "THREADS", "Program", "record"]

COPY = (
    200_000  # how long a copy to the device takes, in nanoseconds: long compared with the calls of the host
)
THREADS = 256  # of a block
KERNEL = "__global__ void kernel() {}"


T = TypeVar("T")


class Program:
    """What the programs of the figures have in common: arrays that take `COPY` to copy, kernels, streams."""

    def __init__(self, model: Model) -> None:
        self.model = model
        self.bytes = round(model.host_to_device_rate * COPY) // 4096 * 4096
        self.kernel: Kernel = Module(KERNEL).kernel  # it does nothing; its launch says how long it takes
        self._places: int = self.kernel.occupancy(THREADS) * model.multiprocessors
        self._kept: list[Any] = []  # to free memory would be work of its own

    def streams(self, count: int, **options: Any) -> list[Stream]:
        return [Stream(**options) for _ in range(count)]

    def on_host(self, *, pageable: bool = False) -> NDArray[np.uint8]:
        return self.keep(np.empty(self.bytes, np.uint8) if pageable else pinned_empty(self.bytes, np.uint8))

    def on_device(self) -> DeviceArray:
        return self.keep(empty_plain(self.bytes, np.uint8))

    def keep(self, thing: T) -> T:
        self._kept.append(thing)
        return thing

    def launch(self, stream: Stream | None = None, *, part: float = 0.25, time: float = COPY) -> None:
        """Launch a kernel that needs a part of the device, and takes so many nanoseconds."""
        self.kernel.launch(grid=self.blocks(part), block=THREADS, stream=stream, duration=time * 1e-9)

    def blocks(self, part: float) -> int:
        """The blocks that need a part of the device."""
        return max(round(self._places * part), 1)


def record(model: Model | str, prepare: Callable[[Program], Callable[[], Any]]) -> Trace:
    """The trace of a program on a fresh device of a model. ``prepare`` returns the part of the program to record."""
    chosen = model_of(model)
    with add_host_device(chosen) as device:
        run = prepare(Program(chosen))
        device.synchronize()
        with trace(wait=False) as recorded:  # the device alone is waited for
            run()
            device.synchronize()
    return _alone(recorded, device.name, chosen)


def _alone(recorded: Trace, device: str, model: Model) -> Trace:
    """The spans of one device, and of the host's thread that gave it work.

    The names of device and streams do not depend on the devices and streams that the process has made before.
    """
    spans = recorded.spans
    work = spans["device"] == device
    threads = np.unique(spans["thread"][spans["call"][work & (spans["call"] >= 0)]])
    chosen = np.flatnonzero(work | ((spans["kind"] == "call") & np.isin(spans["thread"], threads)))
    place = np.full(len(spans) + 1, -1, np.int64)  # the last one: of no span
    place[chosen] = np.arange(len(chosen))
    spans = spans[chosen]
    for relation in RELATIONS:
        spans[relation] = place[spans[relation]]
    spans["device"] = np.where(spans["device"] == device, model.name, "")
    spans["line"] = ""
    spans["thread"][spans["thread"] >= 0] = 0

    streams = {}
    default = [n for n, about in recorded.streams.items() if about["label"] == "legacy default"]
    ids = np.unique(spans["stream"][spans["stream"] >= 0]).tolist()
    numbers = {id_: 0 for id_ in default if id_ in ids}
    numbers |= {id_: i for i, id_ in enumerate((i for i in ids if i not in numbers), 1)}
    for id_, number in numbers.items():
        label = f"stream {number}" if number else "legacy default"
        streams[number] = {**recorded.streams[id_], "device": model.name, "label": label}
    spans["stream"] = [numbers.get(id_, -1) for id_ in spans["stream"].tolist()]
    about = {
        "simulated": True,
        "multiprocessors": model.multiprocessors,
        "copy_engines": model.copy_engines,
    }
    return Trace(
        spans,
        duration=recorded.duration,
        dropped=recorded.dropped,
        devices={model.name: about},
        streams=streams,
        threads={0: "host"},
    )
