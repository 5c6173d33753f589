// CUDA arrays and mipmapped arrays of the host runtime. Private to src/host.
#pragma once

#include <cstddef>
#include <vector>

#include "host/effects/box.hpp"
#include "runtime/memory_types.hpp"
#include "runtime/status.hpp"

namespace cuscope::host {

// Its elements are packed in row-major order.
struct Array {
    // Refuses elements, extents and flags that no array has.
    static Status check(const ChannelFormat& format, const Extent& extent, unsigned flags);

    std::size_t bytes() const;
    // The part of `elements` elements at the position. `side` names the array in the error.
    Status part(const Position& at, const Extent& elements, const char* side, Box* box) const;

    ChannelFormat format;
    Extent extent;  // in elements; height and depth are 0 for axes that the array lacks
    unsigned flags = 0;
    int device = 0;
    std::size_t element = 0;  // bytes of one element
    std::byte* base = nullptr;
    bool is_level = false;   // a level of a mipmapped array, which owns the memory
    std::size_t offset = 0;  // of a level in that memory
};

struct MipmappedArray {
    static Status check(const ChannelFormat& format, const Extent& extent, unsigned flags);
    // The levels of such an array, yet without memory. `bytes` is the size of all of them.
    static std::vector<Array> levels_of(const ChannelFormat& format, const Extent& extent, unsigned flags,
                                        unsigned count, std::size_t* bytes);

    int device = 0;
    std::byte* base = nullptr;
    std::vector<ArrayHandle> levels;
};

}  // namespace cuscope::host
