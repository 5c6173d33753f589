#include "runtime/pending_text.hpp"

#include <atomic>
#include <cstdio>

namespace cuscope {

std::string text_of_address(std::uint64_t address) {
    char text[24];
    std::snprintf(text, sizeof text, "0x%llx", static_cast<unsigned long long>(address));
    return text;
}

std::string text_of_size(const Dim3& size) {
    std::string text = std::to_string(size.x);
    if (size.y > 1 || size.z > 1) text += "x" + std::to_string(size.y);
    if (size.z > 1) text += "x" + std::to_string(size.z);
    return text;
}

std::string text_of_kernel(const std::string& name, const Dim3& grid, const Dim3& block) {
    return "kernel " + name + "<<<" + text_of_size(grid) + ", " + text_of_size(block) + ">>>";
}

std::string text_of_operation(const MemoryOperation& operation) {
    if (!operation.writes() && !operation.waits()) return "memory barrier";
    return (operation.writes() ? "write_value " + std::to_string(operation.value)
                               : "wait_value " + condition_of(operation)) +
           " at " + text_of_address(reinterpret_cast<std::uintptr_t>(operation.address));
}

std::string condition_of(const MemoryOperation& wait) {
    const std::string value = std::to_string(wait.value);
    switch (wait.flags & flags::wait_value_nor) {
        case flags::wait_value_eq:
            return "== " + value;
        case flags::wait_value_and:
            return "& " + value + " != 0";
        case flags::wait_value_nor:
            return "~(it | " + value + ") != 0";
        default:
            return ">= " + value;
    }
}

bool is_satisfied(const MemoryOperation& wait, std::uint64_t number) {
    const bool wide = wait.bytes() == sizeof(std::uint64_t);
    const std::uint64_t mask = wide ? ~std::uint64_t{0} : 0xffffffffU;
    const std::uint64_t wanted = wait.value & mask;
    number &= mask;
    switch (wait.flags & flags::wait_value_nor) {
        case flags::wait_value_eq:
            return number == wanted;
        case flags::wait_value_and:
            return (number & wanted) != 0;
        case flags::wait_value_nor:
            return (~(number | wanted) & mask) != 0;
        default:  // wait_value_geq compares cyclically
            return wide ? static_cast<std::int64_t>(number - wanted) >= 0
                        : static_cast<std::int32_t>(static_cast<std::uint32_t>(number - wanted)) >= 0;
    }
}

std::uint64_t number_at(const MemoryOperation& operation) {
    if (operation.bytes() == sizeof(std::uint64_t))
        return std::atomic_ref(*static_cast<std::uint64_t*>(operation.address)).load();
    return std::atomic_ref(*static_cast<std::uint32_t*>(operation.address)).load();
}

}  // namespace cuscope
