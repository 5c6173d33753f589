// Before: a block handles only two elements a thread, so the tree takes most of its time. And the number of
// blocks follows from n, so a large n needs more launches.
// Here: as many blocks as the device holds go over the whole array, in steps of the grid's width. The tree is
// needed once for thousands of elements, and two launches are enough for any n.
//
// Blocks of 256 threads, any number of them; static shared memory.
#include "operations.cuh"
#include "unrolled_tree.cuh"

template <class T, class Operation>
__global__ void grid_stride(const T* in, T* out, long long n) {
    constexpr int block = 256;
    __shared__ T shared[block];
    const int tid = threadIdx.x;
    const long long step = static_cast<long long>(gridDim.x) * block;
    T value = Operation::template identity<T>();
    for (long long i = static_cast<long long>(blockIdx.x) * block + tid; i < n; i += step)
        value = Operation::combine(value, in[i]);
    shared[tid] = value;
    value = unrolled_tree<block, T, Operation>(shared, tid);
    if (tid == 0) out[blockIdx.x] = value;
}

OFFER_ALL(grid_stride)
