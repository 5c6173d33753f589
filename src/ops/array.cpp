#include "ops/array.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <stdexcept>

#include "core/memory/copy.hpp"
#include "core/memory/mem_pool.hpp"
#include "cuda_kernels/gather/layout.hpp"
#include "ops/launch.hpp"
#include "runtime/checking.hpp"
#include "runtime/element_types.hpp"

namespace cuscope::ops {
namespace {

const ElementRow& of(Type type) { return element_types[static_cast<std::size_t>(type)]; }

// Merges dimensions where the strides allow it, so that as few as possible remain.
void merge_dimensions(std::vector<std::int64_t>& shape, std::vector<std::int64_t>& strides) {
    std::size_t kept = 0;
    for (std::size_t i = 0; i < shape.size(); ++i) {
        if (shape[i] == 1) continue;
        if (kept > 0 && strides[kept - 1] == strides[i] * shape[i]) {
            shape[kept - 1] *= shape[i];
            strides[kept - 1] = strides[i];
        } else {
            shape[kept] = shape[i];
            strides[kept] = strides[i];
            ++kept;
        }
    }
    shape.resize(kept);
    strides.resize(kept);
}

// The elements of the kernels that only move them.
const char* word_of(std::size_t size) {
    switch (size) {
        case 1:
            return "<unsigned char>";
        case 2:
            return "<unsigned short>";
        case 4:
            return "<unsigned int>";
        case 8:
            return "<unsigned long long>";
        default:
            return "<Pair>";
    }
}

// Nothing if the last axis is as good to read along as any other.
std::optional<kernels::TurnedLayout> turned(std::span<const std::int64_t> shape,
                                            std::span<const std::int64_t> strides, std::size_t element) {
    constexpr std::int64_t shortest = 8;  // shorter axes leave most of a tile empty
    if (shape.size() < 2) return std::nullopt;
    const auto distance = [&](std::size_t axis) { return std::abs(strides[axis]); };
    const std::size_t last = shape.size() - 1;
    std::size_t near = last;
    for (std::size_t axis = 0; axis < last; ++axis)
        if (shape[axis] >= shortest && strides[axis] != 0 && distance(axis) < distance(near)) near = axis;
    const auto size = static_cast<std::int64_t>(element);
    if (near == last || shape[last] < shortest || distance(near) > 2 * size ||
        distance(last) < 4 * distance(near))
        return std::nullopt;
    std::vector<std::int64_t> steps(shape.size());  // of the result, in elements
    std::int64_t step = 1;
    for (std::size_t axis = shape.size(); axis-- > 0; step *= shape[axis]) steps[axis] = step;
    kernels::TurnedLayout layout{shape[near], strides[near], shape[last], strides[last], steps[near], {}, {}};
    for (std::size_t axis = 0; axis < last; ++axis) {
        if (axis == near) continue;
        const auto at = static_cast<std::size_t>(layout.in.dimensions);
        layout.in.extent[at] = layout.out.extent[at] = shape[axis];
        layout.in.stride[at] = strides[axis];
        layout.out.stride[at] = steps[axis] * size;
        layout.out.dimensions = ++layout.in.dimensions;
    }
    return layout;
}

// One launch for the dimensions that a Layout has room for. Further outer dimensions are looped over.
void pack_into(const Array& to, std::byte* out, const Array& from, const std::byte* in,
               std::span<const std::int64_t> shape, std::span<const std::int64_t> strides,
               const core::StreamPtr& stream) {
    std::int64_t count = 1;
    for (const std::int64_t extent : shape) count *= extent;
    if (shape.size() > kernels::Layout::most_dimensions) {
        const std::int64_t inner = count / shape[0] * static_cast<std::int64_t>(size_of(to.type));
        for (std::int64_t i = 0; i < shape[0]; ++i)
            pack_into(to, out + i * inner, from, in + i * strides[0], shape.subspan(1), strides.subspan(1),
                      stream);
        return;
    }
    kernels::Layout layout;
    layout.dimensions = static_cast<int>(shape.size());
    std::copy(shape.begin(), shape.end(), layout.extent);
    std::copy(strides.begin(), strides.end(), layout.stride);
    KernelLibrary& library = KernelLibrary::of(to.device());
    const Launch launch{{blocks_for(to.device(), count, 256), 1, 1}, {256, 1, 1}};
    const std::array<core::Memory*, 2> memories{from.memory.get(), to.memory.get()};
    const std::size_t element = size_of(to.type);
    if (const auto tiled = from.type == to.type ? turned(shape, strides, element) : std::nullopt) {
        const std::int64_t tile = element <= kernels::TurnedLayout::small_bytes
                                      ? kernels::TurnedLayout::tile_of_small
                                      : kernels::TurnedLayout::tile;
        const std::int64_t near = (tiled->near_extent + tile - 1) / tile,
                           last = (tiled->last_extent + tile - 1) / tile;
        const std::int64_t tiles = count / (tiled->near_extent * tiled->last_extent) * near * last;
        run(*library.kernel("gather/gather_tiles", std::string("gather_tiles") + word_of(element)),
            {{blocks_for(to.device(), tiles * 256, 256), 1, 1}, {32, 8, 1}}, stream, memories, in, out,
            *tiled, static_cast<long long>(tiles));
    } else if (from.type == to.type) {
        run(*library.kernel("gather/gather", std::string("gather") + word_of(element)), launch, stream,
            memories, in, out, layout, static_cast<long long>(count));
    } else {
        run(*library.kernel("gather/convert", std::string("convert<") + cuda_name(to.type) + ">"), launch,
            stream, memories, in, from.type, out, layout, static_cast<long long>(count));
    }
}

}  // namespace

Type type_named(std::string_view name) {
    for (std::size_t i = 0; i < element_types.size(); ++i)
        if (element_types[i].name == name) return static_cast<Type>(i);
    std::string message = "dtype: " + std::string(name) + " is none that the operations have; allowed are ";
    for (std::size_t i = 0; i < element_types.size(); ++i)
        message += (i ? ", " : "") + std::string(element_types[i].name);
    throw std::invalid_argument(message + ": convert the array first");
}

const char* name(Type type) { return of(type).name.data(); }
std::size_t size_of(Type type) { return of(type).bytes; }
char kind_of(Type type) { return of(type).kind; }
const char* cuda_name(Type type) { return of(type).type.data(); }

std::int64_t Array::count() const {
    std::int64_t count = 1;
    for (const std::int64_t extent : shape) count *= extent;
    return count;
}

bool Array::contiguous() const {
    auto step = static_cast<std::int64_t>(size_of(type));
    for (std::size_t i = shape.size(); i-- > 0;) {
        if (shape[i] != 1 && strides[i] != step) return false;
        step *= shape[i];
    }
    return true;
}

std::int64_t Array::set_c_order() {
    strides.resize(shape.size());
    auto step = static_cast<std::int64_t>(size_of(type));
    for (std::size_t i = shape.size(); i-- > 0;) {
        strides[i] = step;
        step *= shape[i];
    }
    return step;
}

std::unique_ptr<order::OutputScope> note_output(const Operand& out) {
    if (!checking()) [[likely]]
        return nullptr;
    return std::make_unique<order::OutputScope>(
        out.pointer, static_cast<std::size_t>(out.array().count()) * size_of(out.type));
}

Array Operand::array() const {
    Array made{memory, pointer, type, {shape.begin(), shape.end()}, {strides.begin(), strides.end()}};
    if (strides.empty()) made.set_c_order();
    return made;
}

Operand operand_of(const Array& array) {
    return {array.memory, array.pointer, array.type, array.shape,
            array.contiguous() ? std::span<const std::int64_t>() : array.strides};
}

Array allocate(const core::StreamPtr& stream, Type type, std::vector<std::int64_t> shape) {
    Array array;
    array.type = type;
    array.shape = std::move(shape);
    const std::int64_t bytes = array.set_c_order();
    array.memory = core::MemPool::allocate_result(stream, static_cast<std::size_t>(bytes));
    array.pointer = static_cast<std::byte*>(array.memory->pointer());
    return array;
}

void fill_with(const Array& array, double value, const core::StreamPtr& stream) {
    const auto as = [&](auto element) {
        std::byte bytes[sizeof element];
        std::memcpy(bytes, &element, sizeof element);
        const auto begin = static_cast<std::byte*>(array.memory->pointer());
        core::fill({array.memory, static_cast<std::size_t>(array.pointer - begin),
                    static_cast<std::size_t>(array.count()) * size_of(array.type)},
                   bytes, stream);
    };
    switch (array.type) {
        case Type::int32:
            return as(static_cast<std::int32_t>(value));
        case Type::uint32:
            return as(static_cast<std::uint32_t>(value));
        case Type::int64:
            return as(static_cast<std::int64_t>(value));
        case Type::uint64:
            return as(static_cast<std::uint64_t>(value));
        case Type::float32:
            return as(static_cast<float>(value));
        case Type::float64:
            return as(value);
        default:
            // Zero is all zero bytes in every type.
            if (value != 0) throw std::invalid_argument("a fill of another type than the kernels compute in");
            return as(std::byte{0});
    }
}

void copy_into(const Array& to, const Array& from, const core::StreamPtr& stream) {
    if (from.count() == 0) return;
    std::vector<std::int64_t> shape = from.shape, strides = from.strides;
    merge_dimensions(shape, strides);
    pack_into(to, to.pointer, from, from.pointer, shape, strides, stream);
}

Array packed(const Array& array, Type type, const core::StreamPtr& stream) {
    if (array.type == type && array.contiguous()) return array;
    Array result = allocate(stream, type, array.shape);
    copy_into(result, array, stream);
    return result;
}

}  // namespace cuscope::ops
