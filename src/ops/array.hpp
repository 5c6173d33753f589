// An array as the operations see it: where its elements lie, and what they are.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "core/memory/memory.hpp"
#include "cuda_kernels/common/types.hpp"

namespace cuscope::ops {

using kernels::Type;

// By NumPy's name ("float32", "bfloat16"). Throws std::invalid_argument for one that kernels do not have.
Type type_named(std::string_view name);
const char* name(Type type);
std::size_t size_of(Type type);
// What CUDA C++ calls it, as the names of kernels have it: "__half".
const char* cuda_name(Type type);

struct Array {
    std::shared_ptr<core::DeviceMemory> memory;
    std::byte* pointer = nullptr;
    Type type{};
    std::vector<std::int64_t> shape, strides;  // strides in bytes

    std::size_t dimensions() const { return shape.size(); }
    std::int64_t count() const;
    core::Device& device() const { return memory->device(); }
    bool contiguous() const;  // in C order
};

// Sets every element of an array in C order to this number.
void fill_with(const Array& array, double value, const core::StreamPtr& stream);

// A new one in C order, allocated in the stream.
Array allocate(const core::StreamPtr& stream, Type type, std::vector<std::int64_t> shape);

// Elements of any strides and type to an array in C order, converted to its type.
void copy_into(const Array& to, const Array& from, const core::StreamPtr& stream);
// In C order and of this type: the array itself if it is that, else a copy made in the stream.
Array packed(const Array& array, Type type, const core::StreamPtr& stream);

}  // namespace cuscope::ops
