// Before: with atomic operations, the order of a float sum is random, out[0] must be set beforehand, and only
// some types and operations are supported.
// Here: each block leaves a partial, and a second launch, of one block, combines the partials. The order in
// which elements are combined depends only on n and the grid, so every run gives the same bits.
//
// First launch: blocks of 256 threads, any number of them, out = the partials. Second launch: one block of
// 256 threads, in = the partials, n = their number. Static shared memory (8 values).
#include "operations.cuh"
#include "warp.cuh"

template <class T, class Operation>
__global__ void two_kernels(const T* in, T* out, long long n) {
    const long long step = static_cast<long long>(gridDim.x) * blockDim.x;
    T value = Operation::template identity<T>();
    for (long long i = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x; i < n; i += step)
        value = Operation::combine(value, in[i]);
    value = reduce_block<Operation>(value);
    if (threadIdx.x == 0) out[blockIdx.x] = value;
}

OFFER_ALL(two_kernels)
