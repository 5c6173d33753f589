// Before: the loop over the steps counts, compares and branches, because the block's size is known only at
// run time.
// Here: the size is a constant, 256. So the compiler unrolls the steps, and drops the steps that a block of
// this size does not have: unrolled_tree.cuh.
//
// Blocks of 256 threads, ceil(n / 512) of them; static shared memory.
#include "operations.cuh"
#include "unrolled_tree.cuh"

template <class T, class Operation>
__global__ void fully_unrolled(const T* in, T* out, long long n) {
    constexpr int block = 256;
    __shared__ T shared[block];
    const int tid = threadIdx.x;
    const long long i = static_cast<long long>(blockIdx.x) * (2 * block) + tid;
    T value = i < n ? in[i] : Operation::template identity<T>();
    if (i + block < n) value = Operation::combine(value, in[i + block]);
    shared[tid] = value;
    value = unrolled_tree<block, T, Operation>(shared, tid);
    if (tid == 0) out[blockIdx.x] = value;
}

OFFER_ALL(fully_unrolled)
