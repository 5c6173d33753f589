// The sum of products for each element type.
#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>

template <class R>
struct Complex {
    R re, im;
};

// Half precision is summed in float. Integers are summed unsigned, because unsigned numbers may wrap around,
// and in at least as many bits as the result has: so the low bits are exact. The sum of bool is a logical or.
template <class T>
struct AccumulatorOf {
    using type = T;
};
template <>
struct AccumulatorOf<__half> {
    using type = float;
};
template <>
struct AccumulatorOf<__nv_bfloat16> {
    using type = float;
};
template <>
struct AccumulatorOf<signed char> {
    using type = unsigned;
};
template <>
struct AccumulatorOf<short> {
    using type = unsigned;
};
template <>
struct AccumulatorOf<int> {
    using type = unsigned;
};
template <>
struct AccumulatorOf<long long> {
    using type = unsigned long long;
};
template <class T>
using Accumulator = typename AccumulatorOf<T>::type;

template <class T>
__device__ __forceinline__ void multiply_add(Accumulator<T>& sum, T a, T b) {
    sum += static_cast<Accumulator<T>>(a) * static_cast<Accumulator<T>>(b);
}
template <>
__device__ __forceinline__ void multiply_add<__half>(float& sum, __half a, __half b) {
    sum += __half2float(a) * __half2float(b);
}
template <>
__device__ __forceinline__ void multiply_add<__nv_bfloat16>(float& sum, __nv_bfloat16 a, __nv_bfloat16 b) {
    sum += __bfloat162float(a) * __bfloat162float(b);
}
template <>
__device__ __forceinline__ void multiply_add<bool>(bool& sum, bool a, bool b) {
    sum = sum || (a && b);
}
template <class R>
__device__ __forceinline__ void multiply_add(Complex<R>& sum, Complex<R> a, Complex<R> b) {
    sum.re += a.re * b.re;
    sum.re -= a.im * b.im;
    sum.im += a.re * b.im;
    sum.im += a.im * b.re;
}

template <class T>
__device__ __forceinline__ T rounded(Accumulator<T> sum) {
    return static_cast<T>(sum);
}
template <>
__device__ __forceinline__ __half rounded<__half>(float sum) {
    return __float2half_rn(sum);
}
template <>
__device__ __forceinline__ __nv_bfloat16 rounded<__nv_bfloat16>(float sum) {
    return __float2bfloat16_rn(sum);
}

// Instantiates a kernel for each element type of the simple rungs. Signed integers also serve unsigned ones,
// because the bits are the same.
#define FOR_EVERY_ELEMENT_TYPE(INSTANCE) \
    INSTANCE(float)                      \
    INSTANCE(double)                     \
    INSTANCE(__half)                     \
    INSTANCE(__nv_bfloat16)              \
    INSTANCE(signed char)                \
    INSTANCE(short)                      \
    INSTANCE(int)                        \
    INSTANCE(long long)                  \
    INSTANCE(bool)                       \
    INSTANCE(Complex<float>)             \
    INSTANCE(Complex<double>)
