"""Kernels that copy one tile, and what NumPy says that they copy."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import cuscope as cs

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
    """load: a tile to `out`, as it lies in shared memory. store: a tile of `bytes` 0, 1, 2, ... at 128 bytes a row."""
    names = [f"c{i}" for i in range(axes)]
    values = ", ".join(f"int {name}" for name in names)
    places = ", ".join(f"%{i + 2}" for i in range(axes))
    operands = ", ".join(f'"r"({name})' for name in names)
    tensor = f"cp.async.bulk.tensor.{axes}d"
    return f"""{BASICS}
__global__ void load(const __grid_constant__ CUtensorMap map, {values}, int bytes, unsigned char* out) {{
    extern __shared__ __align__(1024) unsigned char tile[];
    __shared__ alignas(8) unsigned long long barrier;
    for (int i = threadIdx.x; i < bytes; i += blockDim.x) tile[i] = 0xee;
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    if (threadIdx.x == 0) init(at(&barrier), 1);
    __syncthreads();
    if (threadIdx.x == 0) {{
        expect(at(&barrier), bytes);
        asm volatile("{tensor}.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {{{places}}}], [%{
        axes + 2
    }];" ::"r"(at(tile)), "l"(&map), {operands}, "r"(at(&barrier)) : "memory");
    }}
    wait(at(&barrier), 0);
    for (int i = threadIdx.x; i < bytes; i += blockDim.x) out[i] = tile[i];
}}
__global__ void store(const __grid_constant__ CUtensorMap map, {values}, int bytes, const unsigned char* in) {{
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


def swizzled(number: int, itemsize: int, span: int) -> int:
    """The byte in shared memory of an element of a tile."""
    byte = number * itemsize
    return byte ^ ((byte >> 7) % (span // 16 or 1)) << 4


def expected_tile(host: np.ndarray, box, first, swizzle="none", steps=None) -> np.ndarray:
    """The bytes in shared memory after a load."""
    places = list(places_of(host.shape, box, steps or (1,) * host.ndim, first))
    size = host.itemsize
    tile = np.zeros(len(places) * size, np.uint8)
    for number, place in enumerate(places):
        if place is not None:
            begin = swizzled(number, size, SPANS[swizzle])
            tile[begin : begin + size] = np.frombuffer(host[place].tobytes(), np.uint8)
    return tile


def expected_array(host: np.ndarray, tile: np.ndarray, box, first, swizzle="none", steps=None) -> np.ndarray:
    """The array after a store."""
    result, size = host.copy(), host.itemsize
    for number, place in enumerate(places_of(host.shape, box, steps or (1,) * host.ndim, first)):
        if place is not None:
            begin = swizzled(number, size, SPANS[swizzle])
            result[place] = tile[begin : begin + size].view(host.dtype)[0]
    return result
