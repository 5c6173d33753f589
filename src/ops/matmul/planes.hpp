// The launches of a matmul kernel that multiplies the bytes of integers
// (cuda_kernels/matmul/12_byte_planes.cu).
#pragma once

#include <memory>
#include <span>

#include "cuda_kernels/matmul/problem.hpp"
#include "ops/array.hpp"
#include "ops/launch.hpp"

namespace cuscope::ops {

// A plane is the matrix of one byte of each number. Rows of planes begin at multiples of 16 bytes.
struct Planes {
    std::shared_ptr<core::Kernel> to_planes;
    Type type{};

    static Planes of(core::Device& device, Type type);

    // Enqueues the products of `count` matrices, one after another, which use the same scratch memory.
    void run(const core::Kernel& kernel, const Launch& launch, const core::StreamPtr& stream,
             std::span<core::Memory* const> memories, std::byte* left, std::byte* right, std::byte* product,
             const Problem& problem, int count) const;

  private:
    void divide(const core::StreamPtr& stream, core::Memory* memory, std::byte* matrix, int rows, int columns,
                long long row, const Array& planes) const;
};

}  // namespace cuscope::ops
