#include "ops/matmul/maps.hpp"

#include <stdexcept>
#include <string>

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
        case Type::float8_e4m3fn:
        case Type::float8_e5m2:
        case Type::uint8:
            return TensorMapType::uint8;
        case Type::int32:
            return TensorMapType::int32;
        case Type::uint32:
            return TensorMapType::uint32;
        case Type::int64:
            return TensorMapType::int64;
        case Type::uint64:
            return TensorMapType::uint64;
        default:
            throw std::logic_error("matmul: no kernel reads boxes of " + std::string(name(type)));
    }
}

// Does a tensor map take its address and its distances?
bool takes_map(const Stored& m) {
    const auto size = static_cast<std::int64_t>(size_of(m.type));
    return reinterpret_cast<std::uintptr_t>(m.first) % map_alignment == 0 &&
           m.line * size % map_alignment == 0 && m.matrix * size % map_alignment == 0;
}

TensorMapBytes map_of(core::Device& device, const InBoxes& of) {
    const auto& [m, box] = of;
    const auto size = static_cast<std::uint64_t>(size_of(m.type));
    TensorMapDescription d;
    d.type = m.tf32 ? TensorMapType::tfloat32 : map_type(m.type);
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

void multiply_boxes(const core::Kernel& kernel, const Launch& launch, const core::StreamPtr& stream,
                    std::span<core::Memory* const> memories, const InBoxes& a, const InBoxes& b,
                    const InBoxes& c, const Problem& problem, int count) {
    core::Device& device = stream->device();
    const core::DeviceScope scope(device);
    const TensorMapBytes of_a = map_of(device, a), of_b = map_of(device, b);
    const TensorMapBytes of_c = takes_map(c.matrices) ? map_of(device, c) : TensorMapBytes{};
    run(kernel, launch, stream, memories, of_a, of_b, of_c, c.matrices.first, problem, count,
        matmul::clusters_down);
}

}  // namespace cuscope::ops
