"""Kernels that copy one tile, and what NumPy says that they copy."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import cuscope as cs

BARRIER = 16  # bytes of shared memory behind the tile
SPANS = {"none": 0, "32B": 32, "64B": 64, "128B": 128}

# The instructions as functions. Shared addresses are numbers of 32 bits, as in PTX.
BASICS = """
#include <cuda.h>
__device__ unsigned at(const void* shared) { return static_cast<unsigned>(__cvta_generic_to_shared(shared)); }
__device__ void init(unsigned bar, int count) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(bar), "r"(count) : "memory");
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
}
__device__ void expect(unsigned bar, unsigned bytes) {
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(bar), "r"(bytes) : "memory");
}
__device__ void wait(unsigned bar, int parity) {
    asm volatile("{\\n.reg .pred P1;\\nLAB_WAIT:\\n"
                 "mbarrier.try_wait.parity.shared::cta.b64 P1, [%0], %1;\\n"
                 "@P1 bra DONE;\\nbra LAB_WAIT;\\nDONE:\\n}" ::"r"(bar), "r"(parity) : "memory");
}
"""


def needs_tensor_maps(device: cs.Device) -> None:
    if device.compute_capability[0] < 9:
        pytest.skip("tensor maps need compute capability 9.0")


def tile_kernels(axes: int) -> str:
    """load: a tile to `out`, as it lies in `bytes` of shared memory. store: a tile from `in`, which lies there."""
    names = [f"c{i}" for i in range(axes)]
    values = ", ".join(f"int {name}" for name in names)
    places = ", ".join(f"%{i + 2}" for i in range(axes))
    operands = ", ".join(f'"r"({name})' for name in names)
    tensor = f"cp.async.bulk.tensor.{axes}d"
    return f"""{BASICS}
__global__ void load(const __grid_constant__ CUtensorMap map, {
        values
    }, int expected, int bytes, unsigned char* out) {{
    // There is no static shared memory, so that the tile lies at a multiple of 1024 bytes. The barrier is behind it.
    extern __shared__ __align__(1024) unsigned char tile[];
    auto& barrier = *reinterpret_cast<unsigned long long*>(tile + bytes);
    for (int i = threadIdx.x; i < bytes; i += blockDim.x) tile[i] = 0xee;
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    if (threadIdx.x == 0) init(at(&barrier), 1);
    __syncthreads();
    if (threadIdx.x == 0) {{
        expect(at(&barrier), expected);
        asm volatile("{tensor}.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {{{
        places
    }}}], [%{axes + 2}];" ::"r"(at(tile)), "l"(&map), {operands}, "r"(at(&barrier)) : "memory");
    }}
    wait(at(&barrier), 0);
    for (int i = threadIdx.x; i < bytes; i += blockDim.x) out[i] = tile[i];
}}
__global__ void store(const __grid_constant__ CUtensorMap map, {
        values
    }, int bytes, const unsigned char* in) {{
    extern __shared__ __align__(1024) unsigned char tile[];
    for (int i = threadIdx.x; i < bytes; i += blockDim.x) tile[i] = in[i];
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    __syncthreads();
    if (threadIdx.x == 0) {{
        asm volatile("{tensor}.global.shared::cta.tile.bulk_group [%1, {{{places}}}], [%0];" ::"r"(at(tile)),
                     "l"(&map), {operands} : "memory");
        asm volatile("cp.async.bulk.commit_group;" ::: "memory");
        asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
    }}
}}
"""


def places_of(shape, box, steps, first):
    """For each element of the tile, in its order, its index in the array; None outside."""
    counts = [-(-b // s) for b, s in zip(box, steps, strict=True)]
    for index in itertools.product(*map(range, counts)):
        place = tuple(f + i * s for f, i, s in zip(first, index, steps, strict=True))
        yield place if all(0 <= p < n for p, n in zip(place, shape, strict=True)) else None


def byte_of(number: int, host: np.ndarray, box, swizzle: str) -> int:
    """The byte in shared memory of an element of a tile."""
    row, column = divmod(number, box[-1])
    # With swizzling, rows lie as far apart as the swizzle spans, even if they are shorter.
    span = SPANS[swizzle]
    byte = row * (span or box[-1] * host.itemsize) + column * host.itemsize
    return byte ^ ((byte >> 7) % (span // 16 or 1)) << 4


def bytes_in_shared_memory(host: np.ndarray, box, swizzle="none", steps=None) -> int:
    rows = int(np.prod([-(-b // s) for b, s in zip(box[:-1], steps or (1,) * host.ndim, strict=False)]))
    return rows * (SPANS[swizzle] or box[-1] * host.itemsize)


def expected_tile(host: np.ndarray, box, first, swizzle="none", steps=None) -> np.ndarray:
    """The bytes in shared memory after a load. Those that it does not write are 0xee."""
    tile = np.full(bytes_in_shared_memory(host, box, swizzle, steps), 0xEE, np.uint8)
    for number, place in enumerate(places_of(host.shape, box, steps or (1,) * host.ndim, first)):
        begin = byte_of(number, host, box, swizzle)
        element = bytes(host.itemsize) if place is None else host[place].tobytes()
        tile[begin : begin + host.itemsize] = np.frombuffer(element, np.uint8)
    return tile


def expected_array(host: np.ndarray, tile: np.ndarray, box, first, swizzle="none", steps=None) -> np.ndarray:
    """The array after a store."""
    result = host.copy()
    for number, place in enumerate(places_of(host.shape, box, steps or (1,) * host.ndim, first)):
        if place is not None:
            begin = byte_of(number, host, box, swizzle)
            result[place] = tile[begin : begin + host.itemsize].view(host.dtype)[0]
    return result
