// Copies and fills of arrays with elements that are not contiguous. They are broken down into copies of one,
// two and three dimensions, which the device's copy engines can do.
#pragma once

#include <cstddef>
#include <vector>

#include "core/memory/copy.hpp"
#include "core/memory/copy_plan.hpp"

namespace cuscope::core {

// One side of a copy: the first element, and the bytes from one element to the next along each axis.
struct StridedSide {
    std::byte* first = nullptr;
    std::vector<std::ptrdiff_t> strides;
};

// Enqueues the copies. Each of `memories` is told of the stream first. The host memory is [host, host +
// host_bytes); null if both sides are on a device.
void copy_strided(const StridedSide& to, const StridedSide& from, const CopyPlan& plan, MemcpyKind kind,
                  const std::vector<std::shared_ptr<DeviceMemory>>& memories, const void* host,
                  std::size_t host_bytes, const StreamPtr& stream, const KeepAlive& keep_alive);

// The same for a large array and pageable host memory, which go through the page-locked ring of the device.
// Returns false, without having done anything, if the ring cannot do the copy: in a capture, for example.
// After a copy to the device the host memory may be changed; after a copy to the host it is filled.
bool copy_through_ring(const StridedSide& on_device, const StridedSide& on_host,
                       const std::vector<std::size_t>& shape, std::size_t element, MemcpyKind kind,
                       const std::shared_ptr<DeviceMemory>& memory, const StreamPtr& stream);

void fill_strided(const std::shared_ptr<DeviceMemory>& memory, const StridedSide& to,
                  const std::vector<std::size_t>& shape, std::span<const std::byte> value,
                  const StreamPtr& stream);

}  // namespace cuscope::core
