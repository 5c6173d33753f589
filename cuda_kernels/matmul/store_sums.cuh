// Stores the sums of a thread of 08_warp_tiles.
#pragma once

#include "arithmetic.cuh"
#include "packs.cuh"
#include "problem.cuh"

// The thread's packs of rows and columns start at (row, column) and have the distances of Tiling. C may have
// any alignment.
template <class T, int ThreadM, int ThreadN, class Tiling>
__device__ __forceinline__ void store_sums(T* c, const Problem& p, int row, int column,
                                           const Accumulator<T> (&sums)[ThreadM][ThreadN]) {
    constexpr int pack = Tiling::pack;
    const bool packs = in_packs(c, p.c_row) && p.c_column == 1;
#pragma unroll
    for (int r = 0; r < ThreadM; ++r) {
        const int at_row = row + r / pack * Tiling::lanes_m * pack + r % pack;
        T* const line = c + at_row * p.c_row;
        if (at_row >= p.m) continue;
#pragma unroll
        for (int s = 0; s < ThreadN; s += pack) {
            const int at = column + s * Tiling::lanes_n;
            Pack<T> sum;
#pragma unroll
            for (int i = 0; i < pack; ++i) sum.x[i] = static_cast<T>(sums[r][s + i]);
            if (packs && at + pack <= p.n) {
                store_pack(line + at, sum);
            } else {
#pragma unroll
                for (int i = 0; i < pack; ++i)
                    if (at + i < p.n) line[(at + i) * p.c_column] = sum.x[i];
            }
        }
    }
}
