#include "ops/matmul/operands.hpp"

#include <algorithm>
#include <array>
#include <span>
#include <stdexcept>
#include <vector>

#include "core/memory/strided.hpp"
#include "ops/elements.hpp"

namespace cuscope::ops {
namespace {

Array copied(const Array& array, const Prepared::Step& step, const core::StreamPtr& stream) {
    switch (step.copy) {
        case Prepared::Copy::converted:
            return converted(array, step.type, stream);
        case Prepared::Copy::rows:
            return in_rows(array, step.type, stream);
        case Prepared::Copy::all:
            return packed(array, step.type, stream);
        case Prepared::Copy::packs:
            return to_packs(array, stream);
        case Prepared::Copy::columns: {
            const Array columns = packed(transposed(array), step.type, stream);
            return transposed(in_packs(columns) ? columns : to_packs(columns, stream));
        }
    }
    throw std::logic_error("a copy of an operand that has no case");
}

}  // namespace

void Prepared::take(Copy copy, Type type) {
    steps_.push_back({copy, type});
    array_ = copied(array_, steps_.back(), stream_);
}

Array prepare(const Array& array, const Prepared::Steps& steps, const core::StreamPtr& stream) {
    Array made = array;
    for (const Prepared::Step& step : steps) made = copied(made, step, stream);
    return made;
}

bool has_rows(const Array& array) {
    const auto size = static_cast<std::int64_t>(size_of(array.type));
    const std::int64_t rows = array.shape[array.dimensions() - 2], columns = array.shape.back();
    const std::int64_t row = array.strides[array.dimensions() - 2];
    return (columns == 1 || array.strides.back() == size) &&
           (rows == 1 || (row >= columns * size && row % size == 0));
}

Array transposed(Array array) {
    const std::size_t last = array.dimensions() - 1;
    std::swap(array.shape[last - 1], array.shape[last]);
    std::swap(array.strides[last - 1], array.strides[last]);
    return array;
}

Array in_rows(const Array& array, Type type, const core::StreamPtr& stream) {
    return array.type == type && has_rows(array) ? array : packed(array, type, stream);
}

Array converted(const Array& array, Type type, const core::StreamPtr& stream) {
    if (array.type == type) return array;
    const Array stored = transposed(array);
    return has_rows(stored) ? transposed(packed(stored, type, stream)) : packed(array, type, stream);
}

Array broadcast(Array array, const Array& product) {
    const std::size_t missing = product.dimensions() - array.dimensions();
    array.shape.insert(array.shape.begin(), missing, 1);
    array.strides.insert(array.strides.begin(), missing, 0);
    for (std::size_t i = 0; i + 2 < product.dimensions(); ++i) {
        if (array.shape[i] != product.shape[i]) array.strides[i] = 0;
    }
    return array;
}

bool in_elements(const Array& array) {
    const auto size = static_cast<std::int64_t>(size_of(array.type));
    return std::ranges::all_of(array.strides, [&](std::int64_t stride) { return stride % size == 0; });
}

bool in_packs(const Array& array) {
    const auto size = static_cast<std::int64_t>(size_of(array.type));
    if (reinterpret_cast<std::uintptr_t>(array.pointer) % pack_bytes != 0 ||
        array.shape.back() * size % pack_bytes != 0)
        return false;
    for (std::size_t i = 0; i + 1 < array.dimensions(); ++i) {
        if (array.shape[i] != 1 && array.strides[i] % pack_bytes != 0) return false;
    }
    return true;
}

bool has_map(const Array& array) {
    for (std::size_t i = 0; i + 2 < array.dimensions(); ++i) {
        if (array.shape[i] != 1 && array.strides[i] < 0) return false;
    }
    return true;
}

bool has_columns(const Array& array, Type type) {
    if (type == Type::float32 || is_float8(type)) return has_columns_anywhere(array, type);
    const bool has_boxes = type == Type::float16 || type == Type::bfloat16;
    return has_boxes && has_map(array) && has_columns_in_packs(array, type);
}

bool has_columns_anywhere(const Array& array, Type type) {
    return array.type == type && !has_rows(array) && has_rows(transposed(array));
}

bool has_columns_in_packs(const Array& array, Type type) {
    if (!has_columns_anywhere(array, type) ||
        reinterpret_cast<std::uintptr_t>(array.pointer) % pack_bytes != 0)
        return false;
    const Array stored = transposed(array);
    for (std::size_t i = 0; i + 1 < stored.dimensions(); ++i) {
        if (stored.shape[i] != 1 && stored.strides[i] % pack_bytes != 0) return false;
    }
    return true;
}

bool will_be_in_packs(const Array& array, Type type) {
    const bool columns = has_columns(array, type);
    if (!columns && array.type == type && has_rows(array)) return in_packs(array);
    // Boxes read columns; others get a copy in rows.
    return (columns && type != Type::float32) ||
           array.shape.back() * static_cast<std::int64_t>(size_of(type)) % pack_bytes == 0;
}

Array to_packs(const Array& array, const core::StreamPtr& stream) {
    const auto size = static_cast<std::int64_t>(size_of(array.type));
    std::vector<std::int64_t> shape = array.shape;
    shape.back() = (shape.back() * size + pack_bytes - 1) / pack_bytes * pack_bytes / size;
    Array copy = allocate(stream, array.type, shape);
    const std::vector<std::size_t> extents(array.shape.begin(), array.shape.end());
    const std::vector<std::ptrdiff_t> to(copy.strides.begin(), copy.strides.end()),
        from(array.strides.begin(), array.strides.end());
    // The kernels read the padding too. Values there do not change the product, but must be initialised.
    if (shape.back() != array.shape.back()) {
        constexpr std::array<std::byte, pack_bytes> zeros{};
        std::vector<std::size_t> padding = extents;
        padding.back() = static_cast<std::size_t>(shape.back() - array.shape.back());
        core::fill_strided(copy.memory, {copy.pointer + array.shape.back() * size, to}, padding,
                           std::span(zeros).first(static_cast<std::size_t>(size)), stream);
    }
    copy.shape = array.shape;
    core::copy_strided({copy.pointer, to}, {array.pointer, from},
                       core::plan_copy(extents, static_cast<std::size_t>(size), to, from),
                       MemcpyKind::device_to_device, {copy.memory, array.memory}, nullptr, 0, stream, {});
    return copy;
}

std::int64_t row_distance(const Array& array) {
    const auto size = static_cast<std::int64_t>(size_of(array.type));
    const std::size_t rows = array.dimensions() - 2;
    if (array.shape[rows] == 1)
        return (array.shape.back() * size + pack_bytes - 1) / pack_bytes * pack_bytes / size;
    return array.strides[rows] / size;
}

}  // namespace cuscope::ops
