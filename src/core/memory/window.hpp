// A small piece of page-locked memory, and a stream, through which pictures of arrays read a few elements of
// a real device.
#pragma once

#include "core/device/looks.hpp"

namespace cuscope::core {

// Waits for the copy for a hundredth of a second at most: longer copies may be in front of it. The device is
// current, and this thread's captures are relaxed.
PeekResult read_through_window(Device& device, const DeviceMemory& memory, std::span<const Part> parts,
                               std::byte* destination, std::string* why);

}  // namespace cuscope::core
