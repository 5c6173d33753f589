"""Memory of every kind, as a program uses it: pitched, plain, managed, mapped, registered, pooled, of modules."""

from __future__ import annotations

import gc
import itertools
import os

import numpy as np
import pytest

import cuscope as cs
from support import in_threads, module, pinned, second, spin

SCALE = float(os.environ.get("CUSCOPE_TEST_SCALE", "1"))
SOURCE = """
__constant__ float weights[4];
__device__ int counter;
__global__ void weigh(float* x) { x[threadIdx.x] *= weights[threadIdx.x]; atomicAdd(&counter, 1); }
__global__ void add_pitched(float* x, long long pitch, int width, int height) {
    int col = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y;
    if (col < width && row < height) ((float*)((char*)x + row * pitch))[col] += row;
}
__global__ void twice(int* x, int n) { int i = threadIdx.x; if (i < n) x[i] *= 2; }
"""


# ---- pitched and plain


@pytest.mark.parametrize("shape", [(5, 30), (3, 4, 7), (1, 1), (2, 1, 200)])
def test_pitched_arrays(device, shape):
    host = np.arange(np.prod(shape), dtype=np.float32).reshape(shape)
    x = cs.empty_pitched(shape)

    assert x.shape == shape
    assert x.pitch >= 4 * shape[-1]
    assert x.pitch % 32 == 0
    assert x.nbytes == host.nbytes
    x.copy_from(host)
    assert np.array_equal(x.to_host(), host)
    assert np.array_equal(x.copy().to_host(), host)
    x[..., -1].fill(-1)
    host[..., -1] = -1
    assert np.array_equal(x.to_host(), host)


def test_kernels_use_the_pitch(device):
    x = cs.empty_pitched((6, 100))
    x.fill(1)
    module(device, SOURCE).add_pitched[(1, 6), 128](x, x.pitch, 100, 6)
    assert np.array_equal(x.to_host(), np.ones((6, 100)) + np.arange(6)[:, None])


def test_pitched_arrays_have_rows(device):
    for shape in (5, (1, 2, 3, 4)):
        with pytest.raises(ValueError, match="2 or 3"):
            cs.empty_pitched(shape)
    assert cs.empty_pitched((0, 4)).to_host().shape == (0, 4)


@pytest.mark.counts_memory
def test_plain_memory_is_of_no_pool(device, settled):
    pool = device.memory_pool
    settled()
    before = pool.statistics.used
    x = cs.empty_plain(64 << 20, np.uint8)  # more than what the driver keeps in one piece
    assert pool.statistics.used == before
    x.fill(3)
    assert x.to_host().sum() == 3 * (64 << 20)
    free = device.memory_info().free
    x.close()
    settled()
    assert device.memory_info().free > free


# ---- managed and mapped


@pytest.mark.no_initcheck("it does not let the host have managed memory")
def test_managed_memory_is_shared_by_host_and_device(device):
    x = cs.empty_managed(64, np.int32)
    h = x.host_view()
    h[:] = np.arange(64)
    x.prefetch()
    module(device, SOURCE).twice[1, 64](x, 64)
    x.prefetch("host")
    cs.synchronize()
    assert h.tolist() == (2 * np.arange(64)).tolist()
    x.advise("preferred_location", "host")
    x.advise("accessed_by")
    found = x.range_attributes
    assert found["preferred_location"] == "host"
    assert found["accessed_by"] == [device.name]
    assert found["last_prefetch_location"] == "host"
    assert cs.pointer_attributes(x).type == "managed"
    x.close()
    assert h[1] == 2  # the view keeps the memory


def test_every_advice_is_read_back_and_unset(device):
    x = cs.empty_managed((4, 1 << 18), np.float32)
    assert x.range_attributes == {
        "read_mostly": False,
        "preferred_location": None,
        "accessed_by": [],
        "last_prefetch_location": None,
    }
    for advice, attribute, value, none in (
        ("read_mostly", "read_mostly", True, False),
        ("preferred_location", "preferred_location", device.name, None),
        ("accessed_by", "accessed_by", [device.name], []),
    ):
        x.advise(advice)
        assert x.range_attributes[attribute] == value
        x.advise(f"unset_{advice}")
        assert x.range_attributes[attribute] == none
    x[1].advise("read_mostly")
    assert x[1].range_attributes["read_mostly"] is True
    assert x.range_attributes["read_mostly"] is False  # only a part of x has the advice
    x[0].prefetch()
    cs.synchronize()
    assert x[0].range_attributes["last_prefetch_location"] == device.name
    assert x.range_attributes["last_prefetch_location"] is None


@pytest.mark.no_initcheck("it does not let the host have managed memory")
def test_the_host_sees_writes_of_kernels_to_managed_memory(device):
    """Host and device write in turn, without a copy, in the order of the stream."""
    x = cs.empty_managed(64, np.int32)
    h = x.host_view()
    h[:] = 1
    kernel = module(device, SOURCE).twice
    for turn in range(1, 5):
        kernel[1, 64](x, 64)
        cs.synchronize()
        assert (h == 2 * turn).all()
        h[:] = turn + 1
    assert x.to_host().sum() == 64 * 5


def test_advice_and_prefetch_need_managed_memory(device):
    x = cs.zeros(4)
    for use in (x.prefetch, lambda: x.advise("read_mostly"), lambda: x.range_attributes):
        with pytest.raises(ValueError, match="empty_managed"):
            use()
    with pytest.raises(TypeError, match="to_host"):
        x.host_view()
    managed = cs.empty_managed(4)
    with pytest.raises(ValueError, match="preferred_location"):
        managed.advise("mostly")
    with pytest.raises(TypeError, match="host"):
        managed.prefetch("cpu")


@pytest.mark.parametrize("flags", [{}, {"portable": True}, {"write_combined": True}, {"mapped": True}])
def test_the_device_view_of_page_locked_memory(device, flags):
    h = cs.pinned_empty((4, 16), np.int32, **flags)
    h[:] = 1
    d = cs.device_view(h[1])
    module(device, SOURCE).twice[1, 16](d, 16)
    cs.synchronize()
    assert h.sum(axis=1).tolist() == [16, 32, 16, 16]
    assert np.array_equal(d.host_view(), h[1])
    with pytest.raises(TypeError, match="register"):
        cs.device_view(np.zeros(3, np.int32))


def test_the_device_view_keeps_the_memory(device):
    d = cs.device_view(cs.pinned_empty(16, np.int32, mapped=True))
    gc.collect()
    d.fill(4)
    assert d.to_host().sum() == 64


# ---- registered


def test_registered_arrays_are_copied_asynchronously(device):
    a = np.arange(100000, dtype=np.int32)
    with cs.register(a) as registration:
        assert cs.pointer_attributes(a).type == "host"
        stream, flag = cs.Stream(), pinned()
        stream.wait_value(flag, 1)
        x = cs.to_device(a, stream=stream)
        assert not stream.query()  # asynchronous, as page-locked memory is
        flag[0] = 1
        assert registration.array is a
    assert registration.closed
    assert cs.pointer_attributes(a).type == "unregistered"
    assert np.array_equal(x.to_host(stream=stream), a)
    registration.close()


def test_a_registration_ends_when_it_is_closed(device):
    a = np.ones(16, np.int32)
    registration = cs.register(a, mapped=True)
    module(device, SOURCE).twice[1, 16](registration.device_view(), 16)
    cs.synchronize()
    assert a.sum() == 32
    with pytest.raises(cs.CudaError) as caught:
        cs.register(a)
    assert caught.value.name == "cudaErrorHostMemoryAlreadyRegistered"
    del registration, caught
    gc.collect()
    device.synchronize()
    cs.register(a).close()


def test_arrays_that_cannot_be_registered_are_refused(device):
    with pytest.raises(TypeError, match="NumPy"):
        cs.register([1, 2])
    with pytest.raises(ValueError, match="no elements"):
        cs.register(np.zeros(0))
    with pytest.raises(ValueError, match="read_only"):
        cs.register(np.broadcast_to(np.float32(1), 5))
    registration = cs.register(np.zeros(8))
    registration.close()
    with pytest.raises(ValueError, match="closed"):
        registration.device_view()


# ---- pools


def test_arrays_come_from_the_current_pool(device, settled):
    pool = cs.MemoryPool(release_threshold=1 << 30)
    assert not pool.is_default
    default = device.memory_pool
    assert default.is_default
    device.memory_pool = pool
    try:
        assert device.memory_pool == pool != default
        x = cs.zeros(1 << 18)
        assert pool.statistics.used >= x.nbytes
        del x
        settled()
        assert pool.statistics.used == 0
        assert pool.statistics.used_high >= 1 << 20
        assert pool.statistics.reserved >= 1 << 20
        pool.trim()
        assert pool.statistics.reserved == 0
        pool.reset_high()
        assert pool.statistics.used_high == 0
    finally:
        device.memory_pool = None
    assert device.memory_pool == default


def test_a_pool_does_not_exceed_its_limit(device):
    pool = cs.MemoryPool(limit=64 << 20)
    x = pool.empty(48 << 20, np.uint8)
    with pytest.raises(cs.OutOfMemoryError):
        pool.empty(48 << 20, np.uint8)
    x.close()
    pool.empty(48 << 20, np.uint8).fill(1)
    assert pool.limit == 64 << 20


@pytest.mark.parametrize("other", [np.int32, np.float16, np.uint8, np.dtype(">f4")])
@pytest.mark.parametrize("side", ["host", "device"])
def test_a_batch_does_not_copy_the_bits_of_another_dtype(device, other, side):
    x = cs.full(4, 1, np.float32)
    y = np.full(16 // np.dtype(other).itemsize, 5, other)
    if side == "device":
        if not y.dtype.isnative:
            pytest.skip("device arrays have the order of the processor")
        y = cs.to_device(y)
    z = cs.zeros(4)
    for pair in ((x, y), (y, x)):
        with pytest.raises(
            TypeError, match=r"copies: copy 1 is of dtype .*float32.*astype|copies: copy 1 .*to float32"
        ):
            cs.copy_batch([(z, x), pair])
    cs.synchronize()

    assert x.to_host().tolist() == [1] * 4
    assert z.to_host().tolist() == [0] * 4
    assert (np.asarray(y if side == "host" else y.to_host()) == 5).all()
    cs.copy_batch([(x, np.full((2, 2), 3, np.float32))])
    cs.synchronize()
    assert x.to_host().tolist() == [3] * 4


def test_the_default_pool_cannot_be_closed(device):
    default = device.memory_pool
    with pytest.raises(ValueError, match=f"default pool of {device.name} cannot be closed"):
        default.close()

    assert not default.closed
    assert default.empty(4).size == 4


def test_an_array_outlives_its_pool(device):
    pool = cs.MemoryPool()
    x = pool.empty(1000)
    pool.close()
    gc.collect()
    x.fill(2)
    assert x.to_host().sum() == 2000
    with pytest.raises(ValueError, match="closed"):
        pool.empty(1)
    pool.close()


def test_wrong_arguments_of_pools_are_refused(device):
    with pytest.raises(ValueError, match="limit"):
        cs.MemoryPool(limit=0)
    with pytest.raises(ValueError, match="negative"):
        cs.MemoryPool(release_threshold=-1)
    with pytest.raises(TypeError, match="MemoryPool"):
        device.memory_pool = 3


def test_memory_is_freed_after_every_stream_that_used_it(device):
    """If the memory were freed too early, another array would get it and its fill would show."""
    pool = cs.MemoryPool(release_threshold=1 << 40)
    first, second = cs.Stream(non_blocking=True), cs.Stream(non_blocking=True)
    x = pool.empty(1 << 16, np.int32, stream=first)
    x.fill(1, stream=first)
    out = cs.pinned_empty(1 << 16, np.int32)
    second.wait(first)
    spin(device, 10e-3, second)
    x.copy_to(out, stream=second)
    del x
    y = pool.empty(1 << 16, np.int32, stream=first)
    y.fill(2, stream=first)
    cs.synchronize()
    assert out.sum() == 1 << 16


def test_many_allocations_on_many_streams_lose_nothing(device, settled):
    """10^5 allocations and frees, 16 streams, 8 threads."""
    pool = cs.MemoryPool(release_threshold=1 << 40)
    streams = [cs.Stream(non_blocking=True) for _ in range(16)]
    threads, each = 8, max(200, round(12500 * SCALE))
    allocated, kept = [0] * threads, [[] for _ in range(threads)]

    def work(index: int) -> None:
        rng = np.random.default_rng(index)
        with device:
            for i, size in enumerate(rng.integers(1, 64, each) * 1024):
                x = pool.empty(int(size), np.uint8, stream=streams[(index + i) % 16])
                allocated[index] += x.nbytes
                kept[index].append(x)
                if i % 3 == 0:
                    x.fill(index, stream=streams[(index + i * 5) % 16])
                if len(kept[index]) > 20:
                    del kept[index][int(rng.integers(len(kept[index])))]
            statistics = pool.statistics
            assert statistics.used <= statistics.used_high
            assert statistics.reserved <= statistics.reserved_high

    assert not in_threads(threads, work, timeout=85)
    settled()
    # The arrays that are still alive, to the byte; a GPU rounds sizes up.
    alive = sum(x.nbytes for arrays in kept for x in arrays)
    statistics = pool.statistics
    assert alive <= statistics.used <= (alive if device.simulated else 2 * alive)
    assert statistics.used_high <= statistics.reserved_high <= sum(allocated) + (64 << 20)
    spans = sorted((x.pointer, x.pointer + x.nbytes) for arrays in kept for x in arrays)
    assert all(end <= start for (_, end), (start, _) in itertools.pairwise(spans))
    for arrays in kept:
        arrays.clear()
    settled()
    statistics = pool.statistics
    assert statistics.used == 0
    pool.trim()
    assert pool.statistics.reserved == 0


def test_a_pool_keeps_as_much_as_its_threshold(device, settled):
    pool = cs.MemoryPool()
    assert pool.release_threshold == 0
    arrays = [pool.empty(32 << 20, np.uint8) for _ in range(3)]
    del arrays
    settled()
    assert pool.statistics.reserved == 0

    pool.release_threshold = 1 << 40
    arrays = [pool.empty(32 << 20, np.uint8) for _ in range(3)]
    del arrays
    settled()
    assert pool.statistics.reserved >= 96 << 20
    pool.trim(40 << 20)
    assert pool.statistics.reserved <= 96 << 20
    x = pool.empty(32 << 20, np.uint8)
    pool.trim()
    assert pool.statistics.reserved >= pool.statistics.used >= x.nbytes  # memory in use stays
    x.fill(1)
    assert x[-1:].to_host().item() == 1


# ---- modules, batches, addresses


def test_symbols_are_arrays_over_variables(device):
    mod = cs.Module(SOURCE, device=device)
    weights = mod.symbol("weights", np.float32)
    assert weights.shape == (4,)
    assert weights.nbytes == 16
    weights.copy_from(np.array([1, 2, 3, 4], np.float32))
    counter = mod.symbol("counter", np.int32, ())
    counter.fill(0)
    x = cs.full(4, 10, np.float32)
    mod.weigh[1, 4](x)
    assert x.to_host().tolist() == [10, 20, 30, 40]
    assert counter.to_host() == 4
    assert weights[1:3].to_host().tolist() == [2, 3]
    with pytest.raises(KeyError, match="nothing"):
        mod.symbol("nothing")
    with pytest.raises(ValueError, match="16"):
        mod.symbol("weights", np.float32, (5,))
    with pytest.raises(ValueError, match="4 bytes"):
        mod.symbol("counter", np.float64)
    del mod
    gc.collect()
    assert weights.to_host().tolist() == [1, 2, 3, 4]


@pytest.mark.parametrize("own_stream", [True, False])
@pytest.mark.no_initcheck("it does not see the writes of a batch of copies")
def test_batches_make_every_copy(device, own_stream):
    sources = [np.full(10 + i, i, np.float32) for i in range(20)]
    locked = cs.pinned_empty(30, np.float32)
    locked[:] = 5
    arrays = [cs.empty_like(source) for source in sources]
    last = cs.empty(30)
    back = np.zeros(19, np.float32)
    stream = cs.Stream() if own_stream else device.default_stream

    cs.copy_batch([*zip(arrays, sources, strict=True), (last, locked)], stream=stream)
    for source in sources:
        source[:] = -1  # the batch has already read it
    stream.synchronize()
    cs.copy_batch([(back, arrays[9])], stream=stream)

    assert [a.to_host()[0] for a in arrays] == list(range(20))
    assert last.to_host().sum() == 150
    assert back.tolist() == [9] * 19
    cs.copy_batch([], stream=stream)
    with pytest.raises(ValueError, match="bytes"):
        cs.copy_batch([(last, sources[0])])
    with pytest.raises(TypeError, match="pairs"):
        cs.copy_batch([last])


@pytest.mark.parametrize(
    ("make", "type_"),
    [
        (cs.empty, "device"),
        (cs.empty_plain, "device"),
        (lambda n: cs.empty_pitched((1, n)), "device"),
        (cs.empty_managed, "managed"),
        (lambda n: cs.device_view(cs.pinned_empty(n, mapped=True)), "host"),
        (cs.pinned_empty, "host"),
        (np.empty, "unregistered"),
    ],
)
def test_the_kind_of_memory_is_known_by_its_address(device, make, type_):
    assert cs.pointer_attributes(make(100)).type == type_


def test_addresses_have_type_and_device(device):
    x = cs.zeros(4)
    found = cs.pointer_attributes(x)
    assert (found.type, found.device, found.device_pointer) == ("device", device.name, x.pointer)
    assert cs.pointer_attributes(x.pointer).type == "device"
    assert cs.pointer_attributes(np.zeros(3)).type == "unregistered"
    with pytest.raises(TypeError):
        cs.pointer_attributes("x")


def test_copies_between_devices_go_both_ways(device):
    other = second(device)
    host = np.arange(600, dtype=np.int32).reshape(20, 30)
    x = cs.to_device(host)
    with other:
        y = cs.empty((20, 30), np.int32)
        device.synchronize()
        y.copy_from(x)
        assert np.array_equal(y.to_host(), host)
        part = cs.empty((10, 10), np.int32)
        part.copy_from(x[::2, ::3])
        assert np.array_equal(part.to_host(), host[::2, ::3])


@pytest.mark.parametrize("make", [cs.empty, cs.empty_plain, lambda n, t: cs.MemoryPool().empty(n, t)])
def test_copies_between_devices_need_no_access_of_kernels(device, make):
    other = second(device)
    host = np.arange(64, dtype=np.int32)
    here = make(64, np.int32)
    here.copy_from(host)
    device.synchronize()
    with other:
        there, late = make(64, np.int32), make(64, np.int32)
        there.copy_from(here)  # in a stream of the target's device
        late.copy_from(there)
        other.synchronize()
    here.fill(0)
    here.copy_from(late)  # in a stream of the source's device
    assert np.array_equal(here.to_host(), host)
    with pytest.raises(ValueError, match="enable_peer_access"):
        module(device, SOURCE).twice[1, 64](late, 64)


def test_copies_between_devices_reach_pools_that_are_made_later_and_after_peer_access_is_taken_back(device):
    other = second(device)
    if not device.can_access_peer(other):
        pytest.skip("the GPUs are no peers")
    host = np.arange(64, dtype=np.int32)
    with other:
        x = cs.to_device(host)
        other.synchronize()
    device.enable_peer_access(other)
    device.disable_peer_access(other)
    here = cs.empty(64, np.int32)
    here.copy_from(x)
    assert np.array_equal(here.to_host(), host)
    with other:
        y = cs.MemoryPool().empty(64, np.int32)
        y.copy_from(x)
        other.synchronize()
    here.fill(0)
    cs.copy_batch([(here, y)])
    assert np.array_equal(here.to_host(), host)


@pytest.mark.host_only("a real link takes its own time")
def test_a_copy_between_simulated_devices_takes_as_long_as_over_their_link(device):
    other = second(device)
    x = cs.zeros(1 << 24, np.int32)
    with other:
        y = cs.empty(1 << 24, np.int32)
    other.synchronize()
    begin, end = cs.Event(), cs.Event()
    begin.record()
    y.copy_from(x, stream=device.default_stream)
    end.record()
    end.synchronize()
    assert x.nbytes / (end - begin) / 1e6 == pytest.approx(394, rel=0.1)


@pytest.mark.parametrize("make", [cs.empty, cs.empty_plain, lambda n, t: cs.MemoryPool().empty(n, t)])
def test_kernels_use_a_peers_memory_once_they_may(device, make):
    other = second(device)
    if not device.can_access_peer(other):
        pytest.skip("the GPUs are no peers")
    kernel = module(device, SOURCE).twice
    with other:
        x = make(16, np.int32)
        x.fill(21)
    other.synchronize()
    with pytest.raises(ValueError, match="enable_peer_access"):
        kernel[1, 16](x, 16)
    device.enable_peer_access(other)
    try:
        with other:
            late = make(16, np.int32)
            late.fill(4)
        other.synchronize()
        kernel[1, 16](x, 16)
        kernel[1, 16](late, 16)
        device.synchronize()
        assert (x.to_host(stream=other.default_stream) == 42).all()
        assert (late.to_host(stream=other.default_stream) == 8).all()
        with pytest.raises(cs.CudaError) as caught:
            device.enable_peer_access(other)
        assert caught.value.name == "cudaErrorPeerAccessAlreadyEnabled"
        kernel[1, 16](x, 16)
        del x, late  # freed after the kernel of the other device
    finally:
        device.synchronize()
        device.disable_peer_access(other)


def test_managed_memory_is_every_devices(device):
    other = second(device)
    x = cs.empty_managed(16, np.int32)
    x.host_view()[:] = 5
    with other:
        module(other, SOURCE).twice[1, 16](x, 16)
        other.synchronize()
    assert (x.host_view() == 10).all()
