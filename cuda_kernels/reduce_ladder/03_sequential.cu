// Before: the lanes of a warp access words of shared memory that are 2 * s words apart. So up to 32 lanes
// need the same bank, and are served one after the other.
// Here: the second half of the remaining values is added to the first half. So neighbouring lanes access
// neighbouring words.
//
// Blocks of 256 threads, ceil(n / 256) of them; static shared memory.
#include "operations.cuh"

template <class T, class Operation>
__global__ void sequential(const T* in, T* out, long long n) {
    __shared__ T shared[256];
    const unsigned tid = threadIdx.x;
    const long long i = static_cast<long long>(blockIdx.x) * blockDim.x + tid;
    shared[tid] = i < n ? in[i] : Operation::template identity<T>();
    __syncthreads();
    for (unsigned s = blockDim.x / 2; s > 0; s /= 2) {
        if (tid < s) shared[tid] = Operation::combine(shared[tid], shared[tid + s]);
        __syncthreads();
    }
    if (tid == 0) out[blockIdx.x] = shared[0];
}

OFFER_ALL(sequential)
