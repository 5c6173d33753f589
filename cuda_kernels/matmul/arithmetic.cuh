// The sum of products for each element type.
#pragma once

#include "../common/small_floats.cuh"

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
#define CUSCOPE_IN_FLOAT(id, name, bytes, kind, cuda, exponent, fraction, dlpack) \
    template <>                                                                   \
    struct AccumulatorOf<cuda> {                                                  \
        using type = float;                                                       \
    };
CUSCOPE_SMALL_FLOATS(CUSCOPE_IN_FLOAT)
#undef CUSCOPE_IN_FLOAT
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
    if constexpr (is_small_float<T>) {
        sum += widened(a) * widened(b);
    } else {
        sum += static_cast<Accumulator<T>>(a) * static_cast<Accumulator<T>>(b);
    }
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
    if constexpr (is_small_float<T>) {
        T to;
        round_to(to, sum);
        return to;
    } else {
        return static_cast<T>(sum);
    }
}

// Instantiates a kernel, by a macro INSTANCE(type), for each element type of the simple rungs. Signed
// integers also serve unsigned ones, because the bits are the same.
#define INSTANCE_OF_ROW(id, name, bytes, kind, cuda, exponent, fraction, dlpack) INSTANCE(cuda)
#define FOR_EVERY_ELEMENT_TYPE               \
    CUSCOPE_FLOATS(INSTANCE_OF_ROW)          \
    CUSCOPE_SIGNED_INTEGERS(INSTANCE_OF_ROW) \
    INSTANCE(bool)                           \
    CUSCOPE_COMPLEX_NUMBERS(INSTANCE_OF_ROW)
