"""Operations of the public surface on objects that other threads may close, replace or capture at any time.

Each is a function of a Worker, with the names of what it uses. test_stress.py compares these names with the surface, so
that a new operation needs an entry here, or a reason in EXEMPT.
"""

from __future__ import annotations

import copy
import fnmatch
import gc
import os
import pickle
import random
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

import cuscope as cs

KERNELS = """
__global__ void add(int* x, int v) { x[threadIdx.x] += v; }
__global__ void dynamic(int* x) { extern __shared__ int s[]; s[threadIdx.x] = x[threadIdx.x]; __syncthreads();
                                  x[threadIdx.x] = s[31 - threadIdx.x]; }
__global__ void choose(cudaGraphConditionalHandle h) { cudaGraphSetConditional(h, 0); }
__device__ int variable[32];
"""
LENGTH = 32


@dataclass
class Objects:
    """What threads work on: of one thread alone, or shared by all."""

    streams: list[cs.Stream] = field(
        default_factory=lambda: [cs.Stream(non_blocking=i > 1) for i in range(4)]
    )
    arrays: list[cs.DeviceArray] = field(
        default_factory=lambda: [cs.zeros(LENGTH, np.int32) for _ in range(4)]
    )
    plain: list[cs.DeviceArray] = field(
        default_factory=lambda: [cs.empty_plain(LENGTH, np.int32) for _ in range(2)]
    )
    managed: list[cs.DeviceArray] = field(default_factory=lambda: [cs.empty_managed(LENGTH, np.int32)])
    pinned: list[np.ndarray] = field(
        default_factory=lambda: [cs.pinned_empty(LENGTH, np.int32) for _ in range(2)]
    )
    events: list[cs.Event] = field(default_factory=lambda: [cs.Event() for _ in range(4)])
    pools: list[cs.MemoryPool] = field(default_factory=lambda: [cs.MemoryPool(limit=64 << 20)])
    cuda_arrays: list[cs.CudaArray] = field(
        default_factory=lambda: [cs.CudaArray(LENGTH, np.int32, surface=True) for _ in range(2)]
    )
    graphs: list[cs.Graph] = field(default_factory=list)
    executables: list[cs.GraphExec] = field(default_factory=list)
    modules: list[cs.Module] = field(default_factory=lambda: [cs.Module(KERNELS)])


class Worker:
    """A thread: its random numbers, its own objects, and those of all."""

    def __init__(self, seed: int, shared: Objects, device: cs.Device) -> None:
        self.random = random.Random(seed)
        self.shared, self.own, self.device = shared, Objects(), device

    def objects(self) -> Objects:
        return self.shared if self.random.random() < 0.6 else self.own

    def pick(self, kind: str) -> Any:
        return self.random.choice(getattr(self.objects(), kind))

    @property
    def stream(self) -> cs.Stream:
        return self.pick("streams")

    @property
    def array(self) -> cs.DeviceArray:
        return self.pick("arrays")

    @property
    def event(self) -> cs.Event:
        return self.pick("events")

    @property
    def module(self) -> cs.Module:
        return self.pick("modules")

    def replace(self, kind: str, made: Any, keep: int = 0) -> Any:
        """Puts an object into the place of another, or beside the others while they are few; returns the other."""
        objects = getattr(self.objects(), kind)
        if len(objects) < keep:
            objects.append(made)
            return None
        index = self.random.randrange(len(objects))
        before, objects[index] = objects[index], made
        return before


@dataclass(frozen=True)
class Operation:
    run: Callable[[Worker], Any]
    covers: tuple[str, ...]
    errors: tuple[str, ...]  # of this operation alone, beside those that any may give
    simulated_only: bool

    @property
    def name(self) -> str:
        return self.run.__name__


OPERATIONS: dict[str, Operation] = {}


def operation(
    *covers: str, errors: tuple[str, ...] = (), simulated_only: bool = False
) -> Callable[[Any], Any]:
    def add(run: Callable[[Worker], Any]) -> Callable[[Worker], Any]:
        OPERATIONS[run.__name__] = Operation(run, covers, errors, simulated_only)
        return run

    return add


# What a race may give anywhere: a name of CudaError, or a part of an exception's text.
CAPTURE_ERRORS = {
    "cudaErrorStreamCapture" + kind
    for kind in (
        "Unsupported",
        "Invalidated",
        "Merge",
        "Unmatched",
        "Unjoined",
        "Isolation",
        "Implicit",
        "WrongThread",
    )
} | {"cudaErrorCapturedEvent"}
RACES = (
    "is closed",
    "was closed",
    "was destroyed",
    "the stream is being captured already",
    "the stream is not being captured",  # another thread's call has spoilt the capture
    "the event was last recorded in a capture, which has ended",
)

EXEMPT = {
    "Device.reset": "takes everything from all threads: tests/test_object_states.py",
    "Device.set_limit": "is refused while a kernel is loaded, and stays: tests/test_launching.py",
    "Device.limit": "goes with set_limit",
    "Device.enable_peer_access": "needs a second device: tests/test_peers.py",
    "Device.disable_peer_access": "needs a second device: tests/test_peers.py",
    "add_host_device": "devices are never taken away again",
    "CaptureError": "an exception",
    "CompileError": "an exception",
    "CudaError": "an exception",
    "OutOfMemoryError": "an exception",
    "PendingWarning": "a warning",
    "info": "asks compilers, which takes seconds",
}


def members(type_: type) -> set[str]:
    return {name for name in vars(type_) if not name.startswith("_")}


def surface() -> set[str]:
    """Every operation that a program can use, as Class, Class.method or function."""
    names: set[str] = set()
    for name in cs.__all__:
        value = getattr(cs, name)
        if isinstance(value, type):
            names |= {name} | {f"{name}.{member}" for member in members(value)}
        elif callable(value) and not name.startswith("_"):
            names.add(name)
    return {name for name in names if not any(name.startswith(error + ".") for error in EXEMPT)}


def covered() -> set[str]:
    patterns = {pattern for each in OPERATIONS.values() for pattern in each.covers}
    return {
        name for name in surface() if name in EXEMPT or any(fnmatch.fnmatchcase(name, p) for p in patterns)
    }


def read_all(thing: Any) -> None:
    """Reads each property: of objects that hold what a device once answered."""
    for name in members(type(thing)):
        getattr(thing, name)


# ---- devices


@operation(
    "Device", "Device.*", "devices", "current_device", "set_device", "DeviceProperties*", "MemoryInfo*"
)
def ask_device(w: Worker) -> None:
    device = cs.Device(w.device.name)
    assert device in cs.devices()
    with device:
        assert cs.current_device() == device
        cs.set_device(device)
    for name in ("name", "kind", "model", "ordinal", "simulated", "compute_capability", "stream_priority_range",
                 "default_stream", "per_thread_stream", "memory_pool"):  # fmt: skip
        getattr(device, name)
    device.attribute("max_threads_per_block")
    device.can_access_peer(device)
    device.limit("stack_size")
    device.reset_persisting_l2_cache()
    read_all(device.properties)
    read_all(device.memory_info())
    assert pickle.loads(pickle.dumps(device)) == copy.copy(device) == device


@operation("synchronize")
def synchronize_device(w: Worker) -> None:
    w.random.choice([cs.synchronize, w.device.synchronize, w.device.default_stream.synchronize])()


@operation("pending", "Pending*")
def ask_what_is_pending(w: Worker) -> None:
    for work in cs.pending(w.random.choice([None, w.device])):
        read_all(work)
        repr((work, work.reasons))


@operation("clock", "host_work")
def use_the_clock(w: Worker) -> None:
    before = cs.clock()
    if w.device.simulated:
        cs.host_work(1e-6)
    assert cs.clock() >= before


# ---- streams and events


@operation("Stream", "Stream.close", "Stream.closed")
def replace_stream(w: Worker) -> None:
    priority = w.random.choice([0, -1])
    before = w.replace("streams", cs.Stream(priority=priority, non_blocking=w.random.random() < 0.5))
    if w.random.random() < 0.5:
        before.close()
        assert before.closed


@operation("Stream.query", "Stream.handle", "Stream.id", "Stream.device", "Stream.priority", "Stream.non_blocking",
           "Stream.capture_status", "Stream.capture_id", "Stream.capture_dependencies", "Event.query", "Event.handle",
           "Event.device", "Event.timing", "Event.closed")  # fmt: skip
def look_at_streams_and_events(w: Worker) -> None:
    for thing in (w.stream, w.event):
        repr(thing)
        assert thing == thing
        hash(thing)
        read = ["handle", "device", "closed"]
        read += ["id", "priority", "non_blocking", "capture_status", "capture_id", "capture_dependencies"] * (
            type(thing) is cs.Stream
        )
        for name in read:
            getattr(thing, name)
    w.stream.query()
    w.event.query()


@operation("Stream.mem_sync_domain", "Stream.mem_sync_domain_map", "Stream.synchronization_policy", "Stream.copy_attributes",
           "Stream.access_policy_window", "AccessPolicyWindow*")  # fmt: skip
def change_attributes(w: Worker) -> None:
    stream = w.stream
    stream.priority = w.random.choice([0, -1])
    stream.mem_sync_domain = w.random.choice(["default", "remote"])
    stream.mem_sync_domain_map = (0, 1)
    stream.synchronization_policy = w.random.choice(["auto", "spin", "yield", "blocking_sync"])
    window = cs.AccessPolicyWindow(w.array)
    read_all(window)
    stream.access_policy_window = window
    stream.access_policy_window = None
    stream.copy_attributes(w.own.streams[0])


@operation("Stream.synchronize")
def synchronize_stream(w: Worker) -> None:
    w.stream.synchronize()


@operation(
    "Stream.record",
    "Event.record",
    "Stream.wait",
    errors=(
        "cudaErrorInvalidValue",
    ),  # the event was recorded in a capture that another thread has ended meanwhile
)
def record_and_wait(w: Worker) -> None:
    event = w.stream.record(w.event) if w.random.random() < 0.5 else w.event.record(w.stream)
    w.stream.wait(event)
    if w.random.random() < 0.3:
        w.stream.wait(w.stream)


@operation("Event", "Event.close", errors=("cudaErrorInvalidResourceHandle", "cudaErrorNotReady"))
def replace_event(w: Worker) -> None:
    before = w.replace(
        "events", cs.Event(timing=w.random.random() < 0.9, blocking_sync=w.random.random() < 0.5)
    )
    if w.random.random() < 0.5:
        float(before - w.event)
    before.close()


@operation("Event.synchronize")
def synchronize_event(w: Worker) -> None:
    w.event.synchronize()


@operation("Stream.host_function")
def call_on_the_host(w: Worker) -> None:
    stream, seed = w.stream, w.random.random()
    if seed < 0.1:
        stream.host_function(gc.collect)
    elif seed < 0.2:
        stream.host_function(lambda last: None, cs.zeros(100))  # the last owner goes on the runtime's thread
    else:
        stream.host_function(lambda *a, **k: None, 1, two=2)


@operation("as_stream", "current_stream")
def enter_streams(w: Worker) -> None:
    with w.stream as stream:
        assert cs.current_stream() == stream
        cs.as_stream(stream)
        w.array.fill(1)


@operation(
    "Stream.write_value",
    "Stream.wait_value",
    "Stream.batch_mem_op",
    "WriteValue*",
    "WaitValue*",
    "MemoryBarrier*",
)
def wait_for_numbers(w: Worker) -> None:
    """In streams of this thread's own: a wait ends because of a write that comes before it, or the host's."""
    first, second = cs.Stream(non_blocking=True), cs.Stream(non_blocking=True)
    flag, pinned = cs.empty_plain(1, np.uint32), cs.pinned_empty(1, np.uint32)
    pinned[0] = 0
    write = cs.WriteValue(flag, 7)
    read_all(write)
    second.batch_mem_op([write, cs.MemoryBarrier(w.random.choice(["system", "device"]))])
    second.write_value(flag, 8)
    first.wait_value(flag, 8)
    wait = cs.WaitValue(flag, 8, "eq")
    read_all(wait)
    first.batch_mem_op([wait])
    try:
        first.wait_value(pinned, 1)
    finally:
        pinned[0] = 1
    first.synchronize()


@operation("ExternalSemaphore*", "Stream.signal_external", "Stream.wait_external", simulated_only=True)
def use_a_semaphore(w: Worker) -> None:
    semaphore = cs.ExternalSemaphore(os.eventfd(0, os.EFD_NONBLOCK))
    read_all(semaphore)
    stream = cs.Stream(non_blocking=True)
    stream.signal_external(semaphore)
    stream.wait_external(semaphore)
    semaphore.close()
    stream.synchronize()


# ---- memory


@operation(
    "DeviceArray",
    "DeviceArray.close",
    "DeviceArray.closed",
    "zeros",
    "zeros_like",
    "empty_like",
    "full",
    "empty",
)
def replace_array(w: Worker) -> None:
    like = w.own.arrays[0]
    made = w.random.choice(
        [
            lambda: cs.zeros(LENGTH, np.int32, stream=w.stream),
            lambda: cs.empty(LENGTH, np.int32),
            lambda: cs.full(LENGTH, 3, np.int32),
            lambda: cs.zeros_like(like) if not like.closed else cs.zeros(LENGTH, np.int32),
            lambda: cs.empty_like(like) if not like.closed else cs.zeros(LENGTH, np.int32),
        ]
    )()
    before = w.replace("arrays", made)
    if w.random.random() < 0.5:
        before.close()
        assert before.closed


@operation("DeviceArray.to_host", "to_device")
def copy_out_and_back(w: Worker) -> None:
    """An array that only this thread knows comes back as it went."""
    values = np.arange(w.random.choice([1, 12, 1000, 100_000]), dtype=np.float32)
    stream = w.own.streams[0]
    assert np.array_equal(cs.to_device(values, stream=stream).to_host(stream=stream), values)
    assert np.array_equal(cs.to_device(values.reshape(-1, 1)).T.to_host(), values.reshape(1, -1))


@operation(
    "DeviceArray.fill", "DeviceArray.copy", "DeviceArray.copy_from", "DeviceArray.copy_to", "pinned_empty"
)
def copy_arrays(w: Worker) -> None:
    stream = w.stream
    w.array.fill(w.random.randrange(100), stream=stream)
    w.array.copy_from(w.array, stream=stream)
    w.array.copy_from(w.pick("pinned"), stream=stream)
    w.array.copy_to(w.pick("pinned"), stream=stream)
    w.array.copy(stream=stream)
    w.replace("pinned", cs.pinned_empty(LENGTH, np.int32))


@operation("DeviceArray.*")
def view_arrays(w: Worker) -> None:
    x = w.array
    repr(x)
    for name in ("shape", "dtype", "strides", "nbytes", "size", "ndim", "itemsize", "device", "is_contiguous", "closed",
                 "read_only", "stream", "T", "pointer"):  # fmt: skip
        getattr(x, name)
    x[::2].reshape(4, 4).transpose().ravel()
    x[3:5] = 7
    len(x)


@operation("empty_plain", "empty_pitched", "empty_managed")
def other_memory(w: Worker) -> None:
    w.replace("plain", cs.empty_plain(LENGTH, np.int32))
    w.pick("plain").copy_from(w.array, stream=w.stream)
    pitched = cs.empty_pitched((3, 5))
    pitched.fill(2, stream=w.stream)
    assert pitched.pitch >= 20
    managed = w.replace("managed", cs.empty_managed(LENGTH, np.int32))
    managed.advise("read_mostly")
    managed.prefetch(stream=w.stream)
    managed.range_attributes  # noqa: B018
    if w.random.random() < 0.3:
        cs.empty_managed(4).host_view()


@operation("register", "Registration*", "device_view", "pointer_attributes", "PointerAttributes*")
def register_memory(w: Worker) -> None:
    with cs.register(np.zeros(1024, np.int32), mapped=True) as registration:
        registration.device_view()
        assert not registration.closed
        w.array.copy_from(registration.array[:LENGTH], stream=w.stream)
        read_all(cs.pointer_attributes(registration.array))
    view = cs.device_view(cs.pinned_empty(LENGTH, np.int32, mapped=True))
    view.fill(1, stream=w.stream)


@operation("copy_batch")
def copy_many(w: Worker) -> None:
    cs.copy_batch([(w.array, w.array), (w.array, w.pick("pinned"))], stream=w.own.streams[3])


@operation("MemoryPool", "MemoryPool.*", "PoolStatistics*")
def use_pools(w: Worker) -> None:
    pool = w.pick("pools")
    assert pool == pool
    hash(pool)
    pool.empty(100, stream=w.stream).fill(1, stream=w.stream)
    pool.release_threshold = w.random.choice([0, 1 << 20])
    read_all(pool.statistics)
    pool.trim()
    pool.reset_high()
    repr((pool.limit, pool.device, pool.is_default, pool.closed))
    if w.random.random() < 0.3:
        w.replace("pools", cs.MemoryPool(limit=64 << 20)).close()
    if w.random.random() < 0.1:
        w.device.memory_pool = w.random.choice([None, w.pick("pools")])


@operation("CudaArray*", "Texture*", "Surface*")
def use_cuda_arrays(w: Worker) -> None:
    made = w.pick("cuda_arrays")
    made.copy_from(w.array, stream=w.stream)
    made.copy_to(w.array, stream=w.stream)
    made.to_host(stream=w.own.streams[2])
    texture, surface = cs.Texture(made), cs.Surface(made)
    repr(
        (
            texture.handle,
            surface.handle,
            texture.device,
            surface.device,
            made.shape,
            made.dtype,
            made.channels,
        )
    )
    texture.close()
    surface.close()
    assert texture.closed
    assert surface.closed
    if w.random.random() < 0.3:
        w.replace("cuda_arrays", cs.CudaArray(LENGTH, np.int32, surface=True)).close()


@operation("asarray", "from_dlpack")
def hand_arrays_over(w: Worker) -> None:
    x = w.array
    cs.asarray(x)
    shared = cs.from_dlpack(x.__dlpack__(stream=-1))
    shared.fill(1, stream=w.stream)
    del x, shared


# ---- kernels


@operation("Kernel", "Kernel.launch", "Kernel.configure", "KernelLaunch*")
def launch(w: Worker) -> None:
    add, stream = w.module.add, w.stream
    how = w.random.randrange(3)
    if how == 0:
        add[1, LENGTH, stream](w.array, 1)
    elif how == 1:
        add.launch(w.array, 1, grid=1, block=LENGTH, stream=stream)
    else:
        w.module.dynamic.configure(grid=1, block=LENGTH, stream=stream, shared=4 * LENGTH)(w.array)


@operation("Kernel.*", "FunctionAttributes*", "Parameter*")
def ask_kernels(w: Worker) -> None:
    kernel = w.module.dynamic
    read_all(kernel.attributes)
    read_all(kernel.parameters[0])
    kernel.occupancy(LENGTH)
    kernel.available_shared(LENGTH)
    kernel.best_block_size()
    kernel.max_cluster_size(LENGTH)
    kernel.max_active_clusters(2, LENGTH)
    kernel.set_cache_config("prefer_none")
    kernel.preferred_shared_memory_carveout = -1
    kernel.max_dynamic_shared = 4096
    for name in (
        "name",
        "device",
        "required_cluster",
        "non_portable_cluster_size_allowed",
        "cluster_scheduling_policy",
    ):
        getattr(kernel, name)


@operation("Kernel.count", "Counts*", "GlobalCounts*", simulated_only=True)
def count_a_kernel(w: Worker) -> None:
    counts = w.own.modules[0].add.count(cs.zeros(LENGTH, np.int32), 1, grid=1, block=LENGTH)
    read_all(counts)
    read_all(counts.by_argument["x"])
    assert counts.global_loads == LENGTH


@operation("Module", "Module.*")
def load_a_module(w: Worker) -> None:
    made = cs.Module(KERNELS)
    repr(
        (made.cached, made.device, made.kernels, made.log, len(made.image), made.symbol("variable", np.int32))
    )
    if w.random.random() < 0.2:
        w.replace("modules", made)


# ---- graphs


@operation("Stream.capture", "Capture", "Stream.begin_capture", "Stream.end_capture", "exchange_capture_mode",
           "Stream.update_capture_dependencies", "Stream.malloc_async", "Stream.free_async",
           errors=("cudaErrorInvalidValue", "cudaErrorIllegalState"))  # another thread ends the capture, or begins one # fmt: skip
def capture(w: Worker) -> None:
    stream, mode = w.stream, w.random.choice(["global", "thread_local", "relaxed"])
    usual = cs.exchange_capture_mode(w.random.choice(["global", "thread_local", "relaxed"]))
    try:
        with stream.capture(mode) as graph:
            w.module.add[1, LENGTH, stream](w.array, 1)
            stream.update_capture_dependencies([])
            stream.host_function(lambda: None)
            if w.random.random() < 0.3:
                stream.free_async(stream.malloc_async(100))
            if w.random.random() < 0.1:
                raise ZeroDivisionError
    except ZeroDivisionError:
        return
    finally:
        cs.exchange_capture_mode(usual)
    keep_graph(w, graph)


def keep_graph(w: Worker, graph: cs.Graph) -> None:
    if (before := w.replace("graphs", graph, keep=3)) is not None and w.random.random() < 0.5:
        before.close()
    if (
        before := w.replace("executables", graph.instantiate(), keep=3)
    ) is not None and w.random.random() < 0.5:
        before.close()


@operation("Graph", "Graph.*", "GraphNode", "GraphNode.*")
def build_a_graph(w: Worker) -> None:
    x, host = w.array, cs.pinned_empty(LENGTH, np.int32)
    graph = cs.Graph()
    start = graph.add_empty()
    made, y = graph.add_alloc(LENGTH, np.int32, after=start)
    filled = graph.add_memset(y, 0, after=made)
    added = graph.add_kernel(w.module.add[1, LENGTH], args=(y, 5), after=filled)
    copied = graph.add_copy(x, y, after=added)
    graph.add_free(y, after=copied)
    called = graph.add_host(lambda: None, after=copied)
    graph.add_copy(host, x, after=copied)
    waited = graph.add_event_wait(w.event, after=start)
    recorded = graph.add_event_record(w.event, after=waited)
    graph.add_dependency(called, recorded)
    graph.add_batch_mem_op([cs.WriteValue(cs.empty_plain(1, np.uint32), 1)], after=start)
    inner = cs.Graph()
    inner.add_memset(x, 1)
    child = graph.add_child(inner, after=start)
    handles = [graph.conditional_handle(0) for _ in range(3)]
    for node in (graph.add_if(handles[0]), graph.add_while(handles[1]), graph.add_switch(handles[2], 2)):
        node.bodies[0].add_memset(x, 2)
    for node in graph.nodes:
        repr(
            (
                node.type,
                node.label,
                node.dependencies,
                node.dependents,
                node.bodies,
                node.graph,
                node.params,
                hash(node),
            )
        )
    repr((graph.edges, graph.roots, graph.programmatic_edges, graph.closed, graph.device, child))
    graph.to_dot()
    if w.random.random() < 0.5:
        return  # a graph that allocates has no clones, and is launched here or nowhere
    executable = graph.instantiate()
    executable.launch(w.own.streams[1])


@operation("Graph.add_external_semaphore_signal", "Graph.add_external_semaphore_wait", "GraphExec.set_external_semaphores",
           simulated_only=True)  # fmt: skip
def build_a_graph_of_semaphores(w: Worker) -> None:
    semaphore = cs.ExternalSemaphore(os.eventfd(0, os.EFD_NONBLOCK))
    graph = cs.Graph()
    signal = graph.add_external_semaphore_signal(semaphore)
    graph.add_external_semaphore_wait(semaphore, after=signal)
    executable = graph.instantiate()
    executable.set_external_semaphores(signal, semaphore)
    stream = cs.Stream(non_blocking=True)
    executable.launch(stream)
    stream.synchronize()


@operation("Graph.clone", "Graph.find_clone", "Graph.instantiate", "GraphExec", "GraphExec.*", "GraphUpdate*")
def change_an_executable(w: Worker) -> None:
    graph, x = cs.Graph(), w.array
    flag = cs.empty_plain(1, np.uint32)
    kernel = graph.add_kernel(w.module.add[1, LENGTH], args=(x, 1))
    filled = graph.add_memset(x, 1, after=kernel)
    copied = graph.add_copy(x, w.own.plain[0], after=filled)
    called = graph.add_host(lambda: None, after=copied)
    recorded = graph.add_event_record(w.event, after=called)
    written = graph.add_batch_mem_op([cs.WriteValue(flag, 1)], after=recorded)
    inner = cs.Graph()
    inner.add_memset(x, 1)
    child = graph.add_child(inner, after=written)
    graph.add_dependency(kernel, called)
    graph.remove_dependency(kernel, called)
    graph.add_empty().destroy()
    clone = graph.clone()
    clone.find_clone(kernel)
    executable = graph.instantiate(upload=w.own.streams[0])
    executable.set_kernel(kernel, w.module.add[1, LENGTH], args=(w.array, 2))
    executable.set_memset(filled, x, 2)
    executable.set_copy(copied, x, w.own.plain[1])
    executable.set_host(called, lambda: None)
    executable.set_event(recorded, w.event)
    executable.set_batch_mem_op(written, [cs.WriteValue(flag, 2)])
    executable.set_child(child, inner)
    executable.set_enabled(filled, False)
    assert not executable.is_enabled(filled)
    executable.upload(w.stream)
    executable.launch(w.stream)
    update = executable.update(clone)
    read_all(update)
    repr((bool(update), executable.flags, executable.handle, executable.closed, executable.device))
    keep_graph(w, clone)


@operation("GraphExec.launch", "GraphExec.close")
def launch_a_graph(w: Worker) -> None:
    executables = w.objects().executables
    if not executables:
        return
    executable = w.random.choice(executables)
    executable.launch(w.stream)
    if w.random.random() < 0.1:
        executable.close()


# ---- operations of arrays


@operation("Matmul*", "Variant*", "matmul")
def multiply(w: Worker) -> None:
    assert cs.matmul(np.eye(8, dtype=np.float32), np.ones((8, 8), np.float32)).sum() == 64
    cs.matmul.variants()
    cs.matmul.explain(np.ones((8, 8), np.float32), np.ones((8, 8), np.float32))


@operation("Reduce*", "reduce", "sum", "prod", "min", "max", "mean", "dot", "argmin", "argmax", "any", "all")
def reduce(w: Worker) -> None:
    x = cs.full(64, 3, np.int32)
    name = w.random.choice(["sum", "prod", "min", "max", "mean", "argmin", "argmax", "any", "all"])
    result = getattr(cs, name)(x)
    if name == "sum":
        assert int(result.to_host()) == 192
    cs.dot(x, x)
    cs.reduce(x, "sum")
    cs.reduce.variants()
    cs.reduce.explain(x, "sum")
