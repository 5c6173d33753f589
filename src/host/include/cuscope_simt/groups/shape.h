// A number of bytes, and the alignment that both ends of a copy have.
#pragma once
#pragma GCC system_header

#include <stddef.h>

namespace cuda {
template <decltype(sizeof(0)) Alignment>
struct aligned_size_t {
    static constexpr size_t align = Alignment;
    size_t value;
    constexpr explicit aligned_size_t(size_t bytes) : value(bytes) {}
    constexpr operator size_t() const { return value; }
};
}  // namespace cuda
