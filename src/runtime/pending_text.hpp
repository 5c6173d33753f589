// Texts that the runtimes and the core share when they list pending work.
#pragma once

#include <cstdint>
#include <string>

#include "runtime/launch_types.hpp"
#include "runtime/memory_operation_types.hpp"

namespace cuscope {

std::string text_of_address(std::uint64_t address);  // "0x7f00"
std::string text_of_size(const Dim3& size);          // "4x2"
// For example "kernel add<<<4, 256>>>".
std::string text_of_kernel(const std::string& name, const Dim3& grid, const Dim3& block);
// For example "wait_value >= 1 at 0x7f00".
std::string text_of_operation(const MemoryOperation& operation);
// The condition of a wait on its number, for example ">= 1" or "& 4 != 0".
std::string condition_of(const MemoryOperation& wait);
bool is_satisfied(const MemoryOperation& wait, std::uint64_t number);
// Reads the number on the host in one access.
std::uint64_t number_at(const MemoryOperation& operation);

}  // namespace cuscope
