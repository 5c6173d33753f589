#include "ops/matmul/boxes.hpp"

#include <stdexcept>

namespace cuscope::ops {
namespace {

constexpr std::int64_t map_alignment = 16;  // bytes, of addresses and distances in a tensor map

TensorMapType map_type(Type type) {
    switch (type) {
        case Type::float16:
            return TensorMapType::float16;
        case Type::bfloat16:
            return TensorMapType::bfloat16;
        case Type::float32:
            return TensorMapType::float32;
        default:
            throw std::logic_error("matmul: no kernel reads boxes of " + std::string(name(type)));
    }
}

// Matrices in memory: `lines` lines of `length` elements each, from one line and one matrix to the next.
struct Stored {
    Type type;
    std::byte* first;
    std::int64_t length, lines, matrices;
    std::int64_t line, matrix;  // distances in elements
};

bool takes_map(const Stored& m) {
    const auto size = static_cast<std::int64_t>(size_of(m.type));
    return reinterpret_cast<std::uintptr_t>(m.first) % map_alignment == 0 &&
           m.line * size % map_alignment == 0 && m.matrix * size % map_alignment == 0;
}

TensorMapBytes map_of(core::Device& device, const Stored& m, const matmul::Box& box) {
    const auto size = static_cast<std::uint64_t>(size_of(m.type));
    TensorMapDescription d;
    d.type = map_type(m.type);
    d.rank = 3;
    d.address = m.first;
    d.extents = {static_cast<std::uint64_t>(m.length), static_cast<std::uint64_t>(m.lines),
                 static_cast<std::uint64_t>(m.matrix == 0 ? 1 : m.matrices)};
    d.strides = {size, static_cast<std::uint64_t>(m.line) * size,
                 m.matrix == 0 ? std::uint64_t{map_alignment} : static_cast<std::uint64_t>(m.matrix) * size};
    d.box = {static_cast<std::uint32_t>(box.x), static_cast<std::uint32_t>(box.y), 1};
    d.swizzle = TensorMapSwizzle::bytes_128;
    d.l2_promotion = TensorMapL2Promotion::bytes_256;
    TensorMapBytes map{};
    device.check(device.runtime().tensor_map_encode_tiled(&map, &d), "cuTensorMapEncodeTiled");
    return map;
}

}  // namespace

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
