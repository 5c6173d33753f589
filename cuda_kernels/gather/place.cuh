// Where the element of a number lies.
#pragma once

#include "layout.hpp"

namespace cuscope::kernels {

// Bytes from the first element to that of `index`, counted in C order.
__device__ inline long long offset_of(const Layout& layout, long long index) {
    long long offset = 0;
    for (int i = layout.dimensions - 1; i > 0; --i) {
        const long long extent = layout.extent[i];
        long long rest;
        // Divisions of 64 bits take several times as long as those of 32.
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
