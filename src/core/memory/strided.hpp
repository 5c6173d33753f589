// Copies and fills of arrays whose elements do not lie one after the other: broken down into copies of one,
// two and three dimensions, which the device's copy engines do by themselves.
#pragma once

#include <cstddef>
#include <vector>

#include "core/memory/copy.hpp"

namespace cuscope::core {

// One side: a first element and the bytes from one to the next along each axis.
struct StridedSide {
    std::byte* first = nullptr;
    std::vector<std::ptrdiff_t> strides;
};

// How elements are copied from one side to another: boxes of rows, repeated.
struct CopyPlan {
    std::size_t width = 0, height = 1, depth = 1;  // of a box; the width in bytes
    std::size_t to_pitch = 0, from_pitch = 0, to_slice = 0, from_slice = 0;
    std::ptrdiff_t to_first = 0, from_first = 0;  // of the first box, from the first elements
    struct Repeat {
        std::size_t count;
        std::ptrdiff_t to, from;
    };
    std::vector<Repeat> repeats;  // outer first

    std::size_t boxes() const;
};

CopyPlan plan_copy(const std::vector<std::size_t>& shape, std::size_t element,
                   const std::vector<std::ptrdiff_t>& to, const std::vector<std::ptrdiff_t>& from);

// Enqueues the copies. `memories` are told of the stream first. Host memory is [host, host + host_bytes),
// null where both sides are a device's.
void copy_strided(const StridedSide& to, const StridedSide& from, const CopyPlan& plan, MemcpyKind kind,
                  const std::vector<std::shared_ptr<DeviceMemory>>& memories, const void* host,
                  std::size_t host_bytes, const StreamPtr& stream, const KeepAlive& keep_alive);

void fill_strided(const std::shared_ptr<DeviceMemory>& memory, const StridedSide& to,
                  const std::vector<std::size_t>& shape, std::span<const std::byte> value,
                  const StreamPtr& stream);

}  // namespace cuscope::core
