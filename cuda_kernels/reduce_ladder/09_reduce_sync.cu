// Before: five shuffles and five operations reduce a warp.
// Here: 32-bit integers need one instruction, __reduce_add_sync or a similar one (sm_80 and later). The
// block's value is combined with out[0] by an atomic operation; before, out[0] holds the operation's
// identity. The result does not depend on the order, because the elements are integers.
//
// Blocks of 256 threads, any number of them; static shared memory (8 values). Sum, Minimum, Maximum of int
// and unsigned.
#include "operations.cuh"

template <class Operation>
struct Instruction;
template <>
struct Instruction<Sum> {
    template <class T>
    static __device__ T warp(T value) {
        return __reduce_add_sync(0xffffffffu, value);
    }
    template <class T>
    static __device__ void memory(T* out, T value) {
        atomicAdd(out, value);
    }
};
template <>
struct Instruction<Minimum> {
    template <class T>
    static __device__ T warp(T value) {
        return __reduce_min_sync(0xffffffffu, value);
    }
    template <class T>
    static __device__ void memory(T* out, T value) {
        atomicMin(out, value);
    }
};
template <>
struct Instruction<Maximum> {
    template <class T>
    static __device__ T warp(T value) {
        return __reduce_max_sync(0xffffffffu, value);
    }
    template <class T>
    static __device__ void memory(T* out, T value) {
        atomicMax(out, value);
    }
};

template <class T, class Operation>
__global__ void reduce_sync(const T* in, T* out, long long n) {
#if __CUDA_ARCH__ >= 800
    __shared__ T of_warp[8];
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const long long step = static_cast<long long>(gridDim.x) * blockDim.x;
    T value = Operation::template identity<T>();
    for (long long i = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x; i < n; i += step)
        value = Operation::combine(value, in[i]);
    value = Instruction<Operation>::warp(value);
    if (lane == 0) of_warp[warp] = value;
    __syncthreads();
    if (warp == 0) {
        value = Instruction<Operation>::warp(lane < 8 ? of_warp[lane] : Operation::template identity<T>());
        if (lane == 0) Instruction<Operation>::memory(out, value);
    }
#else
    __trap();  // this device lacks the instruction
#endif
}

OFFER(reduce_sync, int, Sum)
OFFER(reduce_sync, int, Minimum)
OFFER(reduce_sync, int, Maximum)
OFFER(reduce_sync, unsigned int, Sum)
OFFER(reduce_sync, unsigned int, Minimum)
OFFER(reduce_sync, unsigned int, Maximum)
