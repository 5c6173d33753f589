// Memory of a copy or a memset: rows of bytes, in slices. Private to src/host.
#pragma once

#include <cstddef>

#include "runtime/memory_types.hpp"

namespace cuscope::host {

// Rows of `width` bytes, `pitch` bytes apart, in slices.
struct Box {
    std::byte* base = nullptr;
    std::size_t pitch = 0, slice = 0;

    static Box of(void* pointer, std::size_t pitch = 0, std::size_t slice = 0) {
        return {static_cast<std::byte*>(pointer), pitch, slice};
    }
    static Box of(const void* pointer, std::size_t pitch = 0, std::size_t slice = 0) {
        return of(const_cast<void*>(pointer), pitch, slice);
    }

    std::byte* row(std::size_t y, std::size_t z) const { return base + z * slice + y * pitch; }
    // The distance from the first byte to the end of the last.
    std::size_t reach(const Extent& extent) const {
        return (extent.depth - 1) * slice + (extent.height - 1) * pitch + extent.width;
    }
};

inline std::size_t bytes_of(const Extent& extent) { return extent.width * extent.height * extent.depth; }

}  // namespace cuscope::host
