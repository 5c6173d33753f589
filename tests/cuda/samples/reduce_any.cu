// Reductions with any operation: structures in dynamic shared memory, functors, lambdas, the last block, packed
// atomics.
#include <float.h>
#include <limits.h>

struct ValueIndex {
    float value;
    int index;
};

struct ArgMax {
    static __device__ __host__ constexpr ValueIndex identity() { return {-FLT_MAX, INT_MAX}; }
    __device__ ValueIndex operator()(const ValueIndex& a, const ValueIndex& b) const {
        return b.value > a.value || (b.value == a.value && b.index < a.index) ? b : a;
    }
};

template <typename T, typename Op, unsigned SIZE>
__device__ void reduce_steps(T* shared, Op op) {
    if constexpr (SIZE > 0) {
        if (threadIdx.x < SIZE) shared[threadIdx.x] = op(shared[threadIdx.x], shared[threadIdx.x + SIZE]);
        __syncthreads();
        reduce_steps<T, Op, SIZE / 2>(shared, op);
    }
}

__device__ unsigned int blocks_done = 0;

template <unsigned BLOCK>
__global__ void argmax(const float* __restrict__ in, int n, ValueIndex* partial, ValueIndex* result) {
    extern __shared__ unsigned char raw[];
    ValueIndex* shared = reinterpret_cast<ValueIndex*>(raw);
    __shared__ bool is_last;
    ArgMax op;
    ValueIndex best = ArgMax::identity();
    for (int i = blockIdx.x * BLOCK + threadIdx.x; i < n; i += BLOCK * gridDim.x) best = op(best, {in[i], i});
    shared[threadIdx.x] = best;
    __syncthreads();
    reduce_steps<ValueIndex, ArgMax, BLOCK / 2>(shared, op);
    if (threadIdx.x == 0) {
        partial[blockIdx.x] = shared[0];
        __threadfence();
        is_last = atomicInc(&blocks_done, gridDim.x - 1) == gridDim.x - 1;
    }
    __syncthreads();
    if (!is_last) return;
    best = ArgMax::identity();
    for (unsigned i = threadIdx.x; i < gridDim.x; i += BLOCK) {
        const volatile ValueIndex* from = partial + i;
        best = op(best, {from->value, from->index});
    }
    shared[threadIdx.x] = best;
    __syncthreads();
    reduce_steps<ValueIndex, ArgMax, BLOCK / 2>(shared, op);
    if (threadIdx.x == 0) *result = shared[0];
}

// The nearest point: distance and index packed so that one atomic decides.
__global__ void nearest(const float2* points, int n, float2 target, unsigned long long* packed) {
    auto key = [](float distance, unsigned index) {
        return static_cast<unsigned long long>(__float_as_uint(distance)) << 32 | index;
    };
    unsigned long long best = ~0ull;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x) {
        const float dx = points[i].x - target.x, dy = points[i].y - target.y;
        best = min(best, key(dx * dx + dy * dy, i));
    }
    for (int d = 16; d > 0; d >>= 1) best = min(best, __shfl_down_sync(~0u, best, d));
    if ((threadIdx.x & 31) == 0) atomicMin(packed, best);
}

// atomicAdd and atomicMax for types without them, by compare and swap.
__device__ float atomicMaxFloat(float* address, float value) {
    int* as_int = reinterpret_cast<int*>(address);
    int old = *as_int, assumed;
    do {
        assumed = old;
        if (__int_as_float(assumed) >= value) break;
        old = atomicCAS(as_int, assumed, __float_as_int(value));
    } while (assumed != old);
    return __int_as_float(old);
}

template <typename F>
__device__ double transform_sum(const float* in, int n, F f) {
    double sum = 0;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x) sum += f(in[i]);
    for (int d = 16; d > 0; d >>= 1) sum += __shfl_xor_sync(~0u, sum, d);
    return sum;
}

__global__ void moments(const float* in, int n, double* sums, float* most) {
    const double first = transform_sum(in, n, [](float x) { return static_cast<double>(x); });
    const double second = transform_sum(in, n, [](float x) { return static_cast<double>(x) * x; });
    if (threadIdx.x % 32 == 0) {
        atomicAdd(&sums[0], first);
        atomicAdd(&sums[1], second);
    }
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x) atomicMaxFloat(most, in[i]);
}
