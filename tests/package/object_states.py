"""The table of objects and operations of test_object_states.py, also for the processes that it starts."""

from __future__ import annotations

import contextlib
import copy
import gc
import inspect
import operator
import os
import pickle
import sys
import weakref
from collections.abc import Callable, Iterator
from html.parser import HTMLParser
from typing import Any
from unittest.mock import patch

import numpy as np

import cuscope as cs
from cuscope import _core

KERNELS = """
__global__ void add(int* x, int v) { x[threadIdx.x] += v; }
__global__ void wild(int* p) { p[1LL << 40] = 1; }
"""
# Private classes: only their safety is tested.
PRIVATE = {"Contract", "FaultDevice", "Recorder", "TracedContract", "TracedPart"}
# Objects that are values: they are copied and pickled. The last four are NumPy's.
VALUES = {
    "trace", "range", "check report", "finding", "profiled line", "profiled access", "profile finding", "profile picture",
    "device", "model", "barrier", "matmul", "sum", "reduce", "variant", "info", "error", "out of memory error",
    "capture error", "compile error", "pending warning", "pinned array", "registered array",
}  # fmt: skip
# Classes whose objects never change: a copy is the object itself.
CONSTANT = {
    cs.Device, cs.Model, cs.DeviceProperties, cs.MemoryInfo, cs.PoolStatistics, cs.PointerAttributes, cs.Parameter,
    cs.FunctionAttributes, cs.GlobalCounts, cs.Counts, cs.KernelTime, cs.Pending, cs.PendingWork, cs.PendingReason,
    cs.Profile,
}  # fmt: skip


def filled(array: cs.Array) -> cs.Array:
    array.fill(1)
    return array


class World:
    """The device, module and memory that the objects are made from."""

    def __init__(self) -> None:
        self.device = cs.current_device()
        self.module = cs.Module(KERNELS)
        self.x = cs.zeros(32, np.int32)
        self.plain = cs.empty_plain(1, np.uint32)
        self.cuda_array = cs.CudaArray((8, 8), np.float32, surface=True)

    def graph(self) -> cs.Graph:
        graph = cs.Graph()
        graph.add_memset(self.x, 0)
        return graph

    def destroyed_node(self) -> cs.GraphNode:
        node = self.graph().nodes[0]
        node.destroy()
        return node

    def finished_capture(self) -> cs.Capture:
        stream = cs.Stream()
        capture = stream.capture()
        with capture:
            self.module.add[1, 32, stream](self.x, 1)
        return capture

    def waiting(self) -> Any:
        """The report on a stream that waits for a number. The number is written before the method returns."""
        stream, flag = cs.Stream(non_blocking=True), cs.pinned_empty(1, np.uint32)
        flag[0] = 0
        stream.wait_value(flag, 1)
        cs.host_work(1e-3)
        work = cs.pending(self.device)[0]
        flag[0] = 1
        stream.synchronize()
        return work

    def kernel_time(self) -> cs.KernelTime:
        with patch.dict(os.environ, CUSCOPE_KERNEL_TIME="counts"):
            kernel = cs.Module("__global__ void store(int* x) { *x = 1; }").store
            return kernel.explain_time(cs.zeros(1, np.int32), grid=1, block=32)

    def profile(self) -> cs.Profile:
        return self.module.add.profile(self.x, 1, grid=1, block=32)

    def report(self) -> cs.CheckReport:
        with cs.Device("host:0"), cs.check() as report:  # kernels of GPUs are not checked
            cs.Module(KERNELS).add[1, 64](cs.zeros(32, np.int32), 1)
        return report

    def counts(self) -> cs.Counts:
        return self.module.add.count(self.x, 1, grid=1, block=32)


OBJECTS: dict[str, Callable[[World], Any]] = {
    "device": lambda w: cs.Device(w.device.name),
    "properties": lambda w: w.device.properties,
    "memory info": lambda w: w.device.memory_info(),
    "stream": lambda w: cs.Stream(priority=-1, non_blocking=True),
    "default stream": lambda w: w.device.default_stream,
    "per-thread stream": lambda w: w.device.per_thread_stream,
    "stream of another": lambda w: cs.as_stream(cs.Stream()),
    "event": lambda w: cs.Event(),
    "recorded event": lambda w: cs.Stream().record(),
    "array": lambda w: cs.full((3, 4), 1, np.int16),
    "array without axes": lambda w: cs.zeros((), np.float32),
    "empty array": lambda w: cs.empty(0),
    "view": lambda w: cs.zeros((4, 4))[1:, ::2].T,
    "array of a pool": lambda w: filled(cs.MemoryPool().empty(10)),
    "plain array": lambda w: filled(cs.empty_plain(3)),
    "pitched array": lambda w: filled(cs.empty_pitched((3, 5))),
    "managed array": lambda w: cs.empty_managed(3),
    "array of a DLPack capsule": lambda w: cs.from_dlpack(cs.zeros(3)),
    "pinned array": lambda w: cs.pinned_empty(3),
    "device view": lambda w: cs.device_view(cs.pinned_empty(3)),
    "registration": lambda w: cs.register(np.zeros(1000)),
    "registered array": lambda w: cs.register(np.zeros(1000)).array,
    "pool": lambda w: cs.MemoryPool(limit=64 << 20),
    "default pool": lambda w: w.device.memory_pool,
    "pool statistics": lambda w: cs.MemoryPool().statistics,
    "pointer attributes": lambda w: cs.pointer_attributes(w.x),
    "CUDA array": lambda w: cs.CudaArray((8, 8), np.float32),
    "mipmapped array": lambda w: cs.MipmappedArray((8, 8), np.float32),
    "texture": lambda w: cs.Texture(w.cuda_array),
    "surface": lambda w: cs.Surface(w.cuda_array),
    "tensor map": lambda w: cs.TensorMap(cs.zeros((4, 4)), box=(4, 4)),
    "module": lambda w: cs.Module(KERNELS),
    "kernel": lambda w: w.module.add,
    "configured kernel": lambda w: w.module.add[1, 32],
    "parameter": lambda w: w.module.add.parameters[0],
    "function attributes": lambda w: w.module.add.attributes,
    "window": lambda w: cs.AccessPolicyWindow(w.x),
    "counts": lambda w: w.counts(),
    "kernel time": lambda w: w.kernel_time(),
    "profile": lambda w: w.profile(),
    "profiled line": lambda w: w.profile().lines[0],
    "profiled access": lambda w: next(line for line in w.profile().lines if line.accesses).accesses[0],
    "profile finding": lambda w: w.profile().findings[0],
    "profile picture": lambda w: w.profile().roofline(),
    "check report": lambda w: w.report(),
    "finding": lambda w: w.report().findings[0],
    "global counts": lambda w: w.counts().by_argument["x"],
    "pending": lambda w: cs.pending(w.device),
    "pending work": lambda w: w.waiting(),
    "pending reason": lambda w: w.waiting().reasons[0],
    "write": lambda w: cs.WriteValue(w.plain, 1),
    "wait": lambda w: cs.WaitValue(w.plain, 1),
    "barrier": lambda w: cs.MemoryBarrier("device"),
    "model": lambda w: cs.model("h200", copy_engines=1),
    "semaphore": lambda w: cs.ExternalSemaphore(os.eventfd(0)),
    "graph": lambda w: w.graph(),
    "captured graph": lambda w: w.finished_capture() and w.graph(),
    "node": lambda w: w.graph().nodes[0],
    "destroyed node": lambda w: w.destroyed_node(),
    "executable": lambda w: w.graph().instantiate(),
    "update": lambda w: w.graph().instantiate().update(cs.Graph()),
    "capture": lambda w: cs.Stream().capture(),
    "finished capture": lambda w: w.finished_capture(),
    "matmul": lambda w: cs.matmul,
    "sum": lambda w: cs.sum,
    "reduce": lambda w: cs.reduce,
    "variant": lambda w: cs.matmul.variants()[0],
    "trace": lambda w: cs.trace(),
    "range": lambda w: cs.range("step"),
    "info": lambda w: cs.info(),
    "error": lambda w: cs.CudaError("broken", 1, "cudaErrorInvalidValue", "cudaMalloc"),
    "out of memory error": lambda w: cs.OutOfMemoryError("full", 2, "cudaErrorMemoryAllocation", "cudaMalloc"),
    "capture error": lambda w: cs.CaptureError("not now", 900, "cudaErrorStreamCaptureUnsupported"),
    "pending warning": lambda w: cs.PendingWarning("nothing has run"),
    "compile error": lambda w: cs.CompileError("no source"),
}  # fmt: skip
# On a GPU there are no counters of threads, no semaphores without another interface, and less is known of waiting work.
SIMULATED_ONLY = {
    "counts", "kernel time", "global counts", "semaphore", "pending work", "pending reason",
    "profile", "profiled line", "profiled access", "profile finding", "profile picture",
}  # fmt: skip


EXTENSION_TYPES = {value for value in vars(_core).values() if isinstance(value, type)}


def public_types() -> set[type]:
    """The classes whose objects a program can get."""
    found = EXTENSION_TYPES | {value for name in cs.__all__ if isinstance(value := getattr(cs, name), type)}
    return {type_ for type_ in found if type_.__name__ not in PRIVATE}


def close(thing: Any) -> None:
    if isinstance(getattr(type(thing), "close", None), object) and callable(getattr(thing, "close", None)):
        with contextlib.suppress(ValueError, cs.CudaError):  # the default stream and the default pool
            thing.close()


# ---- operations: each raises AssertionError if the object behaves wrongly


def refused_clearly(error: Exception, thing: Any) -> None:
    assert type(error) is TypeError, repr(error)
    text = str(error)
    assert text.startswith(type(thing).__name__ + " cannot be "), text
    assert "; " in text, text  # the text after it tells the solution


def pickled(name: str, thing: Any) -> None:
    for protocol in range(pickle.HIGHEST_PROTOCOL + 1):
        try:
            again = pickle.loads(pickle.dumps(thing, protocol))
        except Exception as error:
            assert name not in VALUES, repr(error)
            refused_clearly(error, thing)
        else:
            assert name in VALUES
            assert type(again) is type(thing)
            same_text(again, thing)


def same_text(again: Any, thing: Any) -> None:
    assert type(thing).__repr__ is object.__repr__ or repr(again) == repr(thing)


def copied(name: str, thing: Any) -> None:
    for make in (copy.copy, copy.deepcopy, lambda x: copy.deepcopy([x, x])[0]):
        try:
            again = make(thing)
        except Exception as error:
            assert name not in VALUES, repr(error)
            assert type(thing) not in CONSTANT, repr(error)
            refused_clearly(error, thing)
        else:
            assert name in VALUES or type(thing) in CONSTANT
            assert type(again) is type(thing)
            if type(thing) in CONSTANT:
                assert again == thing
            same_text(again, thing)


def referred_to_weakly(name: str, thing: Any) -> None:
    try:
        reference = weakref.ref(thing)
    except TypeError as error:
        assert type(thing) not in EXTENSION_TYPES, error  # tuples have none
    else:
        assert reference() is thing


def shown(name: str, thing: Any) -> None:
    for text in (repr(thing), str(thing), f"{thing}", f"{thing!r}"):
        assert isinstance(text, str)
    assert " object at 0x" not in repr(thing) or type(thing) not in EXTENSION_TYPES, repr(thing)


class _Markup(HTMLParser):
    """Notes elements that a page would run or load, and text outside of elements that close."""

    def __init__(self, markup: str) -> None:
        super().__init__()
        self.wrong: list[str] = []
        self.open: list[str] = []
        self.feed(markup)
        self.close()

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        if tag in ("script", "iframe", "object", "embed", "link", "img", "hostile"):
            self.wrong.append(tag)
        self.wrong += [name for name, _ in attributes if name.startswith("on") or name in ("href", "src")]
        if tag not in ("br", "rect", "path"):
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if tag in ("rect", "path"):
            return
        if not self.open or self.open.pop() != tag:
            self.wrong.append(f"/{tag}")


def shown_in_a_notebook(name: str, thing: Any) -> None:
    """HTML without scripts, or None, or there is no such method: the notebook then shows the repr."""
    html = getattr(type(thing), "_repr_html_", None)
    if html is None or isinstance(thing, np.ndarray):
        return
    markup = html(thing)
    if markup is None:
        return
    found = _Markup(markup)
    assert found.wrong == [], found.wrong
    assert found.open == [], found.open
    assert len(markup) < 100_000


def hashed(name: str, thing: Any) -> None:
    if type(thing).__hash__ is None:
        return
    assert hash(thing) == hash(thing)
    assert len({thing, thing}) == 1
    assert {thing: 1}[thing] == 1


def refuses_to_be_compared(thing: cs.DeviceArray) -> None:
    for compare in (operator.eq, operator.ne):
        try:
            compare(thing, thing)
        except TypeError as error:
            assert "x is y" in str(error)
        else:
            raise AssertionError("an array was compared")
    assert (thing == None, thing != None) == (False, True)  # noqa: E711
    assert [None, thing].index(thing) == 1


def compared(name: str, thing: Any) -> None:
    if isinstance(thing, np.ndarray):
        return
    if isinstance(thing, cs.DeviceArray):
        refuses_to_be_compared(thing)
        return
    assert (thing == thing, thing != thing) == (True, False)
    for other in (None, 1, "text", object(), cs.Device):
        assert (thing == other, thing != other) == (False, True)
        assert (other == thing, other != thing) == (False, True)
    assert [1, thing].index(thing) == 1


def looked_at(name: str, thing: Any) -> None:
    assert len(dir(thing)) > 10
    assert thing.__sizeof__() > 0
    assert thing.__class__ is type(thing)
    for attribute in dir(type(thing)):
        kind = inspect.getattr_static(type(thing), attribute)
        if attribute.startswith("__") or not (isinstance(kind, property) or inspect.isgetsetdescriptor(kind)):
            continue
        try:
            getattr(thing, attribute)
        except (AttributeError, TypeError, ValueError, cs.CudaError) as error:
            assert str(error), attribute


def asked_for_its_truth(name: str, thing: Any) -> None:
    for ask in (bool, len, iter, lambda x: 1 in x, lambda x: x[0]):
        try:
            ask(thing)
        except (TypeError, ValueError, LookupError, AttributeError, cs.CudaError) as error:
            assert str(error)


def collected(name: str, thing: Any) -> None:
    cycle: list[Any] = [thing]
    cycle.append(cycle)
    del cycle
    gc.collect()


OPERATIONS = {
    "pickle": pickled,
    "copy": copied,
    "weakref": referred_to_weakly,
    "repr": shown,
    "_repr_html_": shown_in_a_notebook,
    "hash": hashed,
    "==": compared,
    "attributes": looked_at,
    "bool": asked_for_its_truth,
    "gc": collected,
}


# Operations for which Python or NumPy imports modules.
IMPORTING = {"pickle", "copy", "attributes"}


def objects(simulated: bool, world: World | None = None) -> Iterator[tuple[str, Any]]:
    """All objects: each in a new state, and closed if it can be closed."""
    world = world or World()
    for name, make in OBJECTS.items():
        if name in SIMULATED_ONLY and not simulated:
            continue
        yield name, make(world)
        thing = make(world)
        close(thing)
        yield name, thing


def failures(things: list[tuple[str, Any]]) -> Iterator[str]:
    """One line for each failure. The process prints its progress, so that a crash shows the operation."""
    for name, thing in things:
        for operation, run in OPERATIONS.items():
            try:
                run(name, thing)
            except Exception as error:
                if sys.meta_path is None and (operation in IMPORTING or isinstance(thing, np.ndarray)):
                    continue  # nothing can be imported any more, so an exception is a good answer
                yield f"{name}: {operation}: {type(error).__name__}: {error}"


def lose(device: cs.Device, module: cs.Module) -> None:
    """Loses the device by a kernel's fault: every later call on it fails."""
    module.wild[1, 1](cs.zeros(1, np.int32))
    with contextlib.suppress(cs.CudaError):
        device.synchronize()
