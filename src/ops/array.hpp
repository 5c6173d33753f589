// An array as the operations see it: the place and the type of its elements.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "core/memory/memory.hpp"
#include "cuda_kernels/common/types.hpp"
#include "runtime/order/notes.hpp"

namespace cuscope::ops {

using kernels::Type;

// By NumPy's name ("float32", "bfloat16"). Throws std::invalid_argument for a type that kernels do not have.
Type type_named(std::string_view name);
const char* name(Type type);
std::size_t size_of(Type type);
char kind_of(Type type);  // NumPy's, as in the table of element types
constexpr bool is_float8(Type type) { return type == Type::float8_e4m3fn || type == Type::float8_e5m2; }
// The name in CUDA C++, as in the names of kernels: "__half".
const char* cuda_name(Type type);

struct Array {
    std::shared_ptr<core::DeviceMemory> memory;
    std::byte* pointer = nullptr;
    Type type{};
    std::vector<std::int64_t> shape, strides;  // strides in bytes

    std::size_t dimensions() const { return shape.size(); }
    std::int64_t count() const;
    core::Device& device() const { return memory->device(); }
    bool contiguous() const;     // in C order
    std::int64_t set_c_order();  // sets the strides; returns the number of bytes
};

// An array as its owner describes it, for calls that make no copy of the description.
struct Operand {
    std::shared_ptr<core::DeviceMemory> memory;
    std::byte* pointer = nullptr;
    Type type{};
    std::span<const std::int64_t> shape, strides;  // strides in bytes; none: in C order

    Array array() const;
};

// While the result lives, checks know that the operations of this thread write the array. Null: no check
// runs.
std::unique_ptr<order::OutputScope> note_output(const Operand& out);

// Of an array that outlives the result.
Operand operand_of(const Array& array);

// The values that a plan leaves open: the address of the first element, and the memory that the work uses.
struct Place {
    core::Memory* memory = nullptr;
    std::byte* pointer = nullptr;
};
inline Place place_of(const Operand& operand) { return {operand.memory.get(), operand.pointer}; }
inline Place place_of(const Array& array) { return {array.memory.get(), array.pointer}; }

// Sets every element of an array to `value`. The array must be in C order.
void fill_with(const Array& array, double value, const core::StreamPtr& stream);

// A new array in C order, allocated in the stream.
Array allocate(const core::StreamPtr& stream, Type type, std::vector<std::int64_t> shape);

// Copies elements of any strides and type into an array in C order, converted to its type.
void copy_into(const Array& to, const Array& from, const core::StreamPtr& stream);
// The array itself if it is in C order and of this type, else a converted copy, made in the stream.
Array packed(const Array& array, Type type, const core::StreamPtr& stream);

}  // namespace cuscope::ops
