// The host's description of an array for the kernels. Plain C++, because nvcc, the host's compiler and
// src/ops include it.
#pragma once

namespace cuscope::kernels {

// The places of an array's elements in C order. Their number is the product of the extents. Strides are in
// bytes.
struct Layout {
    static constexpr int most_dimensions = 8;
    int dimensions = 0;
    long long extent[most_dimensions] = {};
    long long stride[most_dimensions] = {};
};

}  // namespace cuscope::kernels
