// Before: in step s only every (2 * s)-th thread works. So each warp executes the step for only a few of its
// lanes, and % is slow.
// Here: the first threads of the block work, thread tid on index 2 * s * tid. So whole warps are busy or
// idle.
//
// Blocks of 256 threads, ceil(n / 256) of them; static shared memory.
#include "operations.cuh"

template <class T, class Operation>
__global__ void interleaved_strided(const T* in, T* out, long long n) {
    __shared__ T shared[256];
    const unsigned tid = threadIdx.x;
    const long long i = static_cast<long long>(blockIdx.x) * blockDim.x + tid;
    shared[tid] = i < n ? in[i] : Operation::template identity<T>();
    __syncthreads();
    for (unsigned s = 1; s < blockDim.x; s *= 2) {
        const unsigned index = 2 * s * tid;
        if (index < blockDim.x) shared[index] = Operation::combine(shared[index], shared[index + s]);
        __syncthreads();
    }
    if (tid == 0) out[blockIdx.x] = shared[0];
}

OFFER_ALL(interleaved_strided)
