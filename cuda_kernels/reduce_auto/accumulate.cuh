// Addition with as much precision as the result's type can hold.
//
// float16, bfloat16 and float32 are summed in double. On sm_80 and sm_90, double additions keep up with the
// memory; on sm_75 they do not, so pairs of floats are used. float64 is summed in pairs of doubles: the
// rounding error of each addition is computed exactly as a second number (Knuth's TwoSum), and the errors are
// added up beside the sum.
#pragma once

#include "../common/small_floats.cuh"

template <class R>
struct alignas(2 * sizeof(R)) Complex {
    R re, im;
};

// Real and imaginary part, as accumulators.
template <class A>
struct Parts {
    A re, im;
};

// The unevaluated sum of a number and a much smaller number.
template <class R>
struct Twofold {
    R high, low;
};

template <class R>
__device__ void add(Twofold<R>& sum, R x) {
    const R total = sum.high + x;
    const R of_x = total - sum.high;
    sum.low += (sum.high - (total - of_x)) + (x - of_x);
    sum.high = total;
}
template <class R>
__device__ Twofold<R> merged(Twofold<R> a, Twofold<R> b) {
    add(a, b.high);
    a.low += b.low;
    return a;
}
template <class R>
__device__ double total(Twofold<R> sum) {
    // If the sum is infinite or NaN, the error is NaN.
    const bool finite = sum.low - sum.low == 0;
    return finite ? static_cast<double>(sum.high) + static_cast<double>(sum.low) : sum.high;
}

__device__ inline void add(double& sum, double x) { sum += x; }
__device__ inline double merged(double a, double b) { return a + b; }
__device__ inline double total(double sum) { return sum; }

// The sum of no elements. As in NumPy, a sum of negative zeros is 0.0.
__device__ inline void clear(double& sum) { sum = 0; }
template <class R>
__device__ void clear(Twofold<R>& sum) {
    sum = {R(0), R(0)};
}

#if __CUDA_ARCH__ >= 800
using FloatSum = double;
// Added as a tree, so that a thread's additions wait for each other once in four elements, not each time.
__device__ inline void add(FloatSum& sum, float a, float b, float c, float d) {
    sum += (static_cast<double>(a) + b) + (static_cast<double>(c) + d);
}
__device__ inline void add_product(FloatSum& sum, float a, float b) {
    sum += static_cast<double>(a) * b;  // exact: 24 bits by 24
}
#else
using FloatSum = Twofold<float>;
__device__ inline void add(FloatSum& sum, float a, float b, float c, float d) {
    add(sum, a);
    add(sum, b);
    add(sum, c);
    add(sum, d);
}
__device__ inline void add_product(FloatSum& sum, float a, float b) {
    const float product = a * b;
    add(sum, product);
    const float error = fmaf(a, b, -product);
    if (error - error == 0) sum.low += error;
}
#endif
__device__ inline void add_product(Twofold<double>& sum, double a, double b) {
    const double product = a * b;
    add(sum, product);
    const double error = fma(a, b, -product);
    if (error - error == 0) sum.low += error;  // not for an infinite product
}

template <class E>
__device__ float real(E x) {
    return widened(x);
}
__device__ inline float real(float x) { return x; }
__device__ inline double real(double x) { return x; }

// The larger number, or NaN if one is NaN.
template <class K>
__device__ K larger(K a, K b) {
    return a >= b || a != a ? a : b;
}
#if __CUDA_ARCH__ >= 800 && !defined(__CUSCOPE_HOST__)
__device__ inline float larger(float a, float b) {
    float result;
    asm("max.NaN.f32 %0, %1, %2;" : "=f"(result) : "f"(a), "f"(b));
    return result;
}
#endif
