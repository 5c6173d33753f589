// Reductions through registers: a warp by shuffles, a block by one value of each warp.
#pragma once

template <class Operation, class T>
__device__ T reduce_warp(T value) {
#pragma unroll
    for (int offset = 16; offset > 0; offset /= 2)
        value = Operation::combine(value, __shfl_down_sync(0xffffffffu, value, offset));
    return value;  // lane 0 has the warp's value
}

// Reduces a block of 256 threads. All threads call it; thread 0 gets the result. Uses 8 values of static
// shared memory. A second call in one kernel needs a barrier in between, because the first warp may still be
// reading.
template <class Operation, class T>
__device__ T reduce_block(T value) {
    constexpr int warps = 8;
    __shared__ T of_warp[warps];
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    value = reduce_warp<Operation>(value);
    if (lane == 0) of_warp[warp] = value;
    __syncthreads();
    if (warp == 0) {
        value = lane < warps ? of_warp[lane] : Operation::template identity<T>();
        value = reduce_warp<Operation>(value);
    }
    return value;
}
