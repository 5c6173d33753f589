// Stores the sums of the tensor cores, rounded (bytes: wrapped around) to the type of C.
#pragma once

#include "arithmetic.cuh"
#include "problem.cuh"

__device__ __forceinline__ void store(float* to, float sum) { *to = sum; }
__device__ __forceinline__ void store(__half* to, float sum) { *to = __float2half_rn(sum); }
__device__ __forceinline__ void store(__nv_bfloat16* to, float sum) { *to = __float2bfloat16_rn(sum); }
__device__ __forceinline__ void store(double* to, double sum) { *to = sum; }
__device__ __forceinline__ void store(int* to, int sum) { *to = sum; }
__device__ __forceinline__ void store(long long* to, unsigned long long sum) {
    *to = static_cast<long long>(sum);
}
__device__ __forceinline__ void store(signed char* to, int sum) { *to = static_cast<signed char>(sum); }

// Stores two neighbours at once. The address of the first is a multiple of their common size.
__device__ __forceinline__ void store_pair(float* to, float x, float y) {
    *reinterpret_cast<float2*>(to) = {x, y};
}
__device__ __forceinline__ void store_pair(__half* to, float x, float y) {
    *reinterpret_cast<__half2*>(to) = __floats2half2_rn(x, y);
}
__device__ __forceinline__ void store_pair(__nv_bfloat16* to, float x, float y) {
    *reinterpret_cast<__nv_bfloat162*>(to) = __floats2bfloat162_rn(x, y);
}
__device__ __forceinline__ void store_pair(double* to, double x, double y) {
    *reinterpret_cast<double2*>(to) = {x, y};
}
__device__ __forceinline__ void store_pair(int* to, int x, int y) { *reinterpret_cast<int2*>(to) = {x, y}; }
__device__ __forceinline__ void store_pair(long long* to, unsigned long long x, unsigned long long y) {
    *reinterpret_cast<longlong2*>(to) = {static_cast<long long>(x), static_cast<long long>(y)};
}
__device__ __forceinline__ void store_pair(signed char* to, int x, int y) {
    *reinterpret_cast<char2*>(to) = {static_cast<signed char>(x), static_cast<signed char>(y)};
}

// Stores the sums of a warp, whose part of C starts at (row, column). C may have any alignment.
template <class Tiling, int WarpM, int WarpN, class Out, class Sum>
__device__ __forceinline__ void store_warp_tile(Out* c, const Problem& p, int row, int column,
                                                const Sum (&sums)[WarpM / 16][WarpN / 16][2][4]) {
    const bool pairs = reinterpret_cast<unsigned long long>(c) % (2 * sizeof(Out)) == 0 && p.c_row % 2 == 0 &&
                       p.c_column == 1;
#pragma unroll
    for (int r = 0; r < WarpM / 8; ++r) {
        const int at_row = row + r * 8 + threadIdx.x % 32 / 4;
        if (at_row >= p.m) continue;
        Out* const line = c + at_row * p.c_row;
#pragma unroll
        for (int s = 0; s < WarpN / 16; ++s)
#pragma unroll
            for (int j = 0; j < 2; ++j) {
                const int at = column + s * 16 + Tiling::pair_at(j);
                const Sum first = Tiling::pair_sum(sums[r / 2][s], r % 2, j, 0);
                const Sum second = Tiling::pair_sum(sums[r / 2][s], r % 2, j, 1);
                if (pairs && at + 1 < p.n) {
                    store_pair(line + at, first, second);
                } else {
                    if (at < p.n) store(line + at * p.c_column, first);
                    if (at + 1 < p.n) store(line + (at + 1) * p.c_column, second);
                }
            }
    }
}
