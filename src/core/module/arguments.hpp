// Kernel arguments: what a caller has, checked against what the kernel's signature says, and packed as a
// launch wants it. A refused argument is named by its parameter, with what came and what is allowed.
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
        texture,       // or a surface; memory is set, unless it is closed; integer is the handle
        graph_exec,    // the same
        other,
    };

    Kind kind = Kind::other;
    ElementType element;        // of arrays and NumPy's scalars; unknown for Python's own numbers
    bool too_big = false;       // integer: fits neither 64-bit type
    bool negative = false;      // integer
    std::uint64_t integer = 0;  // two's complement
    double real = 0, imaginary = 0;
    const void* address = nullptr;
    std::size_t bytes = 0;
    bool writeable = true;
    bool structured = false;  // of fields, as a structure is: an array, or bytes of NumPy's
    bool unaligned = false;   // structured: the fields lie one behind the other, without gaps
    bool contiguous = true;   // of a device array: each row is
    std::shared_ptr<Memory> memory;
    const char* type_name = "";  // as Python calls it
    std::string text;            // an integer that is too big, in digits; what another value reads as
    // A sequence's; the number in a NumPy array without dimensions.
    std::vector<Argument> parts;
    // A NumPy or ctypes number as it lies in memory, so that one of the parameter's own type arrives bit by
    // bit.
    std::array<std::byte, 16> raw{};
    std::size_t raw_bytes = 0;  // 0: another kind of value
};

// A parameter and what to compare arguments with.
struct ParameterCheck {
    Parameter parameter;
    ElementType element;
    VectorType vector{};  // no lanes: it is none
};

// The packed values of one launch. The memory that they refer to is in `memories`.
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
