// Layer normalisation of rows of any 16- or 32-bit type: a warp for each row, Welford's sums merged by shuffles.
#include <cuda_bf16.h>
#include <cuda_fp16.h>

template <typename T>
struct Convert;
template <>
struct Convert<float> {
    static __device__ float load(float x) { return x; }
    static __device__ float store(float x) { return x; }
};
template <>
struct Convert<__half> {
    static __device__ float load(__half x) { return __half2float(x); }
    static __device__ __half store(float x) { return __float2half_rn(x); }
};
template <>
struct Convert<__nv_bfloat16> {
    static __device__ float load(__nv_bfloat16 x) { return __bfloat162float(x); }
    static __device__ __nv_bfloat16 store(float x) { return __float2bfloat16_rn(x); }
};

struct Welford {
    float mean = 0.0f, m2 = 0.0f, count = 0.0f;

    __device__ void push(float x) {
        count += 1.0f;
        const float delta = x - mean;
        mean += delta / count;
        m2 += delta * (x - mean);
    }
    __device__ void merge(const Welford& other) {
        const float total = count + other.count;
        if (total == 0.0f) return;
        const float delta = other.mean - mean;
        mean += delta * (other.count / total);
        m2 += other.m2 + delta * delta * (count * other.count / total);
        count = total;
    }
    __device__ Welford shuffled(int offset) const {
        Welford w;
        w.mean = __shfl_xor_sync(0xffffffff, mean, offset);
        w.m2 = __shfl_xor_sync(0xffffffff, m2, offset);
        w.count = __shfl_xor_sync(0xffffffff, count, offset);
        return w;
    }
};

template <typename T, int WARPS = 4>
__global__ void __launch_bounds__(WARPS * 32)
    layernorm(const T* __restrict__ x, const float* __restrict__ gamma, const float* __restrict__ beta,
              T* __restrict__ y, int rows, int columns, float epsilon) {
    const int row = blockIdx.x * WARPS + threadIdx.y;
    if (row >= rows) return;
    const T* from = x + static_cast<size_t>(row) * columns;
    Welford sums;
    for (int i = threadIdx.x; i < columns; i += 32) sums.push(Convert<T>::load(from[i]));
#pragma unroll
    for (int offset = 16; offset > 0; offset >>= 1) sums.merge(sums.shuffled(offset));
    const float scale = rsqrtf(sums.m2 / sums.count + epsilon);
    for (int i = threadIdx.x; i < columns; i += 32) {
        const float value = (Convert<T>::load(from[i]) - sums.mean) * scale;
        y[static_cast<size_t>(row) * columns + i] = Convert<T>::store(value * __ldg(gamma + i) + __ldg(beta + i));
    }
}

template __global__ void layernorm<float>(const float*, const float*, const float*, float*, int, int, float);
template __global__ void layernorm<__half>(const __half*, const float*, const float*, __half*, int, int, float);
template __global__ void layernorm<__nv_bfloat16>(const __nv_bfloat16*, const float*, const float*, __nv_bfloat16*, int,
                                                  int, float);
