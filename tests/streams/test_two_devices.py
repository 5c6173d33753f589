"""Two devices of one runtime: work for one while the other is current, and calls that do not cross between them.

The answers of an H200 without peer access are in semantics/cases_devices.py.
"""

from __future__ import annotations

import struct

import numpy as np
import pytest

import cuscope as cs
from others import Interface
from support import module, ok, second

OK = "cudaSuccess"
INVALID_VALUE, INVALID_HANDLE = "cudaErrorInvalidValue", "cudaErrorInvalidResourceHandle"
COOPERATIVE = 2
READ_WRITE = 3


def number(device: cs.Device) -> int:
    return int(device.name.partition(":")[2])


# ---- the public classes bring their device along


def test_work_in_a_stream_of_a_device_that_is_not_current_is_done_there(device):
    other = second(device)
    stream, event, log = cs.Stream(), cs.Event(), []
    x = cs.zeros(1, np.int32, stream=stream)
    add_one = module(device).add_one

    with other:
        add_one[1, 1, stream](x)
        event.record(stream)
        stream.host_function(log.append, 1)
        y = cs.empty(1, np.int32, stream=stream)
        y.copy_from(x, stream=stream)
        y.fill(3, stream=stream)
        event.synchronize()
        stream.synchronize()
        assert cs.current_device() == other

    assert (y.device, log) == (device, [1])
    assert (x.to_host()[0], y.to_host()[0]) == (1, 3)


def test_a_capture_goes_on_when_a_device_is_enabled_to_reach_another(device):
    other = second(device)
    if not device.can_access_peer(other):
        pytest.skip(f"{device.name} cannot reach {other.name}")
    stream = cs.Stream()
    x = cs.zeros(1, np.int32, stream=stream)

    with stream.capture("global") as graph:
        device.enable_peer_access(other)
        x.fill(1, stream=stream)
    device.disable_peer_access(other)

    assert len(graph.nodes) == 1


def test_a_capture_on_a_device_that_is_not_current_takes_the_work_of_its_stream(device):
    other = second(device)
    stream = cs.Stream()
    x = cs.zeros(1, np.int32, stream=stream)
    add_one = module(device).add_one

    with other:
        with stream.capture() as graph:
            add_one[1, 1, stream](x)
            add_one[1, 1, stream](x)
        graph.instantiate().launch(stream)
        stream.synchronize()

    assert x.to_host()[0] == 2


@pytest.mark.parametrize("mode", ["global", "thread_local", "relaxed"])
def test_waiting_for_a_device_leaves_a_capture_on_another_one_alone(device, mode):
    other = second(device)
    stream = cs.Stream()
    x = cs.zeros(1, np.int32, stream=stream)
    add_one = module(device).add_one

    with stream.capture(mode) as graph:
        add_one[1, 1, stream](x)
        other.synchronize()
    graph.instantiate().launch(stream)
    stream.synchronize()

    assert x.to_host()[0] == 1


def test_a_stream_waits_for_an_event_of_another_device(device):
    other = second(device)
    host = np.arange(1 << 16, dtype=np.int32)
    x = cs.to_device(host)
    event = cs.Event().record()

    with other:
        stream, y = cs.Stream(), cs.empty(host.shape, np.int32)
        stream.wait(event)
        y.copy_from(x, stream=stream)
        stream.synchronize()
        assert np.array_equal(y.to_host(), host)


def test_an_array_of_another_library_on_a_device_that_is_not_current_is_found_there(device):
    other = second(device)
    theirs = Interface(cs.empty_plain(4, np.float32))

    with other:
        ours = cs.asarray(theirs)

    assert ours.device == device
    assert ours.pointer == theirs.array.pointer


def test_an_address_is_no_device_pointer_for_a_device_without_access(device):
    other = second(device)
    if not device.can_access_peer(other):
        pytest.skip("the GPUs are no peers")
    with other:
        x = cs.empty_plain(4, np.float32)

    seen = cs.pointer_attributes(x.pointer)
    assert (seen.type, seen.device, seen.device_pointer) == ("device", other.name, 0)
    assert cs.pointer_attributes(x).device_pointer == x.pointer
    device.enable_peer_access(other)
    try:
        assert cs.pointer_attributes(x.pointer).device_pointer == x.pointer
    finally:
        device.disable_peer_access(other)


# ---- the contract


@pytest.fixture
def pair(device, contract):
    """The contract, and the numbers of two devices that may reach each other's memory."""
    other = second(device)
    if not device.can_access_peer(other):
        pytest.skip("the GPUs are no peers")
    here, there = number(device), number(other)
    contract.set_device(here)
    yield contract, here, there
    for of, peer in ((there, here), (here, there)):
        contract.set_device(of)
        contract.device_synchronize()
        contract.device_disable_peer_access(peer)
    contract.get_last_error()


def test_a_set_reaches_memory_of_a_peer_once_it_may(pair):
    c, here, there = pair
    plain = ok(c.malloc(64))
    c.set_device(there)
    stream = ok(c.stream_create_with_priority(0, 0))

    refused = c.memset(plain, 1, 64), c.memset_async(plain, 1, 64, stream)
    ok(c.device_enable_peer_access(here))
    taken = c.memset(plain, 1, 64), c.memset_async(plain, 2, 64, stream)
    ok(c.stream_synchronize(stream))
    back = np.zeros(64, np.uint8)
    ok(c.memcpy(back.ctypes.data, plain, 64))
    ok(c.device_disable_peer_access(here))
    again = c.memset(plain, 1, 64)

    ok(c.stream_destroy(stream))
    ok(c.free(plain))
    assert (refused, taken, again) == ((INVALID_VALUE, INVALID_VALUE), (OK, OK), INVALID_VALUE)
    assert (back == 2).all()


def test_a_set_reaches_memory_of_a_peers_pool_once_that_says_so(pair):
    c, here, there = pair
    own = ok(c.stream_create_with_priority(0, 0))
    pool = ok(c.mem_pool_create(here))
    pooled = ok(c.malloc_from_pool_async(64, pool, own))
    ok(c.stream_synchronize(own))
    c.set_device(there)

    refused = c.memset(pooled, 1, 64)
    unseen = c.pointer_get_attributes(pooled)
    ok(c.mem_pool_set_access(pool, [(there, READ_WRITE)]))
    taken = c.memset(pooled, 1, 64)
    seen = c.pointer_get_attributes(pooled)
    ok(c.device_synchronize())

    ok(c.free_async(pooled, own))
    ok(c.stream_synchronize(own))
    ok(c.mem_pool_destroy(pool))
    ok(c.stream_destroy(own))
    assert (refused, taken) == (INVALID_VALUE, OK)
    assert (unseen[3], seen[3]) == (0, pooled)


def test_a_duration_between_events_of_two_devices_is_refused(pair):
    c, _, there = pair
    first = ok(c.event_create_with_flags(0))
    ok(c.event_record_with_flags(first, 0, 0))
    c.set_device(there)
    last = ok(c.event_create_with_flags(0))
    ok(c.event_record_with_flags(last, 0, 0))
    for event in (first, last):
        ok(c.event_synchronize(event))

    answer = c.event_elapsed_time(first, last)[0]

    for event in (first, last):
        ok(c.event_destroy(event))
    assert answer == INVALID_HANDLE


def test_a_launch_with_attributes_takes_a_stream_of_a_device_that_is_not_current(pair):
    c, here, there = pair
    status, image, names, log = c.compile("__global__ void add(int* p) { if (p) atomicAdd(p, 1); }")
    assert status == OK, log
    library = ok(c.library_load_data(image))
    add = ok(c.library_get_kernel(library, dict(names)["add"]))
    stream, counter = ok(c.stream_create_with_priority(0, 0)), ok(c.malloc(4))
    ok(c.memset(counter, 0, 4))
    c.set_device(there)

    plain = c.launch_kernel(add, 1, 1, [struct.pack("P", counter)], stream=stream)
    cooperative = c.launch_kernel(
        add, 1, 1, [struct.pack("P", counter)], stream=stream, attributes=[{"id": COOPERATIVE, "value": 1}]
    )
    ok(c.stream_synchronize(stream))
    back = np.zeros(1, np.int32)
    c.set_device(here)
    ok(c.memcpy(back.ctypes.data, counter, 4))

    ok(c.stream_destroy(stream))
    ok(c.free(counter))
    ok(c.library_unload(library))
    assert (plain, cooperative) == (OK, OK)
    assert back[0] == 2
