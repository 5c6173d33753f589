// The operations of the reductions: an identity and an associative, commutative function, with NumPy's
// meaning. In Minimum and Maximum a NaN wins over every number. A sum of negative zeros is 0.0.
#pragma once

// The least and greatest values of a type, infinities included.
template <class T>
struct Ends {
    static_assert(T(-1) > T(0), "signed types have their own");
    static __device__ T lowest() { return 0; }
    static __device__ T highest() { return T(-1); }
    static __device__ T nothing() { return 0; }
};
template <>
struct Ends<int> {
    static __device__ int lowest() { return -0x7fffffff - 1; }
    static __device__ int highest() { return 0x7fffffff; }
    static __device__ int nothing() { return 0; }
};
template <>
struct Ends<long long> {
    static __device__ long long lowest() { return -0x7fffffffffffffffLL - 1; }
    static __device__ long long highest() { return 0x7fffffffffffffffLL; }
    static __device__ long long nothing() { return 0; }
};
template <>
struct Ends<float> {
    static __device__ float lowest() { return -highest(); }
    static __device__ float highest() { return __int_as_float(0x7f800000); }
    static __device__ float nothing() { return 0; }
};
template <>
struct Ends<double> {
    static __device__ double lowest() { return -highest(); }
    static __device__ double highest() { return __longlong_as_double(0x7ff0000000000000LL); }
    static __device__ double nothing() { return 0; }
};

struct Sum {
    template <class T>
    static __device__ T identity() {
        return Ends<T>::nothing();
    }
    template <class T>
    static __device__ T combine(T a, T b) {
        return a + b;
    }
};

struct Product {
    template <class T>
    static __device__ T identity() {
        return T(1);
    }
    template <class T>
    static __device__ T combine(T a, T b) {
        return a * b;
    }
};

struct Minimum {
    template <class T>
    static __device__ T identity() {
        return Ends<T>::highest();
    }
    template <class T>
    static __device__ T combine(T a, T b) {
        return a <= b || a != a ? a : b;  // if b is NaN, a <= b is false
    }
};

struct Maximum {
    template <class T>
    static __device__ T identity() {
        return Ends<T>::lowest();
    }
    template <class T>
    static __device__ T combine(T a, T b) {
        return a >= b || a != a ? a : b;
    }
};

// The instances of a rung: `rung` with parameters (const T*, T*, long long).
#define OFFER(rung, T, Operation) template __global__ void rung<T, Operation>(const T*, T*, long long);
#define OFFER_OPERATIONS(rung, T) \
    OFFER(rung, T, Sum)           \
    OFFER(rung, T, Product)       \
    OFFER(rung, T, Minimum)       \
    OFFER(rung, T, Maximum)
#define OFFER_ALL(rung)                  \
    OFFER_OPERATIONS(rung, float)        \
    OFFER_OPERATIONS(rung, double)       \
    OFFER_OPERATIONS(rung, int)          \
    OFFER_OPERATIONS(rung, unsigned int) \
    OFFER_OPERATIONS(rung, long long)    \
    OFFER_OPERATIONS(rung, unsigned long long)
