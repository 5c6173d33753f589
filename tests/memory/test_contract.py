"""The contract's calls on memory of every kind: their effects and refusals."""

from __future__ import annotations

import ctypes
import itertools

import numpy as np
import pytest

from support import NO_DEVICE, address, ok

INVALID_VALUE = "cudaErrorInvalidValue"
OK = "cudaSuccess"
DEVICE, HOST = 1, 2  # cudaMemLocationType
RELEASE_THRESHOLD, RESERVED, RESERVED_HIGH, USED, USED_HIGH = 4, 5, 6, 7, 8
FLOAT1 = (32, 0, 0, 0, 2)


@pytest.fixture
def c(contract):
    yield contract
    contract.device_synchronize()
    contract.get_last_error()


# ---- pitched memory, copies and sets of two and three dimensions


def test_2d_copies_go_row_by_row(c):
    rows = np.arange(7 * 100, dtype=np.uint8).reshape(7, 100)
    pointer, pitch = ok(c.malloc_pitch(60, 7))
    ok(c.memset_2d(pointer, pitch, 0xEE, pitch, 7))
    ok(c.memcpy_2d(pointer, pitch, address(rows), 100, 60, 7))
    back = np.zeros((7, 80), np.uint8)
    ok(c.memcpy_2d(address(back), 80, pointer, pitch, 60, 7))
    whole = np.zeros((7, pitch), np.uint8)
    ok(c.memcpy(address(whole), pointer, 7 * pitch))
    ok(c.free(pointer))
    assert np.array_equal(back[:, :60], rows[:, :60])
    assert not back[:, 60:].any()
    assert np.array_equal(whole[:, :60], rows[:, :60])
    assert (whole[:, 60:] == 0xEE).all()


def test_3d_copies_of_a_part(c):
    source = np.arange(4 * 5 * 24, dtype=np.uint8).reshape(4, 5, 24)
    pointer, pitch, x_size, y_size = ok(c.malloc_3d((24, 5, 4)))
    pitched = (pointer, pitch, x_size, y_size)
    ok(c.memset_3d(pitched, 0, (24, 5, 4)))
    host = (address(source), 24, 24, 5)
    ok(c.memcpy_3d(c.Side(pitched=pitched, position=(8, 1, 1)), c.Side(pitched=host), (10, 3, 2)))
    back = np.full((4, 5, 24), 9, np.uint8)
    ok(c.memcpy_3d(c.Side(pitched=(address(back), 24, 24, 5)), c.Side(pitched=pitched), (24, 5, 4)))
    ok(c.free(pointer))
    expected = np.zeros((4, 5, 24), np.uint8)
    expected[1:3, 1:4, 8:18] = source[:2, :3, :10]
    assert np.array_equal(back, expected)


def test_patterns_of_16_and_32_bits(c):
    pointer, pitch = ok(c.malloc_pitch(64, 4))
    ok(c.memset_2d_async(pointer, pitch, 0, 64, 4))
    ok(c.memset_d2d16_async(pointer, pitch, 0x1234, 3, 2))
    ok(c.memset_d2d32_async(pointer + 2 * pitch, pitch, 0xDEADBEEF, 5, 2))
    back = np.zeros((4, 64), np.uint8)
    ok(c.memcpy_2d(address(back), 64, pointer, pitch, 64, 4))
    ok(c.free(pointer))
    assert np.array_equal(back[:2].view(np.uint16)[:, :3], np.full((2, 3), 0x1234))
    assert np.array_equal(back[2:].view(np.uint32)[:, :5], np.full((2, 5), 0xDEADBEEF))
    assert not back[:2, 6:].any()
    assert not back[2:, 20:].any()


def test_a_pitch_shorter_than_a_row_is_refused(c):
    pointer, pitch = ok(c.malloc_pitch(64, 4))
    rows = np.zeros((4, 64), np.uint8)
    assert c.memcpy_2d(pointer, 32, address(rows), 64, 64, 4) == "cudaErrorInvalidPitchValue"
    assert c.memcpy_2d(pointer, pitch, address(rows), 63, 64, 4) == "cudaErrorInvalidPitchValue"
    ok(c.memcpy_2d(pointer, pitch, address(rows), 64, 64, 0))
    ok(c.memcpy_2d(pointer, pitch, address(rows), 64, 0, 4))
    ok(c.free(pointer))


def test_copies_beyond_the_memory_are_refused(c):
    pointer, pitch = ok(c.malloc_pitch(64, 4))
    rows = np.zeros((8, 64), np.uint8)
    assert c.memcpy_2d(pointer, pitch, address(rows), 64, 64, 8) == INVALID_VALUE
    assert c.memset_2d(pointer, pitch, 0, 64, 5) == INVALID_VALUE
    both = c.Side(pitched=(pointer, pitch, 64, 4))
    assert c.memcpy_3d(both, c.Side(), (64, 4, 1)) == INVALID_VALUE
    ok(c.free(pointer))


# ---- host memory that the program registers


def test_registered_memory_is_page_locked_until_it_is_not(c):
    array = np.zeros(1 << 16, np.uint8)
    at = address(array)
    assert c.pointer_get_attributes(at)[1] == 0
    ok(c.host_register(at, array.nbytes, 1))
    assert c.pointer_get_attributes(at)[1] == 1
    ok(c.host_get_device_pointer(at))
    assert c.host_register(at, array.nbytes) == "cudaErrorHostMemoryAlreadyRegistered"
    assert c.free_host(at) == INVALID_VALUE
    ok(c.host_unregister(at))
    assert c.pointer_get_attributes(at)[1] == 0
    assert c.host_unregister(at) == "cudaErrorHostMemoryNotRegistered"
    assert c.host_register(at, 0) == INVALID_VALUE
    assert c.host_register(0, 64) == INVALID_VALUE
    assert c.host_register(at, 64, 0x100) == INVALID_VALUE


# ---- managed memory


def test_managed_memory_is_the_hosts_and_the_devices(c):
    pointer = ok(c.malloc_managed(4096))
    assert c.pointer_get_attributes(pointer)[1:] == (3, 0, pointer, pointer)
    ok(c.memset(pointer, 7, 4096))
    ok(c.device_synchronize())
    assert ctypes.string_at(pointer, 4096) == b"\x07" * 4096
    ok(c.free(pointer))
    assert c.malloc_managed(0) == (OK, 0)
    assert c.malloc_managed(64, 9)[0] == INVALID_VALUE


def test_advice_and_prefetches_are_remembered_by_range(c):
    read_mostly, preferred, accessed_by, last_prefetch = 1, 2, 3, 4
    size = 4 << 20
    pointer = ok(c.malloc_managed(size))

    def asked(attribute, offset=0, length=size, count=1):
        return ok(c.mem_range_get_attribute(pointer + offset, length, attribute, count))

    assert asked(read_mostly) == [0]
    assert asked(preferred) == [-2]
    assert asked(last_prefetch) == [-2]
    ok(c.mem_advise(pointer, size // 2, 1, (DEVICE, 0)))
    assert asked(read_mostly) == [0]
    assert asked(read_mostly, 0, size // 2) == [1]
    ok(c.mem_advise(pointer, size, 3, (HOST, 0)))
    assert asked(preferred) == [-1]
    ok(c.mem_advise(pointer, size, 4, (DEVICE, 0)))
    assert asked(preferred) == [-2]
    ok(c.mem_advise(pointer, size, 5, (DEVICE, 0)))
    assert asked(accessed_by, count=2) == [0, -2]
    ok(c.mem_prefetch_async(pointer, size, (DEVICE, 0)))
    assert asked(last_prefetch) == [0]
    ok(c.mem_prefetch_async(pointer, size // 2, (HOST, 0)))
    assert asked(last_prefetch) == [-2]
    ok(c.device_synchronize())
    assert c.mem_prefetch_async(pointer, size, (DEVICE, NO_DEVICE)) == "cudaErrorInvalidDevice"
    ok(c.free(pointer))


def test_only_managed_memory_is_prefetched(c):
    pointer = ok(c.malloc(4096))
    assert c.mem_prefetch_async(pointer, 4096, (DEVICE, 0)) == INVALID_VALUE
    assert c.mem_advise(pointer, 4096, 1, (DEVICE, 0)) == INVALID_VALUE
    ok(c.free(pointer))


# ---- pools


def test_a_pool_counts_its_memory(c):
    pool = ok(c.mem_pool_create(0))
    stream = ok(c.stream_create_with_priority())

    def value(attribute):
        return ok(c.mem_pool_get_attribute(pool, attribute))

    assert (value(RESERVED), value(USED), value(RELEASE_THRESHOLD)) == (0, 0, 0)
    ok(c.mem_pool_set_attribute(pool, RELEASE_THRESHOLD, 1 << 40))
    first, second = (ok(c.malloc_from_pool_async(1 << 20, pool, stream)) for _ in range(2))
    assert value(USED) == value(USED_HIGH) == 2 << 20
    assert value(RESERVED) >= 2 << 20
    for pointer in (first, second):
        ok(c.free_async(pointer, stream))
    ok(c.stream_synchronize(stream))
    assert value(USED) == 0
    assert value(USED_HIGH) == 2 << 20
    assert value(RESERVED) == value(RESERVED_HIGH) >= 2 << 20
    ok(c.mem_pool_set_attribute(pool, USED_HIGH, 0))
    assert value(USED_HIGH) == 0
    assert c.mem_pool_set_attribute(pool, USED_HIGH, 1) == INVALID_VALUE
    assert c.mem_pool_set_attribute(pool, USED, 0) == INVALID_VALUE
    ok(c.mem_pool_trim_to(pool, 0))
    assert value(RESERVED) == 0
    ok(c.stream_destroy(stream))
    ok(c.mem_pool_destroy(pool))


def test_a_pool_made_after_another_was_destroyed_is_as_new(c):
    first = ok(c.mem_pool_create(0))
    ok(c.mem_pool_set_attribute(first, RELEASE_THRESHOLD, 1 << 40))
    ok(c.mem_pool_set_attribute(first, 1, 0))  # reuse_follow_event_dependencies
    pointer = ok(c.malloc_from_pool_async(1 << 20, first))
    ok(c.free_async(pointer))
    ok(c.device_synchronize())
    ok(c.mem_pool_destroy(first))

    pool = ok(c.mem_pool_create(0))

    found = [ok(c.mem_pool_get_attribute(pool, i)) for i in (1, 2, 3, RELEASE_THRESHOLD)]
    assert found == [1, 1, 1, 0]
    held = [ok(c.mem_pool_get_attribute(pool, i)) for i in (RESERVED, RESERVED_HIGH, USED, USED_HIGH)]
    assert held == [0, 0, 0, 0]
    ok(c.mem_pool_destroy(pool))


def test_a_synchronisation_gives_back_memory_above_the_threshold(c):
    pool = ok(c.mem_pool_create(0))
    stream = ok(c.stream_create_with_priority())
    pointer = ok(c.malloc_from_pool_async(1 << 20, pool, stream))
    ok(c.free_async(pointer, stream))
    ok(c.stream_synchronize(stream))
    assert ok(c.mem_pool_get_attribute(pool, RESERVED)) == 0
    ok(c.stream_destroy(stream))
    ok(c.mem_pool_destroy(pool))


def test_a_pool_has_a_limit(c):
    pool = ok(c.mem_pool_create(0, 64 << 20))
    pointer = ok(c.malloc_from_pool_async(48 << 20, pool))
    assert c.malloc_from_pool_async(48 << 20, pool)[0] == "cudaErrorMemoryAllocation"
    ok(c.free_async(pointer))
    pointer = ok(c.malloc_from_pool_async(40 << 20, pool))
    ok(c.free_async(pointer))
    ok(c.device_synchronize())
    ok(c.mem_pool_destroy(pool))


def test_the_current_pool_of_a_device_can_be_set(c):
    default = ok(c.device_get_default_mem_pool(0))
    assert ok(c.device_get_mem_pool(0)) == default
    pool = ok(c.mem_pool_create(0))
    ok(c.device_set_mem_pool(0, pool))
    assert ok(c.device_get_mem_pool(0)) == pool
    pointer = ok(c.malloc_async(1000))
    assert ok(c.mem_pool_get_attribute(pool, USED)) >= 1000
    ok(c.free_async(pointer))
    ok(c.mem_pool_destroy(pool))
    assert ok(c.device_get_mem_pool(0)) == default
    assert c.mem_pool_destroy(default) == INVALID_VALUE
    assert c.device_get_default_mem_pool(NO_DEVICE)[0] == "cudaErrorInvalidDevice"


def test_access_to_a_pool_can_be_given_and_read(c):
    pool = ok(c.mem_pool_create(0))
    assert ok(c.mem_pool_get_access(pool, 0)) == 3
    ok(c.mem_pool_set_access(pool, [(0, 3)]))
    ok(c.mem_pool_set_access(pool, []))
    assert c.mem_pool_set_access(pool, [(0, 0)]) == "cudaErrorInvalidDevice"
    assert c.mem_pool_set_access(pool, [(NO_DEVICE, 3)]) in (INVALID_VALUE, "cudaErrorInvalidDevice")
    ok(c.mem_pool_destroy(pool))


# ---- batches, peers


@pytest.mark.no_initcheck("it does not see the writes of a batch of copies")
def test_a_batch_of_copies_copies_each_range(c):
    stream = ok(c.stream_create_with_priority(1))
    sources = [np.full(100 + i, i, np.uint8) for i in range(9)]
    pointers = [ok(c.malloc(a.nbytes)) for a in sources]
    sizes = [a.nbytes for a in sources]
    ok(c.memcpy_batch_async(pointers, [address(a) for a in sources], sizes, 2, stream))
    ok(c.stream_synchronize(stream))
    for pointer, source in zip(pointers, sources, strict=True):
        back = np.zeros_like(source)
        ok(c.memcpy(address(back), pointer, back.nbytes))
        assert np.array_equal(back, source)
        ok(c.free(pointer))
    ok(c.stream_destroy(stream))


def test_peer_copies_within_a_device_are_copies(c):
    source = np.arange(256, dtype=np.uint8)
    a, b = ok(c.malloc(256)), ok(c.malloc(256))
    ok(c.memcpy(a, address(source), 256))
    ok(c.memcpy_peer(b, 0, a, 0, 256))
    back = np.zeros_like(source)
    ok(c.memcpy(address(back), b, 256))
    assert np.array_equal(back, source)
    assert c.memcpy_peer(b, NO_DEVICE, a, 0, 256) == "cudaErrorInvalidDevice"
    for pointer in (a, b):
        ok(c.free(pointer))


# ---- arrays


@pytest.mark.parametrize("sizes", [(10, 0, 0), (10, 6, 0), (10, 6, 4)])
def test_copies_to_an_array_and_back(c, sizes):
    width, height, depth = (max(1, n) for n in sizes)
    source = np.arange(width * height * depth, dtype=np.float32).reshape(depth, height, width)
    array = ok(c.malloc_3d_array(FLOAT1, sizes))
    assert ok(c.array_get_info(array)) == (FLOAT1, sizes, 0)
    host = c.Side(pitched=(address(source), 4 * width, 4 * width, height))
    ok(c.memcpy_3d(c.Side(array=array), host, (width, height, depth)))
    back = np.zeros_like(source)
    out = c.Side(pitched=(address(back), 4 * width, 4 * width, height))
    ok(c.memcpy_3d(out, c.Side(array=array), (width, height, depth)))
    assert np.array_equal(back, source)
    too_large = c.memcpy_3d(c.Side(array=array), host, (width + 1, height, depth))
    assert too_large == INVALID_VALUE
    ok(c.free_array(array))


def test_wrong_arrays_are_refused(c):
    assert c.malloc_array((24, 0, 0, 0, 0), 8)[0] != OK
    assert c.malloc_array(FLOAT1, 0)[0] != OK
    array = ok(c.malloc_array(FLOAT1, 8))
    assert c.create_surface_object({"type": 0})[0] != OK
    assert c.free(array) == INVALID_VALUE
    ok(c.free_array(array))
    ok(c.free_array(0))


def test_no_two_kinds_of_memory_overlap(c):
    made = [
        ok(c.malloc(1000)),
        ok(c.malloc_async(1000)),
        ok(c.malloc_pitch(1000, 2))[0],
        ok(c.malloc_managed(1000)),
    ]
    for a, b in itertools.combinations(made, 2):
        assert abs(a - b) >= 512
    for pointer in made:
        ok(c.free(pointer))
