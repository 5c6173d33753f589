// The launches of a matmul kernel that multiplies parts of floats (cuda_kernels/matmul/14_split_floats.cu).
#pragma once

#include <memory>
#include <span>

#include "cuda_kernels/matmul/instances.hpp"
#include "cuda_kernels/matmul/problem.hpp"
#include "ops/array.hpp"
#include "ops/launch.hpp"

namespace cuscope::ops {

// The parts of a matrix lie in the order of the matrix: a matrix that is stored transposed has transposed
// parts. Rows of parts begin at multiples of 16 bytes.
class Parts {
  public:
    static Parts of(core::Device& device, const matmul::Instance& instance, bool transposed_a,
                    bool transposed_b);

    // Enqueues the products of `count` matrices, one after another, which use the same scratch memory.
    void run(const core::Kernel& kernel, const Launch& launch, const core::StreamPtr& stream,
             std::span<core::Memory* const> memories, std::byte* left, std::byte* right, std::byte* product,
             const Problem& problem, int count) const;

  private:
    Array room_for(const core::StreamPtr& stream, int lines, int length) const;
    // Divides lines of `length` numbers, whose first numbers are `line` numbers apart.
    void divide(const core::StreamPtr& stream, core::Memory* memory, std::byte* first, int length,
                long long line, const Array& parts) const;

    std::shared_ptr<core::Kernel> to_parts_;
    bool transposed_a_ = false, transposed_b_ = false;
    matmul::Box a_{}, b_{}, c_{};
};

}  // namespace cuscope::ops
