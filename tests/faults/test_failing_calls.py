"""Every call that can fail, failing in turn: it raises, changes and leaks nothing, and the next try works."""

from __future__ import annotations

import contextlib
import gc
import os
import threading

import numpy as np
import pytest

import cuscope as cs
from cuscope import _core
from others import Interface, TheirStream, on_the_host
from support import BASIC

OUT_OF_MEMORY, UNKNOWN = "cudaErrorMemoryAllocation", "cudaErrorUnknown"


@pytest.fixture
def faults(device):
    return _core.FaultDevice(device.name)


@pytest.fixture
def broken(faults):
    """The device over the runtime whose calls can be made to fail."""
    with faults.device:
        cs.Stream()  # the kernels of operations are loaded now, and not by the call that is to fail
        yield faults.device
        faults.clear()


USES = {
    "allocate": lambda g: cs.empty(1000, np.float32),
    "allocate zeros": lambda g: cs.zeros(1000, np.float32),
    "fill": lambda g: g["x"].fill(3),
    "copy in": lambda g: g["x"].copy_from(np.ones(100, np.float32)),
    "copy in, page-locked": lambda g: g["x"].copy_from(g["locked"]),
    "copy out": lambda g: g["x"].to_host(),
    "copy out, page-locked": lambda g: g["x"].copy_to(g["locked"]),
    "copy across": lambda g: g["x"].copy_from(g["y"]),
    "to device": lambda g: cs.to_device(np.ones(100, np.float32)),
    "copy a view in": lambda g: g["x"][::2].copy_from(np.ones(50, np.float32)),
    "copy a view out": lambda g: g["x"][::2].to_host(),
    "page-locked array": lambda g: cs.pinned_empty(100),
    "stream": lambda g: cs.Stream(priority=-1),
    "event": lambda g: cs.Event(),
    "record": lambda g: g["stream"].record(g["event"]),
    "record a new event": lambda g: g["stream"].record(),
    "wait": lambda g: g["stream"].wait(g["event"]),
    "wait for a stream": lambda g: g["other"].wait(g["stream"]),
    "write a number": lambda g: g["stream"].write_value(g["flag"], 1),
    "wait for a number": lambda g: g["stream"].wait_value(g["flag"], 1),
    "write a long number": lambda g: g["stream"].write_value(g["wide"], 1),
    "wait for a long number": lambda g: g["stream"].wait_value(g["wide"], 1),
    "several operations": lambda g: g["stream"].batch_mem_op(
        [cs.WriteValue(g["flag"], 1), cs.WaitValue(g["flag"], 1)]
    ),
    "query": lambda g: g["stream"].query(),
    "host function": lambda g: g["stream"].host_function(list),
    "synchronize": lambda g: g["stream"].synchronize(),
    "synchronize the device": lambda g: cs.synchronize(),
    "launch": lambda g: g["module"].add_one[1, 1, g["stream"]](g["n"]),
    "module": lambda g: cs.Module(BASIC).vec_add.attributes,
    "occupancy": lambda g: g["module"].vec_add.occupancy(256),
    "best block size": lambda g: g["module"].vec_add.best_block_size(),
    "best block size of a function": lambda g: g["module"].vec_add.best_block_size(lambda b: 4 * b),
    "available shared memory": lambda g: g["module"].vec_add.available_shared(256),
    "clusters": lambda g: g["module"].vec_add.max_active_clusters(2, 256),
    "cluster size": lambda g: g["module"].vec_add.max_cluster_size(256),
    "carveout": lambda g: setattr(g["module"].vec_add, "preferred_shared_memory_carveout", 50),
    "required cluster": lambda g: setattr(g["module"].vec_add, "required_cluster", (2, 1, 1)),
    "cache": lambda g: g["module"].vec_add.set_cache_config("prefer_l1"),
    "stream's policy": lambda g: setattr(g["stream"], "synchronization_policy", "spin"),
    "stream's priority": lambda g: setattr(g["stream"], "priority", -1),
    "stream's attributes": lambda g: g["other"].copy_attributes(g["stream"]),
    "counted launch": lambda g: (
        g["module"].add_one.count if cs.current_device().simulated else g["module"].add_one.launch
    )(g["n"], grid=1, block=1),
    "launch with attributes": lambda g: g["module"].add_one.launch(
        g["n"], grid=2, block=1, stream=g["stream"], cluster=2, priority=-1
    ),
    "set limit": lambda g: cs.current_device().set_limit("stack_size", 2048),
    "reset the cache": lambda g: cs.current_device().reset_persisting_l2_cache(),
    "set shared memory": lambda g: setattr(g["module"].vec_add, "max_dynamic_shared", 1024),
    "memory info": lambda g: cs.current_device().memory_info(),
    "limit": lambda g: cs.current_device().limit("stack_size"),
    "elapsed": lambda g: g["event"] - g["event"],
    # memory of other kinds
    "fill a view": lambda g: g["y"][::2].fill(3),
    "copy a view across": lambda g: g["y"][::2].copy_from(g["y"][1::2]),
    "pitched": lambda g: cs.empty_pitched((5, 90)),
    "pitched volume": lambda g: cs.empty_pitched((3, 5, 90)),
    "copy pitched": lambda g: g["pitched"].copy_from(np.ones((2, 5, 7), np.float32)),
    "copy pitched out": lambda g: g["pitched"].to_host(),
    "fill pitched": lambda g: g["pitched"].fill(1),
    "plain": lambda g: cs.empty_plain(1000),
    "managed": lambda g: cs.empty_managed(1000),
    "prefetch": lambda g: g["managed"].prefetch(),
    "advise": lambda g: g["managed"].advise("read_mostly"),
    "range attributes": lambda g: g["managed"].range_attributes,
    "register": lambda g: cs.register(g["host"]).close(),
    "device view": lambda g: cs.device_view(g["locked"]).fill(5),
    "pool": lambda g: cs.MemoryPool(release_threshold=1 << 20),
    "of a pool": lambda g: g["pool"].empty(1000),
    "statistics": lambda g: g["pool"].statistics,
    "trim": lambda g: g["pool"].trim(),
    "reset high": lambda g: g["pool"].reset_high(),
    "current pool": lambda g: setattr(cs.current_device(), "memory_pool", cs.current_device().memory_pool),
    "batch": lambda g: cs.copy_batch([(g["y"], g["locked"])], stream=g["stream"]),
    "pageable batch": lambda g: cs.copy_batch([(g["y"], np.ones(100, np.float32))]),
    "symbol": lambda g: g["variables"].symbol("variable", np.int32, ()),
    # arrays and streams of other libraries
    "interface": lambda g: cs.asarray(Interface(g["y"], stream=g["stream"].handle)),
    "argument of others": lambda g: g["module"].add_one[1, 1, g["stream"]](
        Interface(g["n"], stream=g["other"].handle)
    ),
    "dlpack": lambda g: cs.from_dlpack(g["y"], stream=g["stream"]),
    "hand out": lambda g: g["y"].__dlpack__(stream=g["foreign"].handle),
    "hand out a copy": lambda g: g["y"].__dlpack__(copy=True),
    "hand out to the host": lambda g: on_the_host(g["y"]),
    "buffer": lambda g: (g["managed"].fill(3), memoryview(g["managed"]))[1],
    "their stream": lambda g: cs.as_stream(TheirStream(g["foreign"])),
    "address": lambda g: cs.pointer_attributes(g["x"]),
    "row": lambda g: cs.CudaArray(70),
    "image": lambda g: cs.CudaArray((20, 70)),
    "volume": lambda g: cs.CudaArray((2, 20, 70), channels=4),
    "image in": lambda g: g["image"].copy_from(np.ones((20, 70), np.float32)),
    "image out": lambda g: g["image"].to_host(),
    "image across": lambda g: g["image"].copy_to(cs.empty((20, 70))),
    "texture": lambda g: cs.Texture(g["image"], filter="linear"),
    "texture of memory": lambda g: cs.Texture(g["x"]),
    "surface": lambda g: cs.Surface(g["image"]),
    "mipmapped array": lambda g: cs.MipmappedArray((20, 70)).level(1),
}
METHODS = [
    "malloc",
    "malloc_async",
    "free_async",
    "host_alloc",
    "memcpy",
    "memcpy_async",
    "memset",
    "memset_async",
    "memset_d2d32_async",
    "memcpy_2d_async",
    "memcpy_3d_async",
    "memcpy_batch_async",
    "memset_2d_async",
    "memset_3d_async",
    "memset_d2d16_async",
    "malloc_pitch",
    "malloc_3d",
    "malloc_managed",
    "malloc_array",
    "malloc_3d_array",
    "malloc_mipmapped_array",
    "get_mipmapped_array_level",
    "create_texture_object",
    "create_surface_object",
    "host_register",
    "host_unregister",
    "host_get_device_pointer",
    "mem_prefetch_async",
    "mem_advise",
    "mem_range_get_attribute",
    "device_get_mem_pool",
    "device_get_default_mem_pool",
    "device_set_mem_pool",
    "mem_pool_trim_to",
    "library_get_global",
    "mem_pool_create",
    "mem_pool_get_attribute",
    "mem_pool_set_attribute",
    "malloc_from_pool_async",
    "stream_create_with_priority",
    "stream_get_device",
    "stream_get_id",
    "stream_get_flags",
    "stream_get_priority",
    "stream_wait_event",
    "stream_write_value_32",
    "stream_wait_value_32",
    "stream_write_value_64",
    "stream_wait_value_64",
    "stream_batch_mem_op",
    "import_external_semaphore",
    "signal_external_semaphores_async",
    "wait_external_semaphores_async",
    "stream_synchronize",
    "stream_query",
    "launch_host_func",
    "event_create_with_flags",
    "event_record_with_flags",
    "event_query",
    "event_synchronize",
    "event_elapsed_time",
    "library_load_data",
    "library_get_kernel",
    "func_get_attributes",
    "func_set_attribute",
    "func_get_param_info",
    "launch_kernel",
    "launch_counted",
    "compile",
    "device_synchronize",
    "mem_get_info",
    "device_get_limit",
    "pointer_get_attributes",
    "occupancy_max_active_blocks_per_multiprocessor_with_flags",
    "occupancy_max_potential_block_size",
    "occupancy_available_dynamic_smem_per_block",
    "occupancy_max_active_clusters",
    "occupancy_max_potential_cluster_size",
    "func_set_cache_config",
    "stream_set_attribute",
    "stream_copy_attributes",
    "device_set_limit",
    "ctx_reset_persisting_l2_cache",
]


def objects_to_use() -> dict:
    with cs.Device(
        cs.current_device().name.split()[0]
    ):  # without faults: it stands for a stream of another library
        foreign = cs.Stream()
    made = {
        "foreign": foreign,
        "x": cs.full(100, 7, np.float32),
        "y": cs.full(100, 8, np.float32),
        "n": cs.zeros(1, np.int32),
        "locked": cs.pinned_empty(100, np.float32),
        "stream": cs.Stream(),
        "other": cs.Stream(),
        "event": cs.Event().record(),
        "module": cs.Module(BASIC),
        "variables": cs.Module("__device__ int variable;"),
        "pitched": cs.empty_pitched((2, 5, 7)),
        "managed": cs.empty_managed(100),
        "host": np.ones(5000, np.float32),
        "pool": cs.MemoryPool(release_threshold=1 << 30),
        "image": cs.CudaArray((20, 70), surface=True),
        "flag": cs.pinned_empty(1, np.uint32),
        "wide": cs.pinned_empty(1, np.uint64),
    }
    made["locked"][:] = 9
    made["flag"][:] = made["wide"][:] = 1
    made["pitched"].copy_from(np.ones((2, 5, 7), np.float32))
    cs.synchronize()
    return made


def calls_of(faults, use, made) -> dict[str, int]:
    """The number of calls of each method if nothing fails."""
    before = {m: faults.calls(m) for m in METHODS}
    use(made)
    return {m: faults.calls(m) - before[m] for m in METHODS if faults.calls(m) > before[m]}


def captured(g, work):
    with g["stream"].capture() as graph:
        work()
    return graph


def build(g) -> cs.Graph:
    graph = cs.Graph()
    a = graph.add_memset(g["y"], 3)
    b = graph.add_copy(g["locked"], g["y"], after=a)
    c = graph.add_kernel(g["module"].nothing.configure(grid=2, block=1, cluster=2), after=b)
    d = graph.add_host(list, after=c)
    e = graph.add_event_record(g["event"], after=d)
    f = graph.add_event_wait(g["event"], after=e)
    h = graph.add_batch_mem_op([cs.WriteValue(g["flag"], 1), cs.MemoryBarrier()], after=f)
    graph.add_child(graph.clone(), after=h)
    return graph


def launch_graph(g) -> None:
    graph = cs.Graph()
    node = graph.add_memset(g["y"], 3)
    exe = graph.instantiate()
    exe.set_memset(node, g["y"], 4)
    exe.set_enabled(node, True)
    exe.is_enabled(node)
    exe.upload(g["stream"])
    exe.launch(g["stream"])
    exe.update(graph)
    g["stream"].synchronize()


def edit_graph(g) -> None:
    graph = cs.Graph()
    a, b = graph.add_empty(), graph.add_empty()
    graph.add_dependency(a, b)
    assert (graph.nodes, graph.roots, graph.edges) == ([a, b], [a], [(a, b)])
    assert (a.dependents, b.dependencies, a.params) == ([b], [a], {})
    graph.remove_dependency(a, b)
    a.destroy()
    graph.clone()


def semaphores(g) -> None:
    if not cs.current_device().simulated:
        g["stream"].query()  # on a GPU a semaphore needs another interface: any call will do
        return
    fd = os.eventfd(0)
    try:
        semaphore = cs.ExternalSemaphore(fd)
    except cs.CudaError:
        os.close(fd)
        raise
    g["stream"].signal_external(semaphore)
    g["stream"].wait_external(semaphore)
    graph = cs.Graph()
    node = graph.add_external_semaphore_signal(semaphore)
    graph.instantiate().set_external_semaphores(node, semaphore)


def decide(g) -> None:
    graph = cs.Graph()
    graph.add_if(graph.conditional_handle(default=1)).bodies[0].add_empty()
    made, x = graph.add_alloc(4)
    graph.add_free(x, after=made)


USES |= {
    # graphs
    "capture": lambda g: captured(g, lambda: g["y"].fill(3)),
    "capture a host function": lambda g: captured(g, lambda: g["stream"].host_function(list)),
    "capture a fork": lambda g: captured(
        g, lambda: (g["other"].wait(g["stream"]), g["y"].fill(3), g["stream"].wait(g["other"]))
    ),
    "capture an allocation": lambda g: captured(g, lambda: cs.zeros(1000)),
    "build a graph": build,
    "semaphores": semaphores,
    "draw a graph": lambda g: build(g).to_dot(),
    "launch a graph": launch_graph,
    "edit a graph": edit_graph,
    "decide in a graph": decide,
}
METHODS += [
    "stream_begin_capture",
    "stream_end_capture",
    "stream_is_capturing",
    "thread_exchange_stream_capture_mode",
    "graph_create",
    "graph_clone",
    "graph_add_node",
    "graph_destroy_node",
    "graph_add_dependencies",
    "graph_remove_dependencies",
    "graph_get_nodes",
    "graph_get_root_nodes",
    "graph_get_edges",
    "graph_node_get_type",
    "graph_node_get_dependencies",
    "graph_node_get_dependent_nodes",
    "graph_node_get_params",
    "graph_kernel_node_set_attribute",
    "graph_conditional_handle_create",
    "graph_instantiate",
    "graph_exec_update",
    "graph_exec_node_set_params",
    "graph_node_set_enabled",
    "graph_node_get_enabled",
    "graph_upload",
    "graph_launch",
]


UNSEEN = pytest.mark.no_initcheck("it does not see the writes of a batch of copies")


@pytest.mark.parametrize("what", [pytest.param(use, marks=UNSEEN if "batch" in use else ()) for use in USES])
@pytest.mark.counts_memory
def test_each_failing_call_of_a_use_raises_and_the_next_try_works(faults, broken, what):
    use = USES[what]
    made = objects_to_use()
    use(made)
    counts = calls_of(faults, use, made)
    assert counts, "this use calls nothing that could fail"

    for method, count in counts.items():
        for nth in range(1, count + 1):
            cs.synchronize()
            gc.collect()
            cs.synchronize()
            before = made["x"].to_host().tolist(), made["n"].to_host().tolist(), tuple(broken.memory_info())
            faults.clear()
            faults.fail(method, nth, OUT_OF_MEMORY)
            try:
                result = use(made)
            except (cs.CudaError, MemoryError) as error:
                assert error.name == OUT_OF_MEMORY, (method, nth)  # noqa: PT017
                failed = True
            else:
                failed = False  # the use may succeed without the call: then its result must be right
                del result
            faults.clear()
            cs.synchronize()
            gc.collect()
            cs.synchronize()
            if failed:
                assert made["x"].to_host().tolist() == before[0], (method, nth)
                assert made["n"].to_host().tolist() == before[1], (method, nth)
                assert tuple(broken.memory_info()) == before[2], (method, nth)
            use(made)  # the next try works


@pytest.mark.parametrize(
    ("method", "make"),
    [
        ("malloc_async", lambda: cs.empty(1000)),
        ("host_alloc", lambda: cs.pinned_empty(1000)),
    ],
)
def test_failed_allocation_is_an_out_of_memory_error(faults, broken, method, make):
    faults.fail(method, 1, OUT_OF_MEMORY)

    with pytest.raises(cs.OutOfMemoryError) as caught:
        make()

    assert caught.value.call
    assert make() is not None


def test_other_failures_are_cuda_errors_of_their_name(faults, broken):
    faults.fail("stream_create_with_priority", 1, UNKNOWN)

    with pytest.raises(cs.CudaError) as caught:
        cs.Stream()

    assert (caught.value.name, caught.value.call) == (UNKNOWN, "cudaStreamCreateWithPriority")
    assert not isinstance(caught.value, cs.OutOfMemoryError)


@pytest.mark.parametrize(
    "method",
    [
        "stream_destroy",
        "event_destroy",
        "free_async",
        "free",
        "free_host",
        "library_unload",
        "graph_destroy",
        "graph_exec_destroy",
    ],
)
def test_failure_while_an_object_goes_is_no_crash(faults, broken, method):
    made = objects_to_use()
    for nth in range(1, 6):
        faults.fail(method, nth, UNKNOWN)

    graph = cs.Graph()
    exe = graph.instantiate()
    del made, graph, exe
    gc.collect()

    faults.clear()
    cs.synchronize()
    assert cs.full(3, 2, np.int32).to_host().tolist() == [2, 2, 2]


def test_failed_host_function_call_does_not_keep_the_callable(faults, broken):
    import weakref

    class Callable:
        def __call__(self):
            raise AssertionError("must not run")

    function = Callable()
    gone = weakref.ref(function)
    s = cs.Stream()
    faults.fail("launch_host_func", 1, UNKNOWN)
    with pytest.raises(cs.CudaError):
        s.host_function(function)
    del function
    s.synchronize()
    gc.collect()

    assert gone() is None


def test_unknown_call_or_status_is_refused(faults):
    with pytest.raises(ValueError, match="dance"):
        faults.fail("dance", 1, UNKNOWN)
    with pytest.raises(ValueError, match="cudaErrorNonsense"):
        faults.fail("malloc", 1, "cudaErrorNonsense")
    with pytest.raises(ValueError, match="nth"):
        faults.fail("malloc", 0, UNKNOWN)


def test_required_cluster_is_set_whole_or_not_at_all(faults, broken):
    kernel = cs.Module(BASIC).vec_add
    kernel.required_cluster = (2, 1, 1)
    for nth in (1, 2, 3):
        faults.fail("func_set_attribute", nth, OUT_OF_MEMORY)
        with pytest.raises(cs.CudaError):
            kernel.required_cluster = (1, 2, 4)
        faults.clear()
        assert kernel.required_cluster == (2, 1, 1)


@pytest.mark.parametrize("named", [True, False])
def test_a_pool_is_destroyed_once_its_frees_are_done(faults, broken, named):
    pool, stream, gate = cs.MemoryPool(), cs.Stream(), threading.Event()
    if not named:
        broken.memory_pool = pool
    x = pool.empty(1000, stream=stream) if named else cs.empty(1000, stream=stream)
    broken.memory_pool = None
    before = faults.calls("mem_pool_destroy")
    stream.host_function(gate.wait, 60)
    del x
    pool.close()
    gc.collect()
    cs.Event()

    assert faults.calls("mem_pool_destroy") == before
    gate.set()
    stream.synchronize()
    assert faults.calls("mem_pool_destroy") == before + 1


@pytest.mark.parametrize(
    "method",
    ["func_get_param_info", "graph_node_get_params", "graph_node_set_params", "graph_instantiate", "malloc"],
)
@pytest.mark.parametrize("nth", [1, 2])
def test_an_executable_after_a_failed_one_has_a_workspace_of_its_own(faults, method, nth):
    with faults.device:
        s = cs.Stream()
        given, made = cs.full(1 << 20, 1, np.int32), cs.empty((), np.int32)
        cs.synchronize()
        with s.capture() as graph:
            cs.sum(given, out=made)
        first = graph.instantiate()
        faults.fail(method, nth, "cudaErrorUnknown")
        with contextlib.suppress(cs.CudaError):
            graph.instantiate()
        faults.clear()

        second = graph.instantiate()

        for exe in (first, second):
            made.fill(0)
            exe.launch()
            assert made.to_host() == 1 << 20
        first.close()
        cs.synchronize()  # the memory of its workspace is free now
        made.fill(0)
        second.launch()
        assert made.to_host() == 1 << 20
