// Arguments of kernels as most programs pass them: arrays of the package, ints and floats.
#pragma once

#include <cstring>
#include <memory>
#include <span>

#include "bindings/support/fast_calls.hpp"
#include "core/number.hpp"
#include "runtime/checking.hpp"

namespace cuscope::bindings {

// The arguments of a launch, packed on the stack.
class FastArguments {
  public:
    static constexpr std::size_t most = 16;

    FastArguments() {}  // leaves its arrays uninitialised until they are needed
    FastArguments(const FastArguments&) = delete;
    FastArguments& operator=(const FastArguments&) = delete;
    ~FastArguments() { release(); }

    // False if an argument needs the general path: one of another type than the parameter's own, or a number
    // that does not fit.
    bool pack(const core::Kernel& kernel, PyObject* const* arguments, std::size_t count) {
        const auto& parameters = kernel.parameters();
        // The general path tells checks about the arrays.
        if (count != parameters.size() || count > most || checking()) return false;
        for (std::size_t i = 0; i < count; ++i) {
            const core::ParameterCheck& check = parameters[i];
            values_[i] = 0;
            pointers_[i] = &values_[i];
            const bool packed =
                check.parameter.kind == ParameterKind::pointer  ? pack_array(kernel, check, arguments[i], i)
                : check.parameter.kind == ParameterKind::scalar ? pack_number(check.element, arguments[i], i)
                                                                : false;
            if (!packed) return false;
        }
        return true;
    }

    void** pointers() { return pointers_; }
    std::span<core::Memory* const> memories() const { return {memories_, used_}; }
    std::int64_t array_bytes() const { return array_bytes_; }
    void release() {
        while (used_ > 0) std::destroy_at(&held_[--used_]);
    }

  private:
    bool pack_array(const core::Kernel& kernel, const core::ParameterCheck& check, PyObject* argument,
                    std::size_t i) {
        const auto* const array = exactly<DeviceArray>(argument);
        if (array == nullptr || array->read_only || array->bytes == 0) return false;  // empty: no reference
        Held<core::DeviceMemory> memory = array->memory.get();
        if (!memory) return false;
        if (check.element.known() && check.element != array->element &&
            !core::holds_bits_of(check.element, array->element))
            return false;
        if (array->device != kernel.device() || !array->rows_contiguous()) return false;
        const void* const address = array->pointer_in(*memory);
        std::memcpy(&values_[i], &address, sizeof address);
        memories_[used_] = std::construct_at(&held_[used_], memory)->get();
        ++used_;
        array_bytes_ += static_cast<std::int64_t>(array->bytes);
        return true;
    }

    bool pack_number(core::ElementType type, PyObject* argument, std::size_t i) {
        if (PyFloat_CheckExact(argument) != 0)
            return type.is_real() && core::store_real(type, PyFloat_AS_DOUBLE(argument), &values_[i]);
        if (PyLong_CheckExact(argument) == 0) return false;
        int overflow = 0;
        const long long value = PyLong_AsLongLongAndOverflow(argument, &overflow);
        if (overflow != 0) return false;
        if (type.is_integer())
            return core::store_integer(type, static_cast<std::uint64_t>(value), value < 0, &values_[i]);
        return type.is_real() && core::store_real(type, static_cast<double>(value), &values_[i]);
    }

    std::uint64_t values_[most];
    void* pointers_[most];
    union {
        std::shared_ptr<core::Memory> held_[most];
    };
    core::Memory* memories_[most];
    std::size_t used_ = 0;
    std::int64_t array_bytes_ = 0;
};

}  // namespace cuscope::bindings
