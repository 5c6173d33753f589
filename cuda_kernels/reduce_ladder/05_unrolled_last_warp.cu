// Before: the last six steps run in one warp, but the whole block meets at a barrier for each of them.
// Here: once 64 values are left, the first warp continues alone. The version of 2007 had no barriers here,
// because the lanes of a warp ran in step. Since Volta they may diverge, so __syncwarp separates reads from
// writes.
//
// Blocks of 256 threads, ceil(n / 512) of them; static shared memory.
#include "operations.cuh"

template <class T, class Operation>
__device__ void last_warp(T* shared, unsigned tid) {
    T value = shared[tid];
#pragma unroll
    for (unsigned s = 32; s > 0; s /= 2) {
        value = Operation::combine(value, shared[tid + s]);
        __syncwarp();  // all lanes have read before one writes
        shared[tid] = value;
        __syncwarp();
    }
}

template <class T, class Operation>
__global__ void unrolled_last_warp(const T* in, T* out, long long n) {
    __shared__ T shared[256];
    const unsigned tid = threadIdx.x;
    const long long i = static_cast<long long>(blockIdx.x) * (2 * blockDim.x) + tid;
    T value = i < n ? in[i] : Operation::template identity<T>();
    if (i + blockDim.x < n) value = Operation::combine(value, in[i + blockDim.x]);
    shared[tid] = value;
    __syncthreads();
    for (unsigned s = blockDim.x / 2; s > 32; s /= 2) {
        if (tid < s) shared[tid] = Operation::combine(shared[tid], shared[tid + s]);
        __syncthreads();
    }
    if (tid < 32) last_warp<T, Operation>(shared, tid);
    if (tid == 0) out[blockIdx.x] = shared[0];
}

OFFER_ALL(unrolled_last_warp)
