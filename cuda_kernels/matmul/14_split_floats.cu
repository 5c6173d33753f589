// Tensor cores do not take floats without rounding them first: to 10 bits of fraction for tf32. But a float
// is the sum of three bfloat16: the first 8 bits of its fraction, the next 8, and the last 8. So a product of
// floats is a sum of nine products of bfloat16. Three of them are too small to matter: a part with i + j
// above 2 is below 2^-23 of the whole. The other six cost as much as three products by tf32, are more
// precise, and take factors that are stored in any order. Rung 08 adds one product at a time, at a fifteenth
// of the rate of bfloat16.
//
// A block makes passes over k as rung 13 does, the smallest parts first. Tensor cores cut the last bits of a
// sum off, where the units for floats round to nearest. That error would grow with k. So the sums of a few
// slabs, of 64 products each, are added to a total by the units for floats. The more slabs, the less the
// tensor cores wait for the additions; the fewer, the smaller the error.
//
// Infinity and NaN are in the first part alone, and the passes that pair the first part with a smaller one
// use a copy of it that has zeros in their place. So they meet only each other's first parts, and infinity
// times a number whose second part is zero does not become NaN.
//
// Needs: A and B are the parts of to_parts (4 x rows x width, in the order of memory); one matrix, no batch;
// compute capability 9.0, compiled for sm_90a.
#include "passes.cuh"
#include "tma_slabs.cuh"

template <int BlockN, int Stages, int Cluster, int SlabsOfSum, bool TransposedA, bool TransposedB>
struct SplitProduct : TmaSlabs<__nv_bfloat16, float, BlockN, Stages, Cluster, TransposedA, TransposedB> {
    using Slabs = TmaSlabs<__nv_bfloat16, float, BlockN, Stages, Cluster, TransposedA, TransposedB>;
    using Tiling = typename Slabs::Tiling;
    using Slabs::copy_slabs, Slabs::depth, Slabs::store_tile;
    using Slabs::p, Slabs::order, Slabs::stages, Slabs::full, Slabs::empty;
    static constexpr int parts = 3;

    // The matrix of a part, for a pass that pairs it with another part.
    static __device__ int matrix_of(int part, int other) { return part == 0 && other > 0 ? parts : part; }

    // For one thread: copies the slabs of all passes of all tiles, after the kernel before this one.
    __device__ void copy(const TensorMap& a, const TensorMap& b) const {
        wait_for_kernel_before();
        Turn<Stages> turn;
        for (unsigned i = blockIdx.x / Cluster; i < order.count; i += gridDim.x / Cluster) {
            const TileOrder::Place place = order.place(i);
            for (Pass pass{parts - 1}; pass.level >= 0; pass.next()) {
                const int of_b = pass.level - pass.a;
                for (int k = 0; k < p.k; k += depth, turn.next()) {
                    empty[turn.stage].wait(turn.parity ^ 1);
                    full[turn.stage].arrive_and_expect(Tiling::stage_bytes);
                    copy_slabs(a, matrix_of(pass.a, of_b), b, matrix_of(of_b, pass.a), place, k,
                               stages + turn.stage * Tiling::stage_bytes, full[turn.stage]);
                }
            }
        }
    }

    __device__ __forceinline__ void multiply(const TensorMap& c_map, float* c) const {
        const int slabs = parts * (parts + 1) / 2 * ((p.k + depth - 1) / depth);
        Turn<Stages> turn;
        float totals[BlockN / 2];
        for (unsigned i = blockIdx.x / Cluster; i < order.count; i += gridDim.x / Cluster) {
#pragma unroll
            for (float& total : totals) total = 0;
            this->template add_slabs<SlabsOfSum>(totals, slabs, turn);
            store_tile(c_map, c, order.place(i), totals);
        }
        if (threadIdx.x % 32 == 0) wait_for_stores();  // they read shared memory of this block
    }
};

template <int BlockN, int Stages, int Cluster, int SlabsOfSum, bool TransposedA, bool TransposedB>
__global__ void __launch_bounds__(tma_threads, 1) __cluster_dims__(Cluster, 1, 1)
    split_floats(const __grid_constant__ TensorMap a, const __grid_constant__ TensorMap b,
                 const __grid_constant__ TensorMap c_map, float* c, const Problem p, int batch, int group) {
#if defined(__CUDA_ARCH__) && !defined(__CUDA_ARCH_FEAT_SM90_ALL) && !defined(__CUSCOPE_HOST__)
    __trap();
#else
    run_block<SplitProduct<BlockN, Stages, Cluster, SlabsOfSum, TransposedA, TransposedB> >(a, b, c_map, c, p,
                                                                                            batch, group);
#endif
}

#ifndef CUSCOPE_ONE_INSTANCE  // else the caller names the instance to compile
#define LAYOUT(...)                                                           \
    template __global__ void split_floats<__VA_ARGS__>(                       \
        const __grid_constant__ TensorMap, const __grid_constant__ TensorMap, \
        const __grid_constant__ TensorMap, float*, const Problem, int, int);
#define INSTANCE(...)                 \
    LAYOUT(__VA_ARGS__, false, false) \
    LAYOUT(__VA_ARGS__, false, true)  \
    LAYOUT(__VA_ARGS__, true, false)  \
    LAYOUT(__VA_ARGS__, true, true)
INSTANCE(192, 4, 2, 4)
INSTANCE(128, 6, 2, 2)
#endif
