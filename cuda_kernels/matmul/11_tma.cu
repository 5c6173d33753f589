// Rung 10 spends its warps on copies: 256 threads compute an address for every 16 bytes, and all of them meet
// at a barrier for every slab. The tensor cores wait when a block begins, when it ends, and while its tile of
// C is written. Every block reads all of its slabs itself.
// Here, one thread starts all copies of a block: the tensor memory accelerator (TMA) copies a whole slab for
// one instruction. It waits for barriers in shared memory that tell which stages are free, and the two
// warpgroups that multiply wait for barriers that tell which stages are full. They give and take registers,
// because the copying warpgroup needs few. Blocks stay for many tiles, so that the slabs of the next tile
// arrive while a tile of C is written. Two neighbouring blocks (a cluster) have the same columns of C: each
// copies half of their slab of B, for both.
//
// The matrices of a batch may be parts of one k (k_batch). TMA fills steps past the end of k with zeros, so
// the last part may be shorter, and one launch multiplies all parts.
//
// Float is rounded to the 10 bits of fraction of tf32 by TMA. A must not be stored transposed then, and B
// must be; the same is true for 8-bit floats, whose sums are less precise here than in rung 15.
//
// Needs: A, B at multiples of 16 bytes, with rows (and matrices of a batch) multiples of 16 bytes apart;
// compute capability 9.0, compiled for sm_90a.
#include "tma_slabs.cuh"

template <class T, class Out, int BlockN, int Stages, int Cluster, bool TransposedA, bool TransposedB>
struct TmaProduct : TmaSlabs<T, Out, BlockN, Stages, Cluster, TransposedA, TransposedB> {
    using Slabs = TmaSlabs<T, Out, BlockN, Stages, Cluster, TransposedA, TransposedB>;
    using Tiling = typename Slabs::Tiling;
    using Slabs::depth, Slabs::multiply_slabs, Slabs::release, Slabs::store_tile;
    using Slabs::p, Slabs::order, Slabs::stages, Slabs::full;

    __device__ __forceinline__ void multiply(const TensorMap& c_map, Out* c) const {
        Turn<Stages> turn;
        float sums[BlockN / 2];
        for (unsigned i = blockIdx.x / Cluster; i < order.count; i += gridDim.x / Cluster) {
            int previous = -1;
            for (int k = 0; k < p.k; k += depth, turn.next()) {
                full[turn.stage].wait(turn.parity);
                multiply_slabs(sums, stages + turn.stage * Tiling::stage_bytes, k > 0);
                wait_for_products<1>();
                if (previous >= 0) release(previous);
                previous = turn.stage;
            }
            wait_for_products<0>();
#pragma unroll
            for (float& sum : sums) read_after_waiting(sum);
            release(previous);
            store_tile(c_map, c, order.place(i), sums);
        }
        if (threadIdx.x % 32 == 0) wait_for_stores();  // they read shared memory of this block
    }
};

template <class T, class Out, int BlockN, int Stages, int Cluster, bool TransposedA, bool TransposedB>
__global__ void __launch_bounds__(tma_threads, 1) __cluster_dims__(Cluster, 1, 1)
    tma(const __grid_constant__ TensorMap a, const __grid_constant__ TensorMap b,
        const __grid_constant__ TensorMap c_map, Out* c, const Problem p, int batch, int group) {
#if defined(__CUDA_ARCH__) && !defined(__CUDA_ARCH_FEAT_SM90_ALL) && !defined(__CUSCOPE_HOST__)
    __trap();
#else
    run_block<TmaProduct<T, Out, BlockN, Stages, Cluster, TransposedA, TransposedB> >(a, b, c_map, c, p,
                                                                                      batch, group);
#endif
}

#ifndef CUSCOPE_ONE_INSTANCE  // else the caller names the instance to compile
#define LAYOUT(T, Out, ...)                                                   \
    template __global__ void tma<T, Out, __VA_ARGS__>(                        \
        const __grid_constant__ TensorMap, const __grid_constant__ TensorMap, \
        const __grid_constant__ TensorMap, Out*, const Problem, int, int);
#define INSTANCE(...)                 \
    LAYOUT(__VA_ARGS__, false, false) \
    LAYOUT(__VA_ARGS__, false, true)  \
    LAYOUT(__VA_ARGS__, true, false)  \
    LAYOUT(__VA_ARGS__, true, true)
INSTANCE(__half, __half, 256, 4, 2)
INSTANCE(__half, __half, 256, 4, 1)
INSTANCE(__half, __half, 192, 4, 2)
INSTANCE(__half, __half, 192, 4, 1)
INSTANCE(__half, __half, 128, 6, 2)
INSTANCE(__nv_bfloat16, __nv_bfloat16, 256, 4, 2)
INSTANCE(__nv_bfloat16, __nv_bfloat16, 256, 4, 1)
INSTANCE(__nv_bfloat16, __nv_bfloat16, 192, 4, 2)
INSTANCE(__nv_bfloat16, __nv_bfloat16, 192, 4, 1)
INSTANCE(__nv_bfloat16, __nv_bfloat16, 128, 6, 2)
// The parts of a product whose k is split; half also for factors of both 8-bit formats.
INSTANCE(__half, float, 256, 4, 2)
INSTANCE(__nv_bfloat16, float, 256, 4, 2)
INSTANCE(__half, float, 128, 6, 2)
INSTANCE(__nv_bfloat16, float, 128, 6, 2)
INSTANCE(__half, float, 128, 6, 1)
INSTANCE(__nv_bfloat16, float, 128, 6, 1)
LAYOUT(float, float, 256, 4, 2, false, true)
LAYOUT(float, float, 192, 4, 2, false, true)
LAYOUT(float, float, 128, 6, 2, false, true)
LAYOUT(__nv_fp8_e4m3, float, 256, 4, 2, false, true)
LAYOUT(__nv_fp8_e4m3, float, 128, 6, 2, false, true)
LAYOUT(__nv_fp8_e4m3, __nv_bfloat16, 256, 4, 2, false, true)
LAYOUT(__nv_fp8_e4m3, __nv_bfloat16, 128, 6, 2, false, true)
LAYOUT(__nv_fp8_e5m2, float, 256, 4, 2, false, true)
LAYOUT(__nv_fp8_e5m2, float, 128, 6, 2, false, true)
LAYOUT(__nv_fp8_e5m2, __nv_bfloat16, 256, 4, 2, false, true)
LAYOUT(__nv_fp8_e5m2, __nv_bfloat16, 128, 6, 2, false, true)
#endif
