// The launch of a matmul kernel that reads and writes boxes of its matrices, by tensor maps.
#pragma once

#include <span>

#include "cuda_kernels/matmul/plan.hpp"
#include "cuda_kernels/matmul/problem.hpp"
#include "ops/array.hpp"
#include "ops/launch.hpp"

namespace cuscope::ops {

// How the kernel reads A and B and writes C. A matrix that is stored transposed has its columns in memory one
// after another; its distance from one row to the next in a Problem is that from one column to the next.
struct Boxes {
    Type in{}, out{};
    bool transposed_a = false, transposed_b = false, tf32 = false;
    matmul::Box a{}, b{}, c{};
    int depth = 0;  // of the parts of k, of which the kernel multiplies each; 0: k is not split

    static Boxes of(const matmul::Instance& instance, Type in, bool transposed_a, bool transposed_b);

    // Enqueues the products of `count` matrices, or of `count` parts of the problem's k.
    void run(const core::Kernel& kernel, const Launch& launch, const core::StreamPtr& stream,
             std::span<core::Memory* const> memories, std::byte* left, std::byte* right, std::byte* product,
             const Problem& problem, int count) const;
};

}  // namespace cuscope::ops
