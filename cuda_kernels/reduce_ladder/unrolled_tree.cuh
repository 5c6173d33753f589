// The tree over a block's values, unrolled at compile time: the step over 2 * half values exists only if the
// block has so many, which the compiler knows.
#pragma once

template <int half, int block, class T, class Operation>
__device__ void tree_step(T* shared, int tid) {
    if constexpr (block >= 2 * half) {
        if (tid < half) shared[tid] = Operation::combine(shared[tid], shared[tid + half]);
        __syncthreads();
    }
}

// Reduces shared[0 .. block) for a block that is a power of two from 64 to 1024. Thread 0 gets the result.
// The threads have written shared before; this starts with a barrier.
template <int block, class T, class Operation>
__device__ T unrolled_tree(T* shared, int tid) {
    static_assert(block >= 64 && block <= 1024 && (block & (block - 1)) == 0);
    __syncthreads();
    tree_step<512, block, T, Operation>(shared, tid);
    tree_step<256, block, T, Operation>(shared, tid);
    tree_step<128, block, T, Operation>(shared, tid);
    tree_step<64, block, T, Operation>(shared, tid);
    T value = shared[tid];
    if (tid < 32) {
#pragma unroll
        for (int half = 32; half > 0; half /= 2) {
            value = Operation::combine(value, shared[tid + half]);
            __syncwarp();  // all lanes have read before one writes
            shared[tid] = value;
            __syncwarp();
        }
    }
    return value;
}
