// The element types and extents that CUDA arrays allow.
#pragma once

#include <cstddef>
#include <string>

#include "runtime/memory_types.hpp"

namespace cuscope::host {

// The bytes of an element; 0 if arrays do not allow such elements.
std::size_t element_bytes(const ChannelFormat& format);

// The number of elements of an array. An extent of 0 means that the array lacks this axis.
std::size_t element_count(const Extent& extent);

// Do arrays allow this extent? The limits hold for every device of compute capability 5 and later. The
// depth is the number of layers of a layered array, or of faces of a cubemap.
bool fits_array(const Extent& extent, unsigned flags);

// For example "4 x 4 x 6 elements, flags 4".
std::string describe(const Extent& extent, unsigned flags);

}  // namespace cuscope::host
