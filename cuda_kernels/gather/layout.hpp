// What the host tells the kernels of an array: plain C++, read by nvcc, the host's compiler and src/ops
// alike.
#pragma once

namespace cuscope::kernels {

enum class Type : int {
    boolean,
    int8,
    int16,
    int32,
    int64,
    uint8,
    uint16,
    uint32,
    uint64,
    float16,
    bfloat16,
    float32,
    float64,
    complex64,
    complex128,
};

// Where the elements of an array lie: as many as the product of the extents, in C order, strides in bytes.
struct Layout {
    static constexpr int most_dimensions = 8;
    int dimensions = 0;
    long long extent[most_dimensions] = {};
    long long stride[most_dimensions] = {};
};

}  // namespace cuscope::kernels
