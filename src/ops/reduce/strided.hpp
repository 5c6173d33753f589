// Reductions of elements that do not lie together, without a copy.
#pragma once

#include <cstdint>
#include <optional>

#include "ops/array.hpp"

namespace cuscope::ops {

// The elements of an array as the kernel `strided` sees them: two dimensions that remain (0) and two that are
// reduced (1). Strides are in bytes.
struct Strided {
    std::int64_t extent[2][2] = {{1, 1}, {1, 1}}, stride[2][2] = {};

    std::int64_t results() const { return extent[0][0] * extent[0][1]; }
    std::int64_t length() const { return extent[1][0] * extent[1][1]; }
};

// The view of an array whose dimensions are reduced where `axes` has a bit. Dimensions that can be one are
// merged first. Empty if more dimensions are left than the kernel has, or if a copy is better. If the result
// depends on the order of the reduced dimensions, `ordered` is true.
std::optional<Strided> strided_view(const Array& in, std::uint64_t axes, bool ordered);

}  // namespace cuscope::ops
