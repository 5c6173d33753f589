// Rung 12 multiplies the bytes of integers with the instructions of a warp, which reach about half of what
// Hopper's tensor cores can do, and its threads compute an address for every 16 bytes that they copy. Here
// the slabs come and the products are made as in rung 11: TMA copies, and four warps multiply what lies in
// shared memory. Only the plan of the work is that of rung 12: passes over k, the passes with the greatest i
// + j first, and a shift of the sums by 8 bits after all passes with the same i + j.
//
// wgmma takes bytes only if their neighbours in memory are along k. The rows of A are; so to_planes has
// exchanged rows and columns of B when it divided B into planes.
//
// A block shifts its sums only when its products have ended. The tensor cores would idle then, but the other
// warpgroup of the block still has products under way.
//
// Needs: in place of A, its planes of bytes (size x m x width); in place of B, the planes of the transposed B
// (size x n x width); the lowest plane first; width is k rounded up to a multiple of 16. One matrix, no
// batch; compute capability 9.0, compiled for sm_90a.
#include "passes.cuh"
#include "tma_slabs.cuh"

template <class T, int BlockN, int Stages, int Cluster>
struct PlanesProduct : TmaSlabs<unsigned char, T, BlockN, Stages, Cluster, false, true> {
    using Slabs = TmaSlabs<unsigned char, T, BlockN, Stages, Cluster, false, true>;
    using Tiling = typename Slabs::Tiling;
    using Slabs::copy_pass, Slabs::depth, Slabs::multiply_slabs, Slabs::release, Slabs::store_tile;
    using Slabs::p, Slabs::order, Slabs::stages, Slabs::full;
    static constexpr int size = sizeof(T);
    static constexpr bool wide = size == 8;

    // For one thread: copies the slabs of all passes of all tiles, after the kernel before this one.
    __device__ void copy(const TensorMap& a, const TensorMap& b) const {
        wait_for_kernel_before();
        Turn<Stages> turn;
        for (unsigned i = blockIdx.x / Cluster; i < order.count; i += gridDim.x / Cluster) {
            const TileOrder::Place place = order.place(i);
            for (Pass pass{size - 1}; pass.level >= 0; pass.next())
                copy_pass(a, pass.a, b, pass.level - pass.a, place, turn);
        }
    }

    // Multiplies the slabs of all passes with the same i + j as if they were one pass, so that products are
    // under way at its end alone.
    __device__ __forceinline__ void multiply(const TensorMap& c_map, T* c) const {
        const int slabs_of_pass = (p.k + depth - 1) / depth;
        // An unsigned sum of 32 bits holds so many products: 65536 x 255 x 255 < 2^32. Numbers of 4 bytes
        // stay in `sums`: what wraps around there wraps around in the result.
        constexpr int most_slabs = wide ? 65536 / depth : 1 << 30;
        Turn<Stages> turn;
        int sums[BlockN / 2];
        unsigned long long totals[wide ? BlockN / 2 : 1];
        for (unsigned i = blockIdx.x / Cluster; i < order.count; i += gridDim.x / Cluster) {
            if constexpr (wide) {
#pragma unroll
                for (unsigned long long& total : totals) total = 0;
            }
            for (int level = size - 1; level >= 0; --level) {
                for (int left = (level + 1) * slabs_of_pass; left > 0; left -= most_slabs) {
                    int previous = -1;
                    for (int slab = 0; slab < min(left, most_slabs); ++slab, turn.next()) {
                        full[turn.stage].wait(turn.parity);
                        multiply_slabs(sums, stages + turn.stage * Tiling::stage_bytes,
                                       slab > 0 || (!wide && level < size - 1));
                        wait_for_products<1>();
                        if (previous >= 0) release(previous);
                        previous = turn.stage;
                    }
                    wait_for_products<0>();
#pragma unroll
                    for (int& sum : sums) read_after_waiting(sum);
                    release(previous);
                    if constexpr (wide) {
#pragma unroll
                        for (int j = 0; j < BlockN / 2; ++j) totals[j] += static_cast<unsigned>(sums[j]);
                    }
                }
                if (level == 0) continue;
                if constexpr (wide) {
#pragma unroll
                    for (unsigned long long& total : totals) total <<= 8;
                } else {
#pragma unroll
                    for (int& sum : sums) sum = static_cast<int>(static_cast<unsigned>(sum) << 8);
                }
            }
            if constexpr (wide)
                store_tile(c_map, c, order.place(i), totals);
            else
                store_tile(c_map, c, order.place(i), sums);
        }
        if (threadIdx.x % 32 == 0) wait_for_stores();  // they read shared memory of this block
    }
};

template <class T, int BlockN, int Stages, int Cluster>
__global__ void __launch_bounds__(tma_threads, 1) __cluster_dims__(Cluster, 1, 1)
    wgmma_planes(const __grid_constant__ TensorMap a, const __grid_constant__ TensorMap b,
                 const __grid_constant__ TensorMap c_map, T* c, const Problem p, int batch, int group) {
#if defined(__CUDA_ARCH__) && !defined(__CUDA_ARCH_FEAT_SM90_ALL) && !defined(__CUSCOPE_HOST__)
    __trap();
#else
    run_block<PlanesProduct<T, BlockN, Stages, Cluster> >(a, b, c_map, c, p, batch, group);
#endif
}

#ifndef CUSCOPE_ONE_INSTANCE  // else the caller names the instance to compile
#define INSTANCE(T, ...)                                                      \
    template __global__ void wgmma_planes<T, __VA_ARGS__>(                    \
        const __grid_constant__ TensorMap, const __grid_constant__ TensorMap, \
        const __grid_constant__ TensorMap, T*, const Problem, int, int);
INSTANCE(int, 256, 4, 2)
INSTANCE(int, 128, 6, 2)
INSTANCE(long long, 128, 6, 2)
#endif
