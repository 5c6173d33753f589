// The arguments of every rung, and the part of C that a block computes.
#pragma once

#include "problem.hpp"

template <class T>
__device__ __forceinline__ void select_batch(const T*& a, const T*& b, const Problem& p) {
    a += blockIdx.z * p.a_batch;
    b += blockIdx.z * p.b_batch;
}

// The first row and column of C in a block's tile.
struct Corner {
    int row, column;
};

// Tiles are numbered row by row by blockIdx.x alone. It goes up to 2^31 - 1, but a grid's y only up to 65535.
template <int Rows, int Columns>
__device__ __forceinline__ Corner corner_of_block(const Problem& p) {
    const unsigned across = (p.n + Columns - 1) / Columns;
    return {static_cast<int>(blockIdx.x / across) * Rows, static_cast<int>(blockIdx.x % across) * Columns};
}

// The same tiles, numbered down columns of `Group` tiles. So the blocks that run together cover a nearly
// square part of C, and share most of their rows of A and columns of B in the second-level cache.
template <int Rows, int Columns, int Group = 8>
__device__ __forceinline__ Corner corner_of_block_in_groups(const Problem& p) {
    const unsigned down = (p.m + Rows - 1) / Rows, across = (p.n + Columns - 1) / Columns;
    const unsigned group = blockIdx.x / (Group * across), inside = blockIdx.x % (Group * across);
    const unsigned height = min(static_cast<unsigned>(Group), down - group * Group);
    return {static_cast<int>(group * Group + inside % height) * Rows,
            static_cast<int>(inside / height) * Columns};
}
