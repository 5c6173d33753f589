// The launches of a matmul kernel that multiplies the bytes of integers
// (cuda_kernels/matmul/12_byte_planes.cu, 13_wgmma_planes.cu).
#pragma once

#include <memory>
#include <span>

#include "cuda_kernels/matmul/instances.hpp"
#include "cuda_kernels/matmul/problem.hpp"
#include "ops/array.hpp"
#include "ops/launch.hpp"

namespace cuscope::ops {

// A plane is the matrix of one byte of each number. Rows of planes begin at multiples of 16 bytes.
class Planes {
  public:
    static Planes of(core::Device& device, Type type, const matmul::Instance& instance);

    // Enqueues the products of `count` matrices, one after another, which use the same scratch memory.
    void run(const core::Kernel& kernel, const Launch& launch, const core::StreamPtr& stream,
             std::span<core::Memory* const> memories, std::byte* left, std::byte* right, std::byte* product,
             const Problem& problem, int count) const;

  private:
    // A matrix of integers: its rows, columns, and the distance from one row to the next.
    struct Matrix {
        std::byte* first;
        int rows, columns;
        long long row;
    };

    void divide(const core::StreamPtr& stream, core::Memory* memory, const Matrix& matrix,
                const Array& planes) const;
    void divide_transposed(const core::StreamPtr& stream, core::Memory* memory, const Matrix& matrix,
                           const Array& planes) const;

    std::shared_ptr<core::Kernel> to_planes_;
    std::shared_ptr<core::Kernel> to_transposed_planes_;  // for a kernel that reads boxes
    Type type_{};
    matmul::Box a_{}, b_{}, c_{};
};

}  // namespace cuscope::ops
