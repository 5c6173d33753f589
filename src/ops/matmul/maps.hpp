// Tensor maps of the matrices that kernels read and write as boxes.
#pragma once

#include "core/device/device.hpp"
#include "cuda_kernels/matmul/instances.hpp"
#include "ops/array.hpp"

namespace cuscope::ops {

// Matrices in memory: `lines` lines of `length` elements each, from one line and one matrix to the next.
struct Stored {
    Type type;
    std::byte* first;
    std::int64_t length, lines, matrices;
    std::int64_t line, matrix;  // distances in elements
};

// Does a tensor map take its address and its distances?
bool takes_map(const Stored& matrices);
TensorMapBytes map_of(core::Device& device, const Stored& matrices, const matmul::Box& box);

}  // namespace cuscope::ops
