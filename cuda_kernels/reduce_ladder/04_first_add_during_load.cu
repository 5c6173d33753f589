// Before: half of the threads load one element and then do no more work.
// Here: every thread loads two elements and combines them on the way to shared memory. That needs half as
// many blocks, and the widest step of the tree needs no barrier.
//
// Blocks of 256 threads, ceil(n / 512) of them; static shared memory.
#include "operations.cuh"

template <class T, class Operation>
__global__ void first_add_during_load(const T* in, T* out, long long n) {
    __shared__ T shared[256];
    const unsigned tid = threadIdx.x;
    const long long i = static_cast<long long>(blockIdx.x) * (2 * blockDim.x) + tid;
    T value = i < n ? in[i] : Operation::template identity<T>();
    if (i + blockDim.x < n) value = Operation::combine(value, in[i + blockDim.x]);
    shared[tid] = value;
    __syncthreads();
    for (unsigned s = blockDim.x / 2; s > 0; s /= 2) {
        if (tid < s) shared[tid] = Operation::combine(shared[tid], shared[tid + s]);
        __syncthreads();
    }
    if (tid == 0) out[blockIdx.x] = shared[0];
}

OFFER_ALL(first_add_during_load)
