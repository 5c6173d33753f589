"""Uses of the package by threads at the same moment: first uses of tables, the same plan, close() beside calls, traces, DLPack.

    python tests/stress/together.py --threads 8 --seconds 5

Each scene is a function that all threads run at once. Without the GIL (free-threaded Python) they are inside the
extension at the same time. The exit status is 1 if a result is wrong or an error is raised that must not be raised.
"""

from __future__ import annotations

import argparse
import contextlib
import inspect
import sys
import threading
import time
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent))

import numpy as np
from table import RACES
from workers import KERNELS, LENGTH

import cuscope as cs

NUMBERS = ("bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64",
           "float16", "float32", "float64", "complex64", "complex128")  # fmt: skip


def allowed(error: BaseException) -> bool:
    """Is it the error of a call on an object that another thread has closed?"""
    text = str(error)
    return isinstance(error, (cs.CudaError, ValueError)) and any(race in text for race in RACES)


def together(threads: int, part: Callable[[int], Any]) -> list[Any]:
    """Runs the function with the number of the thread, in all threads at once; returns the results.

    Each thread has a current device of its own. The function runs with the current device of the caller.
    """
    device = cs.current_device()
    barrier = threading.Barrier(threads)
    results: list[Any] = [None] * threads
    failures: list[str] = []

    def run(index: int) -> None:
        try:
            cs.set_device(device)
            barrier.wait(60)
            results[index] = part(index)
        except BaseException:
            failures.append(traceback.format_exc())

    workers = [threading.Thread(target=run, args=(index,)) for index in range(threads)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    if failures:
        raise AssertionError(f"{len(failures)} of {threads} threads failed, the first with\n{failures[0]}")
    return results


def first_uses(threads: int, until: float) -> None:
    """Every table that is filled at its first use; this scene comes first."""
    del until
    name = cs.current_device().name

    def part(index: int) -> tuple[Any, ...]:
        device = cs.Device(name) if index % 2 else cs.current_device()
        assert device == cs.current_device()
        assert device in cs.devices()
        stream, event = cs.Stream(), cs.Event(timing=False)
        x = cs.zeros(6)
        assert x[::2].shape == (3,)
        assert cs.empty(4, "int16").dtype == np.int16
        assert cs.to_device(np.ones(1 << 17, np.float32)).to_host(out=None, stream=stream)[-1] == 1
        assert cs.full(3, np.float32(2)).to_host().tolist() == [2, 2, 2]
        with contextlib.suppress(TypeError):
            x.__eq__(np.float32(1))
        for dtype in NUMBERS:
            y = cs.to_device(np.ones(5, dtype))
            assert int(cs.sum(y, axis=0, keepdims=False).to_host().real) == 5, dtype
            assert cs.from_dlpack(y).dtype == np.dtype(dtype)
        for left in NUMBERS:
            a = np.ones((2, 2), left)
            for right in NUMBERS[index % 3 :: 3]:
                product = cs.matmul(a, np.ones((2, 2), right), stream=stream)
                assert product.dtype == np.matmul(a, np.ones((2, 2), right)).dtype, (left, right)
        out = cs.empty((), np.float64)
        cs.sum(cs.zeros(7), out=out)
        assert "stream" in inspect.signature(cs.sum).parameters
        stream.record(event).synchronize()
        return device.default_stream, cs.current_stream(), device.per_thread_stream

    found = together(threads, part)
    assert all(streams[:2] == found[0][:2] for streams in found), found


def same_plan(threads: int, until: float) -> None:
    """All threads plan the same reduction and the same product at once, again and again."""
    extent = 1
    while time.monotonic() < until:
        extent += 1
        a = np.arange(extent * 3, dtype=np.float32).reshape(extent, 3)
        x = cs.to_device(a)

        def part(index: int, a: np.ndarray = a, x: cs.DeviceArray = x) -> None:
            assert cs.sum(x, axis=index % 2).to_host().tolist() == a.sum(axis=index % 2).tolist()
            assert cs.matmul(x, x.T).to_host().tolist() == (a @ a.T).tolist()

        together(threads, part)


def close_beside_calls(threads: int, until: float) -> None:
    """One thread closes objects that the others use."""
    mod = cs.Module(KERNELS)
    kept = cs.zeros(LENGTH, np.int32)
    graph = cs.Graph()
    graph.add_memset(kept, 1)
    shared: dict[str, Any] = {}

    def renew() -> None:
        shared.update(
            array=cs.zeros(LENGTH, np.int32),
            stream=cs.Stream(),
            event=cs.Event(),
            exe=graph.instantiate(),
        )

    renew()
    ended = threading.Event()

    uses: list[Callable[[Any, Any, Any, Any], Any]] = [
        lambda x, s, e, g: x[::2].to_host(),
        lambda x, s, e, g: (x.pointer, x.stream, x.closed, repr(x), x.T),
        lambda x, s, e, g: mod.add[1, LENGTH, s](x, 1),
        lambda x, s, e, g: mod.add[1, LENGTH](x, 1),
        lambda x, s, e, g: cs.sum(x, stream=s),
        lambda x, s, e, g: (x.fill(3, stream=s), x.copy_from(kept), kept.copy_from(x, stream=s)),
        lambda x, s, e, g: cs.copy_batch([(kept, x)]),
        lambda x, s, e, g: cs.from_dlpack(x).to_host(),
        lambda x, s, e, g: (e.record(s), e.query(), e.synchronize(), s.wait(e), s.record(e)),
        lambda x, s, e, g: (s.query(), s.priority, s.handle, repr(s), s.host_function(int), s.synchronize()),
        lambda x, s, e, g: (g.launch(s), g.handle, repr(g)),
    ]

    def part(index: int) -> None:
        turn = index
        while not ended.is_set():
            if index == 0:
                for name in ("array", "event", "exe", "stream"):
                    shared[name].close()
                renew()
                if time.monotonic() > until:
                    ended.set()
                continue
            turn += 1
            try:
                uses[turn % len(uses)](*[shared[name] for name in ("array", "stream", "event", "exe")])
                with shared["stream"]:
                    cs.zeros(2)
            except (cs.CudaError, ValueError) as error:
                if not allowed(error):
                    ended.set()
                    raise
            except BaseException:
                ended.set()
                raise

    together(threads, part)
    cs.synchronize()


def traces_beside_launches(threads: int, until: float) -> None:
    """Two threads trace, with ranges, while the others launch, copy and wait."""
    mod = cs.Module(KERNELS)
    name = cs.range("shared")

    def part(index: int) -> None:
        x, stream, other = cs.zeros(LENGTH, np.int32), cs.Stream(), cs.Stream()
        while time.monotonic() < until:
            if index < 2:
                with cs.trace(wait=False, limit=1 << 20) as t, name:
                    mod.add[1, LENGTH, stream](x, 1)
                assert "shared" in t.spans["name"].tolist(), str(t)
            else:
                with name:
                    mod.add[1, LENGTH, stream](x, 1)
                other.wait(stream)
                x.copy().to_host(stream=other)
                stream.wait(other)

    together(threads, part)


def exchanges(threads: int, until: float) -> None:
    """Arrays go from thread to thread by DLPack. Of the threads that take the same capsule, one gets the array."""
    while time.monotonic() < until:
        x = cs.to_device(np.arange(5))
        capsule = x.__dlpack__()
        managed = cs.empty_managed(3, np.int32)
        managed.fill(7)

        def part(
            index: int, x: cs.DeviceArray = x, capsule: Any = capsule, managed: cs.DeviceArray = managed
        ) -> bool:
            assert cs.from_dlpack(x).to_host().tolist() == [0, 1, 2, 3, 4]
            assert np.asarray(managed).tolist() == [7, 7, 7]
            try:
                taken = cs.from_dlpack(capsule)
            except ValueError as error:
                if "was consumed already" not in str(error):
                    raise
                return False
            return taken.to_host().tolist() == [0, 1, 2, 3, 4]

        assert together(threads, part).count(True) == 1


SCENES = (first_uses, same_plan, close_beside_calls, traces_beside_launches, exchanges)


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        prog="together", description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--threads", type=int, default=8)
    parser.add_argument("--seconds", type=float, default=5.0, help="for each scene")
    parser.add_argument("--device", default="host:0")
    parser.add_argument("--scenes", type=lambda text: text.split(","), default=[s.__name__ for s in SCENES])
    options = parser.parse_args(arguments)
    cs.set_device(cs.Device(options.device))
    for scene in SCENES:
        if scene.__name__ in options.scenes:
            scene(options.threads, time.monotonic() + options.seconds)
            print(f"{scene.__name__}: well", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
