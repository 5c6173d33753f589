"""Dropping an object never waits: a later call makes the releases that may wait."""

from __future__ import annotations

import contextlib
import gc
import threading
from collections.abc import Iterator

import numpy as np
import pytest

import cuscope as cs
from cuscope import _core
from support import load_basic, module, pinned

SPARE = "__global__ void spare(int* p) { p[0] = 5; }"
RESCUE = (
    20  # seconds, after which a call that waits wrongly comes back, so that the test fails and does not hang
)

# Objects that a GPU frees only by calls that wait for the whole device.
KINDS = {
    "page-locked": lambda: cs.pinned_empty(1 << 20, np.uint8),
    "plain": lambda: cs.empty_plain(4 << 20, np.uint8),
    "pitched": lambda: cs.empty_pitched((64, 1000), np.float32),
    "managed": lambda: cs.empty_managed(1 << 20, np.uint8),
    "CUDA array": lambda: cs.CudaArray((64, 64), np.float32),
    "mipmapped array": lambda: cs.MipmappedArray((64, 64), np.float32),
    "registration": lambda: cs.register(np.zeros(1 << 20, np.uint8)),
    "module": lambda: cs.Module(SPARE),
}
# Objects that a GPU frees at once.
OTHERS = {
    "pool": lambda: cs.MemoryPool(),
    "array of a pool": lambda: cs.MemoryPool().empty(1000),
    "array": lambda: cs.empty(1000),
    "stream": lambda: cs.Stream(),
    "event": lambda: cs.Event().record(),
    "texture": lambda: cs.Texture(cs.CudaArray((64, 64), np.float32)),
    "graph": lambda: cs.Graph(),
    "executable": lambda: executable(),
}


def executable() -> cs.GraphExec:
    graph = cs.Graph()
    graph.add_empty()
    return graph.instantiate()


@contextlib.contextmanager
def held() -> Iterator[tuple[cs.Stream, np.ndarray]]:
    """A stream that waits until the host sets the number; the fixture sets it at the end at the latest."""
    flag, stream = pinned(), cs.Stream(non_blocking=True)
    rescue = threading.Timer(RESCUE, flag.__setitem__, (0, 1))
    rescue.daemon = True
    stream.wait_value(flag, 1)
    rescue.start()
    try:
        yield stream, flag
    finally:
        rescue.cancel()
        flag[0] = 1
        stream.synchronize()


class Before:
    """Releases that lost devices of earlier tests in this process will never make."""

    retired = 0


@pytest.fixture(autouse=True)
def count_what_earlier_tests_left(settled):
    settled()  # releases of other devices that are still to be made are no leftovers
    Before.retired = _core.live()["retired"]


def put_off() -> int:
    return max(0, _core.live()["retired"] - Before.retired)


@pytest.mark.parametrize("kind", KINDS | OTHERS)
def test_dropping_beside_a_held_stream_returns_before_that_goes_on(device, kind):
    thing = (KINDS | OTHERS)[kind]()
    device.synchronize()

    with held() as (_, flag):
        del thing
        gc.collect()

        assert flag[0] == 0


@pytest.mark.parametrize("kind", KINDS)
def test_dropping_an_object_that_was_used_beside_a_held_stream_returns(device, kind):
    thing = KINDS[kind]()
    s = cs.Stream(non_blocking=True)
    if kind in ("plain", "pitched", "managed"):
        thing.fill(1, stream=s)
    elif kind == "page-locked":
        cs.empty(thing.shape, thing.dtype).copy_from(thing, stream=s)
    elif kind == "module":
        thing.spare[1, 1, s](cs.zeros(1, np.int32))
    device.synchronize()

    with held() as (_, flag):
        if kind in ("plain", "pitched", "managed"):
            thing.fill(2, stream=s)
        s.synchronize()
        del thing
        s.synchronize()
        cs.Stream().synchronize()

        assert flag[0] == 0


@pytest.mark.parametrize("kind", KINDS)
def test_releases_that_were_put_off_are_made_by_a_synchronisation(device, kind, settled):
    settled()
    thing = KINDS[kind]()
    before = put_off()

    with held():
        del thing
        gc.collect()
        while_held = put_off()
    device.synchronize()

    assert while_held >= before + (kind != "module" or device.kind == "cuda")
    assert put_off() == 0


@pytest.mark.counts_memory
def test_put_off_memory_counts_as_used_until_it_is_given_back(device, settled):
    settled()
    free = device.memory_info().free
    x = cs.empty_plain(64 << 20, np.uint8)

    with held():
        del x
        between = device.memory_info().free
    device.synchronize()

    assert between < free
    assert device.memory_info().free >= free


def test_later_calls_make_the_releases_that_were_put_off(device):
    dropped = [KINDS[kind]() for kind in KINDS]
    device.synchronize()
    with held():
        del dropped
        gc.collect()
    calls = 0
    while put_off() and calls < 1000:
        cs.empty(1)
        calls += 1

    assert put_off() == 0


@pytest.mark.parametrize("kind", ["page-locked", "plain", "managed", "CUDA array"])
def test_dropping_in_a_loop_on_an_idle_device_puts_nothing_off(device, kind):
    device.synchronize()

    most = 0
    for _ in range(100):
        KINDS[kind]()
        most = max(most, put_off())

    assert most <= 1


def test_memory_dropped_while_the_device_works_does_not_pile_up(device):
    s = cs.Stream(non_blocking=True)
    x = cs.zeros(1 << 16, np.uint8)
    device.synchronize()

    most = 0
    for _ in range(300):
        host = cs.pinned_empty(1 << 16, np.uint8)
        x.copy_from(host, stream=s)
        del host
        s.synchronize()
        most = max(most, put_off())

    assert most <= 2


def test_many_drops_beside_a_held_stream(device):
    dropped = [cs.pinned_empty(16) for _ in range(2000)]
    device.synchronize()
    with held() as (_, flag):
        while dropped:
            dropped.pop()
            cs.empty(16)
        assert flag[0] == 0
    device.synchronize()

    assert put_off() == 0


# ---- memory that an allocation needs


@pytest.mark.counts_memory  # takes more than half of it twice
def test_an_allocation_that_needs_put_off_memory_waits_for_the_device(device):
    # Memory that earlier tests left in the pool would be enough for the second allocation.
    device.memory_pool.trim()
    size = device.memory_info().free // 10 * 6
    big = cs.empty_plain(size, np.uint8)

    with held() as (_, flag):
        del big
        threading.Timer(0.3, flag.__setitem__, (0, 1)).start()
        again = cs.empty_plain(size, np.uint8)

        assert flag[0] == 1
        assert again.size == size


@pytest.mark.counts_memory
def test_ctrl_c_ends_the_wait_of_an_allocation(run_python, device):
    source = """
    import os, signal, threading
    import numpy as np, cuscope as cs

    device = cs.current_device()
    flag, s = cs.pinned_empty(1, "uint32"), cs.Stream(non_blocking=True)
    flag[0] = 0
    size = device.memory_info().free // 10 * 6
    big = cs.empty_plain(size, np.uint8)
    s.wait_value(flag, 1)
    del big
    threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT)).start()
    try:
        cs.empty_plain(size, np.uint8)
    except KeyboardInterrupt:
        print("interrupted", flag[0])
    flag[0] = 1
    s.synchronize()
    print(cs.empty_plain(size, np.uint8).size == size)
    """
    process = run_python(source, timeout=60)
    assert process.stdout.split() == ["interrupted", "0", "True"], process.stderr


@pytest.mark.no_initcheck("it waits for every kernel")
def test_a_pool_that_is_full_orders_streams_before_it_waits(device):
    size = 32 << 20
    pool = cs.MemoryPool(limit=size)
    a = cs.Stream(non_blocking=True)
    out = cs.zeros(size, np.uint8)
    x = pool.empty(size, np.uint8, stream=a)
    x.fill(7, stream=a)
    device.synchronize()

    with held() as (b, flag):
        out.copy_from(x, stream=b)
        del x
        y = pool.empty(size, np.uint8, stream=a)
        y.fill(9, stream=a)

        assert flag[0] == 0  # no thread of the host has waited
    device.synchronize()
    assert (out.to_host() == 7).all()
    assert (y.to_host() == 9).all()


# ---- streams that share memory


@pytest.mark.no_initcheck("it waits for every kernel")
def test_dropping_does_not_hold_up_its_own_stream_behind_others(device):
    a = cs.Stream(non_blocking=True)
    x, out = cs.full(1000, 3, np.int32, stream=a), cs.empty(1000, np.int32)
    device.synchronize()

    with held() as (b, flag):
        out.copy_from(x, stream=b)
        del x
        a.synchronize()

        assert flag[0] == 0


def test_dropping_does_not_reuse_memory_before_other_streams_are_done_with_it(device):
    a = cs.Stream(non_blocking=True)
    x, out = cs.full(1 << 20, 3, np.int32, stream=a), cs.empty(1 << 20, np.int32)
    device.synchronize()

    with held() as (b, _):
        out.copy_from(x, stream=b)
        del x
        trash = [cs.full(1 << 20, -1, np.int32, stream=a) for _ in range(20)]
        a.synchronize()

    assert (out.to_host() == 3).all()
    assert len(trash) == 20


def test_memory_that_other_streams_used_is_back_after_a_synchronisation(device, settled):
    pool = cs.MemoryPool()
    a = cs.Stream(non_blocking=True)
    out = cs.zeros(1 << 20, np.uint8)
    x = pool.empty(1 << 20, np.uint8, stream=a)
    x.fill(7, stream=a)
    settled()

    with held() as (b, _):
        out.copy_from(x, stream=b)
        del x
        used = pool.statistics.used
    device.synchronize()

    assert used >= 1 << 20
    assert pool.statistics.used == 0


def test_memory_of_one_stream_is_used_again_at_once(device):
    s = cs.Stream(non_blocking=True)
    pool = cs.MemoryPool()
    device.synchronize()

    with s:
        for _ in range(50):
            pool.empty(1 << 20, np.uint8).fill(1)

    assert pool.statistics.reserved_high <= 64 << 20
    assert pool.statistics.used == 0


# ---- host functions


def test_dropping_beside_a_host_function_that_waits_returns(device):
    s, go = cs.Stream(non_blocking=True), threading.Event()
    things = [make() for make in KINDS.values()]
    device.synchronize()
    s.host_function(go.wait, RESCUE)
    try:
        del things
        gc.collect()
        assert not go.is_set()
    finally:
        go.set()
        s.synchronize()


@pytest.mark.host_only("cudaDeviceReset waits for the host function, and nothing ends that wait")
def test_reset_beside_a_host_function_that_loops_is_interrupted(run_python, device):
    source = """
    import os, signal, threading, time
    import cuscope as cs

    device, stop = cs.current_device(), []

    def loop():
        while not stop:
            time.sleep(0.01)

    s = cs.Stream()
    s.host_function(loop)
    for wait in (s.synchronize, device.reset):
        timer = threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT))
        timer.start()
        try:
            wait()
            print("returned")
        except KeyboardInterrupt:
            print("interrupted")
        timer.join()
    stop.append(True)
    s.synchronize()
    print(s.query())
    """
    process = run_python(source, timeout=60)
    assert process.stdout.split() == ["interrupted", "interrupted", "True"], process.stderr


def test_ctrl_c_while_a_registration_is_closed_leaves_it_open(run_python, device):
    source = """
    import os, signal, threading
    import numpy as np, cuscope as cs

    x = np.zeros(1 << 16, "float32")
    flag, s = cs.pinned_empty(1, "uint32"), cs.Stream(non_blocking=True)
    flag[0] = 0
    registration = cs.register(x)
    y = cs.empty(x.shape)
    s.wait_value(flag, 1)
    y.copy_from(x, stream=s)
    threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT)).start()
    try:
        registration.close()
    except KeyboardInterrupt:
        print("interrupted", registration.closed)
    flag[0] = 1
    registration.close()
    print(registration.closed)
    cs.register(x).close()
    """
    process = run_python(source, timeout=60)
    assert process.stdout.split() == ["interrupted", "False", "True"], process.stderr


# ---- executables


@pytest.mark.parametrize("launches", [0, 1, 3])
def test_a_graph_whose_executable_was_closed_is_instantiated_again_at_once(device, launches):
    graph = cs.Graph()
    node, memory = graph.add_alloc(1000, np.int32)
    graph.add_free(memory, after=node)
    s = cs.Stream()

    for _ in range(5):
        exe = graph.instantiate()
        for _ in range(launches):
            exe.launch(s)
        s.synchronize()
        exe.close()
    again = graph.instantiate()

    again.launch(s)
    s.synchronize()


def test_a_graph_whose_executable_was_closed_in_flight_is_instantiated_again(device):
    load_basic(device)
    graph, x = cs.Graph(), cs.zeros(1, np.int32)
    node, memory = graph.add_alloc(1000, np.int32)
    kernel = graph.add_kernel(module(device).add_one, grid=1, block=1, args=(x,), after=node)
    graph.add_free(memory, after=kernel)
    exe = graph.instantiate()
    exe.launch()
    device.synchronize()

    with held() as (s, flag):
        exe.launch(s)
        exe.close()
        again = graph.instantiate()
        assert flag[0] == 0
        again.launch(s)
    device.synchronize()

    assert x.to_host().tolist() == [3]


# ---- captures


MODES = {"global": 0, "thread_local": 1, "relaxed": 2}


def drop(things: list, own_thread: bool) -> None:
    def run() -> None:
        things.clear()
        gc.collect()

    if own_thread:
        run()
    else:
        thread = threading.Thread(target=run)
        thread.start()
        thread.join()


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("own_thread", [True, False])
def test_dropping_during_a_capture_invalidates_nothing_and_loses_nothing(device, capfd, mode, own_thread):
    s = cs.Stream(non_blocking=True)
    things = [make() for make in (KINDS | OTHERS).values()]
    device.synchronize()
    before = _core.live()["device_memory"]

    with s.capture(mode=mode):
        drop(things, own_thread)
    device.synchronize()

    assert capfd.readouterr().err == ""
    assert put_off() == 0
    assert _core.live()["device_memory"] < before


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("own_thread", [True, False])
def test_dropping_during_a_capture_of_another_library_invalidates_nothing_and_loses_nothing(
    device, contract, capfd, mode, own_thread
):
    s = cs.Stream(non_blocking=True)
    things = [make() for make in (KINDS | OTHERS).values()]
    device.synchronize()
    before = _core.live()["device_memory"]
    assert contract.stream_begin_capture(s.handle, MODES[mode]) == "cudaSuccess"

    drop(things, own_thread)
    ended, graph = contract.stream_end_capture(s.handle)
    device.synchronize()

    assert ended == "cudaSuccess"
    assert contract.graph_destroy(graph) == "cudaSuccess"
    assert capfd.readouterr().err == ""
    assert put_off() == 0
    assert _core.live()["device_memory"] < before


def test_a_release_that_a_capture_of_another_library_refuses_is_made_later(device, contract, capfd):
    # The legacy default stream waits for it, so a release there is refused during the capture.
    blocking = cs.Stream()
    x = cs.empty(1 << 20, np.uint8)
    pool = device.memory_pool
    device.synchronize()
    used = pool.statistics.used
    assert contract.stream_begin_capture(blocking.handle, MODES["relaxed"]) == "cudaSuccess"

    del x
    contract.stream_end_capture(blocking.handle)
    contract.get_last_error()
    device.synchronize()

    assert capfd.readouterr().err == ""
    assert pool.statistics.used <= used - (1 << 20)
