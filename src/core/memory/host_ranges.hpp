// The host addresses of page-locked and managed memory that the runtime allocated: see keep_host_addresses().
#pragma once

#include <cstddef>

#include "core/device/device.hpp"

namespace cuscope::core {

void note_host_range(const void* pointer, const Device& device, std::size_t bytes);
void forget_host_range(const void* pointer, const Device& device);

}  // namespace cuscope::core
