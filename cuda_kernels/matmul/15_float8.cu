// Rung 11 multiplies 8-bit floats, too, at twice the rate of half precision. But the tensor cores of Hopper
// keep only about 14 bits of a sum of their products, so the error grows with k: each product that is added
// to a large sum loses its last bits. Here, the sum of a slab, 128 products, is added to a total by the units
// for floats, which keep 24 bits. With 192 columns, a thread has registers for one set of sums beside the
// totals: the tensor cores work for the other warpgroup while it adds. With 128 columns, there are two sets:
// the tensor cores fill one while the other is added.
//
// Needs: A in rows and B stored transposed, because wgmma takes bytes only if neighbours in memory are along
// k; both at multiples of 16 bytes, with rows of A, columns of B and matrices of a batch multiples of 16
// bytes apart; compute capability 9.0, compiled for sm_90a.
#include "tma_slabs.cuh"

template <class T, class Out, int BlockN, int Stages, int Cluster, bool TransposedA, bool TransposedB>
struct Float8Product : TmaSlabs<T, Out, BlockN, Stages, Cluster, TransposedA, TransposedB> {
    using Slabs = TmaSlabs<T, Out, BlockN, Stages, Cluster, TransposedA, TransposedB>;
    using Tiling = typename Slabs::Tiling;
    using Slabs::add_sums, Slabs::depth, Slabs::multiply_slabs, Slabs::store_tile;
    using Slabs::p, Slabs::order, Slabs::stages, Slabs::full;
    static constexpr int sums_of_thread = BlockN / 2;

    // Starts the products of the next slab, and returns its stage.
    __device__ __forceinline__ int start(float (&sums)[sums_of_thread], Turn<Stages>& turn) const {
        const int stage = turn.stage;
        full[stage].wait(turn.parity);
        multiply_slabs(sums, stages + stage * Tiling::stage_bytes, false);
        turn.next();
        return stage;
    }

    // The same as add_slabs<1>, with two sets of sums in turns.
    __device__ __forceinline__ void add_slabs_in_turns(float (&totals)[sums_of_thread], int slabs,
                                                       Turn<Stages>& turn) const {
        float first[sums_of_thread], second[sums_of_thread];
        int of_first = start(first, turn);
        for (; slabs > 2; slabs -= 2) {
            const int of_second = start(second, turn);
            wait_for_products<1>();
            add_sums(totals, first, of_first);
            of_first = start(first, turn);
            wait_for_products<1>();
            add_sums(totals, second, of_second);
        }
        if (slabs == 2) {
            const int of_second = start(second, turn);
            wait_for_products<1>();
            add_sums(totals, first, of_first);
            wait_for_products<0>();
            add_sums(totals, second, of_second);
        } else {
            wait_for_products<0>();
            add_sums(totals, first, of_first);
        }
    }

    __device__ __forceinline__ void multiply(const TensorMap& c_map, Out* c) const {
        const int slabs = (p.k + depth - 1) / depth;
        Turn<Stages> turn;
        float totals[sums_of_thread];
        for (unsigned i = blockIdx.x / Cluster; i < order.count; i += gridDim.x / Cluster) {
#pragma unroll
            for (float& total : totals) total = 0;
            if constexpr (BlockN <= 128)
                add_slabs_in_turns(totals, slabs, turn);
            else
                this->template add_slabs<1>(totals, slabs, turn);
            store_tile(c_map, c, order.place(i), totals);
        }
        if (threadIdx.x % 32 == 0) wait_for_stores();  // they read shared memory of this block
    }
};

template <class T, class Out, int BlockN, int Stages, int Cluster, bool TransposedA, bool TransposedB>
__global__ void __launch_bounds__(tma_threads, 1) __cluster_dims__(Cluster, 1, 1)
    float8(const __grid_constant__ TensorMap a, const __grid_constant__ TensorMap b,
           const __grid_constant__ TensorMap c_map, Out* c, const Problem p, int batch, int group) {
#if defined(__CUDA_ARCH__) && !defined(__CUDA_ARCH_FEAT_SM90_ALL) && !defined(__CUSCOPE_HOST__)
    __trap();
#else
    run_block<Float8Product<T, Out, BlockN, Stages, Cluster, TransposedA, TransposedB> >(a, b, c_map, c, p,
                                                                                         batch, group);
#endif
}

#ifndef CUSCOPE_ONE_INSTANCE  // else the caller names the instance to compile
#define LAYOUT(T, Out, ...)                                                   \
    template __global__ void float8<T, Out, __VA_ARGS__, false, true>(        \
        const __grid_constant__ TensorMap, const __grid_constant__ TensorMap, \
        const __grid_constant__ TensorMap, Out*, const Problem, int, int);
#define INSTANCES(T, Out)     \
    LAYOUT(T, Out, 192, 4, 2) \
    LAYOUT(T, Out, 128, 6, 2)
INSTANCES(__nv_fp8_e4m3, float)
INSTANCES(__nv_fp8_e4m3, __half)
INSTANCES(__nv_fp8_e4m3, __nv_bfloat16)
INSTANCES(__nv_fp8_e5m2, float)
INSTANCES(__nv_fp8_e5m2, __half)
INSTANCES(__nv_fp8_e5m2, __nv_bfloat16)
#endif
