"""Tiles that cp.async.bulk.tensor copies, compared with NumPy."""

from __future__ import annotations

import functools

import numpy as np
import pytest

import cuscope as cs
from support import module
from tensor_tiles import (
    BARRIER,
    SPANS,
    bytes_in_shared_memory,
    expected_array,
    expected_tile,
    needs_tensor_maps,
    tile_kernels,
)

DTYPES = ("uint8", "int16", "float16", "float32", "int32", "float64", "uint64")


@pytest.fixture(autouse=True)
def skip_older_devices(device):
    needs_tensor_maps(device)


@functools.cache
def kernels(device: cs.Device, axes: int) -> cs.Module:
    mod = module(device, tile_kernels(axes))
    mod.load.max_dynamic_shared = mod.store.max_dynamic_shared = 128 << 10
    return mod


def load(device, made: cs.TensorMap, first, size: int | None = None) -> np.ndarray:
    """The shared memory of the tile, of which the load writes made.tile_bytes."""
    size = size or made.tile_bytes
    out = cs.empty(size, np.uint8)
    kernel = kernels(device, len(first)).load
    kernel[1, 32, None, size + BARRIER](made, *reversed(first), made.tile_bytes, size, out)
    return out.to_host()


def store(device, made: cs.TensorMap, first, tile: np.ndarray) -> None:
    kernel = kernels(device, len(first)).store
    kernel[1, 32, None, tile.nbytes](made, *reversed(first), tile.nbytes, cs.to_device(tile))


def drawn(rng: np.random.Generator, axes: int) -> dict:
    """A random array, box and position. The box may lie beyond every edge of the array."""
    dtype = np.dtype(rng.choice(DTYPES))
    swizzle = str(rng.choice(list(SPANS)))
    row = 16 // dtype.itemsize  # elements of 16 bytes
    box = [*rng.integers(1, 7, axes - 1), row * rng.integers(1, (SPANS[swizzle] // 16 or 6) + 1)]
    shape = [*rng.integers(1, 12, axes - 1), row * rng.integers(1, 9)]
    first = [rng.integers(-b, n + 1) for b, n in zip(box, shape, strict=True)]
    first[-1] = first[-1] // row * row  # hardware begins at multiples of 16 bytes only
    bits = rng.integers(0, 256, (*shape[:-1], shape[-1] * dtype.itemsize), np.uint8)
    host = bits.view(dtype) if dtype.kind != "f" else rng.standard_normal(shape).astype(dtype)
    return {"host": host, "box": tuple(map(int, box)), "first": tuple(map(int, first)), "swizzle": swizzle}


@pytest.mark.parametrize("axes", [1, 2, 3, 4, 5])
@pytest.mark.parametrize("seed", range(12))
def test_loaded_tile_is_numpys(device, axes, seed):
    case = drawn(np.random.default_rng([axes, seed]), axes)
    made = cs.TensorMap(cs.to_device(case["host"]), box=case["box"], swizzle=case["swizzle"])

    expected = expected_tile(**case)

    tile = load(device, made, case["first"], expected.size)

    np.testing.assert_array_equal(tile, expected)


@pytest.mark.parametrize("axes", [1, 2, 3, 4, 5])
@pytest.mark.parametrize("seed", range(6))
def test_stored_tile_changes_only_the_array_inside(device, axes, seed):
    rng = np.random.default_rng([axes, seed, 1])
    case = drawn(rng, axes)
    case["first"] = tuple(max(0, place) for place in case["first"])  # see test_mistakes.py
    x = cs.to_device(case["host"])
    made = cs.TensorMap(x, box=case["box"], swizzle=case["swizzle"])
    tile = rng.integers(0, 100, bytes_in_shared_memory(case["host"], case["box"], case["swizzle"]), np.uint8)

    store(device, made, case["first"], tile)

    np.testing.assert_array_equal(x.to_host(), expected_array(tile=tile, **case))


@pytest.mark.parametrize("first", [(0, 0), (-3, 12), (4, -4)])
def test_element_strides_take_every_nth_element(device, first):
    host = np.arange(20 * 16, dtype=np.float32).reshape(20, 16)
    made = cs.TensorMap(cs.to_device(host), box=(10, 8), element_strides=(3, 1))

    tile = load(device, made, first)

    np.testing.assert_array_equal(tile, expected_tile(host, (10, 8), first, steps=(3, 1)))


def test_tile_of_a_view_has_the_strides_of_the_view(device):
    host = np.arange(24 * 32, dtype=np.int16).reshape(24, 32)
    made = cs.TensorMap(cs.to_device(host)[1::3, 8:24], box=(4, 16))

    tile = load(device, made, (2, 0))

    np.testing.assert_array_equal(tile, expected_tile(host[1::3, 8:24], (4, 16), (2, 0)))


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_elements_outside_may_be_nan(device, dtype):
    host = np.ones((4, 8), dtype)
    made = cs.TensorMap(cs.to_device(host), box=(4, 8), oob_fill="nan")

    tile = load(device, made, (2, -8)).view(np.uint16)
    inside = load(device, made, (2, 0)).view(dtype).reshape(4, 8)

    assert (tile == 0x7FF7).all()
    assert (inside[:2] == 1).all()
    assert np.isnan(inside[2:]).all()


def test_map_may_lie_in_global_memory(device):
    mod = module(
        device,
        tile_kernels(2)
        + """
__global__ void load_from(const CUtensorMap* map, float* out) {
    __shared__ alignas(128) float tile[4][4];
    __shared__ alignas(8) unsigned long long barrier;
    if (threadIdx.x == 0) {
        asm volatile("fence.proxy.tensormap::generic.acquire.gpu [%0], 128;" ::"l"(map) : "memory");
        asm volatile("prefetch.tensormap [%0];" ::"l"(map) : "memory");
        init(at(&barrier), 1);
        expect(at(&barrier), sizeof tile);
        asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes.L2::cache_hint"
                     " [%0], [%1, {%2, %3}], [%4], %5;" ::"r"(at(tile)), "l"(map), "r"(4), "r"(1), "r"(at(&barrier)),
                     "l"(0x1000000000000000ull) : "memory");
    }
    __syncthreads();
    wait(at(&barrier), 0);
    out[threadIdx.x] = tile[threadIdx.x / 4][threadIdx.x % 4];
}""",
    )
    host = np.arange(64, dtype=np.float32).reshape(8, 8)
    made = cs.TensorMap(cs.to_device(host), box=(4, 4))
    out = cs.empty(16)

    mod.load_from[1, 16](cs.to_device(np.frombuffer(bytes(made), np.uint64)), out)

    np.testing.assert_array_equal(out.to_host().reshape(4, 4), host[1:5, 4:8])


# A ring of stages: a warp loads tiles, the other threads add them. Both sides wait for each other.
PIPELINE = """
__global__ void column_sums(const __grid_constant__ CUtensorMap map, int tiles, float* sums) {
    constexpr int stages = 3, rows = 8, columns = 32;
    __shared__ alignas(128) float tile[stages][rows][columns];
    __shared__ alignas(8) unsigned long long full[stages], empty[stages];
    const int column = threadIdx.x;
    if (threadIdx.x == 0) {
        for (int s = 0; s < stages; ++s) init(at(&full[s]), 1), init(at(&empty[s]), columns);
    }
    __syncthreads();
    if (threadIdx.x == columns) {
        for (int t = 0; t < tiles; ++t) {
            const int s = t % stages, round = t / stages;
            wait(at(&empty[s]), (round & 1) ^ 1);
            expect(at(&full[s]), sizeof tile[s]);
            asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], "
                         "[%1, {%2, %3}], [%4];" ::"r"(at(tile[s])), "l"(&map), "r"(int(blockIdx.x) * columns),
                         "r"(t * rows), "r"(at(&full[s])) : "memory");
        }
    } else if (threadIdx.x < columns) {
        float sum = 0;
        for (int t = 0; t < tiles; ++t) {
            const int s = t % stages, round = t / stages;
            wait(at(&full[s]), round & 1);
            for (int r = 0; r < rows; ++r) sum += tile[s][r][column];
            asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(at(&empty[s])) : "memory");
        }
        sums[blockIdx.x * columns + column] = sum;
    }
}"""


def test_pipeline_of_stages_sums_columns(device):
    host = np.random.default_rng(7).integers(0, 100, (100, 96)).astype(np.float32)
    sums = cs.empty(96)

    module(device, tile_kernels(2) + PIPELINE).column_sums[3, 64](
        cs.TensorMap(cs.to_device(host), box=(8, 32)), 13, sums
    )

    np.testing.assert_array_equal(sums.to_host(), host.sum(0))


MULTICAST = """
__global__ void __cluster_dims__(4, 1, 1) share(const __grid_constant__ CUtensorMap map, int* out) {
    __shared__ alignas(128) int tile[4][4][8];
    __shared__ alignas(8) unsigned long long barrier;
    unsigned rank;
    asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
    if (threadIdx.x == 0) {
        init(at(&barrier), 1);
        expect(at(&barrier), sizeof tile - sizeof tile[0]);
    }
    asm volatile("barrier.cluster.arrive.release.aligned;" ::: "memory");
    asm volatile("barrier.cluster.wait.acquire.aligned;" ::: "memory");
    // Each block loads the tile of its rank into all blocks but block 1, and block 1 loads into itself, too.
    const unsigned short mask = rank == 1 ? 15 : 13;
    if (threadIdx.x == 0 && rank != 0)
        asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster"
                     " [%0], [%1, {%2, %3}], [%4], %5;" ::"r"(at(tile[rank])), "l"(&map), "r"(0), "r"(int(rank) * 4),
                     "r"(at(&barrier)), "h"(mask) : "memory");
    if (rank != 1) wait(at(&barrier), 0);
    asm volatile("barrier.cluster.arrive.release.aligned;" ::: "memory");
    asm volatile("barrier.cluster.wait.acquire.aligned;" ::: "memory");
    if (rank != 1 && threadIdx.x < 32) {
        for (int t = 1; t < 4; ++t) out[(rank * 4 + t) * 32 + threadIdx.x] = tile[t][threadIdx.x / 8][threadIdx.x % 8];
    }
}"""


def test_multicast_writes_to_each_block_of_the_mask(device):
    host = np.arange(128, dtype=np.int32).reshape(16, 8)
    out = cs.zeros((4, 4, 4, 8), np.int32)

    module(device, tile_kernels(2) + MULTICAST).share[4, 32](
        cs.TensorMap(cs.to_device(host), box=(4, 8)), out
    )

    expected = np.zeros((4, 4, 4, 8), np.int32)
    expected[[0, 2, 3], 1:] = host.reshape(4, 4, 8)[1:]
    np.testing.assert_array_equal(out.to_host(), expected)


# As the CUDA C++ Programming Guide copies a tile: "Using TMA to transfer multi-dimensional arrays".
GUIDE = """
#include <cuda.h>
#include <cuda/barrier>
namespace cde = cuda::device::experimental;
using barrier = cuda::barrier<cuda::thread_scope_block>;
__global__ void add_one(const __grid_constant__ CUtensorMap map, const int* row) {
    __shared__ alignas(128) int tile[4][8];
    __shared__ alignas(16) int added[8];
#pragma nv_diag_suppress static_var_with_dynamic_init
    __shared__ barrier bar;
    if (threadIdx.x == 0) {
        init(&bar, blockDim.x);
        cde::fence_proxy_async_shared_cta();
    }
    __syncthreads();
    barrier::arrival_token token;
    const int x = blockIdx.x * 8, y = blockIdx.y * 4;
    if (threadIdx.x == 0) {
        cde::cp_async_bulk_tensor_2d_global_to_shared(&tile, &map, x, y, bar);
        cde::cp_async_bulk_global_to_shared(added, row + x, sizeof added, bar);
        token = cuda::device::barrier_arrive_tx(bar, 1, sizeof tile + sizeof added);
    } else {
        token = bar.arrive();
    }
    bar.wait(static_cast<barrier::arrival_token&&>(token));
    tile[threadIdx.x / 8][threadIdx.x % 8] += added[threadIdx.x % 8];
    cde::fence_proxy_async_shared_cta();
    __syncthreads();
    if (threadIdx.x == 0) {
        cde::cp_async_bulk_tensor_2d_shared_to_global(&map, x, y, &tile);
        cde::cp_async_bulk_commit_group();
        cde::cp_async_bulk_wait_group_read<0>();
    }
}"""


def test_functions_of_cuda_barrier_copy_tiles(device):
    host = np.arange(10 * 20, dtype=np.int32).reshape(10, 20)
    x, row = cs.to_device(host), cs.to_device(np.arange(24, dtype=np.int32))

    module(device, GUIDE).add_one[(3, 3), 32](cs.TensorMap(x, box=(4, 8)), row)

    np.testing.assert_array_equal(x.to_host(), host + np.arange(20))
