// In the double-buffered rung, a warp computes 16 x 128 elements of C, for which it reads 144 numbers in each
// step of k. And there is only one slab under way, which must arrive within one slab of work. Here a warp
// computes a compact tile, about 64 x 64, so that each number from shared memory is used more often. Several
// slabs are under way, copied by cp.async without registers. And a thread loads the numbers of the next step
// of k before it multiplies the numbers of this step.
//
// Where registers allow, sums are made in parts of 32 steps of k, and the parts are added up. The rounding
// errors are then a fraction of the errors of one long sum.
//
// `warp_tiles` needs, if Width > 1: B at a multiple of 16 bytes, rows of B a multiple of 16 bytes apart, and
// its last row readable up to such a multiple. `warp_tiles_along_k` takes a B that is stored transposed, at
// any address.
#include "arithmetic.cuh"
#include "async_copy.cuh"
#include "problem.cuh"
#include "store_sums.cuh"
#include "warp_tiling.cuh"

// Copies slabs of A and B, one after another, into stages.
template <class T, int BlockN, class Tiling>
struct SlabCopier {
    const T* a_from[Tiling::a_places];
    const T* b_from;
    long long b_row;
    int a_k, b_k;  // the first step of k that this thread copies of A and of B
    int k;         // steps of k that are left from the start of the slab
    int a_to, b_to;
    int b_left;  // with a B that is stored transposed: its columns from this thread's first one on

    __device__ SlabCopier(const T* a, const T* b, const Problem& p, Corner corner) : b_row(p.b_row), k(p.k) {
        const int t = threadIdx.x;
        a_k = t % 8;
        a_to = a_k * Tiling::a_stride + t / 8;
#pragma unroll
        for (int i = 0; i < Tiling::a_places; ++i) {
            // A row past the end is replaced by the last row. Its sums are not stored.
            const int row = min(corner.row + t / 8 + i * Tiling::a_rows, p.m - 1);
            a_from[i] = a + row * p.a_row + a_k;
        }
        if constexpr (Tiling::along_k) {
            b_k = a_k;
            b_to = Tiling::a_elements + b_k * Tiling::b_stride + t / 8;
            b_left = p.n - corner.column - t / 8;
            b_from = b + (corner.column + t / 8) * p.b_row + b_k;
            return;
        }
        b_k = t / Tiling::b_across;
        constexpr int width = BlockN / Tiling::b_across;
        const int x = t % Tiling::b_across * width, last = (p.n - 1) / width * width;
        b_to = Tiling::a_elements + b_k * BlockN + x;
        b_from = b + b_k * p.b_row + min(corner.column + x, last);
    }

    // Starts all copies of the next slab together, because the compiler puts a fence between loads and every
    // run of copies.
    template <int BlockK, int Width>
    __device__ void copy(T* stage) {
#pragma unroll
        for (int i = 0; i < Tiling::a_places; ++i)
#pragma unroll
            for (int step = 0; step < BlockK; step += 8)
                copy_async<sizeof(T)>(stage + a_to + step * Tiling::a_stride + i * Tiling::a_rows,
                                      a_from[i] + step, a_k + step < k);
        if constexpr (Tiling::along_k) {
#pragma unroll
            for (int i = 0; i < Tiling::b_places; ++i)
#pragma unroll
                for (int step = 0; step < BlockK; step += 8)
                    copy_async<sizeof(T)>(stage + b_to + step * Tiling::b_stride + i * Tiling::b_rows,
                                          b_from + i * Tiling::b_rows * b_row + step,
                                          i * Tiling::b_rows < b_left && b_k + step < k);
        } else {
#pragma unroll
            for (int row = 0; row < BlockK; row += Tiling::b_rows)
                copy_async<Width * sizeof(T)>(stage + b_to + row * BlockN, b_from + row * b_row,
                                              b_k + row < k);
        }
        commit_copies();
#pragma unroll
        for (int i = 0; i < Tiling::a_places; ++i) a_from[i] += BlockK;
        b_from += Tiling::along_k ? BlockK : BlockK * b_row;
        k -= BlockK;
    }
};

template <class Tiling, class T, int BlockM, int BlockN, int BlockK, int ThreadM, int ThreadN, int Stages,
          int Width>
__device__ __forceinline__ void multiply_tile(const T* a, const T* b, T* c, const Problem& p) {
    constexpr int pack = Tiling::pack;
    extern __shared__ __align__(16) unsigned char shared[];
    T* const stages = reinterpret_cast<T*>(shared);
    select_batch(a, b, p);
    const Corner corner = corner_of_block_in_groups<BlockM, BlockN>(p);

    SlabCopier<T, BlockN, Tiling> copier(a, b, p, corner);
#pragma unroll
    for (int s = 0; s < Stages - 1; ++s) copier.template copy<BlockK, Width>(stages + s * Tiling::stage);

    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    const int y = warp / Tiling::warps_n * Tiling::warp_m + lane / Tiling::lanes_n * pack;
    const int x = warp % Tiling::warps_n * Tiling::warp_n + lane % Tiling::lanes_n * pack;

    constexpr bool is_integer = T(1) / T(2) == T(0);  // its sums are exact
    constexpr bool in_parts = ThreadM * ThreadN <= 32 && !is_integer;
    constexpr int slabs_a_part = 32 / BlockK;
    using Sum = Accumulator<T>;
    Sum sums[ThreadM][ThreadN] = {}, totals[in_parts ? ThreadM : 1][in_parts ? ThreadN : 1] = {};
    Pack<T> from_a[2][ThreadM / pack], from_b[2][ThreadN / pack];
    const auto load = [&](int buffer, const T* stage, int i) {
        const T* const a_line = stage + i * Tiling::a_stride + y;
        const T* const b_line = stage + Tiling::a_elements + i * Tiling::b_stride + x;
#pragma unroll
        for (int j = 0; j < ThreadM / pack; ++j)
            from_a[buffer][j] = load_pack(a_line + j * Tiling::lanes_m * pack);
#pragma unroll
        for (int j = 0; j < ThreadN / pack; ++j)
            from_b[buffer][j] = load_pack(b_line + j * Tiling::lanes_n * pack);
    };

    wait_for_copies<Stages - 2>();
    __syncthreads();  // all threads have copied the first slab
    T *reading = stages, *writing = stages + (Stages - 1) * Tiling::stage;
    const auto after = [&](T* stage) {
        return stage + Tiling::stage == stages + Stages * Tiling::stage ? stages : stage + Tiling::stage;
    };
    load(0, reading, 0);

    int slab = 0;
    for (int left = p.k; left > 0; left -= BlockK) {
        if constexpr (in_parts) {
            if (slab == slabs_a_part) {
                slab = 0;
#pragma unroll
                for (int r = 0; r < ThreadM; ++r)
#pragma unroll
                    for (int s = 0; s < ThreadN; ++s) {
                        totals[r][s] += sums[r][s];
                        sums[r][s] = 0;
                    }
            }
            ++slab;
        }
#pragma unroll
        for (int i = 0; i < BlockK; ++i) {
            if (i == BlockK - 1) {
                reading = after(reading);
                wait_for_copies<Stages - 2>();
                __syncthreads();  // the next slab is complete, and no thread reads this slab any more
            }
            load((i + 1) % 2, reading, (i + 1) % BlockK);
            if (i == 0) {
                // Overwrites the stage of the slab before this one: all threads have passed the barrier after
                // its loads.
                copier.template copy<BlockK, Width>(writing);
                writing = after(writing);
            }
            // Goes to and fro along the columns of the thread's tile. So a multiplication shares one or two
            // of its three operands with the one before, and the two register banks deliver the others in one
            // cycle.
#pragma unroll
            for (int s = 0; s < ThreadN; ++s)
#pragma unroll
                for (int j = 0; j < ThreadM; ++j) {
                    const int r = s % 2 ? ThreadM - 1 - j : j;
                    multiply_add(sums[r][s], from_a[i % 2][r / pack].x[r % pack],
                                 from_b[i % 2][s / pack].x[s % pack]);
                }
        }
    }
    wait_for_copies<0>();
    if constexpr (in_parts)
#pragma unroll
        for (int r = 0; r < ThreadM; ++r)
#pragma unroll
            for (int s = 0; s < ThreadN; ++s) sums[r][s] += totals[r][s];
    store_sums<T, ThreadM, ThreadN, Tiling>(c + blockIdx.z * p.c_batch, p, corner.row + y, corner.column + x,
                                            sums);
}

template <class T, int BlockM, int BlockN, int BlockK, int ThreadM, int ThreadN, int Stages, int Width>
__global__ void __launch_bounds__(warp_tiles_threads(BlockM, BlockN, ThreadM, ThreadN),
                                  warp_tiles_blocks(warp_tiles_threads(BlockM, BlockN, ThreadM, ThreadN)))
    warp_tiles(const T* a, const T* b, T* c, Problem p) {
    using Tiling = WarpTiling<T, BlockM, BlockN, BlockK, ThreadM, ThreadN, Stages, Width>;
    multiply_tile<Tiling, T, BlockM, BlockN, BlockK, ThreadM, ThreadN, Stages, Width>(a, b, c, p);
}

// The same for a B that is stored transposed: b_row is the distance of its columns.
template <class T, int BlockM, int BlockN, int BlockK, int ThreadM, int ThreadN, int Stages, int Width>
__global__ void __launch_bounds__(warp_tiles_threads(BlockM, BlockN, ThreadM, ThreadN),
                                  warp_tiles_blocks(warp_tiles_threads(BlockM, BlockN, ThreadM, ThreadN)))
    warp_tiles_along_k(const T* a, const T* b, T* c, Problem p) {
    using Tiling = WarpTiling<T, BlockM, BlockN, BlockK, ThreadM, ThreadN, Stages, Width, true>;
    multiply_tile<Tiling, T, BlockM, BlockN, BlockK, ThreadM, ThreadN, Stages, Width>(a, b, c, p);
}

#ifndef CUSCOPE_ONE_INSTANCE  // else the caller names the instance to compile
#define INSTANCE(T, ...)                                                                  \
    template __global__ void warp_tiles<T, __VA_ARGS__>(const T*, const T*, T*, Problem); \
    template __global__ void warp_tiles_along_k<T, __VA_ARGS__>(const T*, const T*, T*, Problem);
// Large problems: a multiprocessor holds one block of the first two shapes, and two of the third.
INSTANCE(float, 128, 256, 8, 16, 8, 4, 4)
INSTANCE(float, 128, 256, 16, 16, 8, 3, 4)
INSTANCE(float, 128, 128, 8, 16, 8, 4, 4)
INSTANCE(float, 128, 128, 8, 16, 8, 4, 1)
// Ever fewer elements of C, which still keep all multiprocessors busy.
INSTANCE(float, 64, 128, 8, 8, 8, 4, 4)
INSTANCE(float, 64, 64, 8, 8, 4, 4, 4)
INSTANCE(float, 64, 64, 8, 8, 4, 4, 1)
INSTANCE(float, 32, 64, 16, 4, 4, 4, 4)
INSTANCE(float, 32, 64, 16, 4, 4, 4, 1)
INSTANCE(double, 64, 128, 8, 8, 8, 3, 2)
INSTANCE(double, 64, 128, 8, 8, 8, 3, 1)
INSTANCE(double, 32, 64, 8, 4, 4, 4, 2)
INSTANCE(double, 32, 64, 8, 4, 4, 4, 1)
INSTANCE(int, 64, 64, 8, 8, 4, 4, 4)
INSTANCE(int, 64, 64, 8, 8, 4, 4, 1)
INSTANCE(int, 32, 64, 16, 4, 4, 4, 4)
INSTANCE(int, 32, 64, 16, 4, 4, 4, 1)
INSTANCE(long long, 32, 64, 8, 4, 4, 4, 2)
INSTANCE(long long, 32, 64, 8, 4, 4, 4, 1)
#endif
