"""Copies and fills of memory of every kind, in all directions, in programs of random steps, against NumPy."""

from __future__ import annotations

import os

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import cuscope as cs
from support import spin

SCALE = float(os.environ.get("CUSCOPE_TEST_SCALE", "1"))
COMMON = {
    "deadline": None,
    "derandomize": True,
    "suppress_health_check": [HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
}
MANY = settings(max_examples=max(10, round(150 * SCALE)), **COMMON)
FEW = settings(max_examples=max(5, round(30 * SCALE)), **COMMON)
DTYPES = [np.int8, np.uint16, np.float32, np.float64, np.complex128, np.dtype([("a", "u1"), ("b", "<i2")])]


def filled(shape, dtype, seed: int) -> np.ndarray:
    count = int(np.prod(shape)) * np.dtype(dtype).itemsize
    return np.random.default_rng(seed).integers(0, 250, count, np.uint8).view(dtype).reshape(shape)


def equal(a: np.ndarray, b: np.ndarray) -> bool:
    return a.shape == b.shape and a.dtype == b.dtype and a.tobytes() == b.tobytes()


def mapped(shape, dtype) -> cs.DeviceArray:
    return cs.device_view(cs.pinned_empty(shape, dtype, mapped=True))


def registered(shape, dtype) -> cs.DeviceArray:
    """An array in pages of its own, which no other registration has."""
    page, size = 4096, int(np.prod(shape)) * np.dtype(dtype).itemsize
    memory = np.empty((size + page - 1) // page * page + page, np.uint8)
    pages = memory[-memory.ctypes.data % page :][: memory.size - page]
    registration = cs.register(pages, mapped=True)
    seen = cs.device_view(pages[:size].view(dtype).reshape(shape))
    del registration  # the view keeps the registration
    return seen


ON_DEVICE = {
    "pooled": cs.empty,
    "plain": cs.empty_plain,
    "pitched": cs.empty_pitched,
    "managed": cs.empty_managed,
    "mapped": mapped,
    "registered": registered,
}
ON_HOST = {
    "pageable": np.empty,
    "pinned": cs.pinned_empty,
    "write-combined": lambda shape, dtype: cs.pinned_empty(shape, dtype, write_combined=True),
}


@st.composite
def programs(draw):
    """A shape and dtype, memory of two kinds, and steps between views of them that have one shape."""
    shape = draw(hnp.array_shapes(min_dims=2, max_dims=3, min_side=1, max_side=9))
    dtype = draw(st.sampled_from(DTYPES))
    steps = []
    for _ in range(draw(st.integers(1, 6))):
        index = draw(hnp.basic_indices(shape, allow_newaxis=False, allow_ellipsis=False))
        index = index if isinstance(index, tuple) else (index,)
        axes = draw(st.permutations(range(np.zeros(shape)[(*index, ...)].ndim)))
        what = draw(st.sampled_from(["fill", "in", "out", "across", "back", "whole"]))
        steps.append((what, (*index, ...), axes, draw(st.integers(0, 200))))
    kinds = draw(st.sampled_from(sorted(ON_DEVICE))), draw(st.sampled_from(sorted(ON_DEVICE)))
    return shape, dtype, kinds, draw(st.sampled_from(sorted(ON_HOST))), steps


@MANY
@given(program=programs())
def test_random_programs_of_copies_and_fills_match_numpy(device, program):
    shape, dtype, kinds, host_kind, steps = program
    arrays = [ON_DEVICE[kind](shape, dtype) for kind in kinds]
    mirrors = [filled(shape, dtype, seed) for seed in (1, 2)]
    host = ON_HOST[host_kind](shape, dtype)
    host[...] = filled(shape, dtype, 3)
    mirror = np.array(host)
    for x, m in zip(arrays, mirrors, strict=True):
        x.copy_from(m)
    (x, y), (mx, my) = arrays, mirrors
    for what, index, axes, value in steps:
        if what == "fill":
            element = (value, 3 * value) if np.dtype(dtype).names else min(value, 127)
            x[index].transpose(*axes).fill(element)
            mx[index] = np.array(element, dtype)
        elif what == "in":
            x[index].transpose(*axes).copy_from(host[index].transpose(axes))
            mx[index] = mirror[index]
        elif what == "out":
            x[index].transpose(*axes).copy_to(host[index].transpose(axes))
            mirror[index] = mx[index]
            cs.synchronize()  # the host is about to read and write copied memory
        elif what == "across":
            y[index].transpose(*axes).copy_from(x[index].transpose(*axes))
            my[index] = mx[index]
        elif what == "back":
            x[index].copy_from(y[index])
            mx[index] = my[index]
        else:
            y.copy_from(x)
            my[...] = mx
    cs.synchronize()

    assert equal(x.to_host(), mx)
    assert equal(y.to_host(), my)
    assert equal(np.array(host), mirror)


@MANY
@given(
    shape=hnp.array_shapes(min_dims=2, max_dims=3, min_side=1, max_side=40),
    dtype=st.sampled_from(DTYPES),
    value=st.integers(0, 120),
)
def test_pitched_rows_lie_where_the_pitch_says(device, shape, dtype, value):
    x = cs.empty_pitched(shape, dtype)
    host = filled(shape, dtype, value)
    x.copy_from(host)
    itemsize = np.dtype(dtype).itemsize

    rows = 1 if len(shape) == 2 else shape[-2]
    assert x.strides == ((x.pitch, itemsize) if len(shape) == 2 else (x.pitch * rows, x.pitch, itemsize))
    assert x.pitch >= shape[-1] * itemsize
    last = x[(-1,) * (len(shape) - 1)]
    assert last.pointer == x.pointer + x.pitch * (int(np.prod(shape[:-1])) - 1)
    assert equal(last.to_host(), host[(-1,) * (len(shape) - 1)])
    flat = x.reshape(-1)
    assert equal(flat.to_host(), host.ravel())
    last.fill((1, 2) if np.dtype(dtype).names else value)
    host[(-1,) * (len(shape) - 1)] = np.array((1, 2) if np.dtype(dtype).names else value, dtype)
    assert equal(x.to_host(), host)


@st.composite
def boxes(draw):
    """Two pitched volumes of bytes and a box that fits both, at a place in each."""
    extent = [draw(st.integers(1, 6)) for _ in range(3)]
    sizes, places = [], []
    for _ in range(2):
        place = [draw(st.integers(0, 3)) for _ in range(3)]
        sizes.append([e + p + draw(st.integers(0, 3)) for e, p in zip(extent, place, strict=True)])
        places.append(place)
    return extent, sizes, places, draw(st.sampled_from(["in", "out", "across", "array"]))


@MANY
@given(case=boxes())
def test_boxes_of_the_runtime_are_numpys(contract, case):
    """cudaMemcpy3D and cudaMemset3D: (width, height, depth) of bytes at positions."""
    extent, sizes, places, direction = case
    c = contract
    width, height, depth = extent

    def at(place):
        x, y, z = place
        return np.s_[z : z + depth, y : y + height, x : x + width]

    hosts = [filled(size[::-1], np.uint8, seed) for seed, size in enumerate(sizes)]

    def host_side(host, place=(0, 0, 0)):
        address = host.__array_interface__["data"][0]
        return c.Side(pitched=(address, host.shape[2], host.shape[2], host.shape[1]), position=tuple(place))

    devices, handles = [], []
    for host, size in zip(hosts, sizes, strict=True):
        if direction == "array":
            status, array = c.malloc_3d_array((8, 0, 0, 0, 1), tuple(size))
            assert status == "cudaSuccess"
            handles.append((c.free_array, array))
            devices.append(lambda place=(0, 0, 0), array=array: c.Side(array=array, position=tuple(place)))
        else:
            status, *pitched = c.malloc_3d(tuple(size))
            assert status == "cudaSuccess"
            handles.append((c.free, pitched[0]))
            devices.append(
                lambda place=(0, 0, 0), pitched=tuple(pitched): c.Side(pitched=pitched, position=tuple(place))
            )
        assert c.memcpy_3d(devices[-1](), host_side(host), tuple(size)) == "cudaSuccess"

    to, source = places
    want = [host.copy() for host in hosts]
    if direction == "in":
        fresh = filled(sizes[1][::-1], np.uint8, 9)
        assert c.memcpy_3d(devices[0](to), host_side(fresh, source), tuple(extent)) == "cudaSuccess"
        want[0][at(to)] = fresh[at(source)]
    elif direction == "out":
        out = filled(sizes[0][::-1], np.uint8, 9)
        copied = out.copy()
        assert c.memcpy_3d(host_side(out, to), devices[1](source), tuple(extent)) == "cudaSuccess"
        copied[at(to)] = hosts[1][at(source)]
        assert equal(out, copied)
    else:
        assert c.memcpy_3d(devices[0](to), devices[1](source), tuple(extent)) == "cudaSuccess"
        want[0][at(to)] = hosts[1][at(source)]
    for side, size, expected in zip(devices, sizes, want, strict=True):
        back = np.zeros(size[::-1], np.uint8)
        assert c.memcpy_3d(host_side(back), side(), tuple(size)) == "cudaSuccess"
        assert equal(back, expected)
    for free, handle in handles:
        assert free(handle) == "cudaSuccess"


@FEW
@given(
    sizes=st.lists(st.integers(1, 1 << 20), min_size=1, max_size=12),
    drops=st.randoms(use_true_random=False),
)
def test_a_pools_statistics_add_up(device, settled, sizes, drops):
    pool = cs.MemoryPool(release_threshold=1 << 40)
    kept: list[cs.DeviceArray] = []
    high = 0
    for size in sizes:
        kept.append(pool.empty(size, np.uint8))
        statistics = pool.statistics
        high = max(high, statistics.used)
        assert statistics.used >= sum(x.nbytes for x in kept)
        assert statistics.used_high == high
        assert statistics.used <= statistics.reserved <= statistics.reserved_high
        if drops.randrange(2):
            del kept[drops.randrange(len(kept))]
            device.synchronize()
    kept.clear()
    settled()
    assert pool.statistics.used == 0
    assert pool.statistics.used_high == high
    pool.trim()
    assert pool.statistics.reserved == 0


@pytest.mark.parametrize("kind", sorted(ON_DEVICE))
def test_memory_goes_when_the_streams_that_use_it_are_done(device, settled, kind):
    """Each array is dropped while two streams still use it; the next owner of its bytes must not change the results."""
    streams = [cs.Stream(non_blocking=True) for _ in range(2)]
    outs = [cs.pinned_empty((64, 256), np.int32) for _ in streams]
    for round_ in range(3):
        x = ON_DEVICE[kind]((64, 256), np.int32)
        x.fill(7)
        device.synchronize()
        for stream, out in zip(streams, outs, strict=True):
            out[:] = 0
            spin(device, 5e-3, stream)
            x.copy_to(out, stream=stream)
        x.close()
        others = [ON_DEVICE[kind]((64, 256), np.int32) for _ in range(3)]
        for other in others:
            other.fill(round_ + 100)
        device.synchronize()
        assert all((out == 7).all() for out in outs)
    assert all((other.to_host() == 102).all() for other in others)
