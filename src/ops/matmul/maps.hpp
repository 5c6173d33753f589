// Launches of kernels that read and write their matrices as boxes, by tensor maps.
#pragma once

#include <span>

#include "cuda_kernels/matmul/instances.hpp"
#include "cuda_kernels/matmul/problem.hpp"
#include "ops/array.hpp"
#include "ops/launch.hpp"

namespace cuscope::ops {

// Matrices in memory: `lines` lines of `length` elements each, from one line and one matrix to the next.
struct Stored {
    Type type;
    std::byte* first;
    std::int64_t length, lines, matrices;
    std::int64_t line, matrix;  // distances in elements
    bool tf32 = false;          // floats are rounded to tf32 on their way to shared memory

    static Stored all_of(const Array& matrices) {  // one behind the other, with neither distance
        const std::int64_t lines = matrices.shape[1], length = matrices.shape[2];
        return {matrices.type, matrices.pointer, length, lines, matrices.shape[0], length, lines * length};
    }
};

struct InBoxes {
    Stored matrices;
    matmul::Box box;
};

// Enqueues the kernel with the maps of A, B and C. The kernel stores a C that can have no map element by
// element.
void multiply_boxes(const core::Kernel& kernel, const Launch& launch, const core::StreamPtr& stream,
                    std::span<core::Memory* const> memories, const InBoxes& a, const InBoxes& b,
                    const InBoxes& c, const Problem& problem, int count);

}  // namespace cuscope::ops
