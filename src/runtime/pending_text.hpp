// What those who list work in flight say of it alike.
#pragma once

#include <cstdint>
#include <string>

#include "runtime/launch_types.hpp"
#include "runtime/memory_operation_types.hpp"

namespace cuscope {

std::string text_of_address(std::uint64_t address);  // "0x7f00"
std::string text_of_size(const Dim3& size);          // "4x2"
// "kernel add<<<4, 256>>>"
std::string text_of_kernel(const std::string& name, const Dim3& grid, const Dim3& block);
// "wait_value >= 1 at 0x7f00"
std::string text_of_operation(const MemoryOperation& operation);
// ">= 1", "& 4 != 0": what a wait wants of a number.
std::string condition_of(const MemoryOperation& wait);
bool is_satisfied(const MemoryOperation& wait, std::uint64_t number);
// The number as the host can read it, in one piece.
std::uint64_t number_at(const MemoryOperation& operation);

}  // namespace cuscope
