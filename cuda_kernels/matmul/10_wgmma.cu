// mma.sync keeps a warp busy with loads from shared memory to registers: ldmatrix for every few products.
// Hopper's wgmma reads both factors from shared memory by itself, for four warps at a time, while the threads
// copy the next slabs. Each of the two warpgroups of a block computes 64 rows of C. In each step the block
// waits for a slab, starts its products, copies a slab that is needed later, and waits for the products of
// the step before.
//
// Needs: A and B at multiples of 16 bytes, with rows (and matrices of a batch) multiples of 16 bytes apart;
// compute capability 9.0, compiled for sm_90a.
#include "async_copy.cuh"
#include "mma_stores.cuh"
#include "problem.cuh"
#include "wgmma.cuh"

constexpr int warpgroup_threads = 256, rows = 128, depth = 64, row_bytes = 128, chunk = 8;

template <int BlockN, int Stages>
struct WarpgroupTiling {
    static constexpr int a_bytes = rows * row_bytes, panel = depth * row_bytes;  // a panel: 64 columns of B
    static constexpr int stage_bytes = a_bytes + BlockN / 64 * panel;
    static constexpr int shared_bytes = Stages * stage_bytes;
    static constexpr int b_across = BlockN / chunk, b_rows = warpgroup_threads / b_across,
                         a_rows = warpgroup_threads / 8;
};

// Copies slabs of A and B, one after another, into stages. The chunks of 16 bytes in a row are permuted as
// matrix_at() says.
template <class T, int BlockN, int Stages>
struct SlabCopier {
    using Tiling = WarpgroupTiling<BlockN, Stages>;
    const T* a_from;
    const T* b_from;
    long long a_step, b_row;
    int a_k, b_k,
        k;  // the first step of k that this thread copies of A and of B; steps left from the slab's start
    int a_left;   // rows of A from this thread's first row on
    int b_bytes;  // bytes of a chunk of B inside the matrix
    int a_to, b_to;

    __device__ SlabCopier(const T* a, const T* b, const Problem& p, Corner corner) : b_row(p.b_row), k(p.k) {
        const int t = threadIdx.x, a_y = t / 8, a_x = t % 8;
        a_k = a_x * chunk;
        a_left = p.m - corner.row - a_y;
        a_from = a + (corner.row + a_y) * p.a_row + a_k;
        a_step = Tiling::a_rows * p.a_row;
        a_to = a_y * row_bytes + (a_x ^ (a_y % 8)) * 16;
        b_k = t / Tiling::b_across;
        const int b_x = t % Tiling::b_across, column = corner.column + b_x * chunk;
        b_bytes = max(0, min(p.n - column, chunk)) * static_cast<int>(sizeof(T));
        b_from = b + b_k * p.b_row + min(column, (p.n - 1) / chunk * chunk);
        b_to = Tiling::a_bytes + b_x / 8 * Tiling::panel + b_k * row_bytes + (b_x % 8 ^ (b_k % 8)) * 16;
    }

    __device__ void copy(char* stage) {
        const int a_bytes = max(0, min(k - a_k, chunk)) * static_cast<int>(sizeof(T));
#pragma unroll
        for (int i = 0; i < rows / Tiling::a_rows; ++i)  // a row past the end is not read
            copy_async_part(stage + a_to + i * Tiling::a_rows * row_bytes, a_from + i * a_step,
                            i * Tiling::a_rows < a_left ? a_bytes : 0);
#pragma unroll
        for (int row = 0; row < depth; row += Tiling::b_rows)
            copy_async_part(stage + b_to + row * row_bytes, b_from + row * b_row,
                            b_k + row < k ? b_bytes : 0);
        a_from += depth;
        b_from += depth * b_row;
        k -= depth;
        commit_copies();
    }
};

// Stores the block's tile of C. It goes through shared memory, so that a row leaves as whole chunks of 16
// bytes.
template <class Out, int BlockN>
__device__ __forceinline__ void store_tile(Out* c, const Problem& p, Corner corner, char* shared,
                                           const float (&sums)[BlockN / 2]) {
    constexpr int pitch = BlockN * sizeof(Out) + 16, pack = 16 / sizeof(Out), across = BlockN / pack;
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    char* const line = shared + (warp * 16 + lane / 4) * pitch + lane % 4 * 2 * sizeof(Out);
#pragma unroll
    for (int i = 0; i < BlockN / 8; ++i) {
        store_pair(reinterpret_cast<Out*>(line + i * 8 * sizeof(Out)), sums[4 * i], sums[4 * i + 1]);
        store_pair(reinterpret_cast<Out*>(line + 8 * pitch + i * 8 * sizeof(Out)), sums[4 * i + 2],
                   sums[4 * i + 3]);
    }
    __syncthreads();
    const bool packs = reinterpret_cast<unsigned long long>(c) % 16 == 0 && p.c_row % pack == 0;
#pragma unroll 4
    for (int at = threadIdx.x; at < rows * across; at += warpgroup_threads) {
        const int y = at / across, x = at % across * pack, row = corner.row + y, column = corner.column + x;
        if (row >= p.m || column >= p.n) continue;
        const char* const from = shared + y * pitch + x * sizeof(Out);
        Out* const to = c + row * p.c_row + column;
        if (packs && column + pack <= p.n) {
            *reinterpret_cast<uint4*>(to) = *reinterpret_cast<const uint4*>(from);
        } else {
            for (int i = 0; i < pack && column + i < p.n; ++i) to[i] = reinterpret_cast<const Out*>(from)[i];
        }
    }
}

template <class T, class Out, int BlockN, int Stages>
__device__ __forceinline__ void multiply_tile(const T* a, const T* b, Out* c, const Problem& p) {
    using Tiling = WarpgroupTiling<BlockN, Stages>;
    extern __shared__ __align__(1024) char stages[];
    select_batch(a, b, p);
    const Corner corner = corner_of_block_in_groups<rows, BlockN>(p);
    SlabCopier<T, BlockN, Stages> copier(a, b, p, corner);
    constexpr int ahead = Stages - 2;  // slabs that are copied before the step that needs them
#pragma unroll
    for (int s = 0; s < ahead; ++s) copier.copy(stages + s * Tiling::stage_bytes);

    float sums[BlockN / 2] = {};
    const int warpgroup = threadIdx.x / 128;
    int reading = 0, writing = ahead * Tiling::stage_bytes;
    const auto after = [](int stage) {
        return stage + Tiling::stage_bytes == Tiling::shared_bytes ? 0 : stage + Tiling::stage_bytes;
    };
    for (int left = p.k; left > 0; left -= depth) {
        wait_for_copies<ahead - 1>();
        show_to_tensor_cores();
        // All threads have copied the slab. And both warpgroups have waited for their products of the slab
        // before the last, whose stage is overwritten now.
        __syncthreads();
        const char* const stage = stages + reading;
        fence_warpgroup();
#pragma unroll
        for (int i = 0; i < depth / 16; ++i)
            multiply_add(
                T(), sums, matrix_at(stage + warpgroup * 64 * row_bytes + i * 32, 16, 8 * row_bytes),
                matrix_at(stage + Tiling::a_bytes + i * 16 * row_bytes, Tiling::panel, 8 * row_bytes));
        commit_products();
        copier.copy(stages + writing);
        reading = after(reading);
        writing = after(writing);
        wait_for_products<1>();
    }
    wait_for_products<0>();
#pragma unroll
    for (float& sum : sums) read_after_waiting(sum);
    wait_for_copies<0>();
    __syncthreads();  // no copy and no product uses the stages any more
    store_tile<Out, BlockN>(c + blockIdx.z * p.c_batch, p, corner, stages, sums);
}

template <class T, class Out, int BlockN, int Stages>
__global__ void __launch_bounds__(warpgroup_threads, BlockN == 128 ? 2 : 1)
    wgmma(const T* a, const T* b, Out* c, Problem p) {
#if defined(__CUDA_ARCH__) && !defined(__CUDA_ARCH_FEAT_SM90_ALL) && !defined(__CUSCOPE_HOST__)
    __trap();
#else
    multiply_tile<T, Out, BlockN, Stages>(a, b, c, p);
#endif
}

#ifndef CUSCOPE_ONE_INSTANCE  // else the caller names the instance to compile
#define INSTANCE(T, Out, ...) \
    template __global__ void wgmma<T, Out, __VA_ARGS__>(const T*, const T*, Out*, Problem);
INSTANCE(__half, __half, 256, 4)
INSTANCE(__half, float, 256, 4)
INSTANCE(__half, __half, 128, 3)
INSTANCE(__half, float, 128, 3)
INSTANCE(__nv_bfloat16, __nv_bfloat16, 256, 4)
INSTANCE(__nv_bfloat16, float, 256, 4)
INSTANCE(__nv_bfloat16, __nv_bfloat16, 128, 3)
INSTANCE(__nv_bfloat16, float, 128, 3)
#endif
