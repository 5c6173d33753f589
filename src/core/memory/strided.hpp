// Copies and fills of arrays with elements that are not contiguous. They are broken down into copies of one,
// two and three dimensions, which the device's copy engines can do.
#pragma once

#include <cstddef>
#include <vector>

#include "core/memory/copy.hpp"

namespace cuscope::core {

// One side of a copy: the first element, and the bytes from one element to the next along each axis.
struct StridedSide {
    std::byte* first = nullptr;
    std::vector<std::ptrdiff_t> strides;
};

// A copy as boxes of rows, repeated along the outer axes.
struct CopyPlan {
    std::size_t width = 0, height = 1, depth = 1;  // of one box; the width is in bytes
    std::size_t to_pitch = 0, from_pitch = 0, to_slice = 0, from_slice = 0;
    std::ptrdiff_t to_first = 0, from_first = 0;  // offset of the first box from the first element
    struct Repeat {
        std::size_t count;
        std::ptrdiff_t to, from;
    };
    std::vector<Repeat> repeats;  // outermost first

    std::size_t boxes() const;
};

CopyPlan plan_copy(const std::vector<std::size_t>& shape, std::size_t element,
                   const std::vector<std::ptrdiff_t>& to, const std::vector<std::ptrdiff_t>& from);

// Enqueues the copies. Each of `memories` is told of the stream first. The host memory is [host, host +
// host_bytes); null if both sides are on a device.
void copy_strided(const StridedSide& to, const StridedSide& from, const CopyPlan& plan, MemcpyKind kind,
                  const std::vector<std::shared_ptr<DeviceMemory>>& memories, const void* host,
                  std::size_t host_bytes, const StreamPtr& stream, const KeepAlive& keep_alive);

void fill_strided(const std::shared_ptr<DeviceMemory>& memory, const StridedSide& to,
                  const std::vector<std::size_t>& shape, std::span<const std::byte> value,
                  const StreamPtr& stream);

}  // namespace cuscope::core
