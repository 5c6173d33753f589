#include "ops/matmul/boxes.hpp"

#include "ops/matmul/maps.hpp"

namespace cuscope::ops {

Boxes Boxes::of(const matmul::Instance& instance, Type in, bool transposed_a, bool transposed_b) {
    return {in,
            type_named(instance.out),
            transposed_a,
            transposed_b,
            matmul::box_of_a(transposed_a),
            matmul::box_of_b(instance, transposed_b),
            matmul::box_of_c(instance)};
}

void Boxes::run(const core::Kernel& kernel, const Launch& launch, const core::StreamPtr& stream,
                std::span<core::Memory* const> memories, std::byte* left, std::byte* right,
                std::byte* product, const Problem& p, int count) const {
    core::Device& device = stream->device();
    const core::DeviceScope scope(device);
    const auto stored = [&](std::byte* first, int height, int width, bool transposed, std::int64_t line,
                            std::int64_t matrix) {
        return transposed ? Stored{in, first, height, width, count, line, matrix}
                          : Stored{in, first, width, height, count, line, matrix};
    };
    const TensorMapBytes of_a = map_of(device, stored(left, p.m, p.k, transposed_a, p.a_row, p.a_batch), a);
    const TensorMapBytes of_b = map_of(device, stored(right, p.k, p.n, transposed_b, p.b_row, p.b_batch), b);
    // The kernel stores a C that has no map element by element.
    const Stored stored_c{out, product, p.n, p.m, count, p.c_row, p.c_batch};
    const TensorMapBytes of_c = takes_map(stored_c) ? map_of(device, stored_c, c) : TensorMapBytes{};
    cuscope::ops::run(kernel, launch, stream, memories, of_a, of_b, of_c, product, p, count,
                      matmul::clusters_down);
}

}  // namespace cuscope::ops
