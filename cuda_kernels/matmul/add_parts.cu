// Adds the parts of a product whose k was split: C (m x n, rows c_row apart) = parts[0] + parts[1] + ...,
// each of them m x n in row-major order. A product with few elements of C and a large k has too few tiles for
// all multiprocessors, so each part of k is multiplied by blocks of its own (plan.hpp: split_of). The order
// of the additions is fixed: the same product has the same bits in every run.
//
// A thread adds as many neighbours as fit into 16 bytes, if rows hold a multiple of them: with one float a
// thread, four parts of 1024 x 1024 took 10 us on an H200, because their 4096 blocks did little each.
//
// Launch: blocks of 256 threads, of which `groups` (a power of two up to 8) share their elements. Group g
// adds the parts g, g + groups, ... Any number of blocks; one for every 256 / groups threads' elements is
// best. No dynamic shared memory.
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

// Neighbours of a row, which are loaded at once.
template <class Sum, int width>
struct alignas(width * sizeof(Sum)) Neighbours {
    Sum of[width];
};

template <int width, class Sum>
__device__ __forceinline__ void add(Neighbours<Sum, width>& to, const Neighbours<Sum, width>& from) {
#pragma unroll
    for (int i = 0; i < width; ++i) to.of[i] = added(to.of[i], from.of[i]);
}

template <int width, class Sum, class Out>
__device__ __forceinline__ void store_neighbours(Out* to, const Neighbours<Sum, width>& sums) {
    if constexpr (width > 1) {
        if (reinterpret_cast<unsigned long long>(to) % (2 * sizeof(Out)) == 0) {
#pragma unroll
            for (int i = 0; i < width; i += 2) store_pair(to + i, sums.of[i], sums.of[i + 1]);
            return;
        }
    }
#pragma unroll
    for (int i = 0; i < width; ++i) store(to + i, sums.of[i]);
}

template <int width, class Sum, class Out>
__device__ __forceinline__ void add_all(const Sum* parts, Out* c, int m, int n, long long c_row, int count,
                                        int groups, Sum* shared) {
    using Values = Neighbours<Sum, width>;
    Values* const sums = reinterpret_cast<Values*>(shared);
    const int lanes = threads / groups, lane = static_cast<int>(threadIdx.x) % lanes,
              group = static_cast<int>(threadIdx.x) / lanes;
    const long long elements = static_cast<long long>(m) * n, units = elements / width;
    for (long long first_unit = static_cast<long long>(blockIdx.x) * lanes; first_unit < units;
         first_unit += static_cast<long long>(gridDim.x) * lanes) {
        const long long at = first_unit + lane;
        Values sum{};
        if (at < units) {
            for (int first = group; first < count; first += loads * groups) {
                Values loaded[loads];
#pragma unroll
                for (int i = 0; i < loads; ++i) {
                    const int part = first + i * groups;
                    loaded[i] = part < count ? reinterpret_cast<const Values*>(parts + part * elements)[at]
                                             : Values{};
                }
#pragma unroll
                for (int i = 0; i < loads; ++i) add<width>(sum, loaded[i]);
            }
        }
        sums[threadIdx.x] = sum;
        __syncthreads();
        if (group == 0 && at < units) {
            for (int other = 1; other < groups; ++other) add<width>(sum, sums[other * lanes + lane]);
            store_neighbours<width>(c + at * width / n * c_row + at * width % n, sum);
        }
        __syncthreads();  // before the next sums
    }
}

template <class Sum, class Out>
__global__ void __launch_bounds__(threads)
    add_parts(const Sum* parts, Out* c, int m, int n, long long c_row, int count, int groups) {
    constexpr int width = 16 / sizeof(Sum);
    __shared__ alignas(16) Sum shared[threads * width];
    follow();
    if (n % width == 0 && reinterpret_cast<unsigned long long>(parts) % 16 == 0) {
        add_all<width>(parts, c, m, n, c_row, count, groups, shared);
    } else {
        add_all<1>(parts, c, m, n, c_row, count, groups, shared);
    }
}

#define INSTANCE(Sum, Out) \
    template __global__ void add_parts<Sum, Out>(const Sum*, Out*, int, int, long long, int, int);
INSTANCE(float, float)
INSTANCE(double, double)
INSTANCE(float, __half)
INSTANCE(float, __nv_bfloat16)
INSTANCE(int, signed char)
