// Rung 08 multiplies integers of 32 and 64 bits one by one, and tensor cores know bytes only. But a number is
// a sum of bytes: a = a0 + 256 a1 + 256^2 a2 + ... So the product is the sum of 256^(i + j) times the product
// of bytes i of A and bytes j of B, and of these only the products with i + j below the size of the number
// reach the result: 10 for 4 bytes, 36 for 8. A tensor core multiplies bytes more than 20 times as fast as
// the integer units multiply numbers of 4 bytes, so this is still twice as fast.
//
// The loop over slabs is that of rung 09. It stands here again, because as a function of both rungs it made
// nvcc 13 spill registers in six instances of rung 09.
//
// to_planes has divided both factors into matrices of bytes. A block multiplies them in passes over k, the
// passes with the greatest i + j first; after all passes with the same i + j it shifts its sums by 8 bits.
// The sums may wrap around, as sums of integers do in the other rungs.
//
// Needs: p.a_row and p.b_row are the widths of the planes, multiples of 16; A and B are the lowest planes.
// One matrix, no batch. sm_80.
#include "chunk_copier.cuh"
#include "mma_stores.cuh"
#include "mma_tiling.cuh"
#include "passes.cuh"
#include "problem.cuh"

// Not a generic lambda: NVRTC takes one for a function of the host.
template <int Down, int Across, class Act>
__device__ __forceinline__ void for_each_sum(Act act) {
#pragma unroll
    for (int r = 0; r < Down; ++r)
#pragma unroll
        for (int s = 0; s < Across; ++s)
#pragma unroll
            for (int j = 0; j < 2; ++j)
#pragma unroll
                for (int i = 0; i < 4; ++i) act(r, s, j, i);
}

template <class T, int BlockM, int BlockN, int WarpM, int WarpN, int Stages>
__device__ __forceinline__ void multiply_planes(const unsigned char* a, const unsigned char* b, T* c,
                                                const Problem& p) {
    using Byte = unsigned char;
    using Tiling = MmaTiling<Byte, BlockM, BlockN, WarpM, WarpN, Stages>;
    using Total = Accumulator<T>;
    constexpr int size = sizeof(T);
    extern __shared__ __align__(16) char stages[];
    const Corner corner = corner_of_block_in_groups<BlockM, BlockN>(p);
    const long long plane_a = p.m * p.a_row, plane_b = p.k * p.b_row;
    const int slabs = (p.k + Tiling::depth - 1) / Tiling::depth;  // of a pass

    using Copier = ChunkCopier<Byte, Tiling, BlockM>;
    Pass copied{size - 1};
    int copies_left = slabs;
    Copier copier(a, b + copied.level * plane_b, p, corner);
    const auto copy = [&](char* stage) {
        if (copies_left == 0) {
            copied.next();
            copies_left = slabs;
            // Behind the last pass, the copier goes on with slabs behind the end, which are zeros.
            if (copied.level >= 0)
                copier = Copier(a + copied.a * plane_a, b + (copied.level - copied.a) * plane_b, p, corner);
        }
        --copies_left;
        copier.copy(stage);
    };
#pragma unroll
    for (int s = 0; s < Stages - 1; ++s) copy(stages + s * Tiling::stage_bytes);

    const int warp = threadIdx.x / 32;
    const int y = warp / Tiling::warps_n * WarpM, x = warp % Tiling::warps_n * WarpN;
    int sums[WarpM / 16][WarpN / 16][2][4] = {};
    // Numbers of 4 bytes stay in `sums`: what wraps around there wraps around in the result.
    constexpr bool wide = size == 8;
    Total totals[wide ? WarpM / 16 : 1][wide ? WarpN / 16 : 1][2][4] = {};
    unsigned from_a[2][WarpM / 16][4], from_b[2][WarpN / 16][2][2];
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
    // An unsigned sum of 32 bits holds so many products of bytes: 65536 x 255 x 255 is just below 2^32.
    constexpr int most_slabs = 65536 / Tiling::depth;
    Pass pass{size - 1};
    for (int slab = 0; pass.level >= 0;) {
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
                copy(stages + writing);
                writing = after(writing);
            }
#pragma unroll
            for (int r = 0; r < WarpM / 16; ++r)
#pragma unroll
                for (int s = 0; s < WarpN / 8; ++s)
                    Mma<Byte>::multiply_add(sums[r][s / 2][s % 2], from_a[i % 2][r],
                                            from_b[i % 2][s / 2][s % 2]);
        }
        ++slab;
        if constexpr (wide) {
            if (slab == slabs || slab % most_slabs == 0)
                for_each_sum<WarpM / 16, WarpN / 16>([&](int r, int s, int j, int i) {
                    totals[r][s][j][i] += static_cast<unsigned>(sums[r][s][j][i]);
                    sums[r][s][j][i] = 0;
                });
        }
        if (slab < slabs) continue;
        slab = 0;
        if (pass.last_of_level() && pass.level > 0)
            for_each_sum<WarpM / 16, WarpN / 16>([&](int r, int s, int j, int i) {
                if constexpr (wide)
                    totals[r][s][j][i] <<= 8;
                else
                    sums[r][s][j][i] = static_cast<int>(static_cast<unsigned>(sums[r][s][j][i]) << 8);
            });
        pass.next();
    }
    wait_for_copies<0>();

    if constexpr (wide)
        store_warp_tile<Tiling, WarpM, WarpN>(c, p, corner.row + y, corner.column + x, totals);
    else
        store_warp_tile<Tiling, WarpM, WarpN>(c, p, corner.row + y, corner.column + x, sums);
}

template <class T, int BlockM, int BlockN, int WarpM, int WarpN, int Stages>
__global__ void __launch_bounds__(tensor_cores_threads(BlockM, BlockN, WarpM, WarpN))
    byte_planes(const unsigned char* a, const unsigned char* b, T* c, Problem p) {
    if constexpr (compiled_arch < Mma<unsigned char>::least_arch)
        __trap();
    else
        multiply_planes<T, BlockM, BlockN, WarpM, WarpN, Stages>(a, b, c, p);
}

#ifndef CUSCOPE_ONE_INSTANCE  // else the caller names the instance to compile
#define INSTANCE(T, ...)                                                                                 \
    template __global__ void byte_planes<T, __VA_ARGS__>(const unsigned char*, const unsigned char*, T*, \
                                                         Problem);
INSTANCE(int, 128, 128, 64, 32, 3)
INSTANCE(int, 64, 128, 32, 64, 3)
INSTANCE(long long, 64, 128, 32, 32, 3)
#endif
