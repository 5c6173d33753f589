// The first reduction of CUDA's documentation: each thread copies one element to shared memory. Then in step
// s every (2 * s)-th thread adds its neighbour at distance s. A block leaves one value, so the caller
// launches again over these values until one is left.
//
// Blocks of 256 threads, ceil(n / 256) of them; static shared memory.
#include "operations.cuh"

template <class T, class Operation>
__global__ void interleaved_modulo(const T* in, T* out, long long n) {
    __shared__ T shared[256];
    const unsigned tid = threadIdx.x;
    const long long i = static_cast<long long>(blockIdx.x) * blockDim.x + tid;
    shared[tid] = i < n ? in[i] : Operation::template identity<T>();
    __syncthreads();
    for (unsigned s = 1; s < blockDim.x; s *= 2) {
        if (tid % (2 * s) == 0) shared[tid] = Operation::combine(shared[tid], shared[tid + s]);
        __syncthreads();
    }
    if (tid == 0) out[blockIdx.x] = shared[0];
}

OFFER_ALL(interleaved_modulo)
