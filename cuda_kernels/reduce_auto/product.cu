// Products. Floats are multiplied in double, integers modulo 2^64.
//   ProductOf<__half>, <__nv_bfloat16>, <float>, <double>   kind: a floating output type
//   ProductOf<signed char>, <short>, <int>, <long long>     both signs, signed char for bool; kind: any real
//   ProductOf<Complex<float>>, <Complex<double>>            kind: complex64 or complex128
// bits: for signed types of 8 to 32 bits the top bit of an element (plan.hpp: bits_of); else 0. divisor: 1.
#include "accumulate.cuh"
#include "shapes.cuh"
#include "stores.cuh"

// Shared by all products: multiplies a vector's elements one after another.
template <class Policy, class E, class V>
struct Multiplied {
    using Element = E;
    using Value = V;
    using State = V;
    static constexpr int loads = sizeof(E) > 4 ? 4 : 8, chains = 2, column_blocks = sizeof(E) > 1 ? 3 : 2;
    int kind;

    __device__ explicit Multiplied(int kind) : kind(kind) {}
    __device__ void add(Value& value, E x, long long) const {
        const Policy& policy = static_cast<const Policy&>(*this);
        value = policy.combine(value, policy.lift(x, 0));
    }
    __device__ void start(State& state) const { state = static_cast<const Policy&>(*this).identity(); }
    __device__ void absorb(State& state, const uint4& vector, long long) const {
        const E* x = reinterpret_cast<const E*>(&vector);
#pragma unroll
        for (int i = 0; i < static_cast<int>(16 / sizeof(E)); ++i) add(state, x[i], 0);
    }
    __device__ Value finish(State state) const { return state; }
};

template <class E>
struct ProductOf : Multiplied<ProductOf<E>, E, double> {
    __device__ ProductOf(unsigned long long, int kind, long long)
        : Multiplied<ProductOf<E>, E, double>(kind) {}
    __device__ double identity() const { return 1; }
    __device__ double combine(double a, double b) const { return a * b; }
    __device__ double lift(E x, long long) const { return real(x); }
    template <class Use>
    __device__ void with_output(void* out, double, Use use) const {
        with_real(out, this->kind,
                  [&](auto* typed) { use(typed, [](auto& to, double value) { round_to(to, value); }); });
    }
};

template <class E, class Unsigned>
struct ProductOfIntegers : Multiplied<ProductOfIntegers<E, Unsigned>, E, unsigned long long> {
    unsigned sign;

    __device__ ProductOfIntegers(unsigned long long bits, int kind, long long)
        : Multiplied<ProductOfIntegers, E, unsigned long long>(kind), sign(static_cast<unsigned>(bits)) {}
    __device__ unsigned long long identity() const { return 1; }
    __device__ unsigned long long combine(unsigned long long a, unsigned long long b) const { return a * b; }
    __device__ unsigned long long lift(E x, long long) const {
        const unsigned long long bits = static_cast<Unsigned>(x);
        return (bits ^ sign) - sign;  // sign extension for signed types
    }
    template <class Use>
    __device__ void with_output(void* out, double, Use use) const {
        const Divisor one(1);
        with_integer(out, this->kind, [&](auto* typed) {
            use(typed, [&](auto& to, unsigned long long value) {
                set_integer(to, static_cast<long long>(value), one);
            });
        });
    }
};
template <>
struct ProductOf<signed char> : ProductOfIntegers<signed char, unsigned char> {
    using ProductOfIntegers::ProductOfIntegers;
};
template <>
struct ProductOf<short> : ProductOfIntegers<short, unsigned short> {
    using ProductOfIntegers::ProductOfIntegers;
};
template <>
struct ProductOf<int> : ProductOfIntegers<int, unsigned> {
    using ProductOfIntegers::ProductOfIntegers;
};
template <>
struct ProductOf<long long> : ProductOfIntegers<long long, unsigned long long> {
    using ProductOfIntegers::ProductOfIntegers;
};

template <class R>
struct ProductOf<Complex<R>> : Multiplied<ProductOf<Complex<R>>, Complex<R>, Complex<double>> {
    __device__ ProductOf(unsigned long long, int kind, long long)
        : Multiplied<ProductOf, Complex<R>, Complex<double>>(kind) {}
    __device__ Complex<double> identity() const { return {1, 0}; }
    __device__ Complex<double> combine(Complex<double> a, Complex<double> b) const {
        return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
    }
    __device__ Complex<double> lift(Complex<R> x, long long) const { return {x.re, x.im}; }
    template <class Use>
    __device__ void with_output(void* out, double, Use use) const {
        with_complex(out, this->kind, [&](auto* typed) {
            use(typed, [](auto& to, const Complex<double>& value) { set_complex(to, value.re, value.im); });
        });
    }
};

#ifndef CUSCOPE_ONE_INSTANCE  // else the caller names the instance to compile
#define CUSCOPE_OFFER(id, name, bytes, kind, cuda, exponent, fraction, dlpack) OFFER_SHAPES(ProductOf<cuda>)
CUSCOPE_FLOATS(CUSCOPE_OFFER)
CUSCOPE_SIGNED_INTEGERS(CUSCOPE_OFFER)
CUSCOPE_COMPLEX_NUMBERS(CUSCOPE_OFFER)
#endif
