// Adds the parts of a product whose k was split: C (m x n, rows c_row apart) = parts[0] + parts[1] + ...,
// each of them m x n in row-major order. A product with few elements of C and a large k has too few tiles for
// all multiprocessors, so each part of k is multiplied by blocks of its own (plan.hpp: split_of). The order
// of the additions is fixed: the same product has the same bits in every run.
//
// Launch: blocks of 256 threads, of which `groups` (a power of two up to 8) share an element. Group g adds
// the parts g, g + groups, ... The grid has a block for every 256 / groups elements; no dynamic shared
// memory.
#include "../common/overlap.cuh"
#include "mma_stores.cuh"

template <class Sum>
__device__ __forceinline__ Sum added(Sum a, Sum b) {
    return a + b;
}
template <>
__device__ __forceinline__ int added(int a, int b) {  // may wrap around
    return static_cast<int>(static_cast<unsigned>(a) + static_cast<unsigned>(b));
}

constexpr int threads = 256, loads = 8;

template <class Sum, class Out>
__global__ void __launch_bounds__(threads)
    add_parts(const Sum* parts, Out* c, int m, int n, long long c_row, int count, int groups) {
    __shared__ Sum sums[threads];
    follow();
    const int lanes = threads / groups, lane = static_cast<int>(threadIdx.x) % lanes,
              group = static_cast<int>(threadIdx.x) / lanes;
    const long long elements = static_cast<long long>(m) * n,
                    at = static_cast<long long>(blockIdx.x) * lanes + lane;
    Sum sum = 0;
    if (at < elements) {
        for (int first = group; first < count; first += loads * groups) {
            Sum loaded[loads];
#pragma unroll
            for (int i = 0; i < loads; ++i) {
                const int part = first + i * groups;
                loaded[i] = part < count ? parts[part * elements + at] : Sum(0);
            }
#pragma unroll
            for (int i = 0; i < loads; ++i) sum = added(sum, loaded[i]);
        }
    }
    sums[threadIdx.x] = sum;
    __syncthreads();
    if (group > 0 || at >= elements) return;
    for (int other = 1; other < groups; ++other) sum = added(sum, sums[other * lanes + lane]);
    store(c + at / n * c_row + at % n, sum);
}

#define INSTANCE(Sum, Out) \
    template __global__ void add_parts<Sum, Out>(const Sum*, Out*, int, int, long long, int, int);
INSTANCE(float, float)
INSTANCE(double, double)
INSTANCE(float, __half)
INSTANCE(float, __nv_bfloat16)
INSTANCE(int, signed char)
