// Kernel arguments: the caller's values, checked against the parameters of the kernel's signature and packed
// for a launch. The message for a refused argument names its parameter, the value, and the types that are
// allowed.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "core/element_type.hpp"
#include "core/memory/memory.hpp"
#include "runtime/types.hpp"

namespace cuscope::core {

struct Argument {
    enum class Kind {
        none,
        boolean,
        integer,
        real,
        complex,
        bytes,         // a structure by value
        sequence,      // a tuple or list; parts are set
        device_array,  // memory is set, unless the array is closed
        pinned_array,  // memory is set; address is the host's
        host_array,    // pageable
        texture,       // or a surface; memory is set unless the object is closed; integer is the handle
        graph_exec,    // memory is set unless the object is closed; integer is the handle
        tensor_map,    // memory is set unless the object is closed; address is that of its 128 bytes
        other,
    };

    Kind kind = Kind::other;
    ElementType element;        // of arrays and NumPy scalars; unknown for Python's own numbers
    bool too_big = false;       // integer: fits neither 64-bit type
    bool negative = false;      // integer
    std::uint64_t integer = 0;  // two's complement
    double real = 0, imaginary = 0;
    const void* address = nullptr;
    std::size_t bytes = 0;
    bool writeable = true;
    bool structured = false;     // has fields, as a structure does: an array, or a NumPy value in bytes
    bool unaligned = false;      // structured: the fields are packed, without padding between them
    std::size_t item_bytes = 0;  // structured: of one element
    bool contiguous = true;      // of a device array: each row is contiguous
    std::shared_ptr<Memory> memory;
    const char* type_name = "";  // as Python calls it
    std::string text;            // a too big integer in digits; how another value prints
    // The elements of a sequence; the number in a NumPy array without dimensions.
    std::vector<Argument> parts;
    // A NumPy or ctypes number as it lies in memory, so that a value of the parameter's own type arrives
    // unchanged, bit by bit.
    std::array<std::byte, 16> raw{};
    std::size_t raw_bytes = 0;  // 0: another kind of value
};

// A parameter and the types that its argument is compared with.
struct ParameterCheck {
    Parameter parameter;
    ElementType element;
    VectorType vector{};  // no lanes: not a vector
};

// The packed values of one launch. `memories` has the memory that they refer to.
class PackedArguments {
  public:
    PackedArguments(const std::string& kernel, std::span<const ParameterCheck> parameters,
                    std::span<Argument> arguments, const Device& device);
    PackedArguments(const PackedArguments&) = delete;
    PackedArguments& operator=(const PackedArguments&) = delete;

    void** pointers() { return pointers_.data(); }
    std::span<Memory* const> memories() const { return {memories_.data(), memories_.size()}; }
    std::int64_t array_bytes() const { return array_bytes_; }

  private:
    static constexpr std::size_t alignment = 16;

    void* place(std::size_t bytes);

    alignas(alignment) std::array<std::byte, 512> small_;  // enough for most kernels: no allocation
    std::vector<std::unique_ptr<std::byte[]>> large_;
    std::size_t used_ = 0;
    std::vector<void*> pointers_;
    std::vector<Memory*> memories_;
    std::int64_t array_bytes_ = 0;
};

// "vec_add(const float* a, ..., int n)"
std::string signature(const std::string& kernel, std::span<const ParameterCheck> parameters);

}  // namespace cuscope::core
