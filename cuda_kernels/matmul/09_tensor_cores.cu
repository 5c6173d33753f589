// However well a thread is fed, it multiplies one number at a time. Tensor cores multiply small matrices in
// one instruction of a whole warp, mma.sync: half, bfloat16, bytes and double, and float with factors rounded
// to tf32 (10 bits of fraction). Sums are float, int or double. As before, several slabs are under way at a
// time; ldmatrix hands each lane its part.
//
// Needs: A and B at multiples of 16 bytes, with rows (and matrices of a batch) multiples of 16 bytes apart.
// `tensor_cores_along_k` takes a B that is stored transposed: b_row is the distance of its columns. sm_80;
// half and bytes also run on sm_75, where 64 x 64 tiles fit into shared memory.
#include "../common/overlap.cuh"
#include "chunk_copier.cuh"
#include "mma_stores.cuh"
#include "mma_tiling.cuh"
#include "problem.cuh"

template <class Tiling, class T, class Out, int BlockM, int BlockN, int WarpM, int WarpN, int Stages>
__device__ __forceinline__ void multiply_tile(const T* a, const T* b, Out* c, const Problem& p) {
    using Sum = typename Mma<T>::Sum;
    using Part = typename Mma<T>::Part;
    extern __shared__ __align__(16) char stages[];
    select_batch(a, b, p);
    wait_for_kernel_before();
    const Corner corner = corner_of_block_in_groups<BlockM, BlockN>(p);

    ChunkCopier<T, Tiling, BlockM> copier(a, b, p, corner);
#pragma unroll
    for (int s = 0; s < Stages - 1; ++s) copier.copy(stages + s * Tiling::stage_bytes);

    const int warp = threadIdx.x / 32;
    const int y = warp / Tiling::warps_n * WarpM, x = warp % Tiling::warps_n * WarpN;
    Sum sums[WarpM / 16][WarpN / 16][2][4] = {};  // of two neighbouring mma
    Part from_a[2][WarpM / 16][Mma<T>::a_parts], from_b[2][WarpN / 16][2][Mma<T>::b_parts];
    const auto load = [&](int buffer, const char* stage, int i) {
#pragma unroll
        for (int r = 0; r < WarpM / 16; ++r) Tiling::load_a(from_a[buffer][r], stage, y + r * 16, i * 2);
#pragma unroll
        for (int s = 0; s < WarpN / 16; ++s)
            Tiling::load_b(from_b[buffer][s], stage, i * Tiling::step, x + s * 16);
    };

    wait_for_copies<Stages - 2>();
    __syncthreads();  // all threads have copied the first slab
    int reading = 0, writing = (Stages - 1) * Tiling::stage_bytes;
    const auto after = [](int stage) {
        return stage + Tiling::stage_bytes == Tiling::shared_bytes ? 0 : stage + Tiling::stage_bytes;
    };
    load(0, stages, 0);

    constexpr int steps = Tiling::depth / Tiling::step;
    for (int left = p.k; left > 0; left -= Tiling::depth) {
#pragma unroll
        for (int i = 0; i < steps; ++i) {
            if (i == steps - 1) {
                reading = after(reading);
                wait_for_copies<Stages - 2>();
                __syncthreads();  // the next slab is complete, and no thread reads this slab any more
            }
            load((i + 1) % 2, stages + reading, (i + 1) % steps);
            if (i == 0) {
                // Overwrites the stage of the slab before this one: all threads have passed the barrier after
                // its loads.
                copier.copy(stages + writing);
                writing = after(writing);
            }
#pragma unroll
            for (int r = 0; r < WarpM / 16; ++r)
#pragma unroll
                for (int s = 0; s < WarpN / 8; ++s)
                    Mma<T>::multiply_add(sums[r][s / 2][s % 2], from_a[i % 2][r],
                                         from_b[i % 2][s / 2][s % 2]);
        }
    }
    wait_for_copies<0>();
    let_next_kernel_begin();  // not sooner: its blocks would take memory from blocks that still copy

    store_warp_tile<Tiling, WarpM, WarpN>(c + blockIdx.z * p.c_batch, p, corner.row + y, corner.column + x,
                                          sums);
}

template <class T, class Tiling>
constexpr bool runs_on_compiled_arch = compiled_arch >= Mma<T>::least_arch &&
                                       (compiled_arch >= 800 || Tiling::shared_bytes <= 64 << 10);

template <class T, class Out, int BlockM, int BlockN, int WarpM, int WarpN, int Stages>
__global__ void __launch_bounds__(tensor_cores_threads(BlockM, BlockN, WarpM, WarpN))
    tensor_cores(const T* a, const T* b, Out* c, Problem p) {
    using Tiling = MmaTiling<T, BlockM, BlockN, WarpM, WarpN, Stages>;
    if constexpr (runs_on_compiled_arch<T, Tiling>)
        multiply_tile<Tiling, T, Out, BlockM, BlockN, WarpM, WarpN, Stages>(a, b, c, p);
    else
        __trap();
}

// The same for a B that is stored transposed: neighbours in memory are along k.
template <class T, class Out, int BlockM, int BlockN, int WarpM, int WarpN, int Stages>
__global__ void __launch_bounds__(tensor_cores_threads(BlockM, BlockN, WarpM, WarpN))
    tensor_cores_along_k(const T* a, const T* b, Out* c, Problem p) {
    using Tiling = MmaTiling<T, BlockM, BlockN, WarpM, WarpN, Stages, true>;
    if constexpr (runs_on_compiled_arch<T, Tiling>)
        multiply_tile<Tiling, T, Out, BlockM, BlockN, WarpM, WarpN, Stages>(a, b, c, p);
    else
        __trap();
}

#ifndef CUSCOPE_ONE_INSTANCE  // else the caller names the instance to compile
#define INSTANCE(T, Out, ...)                                                                      \
    template __global__ void tensor_cores<T, Out, __VA_ARGS__>(const T*, const T*, Out*, Problem); \
    template __global__ void tensor_cores_along_k<T, Out, __VA_ARGS__>(const T*, const T*, Out*, Problem);
// Large problems.
INSTANCE(__half, __half, 128, 256, 64, 64, 3)
INSTANCE(__half, float, 128, 256, 64, 64, 3)
INSTANCE(__nv_bfloat16, __nv_bfloat16, 128, 256, 64, 64, 3)
INSTANCE(__nv_bfloat16, float, 128, 256, 64, 64, 3)
INSTANCE(float, float, 128, 128, 64, 32, 3)
INSTANCE(signed char, int, 128, 256, 64, 64, 3)
INSTANCE(signed char, signed char, 128, 256, 64, 64, 3)
INSTANCE(double, double, 128, 128, 64, 32, 3)
// For devices where the large shapes do not fit into shared memory (sm_86, sm_89), and for problems where
// they leave multiprocessors idle.
INSTANCE(__half, __half, 128, 128, 64, 32, 3)
INSTANCE(__nv_bfloat16, __nv_bfloat16, 128, 128, 64, 32, 3)
INSTANCE(signed char, int, 128, 128, 64, 32, 3)
INSTANCE(signed char, signed char, 128, 128, 64, 32, 3)
// Fewer elements of C, and sm_75.
INSTANCE(__half, __half, 64, 64, 32, 32, 3)
INSTANCE(__half, float, 64, 64, 32, 32, 3)
INSTANCE(__nv_bfloat16, __nv_bfloat16, 64, 64, 32, 32, 3)
INSTANCE(__nv_bfloat16, float, 64, 64, 32, 32, 3)
INSTANCE(float, float, 64, 64, 32, 32, 3)
INSTANCE(double, double, 64, 128, 64, 32, 3)
INSTANCE(double, double, 64, 64, 32, 32, 3)
INSTANCE(signed char, int, 64, 128, 32, 64, 2)
INSTANCE(signed char, signed char, 64, 128, 32, 64, 2)
// C with few rows: B comes from memory as fast as it can if many slabs are under way.
INSTANCE(__half, __half, 16, 64, 16, 16, 10)
INSTANCE(__half, __half, 32, 64, 16, 32, 8)
INSTANCE(__half, __half, 64, 64, 32, 32, 8)
INSTANCE(__half, __half, 64, 128, 32, 32, 6)
INSTANCE(__half, float, 16, 64, 16, 16, 10)
INSTANCE(__half, float, 32, 64, 16, 32, 8)
INSTANCE(__half, float, 64, 64, 32, 32, 8)
INSTANCE(__nv_bfloat16, __nv_bfloat16, 16, 64, 16, 16, 10)
INSTANCE(__nv_bfloat16, __nv_bfloat16, 32, 64, 16, 32, 8)
INSTANCE(__nv_bfloat16, __nv_bfloat16, 64, 64, 32, 32, 8)
INSTANCE(__nv_bfloat16, __nv_bfloat16, 64, 128, 32, 32, 6)
INSTANCE(__nv_bfloat16, float, 16, 64, 16, 16, 10)
INSTANCE(__nv_bfloat16, float, 32, 64, 16, 32, 8)
INSTANCE(__nv_bfloat16, float, 64, 64, 32, 32, 8)
INSTANCE(double, double, 16, 64, 16, 16, 10)
INSTANCE(double, double, 64, 128, 32, 32, 6)
INSTANCE(double, double, 64, 64, 32, 32, 8)
#endif
