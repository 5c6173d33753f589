// Stores the sums of the tensor cores, rounded (bytes: wrapped around) to the type of C.
#pragma once

#include "arithmetic.cuh"

__device__ __forceinline__ void store(float* to, float sum) { *to = sum; }
__device__ __forceinline__ void store(__half* to, float sum) { *to = __float2half_rn(sum); }
__device__ __forceinline__ void store(__nv_bfloat16* to, float sum) { *to = __float2bfloat16_rn(sum); }
__device__ __forceinline__ void store(double* to, double sum) { *to = sum; }
__device__ __forceinline__ void store(int* to, int sum) { *to = sum; }
__device__ __forceinline__ void store(signed char* to, int sum) { *to = static_cast<signed char>(sum); }

// Stores two neighbours at once. The address of the first is a multiple of their common size.
__device__ __forceinline__ void store_pair(float* to, float x, float y) {
    *reinterpret_cast<float2*>(to) = {x, y};
}
__device__ __forceinline__ void store_pair(__half* to, float x, float y) {
    *reinterpret_cast<__half2*>(to) = __floats2half2_rn(x, y);
}
__device__ __forceinline__ void store_pair(__nv_bfloat16* to, float x, float y) {
    *reinterpret_cast<__nv_bfloat162*>(to) = __floats2bfloat162_rn(x, y);
}
__device__ __forceinline__ void store_pair(double* to, double x, double y) {
    *reinterpret_cast<double2*>(to) = {x, y};
}
__device__ __forceinline__ void store_pair(int* to, int x, int y) { *reinterpret_cast<int2*>(to) = {x, y}; }
__device__ __forceinline__ void store_pair(signed char* to, int x, int y) {
    *reinterpret_cast<char2*>(to) = {static_cast<signed char>(x), static_cast<signed char>(y)};
}
