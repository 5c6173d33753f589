// Which elements and extents CUDA arrays have.
#pragma once

#include <cstddef>
#include <string>

#include "runtime/memory_types.hpp"

namespace cuscope::host {

// Bytes of an element; 0 if no array has such elements.
std::size_t element_bytes(const ChannelFormat& format);

// Elements of an array; an extent of 0 is an axis that it does not have.
std::size_t element_count(const Extent& extent);

// Has an array such an extent? The limits are those of every device of compute capability 5 and later. Of a
// layered array the depth is the number of layers, of a cubemap that of its faces.
bool fits_array(const Extent& extent, unsigned flags);

// "4 x 4 x 6 elements, flags 4"
std::string describe(const Extent& extent, unsigned flags);

}  // namespace cuscope::host
