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

// An array whose neighbours in memory do not lie along the last axis: a transposed matrix, or a stack of
// them.
struct TurnedLayout {
    long long near_extent = 0, near_stride = 0;  // the axis along which neighbours lie
    long long last_extent = 0, last_stride = 0;
    long long near_step = 0;  // from element to element of the axis, in elements of the contiguous result
    Layout in, out;           // the other axes, with the strides of the array and of the result

    // The elements of a tile along both axes: no sector is read or written in parts, and a thread has enough
    // loads under way. Small elements have up to small_bytes.
    static constexpr int tile = 32, tile_of_small = 64, small_bytes = 4;
};

}  // namespace cuscope::kernels
