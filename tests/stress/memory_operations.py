"""Operations on arrays, pools, page-locked memory and CUDA arrays."""

from __future__ import annotations

import numpy as np
from table import operation, read_all
from workers import LENGTH, Worker

import cuscope as cs


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
    """An array that only this thread uses comes back with the same elements."""
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


@operation("MipmappedArray*")
def use_mipmapped_arrays(w: Worker) -> None:
    made = w.pick("mipmapped")
    read_all(made)
    first, last = made.level(0), made.level(made.levels - 1)
    first.copy_from(w.array, stream=w.stream)
    texture = cs.Texture(made, normalized_coordinates=True)
    if w.random.random() < 0.3:
        w.replace("mipmapped", cs.MipmappedArray(LENGTH, np.int32, surface=True)).close()
    last.to_host(stream=w.own.streams[2])
    cs.Surface(first).close()
    texture.close()


@operation("TensorMap*")
def describe_tiles(w: Worker) -> None:
    if w.device.compute_capability < (9, 0):
        return
    x = cs.zeros((8, 64), np.float32, stream=w.stream)
    tiles = cs.TensorMap(x, box=(4, 16), swizzle=w.random.choice(["none", "64B", "128B"]))
    x.close()
    read_all(tiles)
    repr(tiles)
    tiles.close()
    assert tiles.closed


@operation("asarray", "from_dlpack")
def hand_arrays_over(w: Worker) -> None:
    x = w.array
    cs.asarray(x)
    shared = cs.from_dlpack(x.__dlpack__(stream=-1))
    shared.fill(1, stream=w.stream)
    del x, shared
