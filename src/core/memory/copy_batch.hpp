// Many copies in one call. They are not ordered among each other.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "core/memory/memory.hpp"

namespace cuscope::core {

// A source or destination: device memory, or host memory (page-locked or pageable).
struct BatchSide {
    std::byte* address = nullptr;
    std::shared_ptr<DeviceMemory> memory;  // null: host memory
};

struct BatchCopy {
    BatchSide to, from;
    std::size_t bytes = 0;
};

// Pageable sources may be changed once this returns. It waits if a destination is pageable.
void copy_batch(const std::vector<BatchCopy>& copies, const StreamPtr& stream);

}  // namespace cuscope::core
