// How much memory of a GPU the package keeps for later arrays and results, although no array uses it.
#pragma once

#include <cstdint>

#include "core/device/device.hpp"

namespace cuscope::core {

// To be called before the first use of a device. 0: none.
void set_kept_memory(std::uint64_t bytes);
bool keeps_memory();
// An eighth of the device's memory, unless set.
std::uint64_t kept_memory(const Device& device);

}  // namespace cuscope::core
