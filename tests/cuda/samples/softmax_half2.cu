// Softmax of the rows of a matrix of halves: a block for each row, two columns at a time.
#include <cuda_fp16.h>

#define FULL_MASK 0xffffffffu

struct MaxOp {
    __device__ __forceinline__ float operator()(float a, float b) const { return fmaxf(a, b); }
    static constexpr float identity = -3.4e38f;
};
struct SumOp {
    __device__ __forceinline__ float operator()(float a, float b) const { return a + b; }
    static constexpr float identity = 0.0f;
};

template <typename Op>
__inline__ __device__ float warpReduce(float v, Op op) {
    for (int offset = warpSize / 2; offset > 0; offset >>= 1) v = op(v, __shfl_xor_sync(FULL_MASK, v, offset));
    return v;
}

template <typename Op>
__inline__ __device__ float blockReduce(float v, Op op) {
    static __shared__ float shared[32];
    const int lane = threadIdx.x & 31, wid = threadIdx.x >> 5;
    v = warpReduce(v, op);
    __syncthreads();
    if (lane == 0) shared[wid] = v;
    __syncthreads();
    v = threadIdx.x < (blockDim.x + 31) / 32 ? shared[lane] : Op::identity;
    v = warpReduce(v, op);
    if (threadIdx.x == 0) shared[0] = v;
    __syncthreads();
    return shared[0];
}

__global__ void softmax(const half* __restrict__ in, half* __restrict__ out, int columns) {
    const half2* row = reinterpret_cast<const half2*>(in + (size_t)blockIdx.x * columns);
    half2* to = reinterpret_cast<half2*>(out + (size_t)blockIdx.x * columns);
    const int pairs = columns / 2;

    half2 most = __half2half2(__ushort_as_half(0xfbff));  // the lowest number
    for (int i = threadIdx.x; i < pairs; i += blockDim.x) most = __hmax2(most, row[i]);
    const float top = blockReduce(__half2float(__hmax(__low2half(most), __high2half(most))), MaxOp());

    float sum = 0.0f;
    for (int i = threadIdx.x; i < pairs; i += blockDim.x) {
        const float2 x = __half22float2(row[i]);
        sum += __expf(x.x - top) + __expf(x.y - top);
    }
    const float scale = 1.0f / blockReduce(sum, SumOp());

    for (int i = threadIdx.x; i < pairs; i += blockDim.x) {
        const float2 x = __half22float2(row[i]);
        to[i] = __floats2half2_rn(__expf(x.x - top) * scale, __expf(x.y - top) * scale);
    }
}

// The same for short rows, all in halves: each warp has a row in its registers.
template <int PAIRS>
__global__ void softmax_registers(const half2* in, half2* out, int rows) {
    const int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    if (row >= rows) return;
    half2 x[PAIRS];
#pragma unroll
    for (int i = 0; i < PAIRS; ++i) x[i] = in[(row * PAIRS + i) * 32 + lane];
    half2 most = x[0];
#pragma unroll
    for (int i = 1; i < PAIRS; ++i) most = __hmax2(most, x[i]);
    for (int d = 16; d > 0; d /= 2) most = __hmax2(most, __shfl_xor_sync(FULL_MASK, most, d));
    most = __half2half2(__hmax(most.x, most.y));
    float sum = 0;
#pragma unroll
    for (int i = 0; i < PAIRS; ++i) {
        x[i] = h2exp(__hsub2(x[i], most));
        sum += __low2float(x[i]) + __high2float(x[i]);
    }
    for (int d = 16; d > 0; d /= 2) sum += __shfl_xor_sync(FULL_MASK, sum, d);
    const half2 scale = __float2half2_rn(1.0f / sum);
#pragma unroll
    for (int i = 0; i < PAIRS; ++i) out[(row * PAIRS + i) * 32 + lane] = x[i] * scale;
}
