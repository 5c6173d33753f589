// A product with at most 8 rows of C. Each number of B is used at most 8 times, so B comes from memory at its
// full rate or the kernel is slower than it must be. A tile of the other rungs would multiply mostly rows
// that are not there. Here each warp reads rows of B, 16 bytes a lane and eight rows under way; a number of A
// reaches all lanes by a shuffle. The eight warps of a block take different rows of B and add their sums at
// the end, in a fixed order.
//
// C has the type of the sums. blockIdx.z counts parts of k (or matrices of a batch), as with the other rungs.
// Needs: B at a multiple of 16 bytes, its rows multiples of 16 bytes apart, and the last row readable up to
// such a multiple.
#include "arithmetic.cuh"
#include "packs.cuh"
#include "problem.cuh"

constexpr int warps = 8, group = 32, under_way = 8;

template <class T, int Rows>
__global__ void __launch_bounds__(warps * 32, Rows == 1 && sizeof(T) > 2 ? 3 : 2)
    few_rows(const T* a, const T* b, Accumulator<T>* c, Problem p) {
    using Sum = Accumulator<T>;
    constexpr int pack = Pack<T>::size, columns = 32 * pack;
    __shared__ Sum shared[warps / 2][Rows][columns];
    select_batch(a, b, p);
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    const int column = static_cast<int>(blockIdx.x) * columns + lane * pack;
    b += min(column, (p.n - 1) / pack * pack);

    Sum sums[Rows][pack] = {};
    // A warp takes 32 neighbouring rows of B at a time.
    for (int first = warp * group; first < p.k; first += warps * group) {
        Sum of_a[Rows];
#pragma unroll
        for (int r = 0; r < Rows; ++r) {
            const bool there = r < p.m && first + lane < p.k;
            of_a[r] = there ? static_cast<Sum>(a[r * p.a_row + first + lane]) : Sum(0);
        }
        const int left = min(group, p.k - first);  // the same in all lanes
        for (int i = 0; i < left; i += under_way) {
            Pack<T> of_b[under_way];
#pragma unroll
            for (int j = 0; j < under_way; ++j)
                of_b[j] = i + j < left ? load_pack(b + (first + i + j) * p.b_row) : Pack<T>{};
#pragma unroll
            for (int j = 0; j < under_way; ++j)
#pragma unroll
                for (int r = 0; r < Rows; ++r) {
                    const Sum factor = __shfl_sync(0xffffffffu, of_a[r], i + j);
#pragma unroll
                    for (int x = 0; x < pack; ++x) sums[r][x] += factor * static_cast<Sum>(of_b[j].x[x]);
                }
        }
    }

    for (int half = warps / 2; half > 0; half /= 2) {
        if (warp >= half && warp < 2 * half)
#pragma unroll
            for (int r = 0; r < Rows; ++r)
#pragma unroll
                for (int x = 0; x < pack; ++x) shared[warp - half][r][x * 32 + lane] = sums[r][x];
        __syncthreads();
        if (warp < half)
#pragma unroll
            for (int r = 0; r < Rows; ++r)
#pragma unroll
                for (int x = 0; x < pack; ++x) sums[r][x] += shared[warp][r][x * 32 + lane];
        __syncthreads();
    }
    if (warp > 0) return;
    c += blockIdx.z * p.c_batch;
#pragma unroll
    for (int r = 0; r < Rows; ++r)
#pragma unroll
        for (int x = 0; x < pack; ++x)
            if (r < p.m && column + x < p.n) c[r * p.c_row + column + x] = sums[r][x];
}

// Loads a pack that no other thread needs, so that it takes no room in the first-level cache.
template <class T>
__device__ __forceinline__ Pack<T> load_once(const T* aligned) {
    const uint4 bits = __ldcs(reinterpret_cast<const uint4*>(aligned));
    return reinterpret_cast<const Pack<T>&>(bits);
}

// Adds the products of `Columns` columns of B, which are stored as rows, with the rows of A. A pack of each;
// `whole`: none of them passes the end of k. A row or a column past the end is replaced by the last one.
template <bool whole, int Rows, int Columns, class T>
__device__ __forceinline__ void multiply_packs(Accumulator<T> (&sums)[Rows][Columns], const T* a, const T* b,
                                               const Problem& p, int column, int left, bool aligned) {
    using Sum = Accumulator<T>;
    Pack<T> of_b[Columns];
#pragma unroll
    for (int j = 0; j < Columns; ++j) {
        const T* const from = b + min(column + j, p.n - 1) * p.b_row;
        of_b[j] = whole ? load_once(from) : load_pack(from, left);
    }
#pragma unroll
    for (int r = 0; r < Rows; ++r) {
        const T* const from = a + min(r, p.m - 1) * p.a_row;
        Pack<T> of_a{};
        if (whole && aligned) {
            of_a = load_pack(from);
        } else {
#pragma unroll
            for (int i = 0; i < Pack<T>::size; ++i)
                if (i < left) of_a.x[i] = from[i];
        }
#pragma unroll
        for (int j = 0; j < Columns; ++j)
#pragma unroll
            for (int x = 0; x < Pack<T>::size; ++x)
                sums[r][j] += static_cast<Sum>(of_a.x[x]) * static_cast<Sum>(of_b[j].x[x]);
    }
}

// The same for a B that is stored transposed: b_row is the distance of its columns. A warp multiplies eight
// columns at a time (four, if their sums would not fit into registers), 16 bytes of each a lane, and its
// lanes add their sums at the end. A block computes as many columns as above. A may have any alignment, and
// nothing behind the last column is read.
template <class T, int Rows>
__global__ void __launch_bounds__(warps * 32, 2)
    few_rows_along_k(const T* a, const T* b, Accumulator<T>* c, Problem p) {
    using Sum = Accumulator<T>;
    constexpr int pack = Pack<T>::size, columns = 32 * pack, steps = 32 * pack;
    constexpr int group = Rows * sizeof(Sum) > 32 ? 4 : 8;
    select_batch(a, b, p);
    c += blockIdx.z * p.c_batch;
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    const bool aligned = in_packs(a, p.a_row);
    const int end = min(p.n, (static_cast<int>(blockIdx.x) + 1) * columns);
    for (int column = static_cast<int>(blockIdx.x) * columns + warp * group; column < end;
         column += warps * group) {
        Sum sums[Rows][group] = {};
        int k = lane * pack;
        for (; k + pack <= p.k; k += steps)
            multiply_packs<true>(sums, a + k, b + k, p, column, pack, aligned);
        if (k < p.k) multiply_packs<false>(sums, a + k, b + k, p, column, p.k - k, aligned);
#pragma unroll
        for (int r = 0; r < Rows; ++r) {
#pragma unroll
            for (int j = 0; j < group; ++j) {
                Sum sum = sums[r][j];
#pragma unroll
                for (int half = 16; half > 0; half /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, half);
                if (lane == 0 && r < p.m && column + j < end) c[r * p.c_row + column + j] = sum;
            }
        }
    }
}

#ifndef CUSCOPE_ONE_INSTANCE  // else the caller names the instance to compile
#define INSTANCE(T, ...)                                                                             \
    template __global__ void few_rows<T, __VA_ARGS__>(const T*, const T*, Accumulator<T>*, Problem); \
    template __global__ void few_rows_along_k<T, __VA_ARGS__>(const T*, const T*, Accumulator<T>*, Problem);
INSTANCE(float, 1)
INSTANCE(float, 8)
INSTANCE(double, 1)
INSTANCE(double, 8)
INSTANCE(__half, 1)
#endif
