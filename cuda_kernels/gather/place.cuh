// The place of an element, from its index, and the type of elements of 16 bytes.
#pragma once

#include "layout.hpp"

// An element of 16 bytes, which may lie at any multiple of 8.
struct alignas(8) Pair {
    unsigned long long low, high;
};

namespace cuscope::kernels {

// Distance in bytes from the first element to element `index`, counted in C order.
__device__ inline long long offset_of(const Layout& layout, long long index) {
    long long offset = 0;
    for (int i = layout.dimensions - 1; i > 0; --i) {
        const long long extent = layout.extent[i];
        long long rest;
        // 64-bit divisions take several times as long as 32-bit divisions.
        if (index >> 31 == 0 && extent >> 31 == 0) {
            const unsigned quotient = static_cast<unsigned>(index) / static_cast<unsigned>(extent);
            rest = index - static_cast<long long>(quotient) * extent;
            index = quotient;
        } else {
            rest = index % extent;
            index /= extent;
        }
        offset += rest * layout.stride[i];
    }
    return layout.dimensions == 0 ? 0 : offset + index * layout.stride[0];
}

__device__ inline long long first_index() {
    return static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
}
__device__ inline long long index_step() { return static_cast<long long>(gridDim.x) * blockDim.x; }

}  // namespace cuscope::kernels
