// y = gelu(x + bias) of bfloat16, eight at a time through one 16-byte load.
#include <cuda_bf16.h>

union Pack {
    uint4 raw;
    __nv_bfloat162 pairs[4];
    __device__ Pack() {}
};

__device__ __forceinline__ float gelu(float x) {
    const float cubic = 0.044715f * x * x * x;
    return 0.5f * x * (1.0f + tanhf(0.7978845608f * (x + cubic)));
}

__device__ __forceinline__ __nv_bfloat162 gelu(__nv_bfloat162 x) {
    const float2 f = __bfloat1622float2(x);
    return __floats2bfloat162_rn(gelu(f.x), gelu(f.y));
}

__global__ void bias_gelu(const __nv_bfloat16* __restrict__ x, const __nv_bfloat16* __restrict__ bias,
                          __nv_bfloat16* __restrict__ y, int columns, int total) {
    const int i = (blockIdx.x * blockDim.x + threadIdx.x) * 8;
    if (i >= total) return;
    Pack a, b;
    a.raw = *reinterpret_cast<const uint4*>(x + i);
    b.raw = __ldg(reinterpret_cast<const uint4*>(bias + i % columns));
#pragma unroll
    for (int j = 0; j < 4; ++j) a.pairs[j] = gelu(__hadd2(a.pairs[j], b.pairs[j]));
    *reinterpret_cast<uint4*>(y + i) = a.raw;
}
