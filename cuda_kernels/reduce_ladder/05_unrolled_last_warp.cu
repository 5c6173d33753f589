// Before: the last six steps run in one warp, but the whole block meets at a barrier for each of them.
// Here: once 64 values are left, the first warp goes on alone. The 2007 form of this left out every
// barrier, because a warp ran in step; since Volta lanes may part, so __syncwarp stands between reading
// and writing.
//
// Blocks of 256 threads, ceil(n / 512) of them; static shared memory.
#include "operations.cuh"

template <class T, class Operation>
__device__ void last_warp(T* shared, unsigned tid) {
    T value = shared[tid];
#pragma unroll
    for (unsigned s = 32; s > 0; s /= 2) {
        value = Operation::combine(value, shared[tid + s]);
        __syncwarp();  // all have read before anyone writes
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
