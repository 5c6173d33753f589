// Before: the tree goes through shared memory, with a store, a load and a barrier for each step. And a second
// launch adds the values of the blocks.
// Here: the lanes of a warp pass values from register to register, and one atomicAdd a block adds to out[0],
// which the caller has set to 0. Blocks arrive in any order, so the last bits of a sum of floats may differ
// from run to run. Sums of integers are always the same.
//
// Blocks of 256 threads, any number of them; static shared memory (8 values). Sum only.
#include "operations.cuh"
#include "warp.cuh"

template <class T>
__device__ void add_to(T* out, T value) {
    atomicAdd(out, value);
}
// In two's complement, signed and unsigned addition are the same.
__device__ inline void add_to(long long* out, long long value) {
    atomicAdd(reinterpret_cast<unsigned long long*>(out), static_cast<unsigned long long>(value));
}

template <class T, class Operation>
__global__ void warp_shuffle(const T* in, T* out, long long n) {
    const long long step = static_cast<long long>(gridDim.x) * blockDim.x;
    T value = Operation::template identity<T>();
    for (long long i = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x; i < n; i += step)
        value = Operation::combine(value, in[i]);
    value = reduce_block<Operation>(value);
    if (threadIdx.x == 0) add_to(out, value);
}

OFFER(warp_shuffle, float, Sum)
OFFER(warp_shuffle, double, Sum)
OFFER(warp_shuffle, int, Sum)
OFFER(warp_shuffle, unsigned int, Sum)
OFFER(warp_shuffle, long long, Sum)
OFFER(warp_shuffle, unsigned long long, Sum)
