// Many copies in one call. Nothing orders them among each other.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "core/memory/memory.hpp"

namespace cuscope::core {

// A side is device memory, or the host's, page-locked or not.
struct BatchSide {
    std::byte* address = nullptr;
    std::shared_ptr<DeviceMemory> memory;  // null: the host's
};

struct BatchCopy {
    BatchSide to, from;
    std::size_t bytes = 0;
};

// Pageable sources may change once this returns; it waits where a destination is pageable.
void copy_batch(const std::vector<BatchCopy>& copies, const StreamPtr& stream);

}  // namespace cuscope::core
