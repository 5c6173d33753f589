// Bodies that attract each other: positions pass through shared memory a tile at a time.
#include <cuda_runtime.h>

#ifndef TILE
#define TILE 64
#endif

__device__ float3 operator+(const float3& a, const float3& b) { return make_float3(a.x + b.x, a.y + b.y, a.z + b.z); }
__device__ float3& operator+=(float3& a, const float3& b) { return a = a + b; }
__device__ float3 operator*(const float3& a, float s) { return make_float3(a.x * s, a.y * s, a.z * s); }

__device__ __forceinline__ float3 interaction(const float4 a, const float4 b, const float softening) {
    const float3 r = make_float3(b.x - a.x, b.y - a.y, b.z - a.z);
    const float distance = r.x * r.x + r.y * r.y + r.z * r.z + softening;
    const float inverse = rsqrtf(distance);
    return r * (b.w * inverse * inverse * inverse);
}

__global__ void forces(const float4* __restrict__ position, float4* __restrict__ acceleration, int count,
                       float softening) {
    __shared__ float4 tile[TILE];
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const float4 own = i < count ? position[i] : make_float4(0, 0, 0, 0);
    float3 sum = make_float3(0.0f, 0.0f, 0.0f);
    for (int base = 0; base < count; base += TILE) {
        tile[threadIdx.x] = base + threadIdx.x < count ? position[base + threadIdx.x] : float4{0, 0, 0, 0};
        __syncthreads();
#pragma unroll 8
        for (int j = 0; j < TILE; ++j) sum += interaction(own, tile[j], softening);
        __syncthreads();
    }
    if (i < count) acceleration[i] = make_float4(sum.x, sum.y, sum.z, 0.0f);
}

__global__ void integrate(float4* position, float4* velocity, const float4* acceleration, int count, float dt) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count) return;
    float4 p = position[i], v = velocity[i];
    const float4 a = acceleration[i];
    v.x = fmaf(a.x, dt, v.x), v.y = fmaf(a.y, dt, v.y), v.z = fmaf(a.z, dt, v.z);
    p.x = fmaf(v.x, dt, p.x), p.y = fmaf(v.y, dt, p.y), p.z = fmaf(v.z, dt, p.z);
    position[i] = p;
    velocity[i] = v;
}
