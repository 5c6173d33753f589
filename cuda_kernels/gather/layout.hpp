// What the host tells the kernels of an array: plain C++, read by nvcc, the host's compiler and src/ops
// alike.
#pragma once

namespace cuscope::kernels {

// Where the elements of an array lie: as many as the product of the extents, in C order, strides in bytes.
struct Layout {
    static constexpr int most_dimensions = 8;
    int dimensions = 0;
    long long extent[most_dimensions] = {};
    long long stride[most_dimensions] = {};
};

}  // namespace cuscope::kernels
