#include "ops/matmul/boxes.hpp"

#include "ops/matmul/maps.hpp"

namespace cuscope::ops {

Boxes Boxes::of(const matmul::Instance& instance, Type in, bool transposed_a, bool transposed_b) {
    return {in,
            type_named(instance.out),
            transposed_a,
            transposed_b,
            instance.tf32,
            matmul::box_of_a(transposed_a, static_cast<int>(size_of(in))),
            matmul::box_of_b(instance, transposed_b, static_cast<int>(size_of(in))),
            matmul::box_of_c(instance)};
}

void Boxes::run(const core::Kernel& kernel, const Launch& launch, const core::StreamPtr& stream,
                std::span<core::Memory* const> memories, std::byte* left, std::byte* right,
                std::byte* product, const Problem& p, int count) const {
    const auto stored = [&](std::byte* first, int height, int width, bool transposed, std::int64_t line,
                            std::int64_t matrix) {
        return transposed ? Stored{in, first, height, width, count, line, matrix, tf32}
                          : Stored{in, first, width, height, count, line, matrix, tf32};
    };
    // The maps hold all of k, so that they end where k does: the last part may be shorter.
    Problem of_kernel = p;
    if (depth > 0) of_kernel.k = depth, of_kernel.k_batch = depth;
    multiply_boxes(kernel, launch, stream, memories,
                   {stored(left, p.m, p.k, transposed_a, p.a_row, p.a_batch), a},
                   {stored(right, p.k, p.n, transposed_b, p.b_row, p.b_batch), b},
                   {{out, product, p.n, p.m, count, p.c_row, p.c_batch}, c}, of_kernel, count);
}

}  // namespace cuscope::ops
