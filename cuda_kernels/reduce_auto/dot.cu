// The dot product of two contiguous arrays of one type, without a temporary: two streams of 16-byte loads.
// Complex numbers are not conjugated.
//   DotOf<__half>, <__nv_bfloat16>, <float>, <double>   kind: a floating output type
//   DotOf<signed char>, <short>, <int>, <long long>     both signs, and signed char for bool; kind: any real
//   DotOf<Complex<float>>, <Complex<double>>            kind: complex64 or complex128
// bits: for signed types of 8 to 32 bits the top bit of an element (plan.hpp: bits_of); else 0.
//
// Products of halves and floats are exact (in float and in double). For products of doubles, the rounding
// error is added to the sum.
//
// Launch (plan.hpp: plan_whole): as described in whole.cuh.
#include "span.cuh"
#include "stores.cuh"

constexpr int dot_threads = 512;

// A policy for two operands: a product of two elements is added to a State; States are merged as Values.
template <class E>
struct DotOf {  // halves
    using Element = E;
    using Value = FloatSum;
    static constexpr int loads = 4, chains = 2;
    int kind;

    __device__ DotOf(unsigned long long, int kind) : kind(kind) {}
    __device__ Value identity() const {
        Value value;
        clear(value);
        return value;
    }
    __device__ Value combine(Value a, Value b) const { return merged(a, b); }
    __device__ void add(Value& value, E a, E b) const { ::add(value, real(a) * real(b)); }
    __device__ void absorb(Value& value, const E (&a)[16 / sizeof(E)], const E (&b)[16 / sizeof(E)]) const {
        const auto pair = [&](int i) {
            return fmaf(real(a[i]), real(b[i]), real(a[i + 1]) * real(b[i + 1]));
        };
#pragma unroll
        for (int i = 0; i < static_cast<int>(16 / sizeof(E)); i += 8)
            ::add(value, pair(i), pair(i + 2), pair(i + 4), pair(i + 6));
    }
    __device__ void store(void* out, Value value) const {
        with_real(out, kind, [&](auto* to) { round_to(*to, total(value)); });
    }
};

// Adds one product after another.
template <class Policy, class E, class V>
struct DotOfSingles {
    using Element = E;
    using Value = V;
    static constexpr int loads = sizeof(V) > 16 || sizeof(E) == 1 ? 2 : sizeof(V) > 8 ? 3 : 4, chains = 2;
    int kind;

    __device__ explicit DotOfSingles(int kind) : kind(kind) {}
    __device__ void absorb(Value& value, const E (&a)[16 / sizeof(E)], const E (&b)[16 / sizeof(E)]) const {
#pragma unroll
        for (int i = 0; i < static_cast<int>(16 / sizeof(E)); ++i)
            static_cast<const Policy*>(this)->add(value, a[i], b[i]);
    }
};

template <class R, class V>
struct DotOfReals : DotOfSingles<DotOfReals<R, V>, R, V> {
    __device__ DotOfReals(unsigned long long, int kind) : DotOfSingles<DotOfReals, R, V>(kind) {}
    __device__ V identity() const {
        V value;
        clear(value);
        return value;
    }
    __device__ V combine(V a, V b) const { return merged(a, b); }
    __device__ void add(V& value, R a, R b) const { add_product(value, a, b); }
    __device__ void store(void* out, V value) const {
        with_real(out, this->kind, [&](auto* to) { round_to(*to, total(value)); });
    }
};
template <>
struct DotOf<float> : DotOfReals<float, FloatSum> {
    using DotOfReals::DotOfReals;
};
template <>
struct DotOf<double> : DotOfReals<double, Twofold<double>> {
    using DotOfReals::DotOfReals;
};

template <class E, class Unsigned>
struct DotOfIntegers : DotOfSingles<DotOfIntegers<E, Unsigned>, E, long long> {
    unsigned sign;

    __device__ DotOfIntegers(unsigned long long bits, int kind)
        : DotOfSingles<DotOfIntegers, E, long long>(kind), sign(static_cast<unsigned>(bits)) {}
    __device__ long long identity() const { return 0; }
    __device__ long long combine(long long a, long long b) const { return a + b; }
    __device__ long long widened(E x) const {
        const unsigned long long bits = static_cast<Unsigned>(x);
        return static_cast<long long>((bits ^ sign) - sign);
    }
    __device__ void add(long long& value, E a, E b) const { value += widened(a) * widened(b); }
    __device__ void store(void* out, long long value) const {
        with_integer(out, this->kind, [&](auto* to) { set_integer(*to, value, Divisor(1)); });
    }
};
template <>
struct DotOf<signed char> : DotOfIntegers<signed char, unsigned char> {
    using DotOfIntegers::DotOfIntegers;
    // One instruction adds four products. Sixteen products do not overflow 32 bits.
    __device__ void absorb(long long& value, const signed char (&a)[16], const signed char (&b)[16]) const {
        unsigned of_a[4], of_b[4];
        memcpy(of_a, a, 16);
        memcpy(of_b, b, 16);
        int with_sign = 0;
        unsigned without = 0;
#pragma unroll
        for (int i = 0; i < 4; ++i) {
            with_sign = __dp4a(static_cast<int>(of_a[i]), static_cast<int>(of_b[i]), with_sign);
            without = __dp4a(of_a[i], of_b[i], without);
        }
        value += sign != 0 ? static_cast<long long>(with_sign) : static_cast<long long>(without);
    }
};
template <>
struct DotOf<short> : DotOfIntegers<short, unsigned short> {
    using DotOfIntegers::DotOfIntegers;
};
template <>
struct DotOf<int> : DotOfIntegers<int, unsigned> {
    using DotOfIntegers::DotOfIntegers;
};
template <>
struct DotOf<long long> : DotOfIntegers<long long, unsigned long long> {
    using DotOfIntegers::DotOfIntegers;
};

template <class R, class P>
struct DotOfComplex : DotOfSingles<DotOfComplex<R, P>, Complex<R>, Parts<P>> {
    __device__ DotOfComplex(unsigned long long, int kind)
        : DotOfSingles<DotOfComplex, Complex<R>, Parts<P>>(kind) {}
    __device__ Parts<P> identity() const {
        Parts<P> value;
        clear(value.re);
        clear(value.im);
        return value;
    }
    __device__ Parts<P> combine(Parts<P> a, Parts<P> b) const {
        return {merged(a.re, b.re), merged(a.im, b.im)};
    }
    __device__ void add(Parts<P>& value, Complex<R> a, Complex<R> b) const {
        add_product(value.re, a.re, b.re);
        add_product(value.re, -a.im, b.im);
        add_product(value.im, a.re, b.im);
        add_product(value.im, a.im, b.re);
    }
    __device__ void store(void* out, Parts<P> value) const {
        with_complex(out, this->kind, [&](auto* to) { set_complex(*to, total(value.re), total(value.im)); });
    }
};
template <>
struct DotOf<Complex<float>> : DotOfComplex<float, FloatSum> {
    using DotOfComplex::DotOfComplex;
};
template <>
struct DotOf<Complex<double>> : DotOfComplex<double, Twofold<double>> {
    using DotOfComplex::DotOfComplex;
};

template <class E>
union Elements {
    uint4 vector;
    E elements[16 / sizeof(E)];

    __device__ Elements() {}
    __device__ void load(const E* data, bool aligned) {
        if (aligned) {
            vector = __ldcg(reinterpret_cast<const uint4*>(data));
        } else {
#pragma unroll
            for (int i = 0; i < static_cast<int>(16 / sizeof(E)); ++i) elements[i] = data[i];
        }
    }
};

// If the second array is not aligned like the first, it is read element by element.
template <class P>
__global__ void __launch_bounds__(dot_threads, 2)
    dot(const void* first, const void* second, void* out, long long n, unsigned long long bits, int kind,
        void* slots) {
    using E = typename P::Element;
    constexpr int loads = P::loads, chains = P::chains, width = 16 / sizeof(E);
    const long long bytes = n * static_cast<long long>(sizeof(E));
    fetch_ahead(first, bytes, blockIdx.x, gridDim.x);
    fetch_ahead(second, bytes, blockIdx.x, gridDim.x);
    follow();
    const P policy(bits, kind);
    const Span<E> a(static_cast<const E*>(first), n);
    const E* b = static_cast<const E*>(second);
    const bool alike = reinterpret_cast<unsigned long long>(b + a.head) % 16 == 0;
    const long long thread = static_cast<long long>(blockIdx.x) * dot_threads + threadIdx.x;
    const long long threads = static_cast<long long>(gridDim.x) * dot_threads;

    typename P::Value values[chains];
#pragma unroll
    for (auto& value : values) value = policy.identity();
    Elements<E> of_a[loads], of_b[loads];
    for (long long vector = thread; vector < a.vectors; vector += loads * threads) {
#pragma unroll
        for (int i = 0; i < loads; ++i) {
            if (vector + i * threads >= a.vectors) break;
            const long long index = a.head + (vector + i * threads) * width;
            of_a[i].vector = __ldcg(a.aligned + vector + i * threads);
            of_b[i].load(b + index, alike);
        }
#pragma unroll
        for (int i = 0; i < loads; ++i) {
            if (vector + i * threads >= a.vectors) break;
            policy.absorb(values[i % chains], of_a[i].elements, of_b[i].elements);
        }
    }
    if (thread < a.head) policy.add(values[0], *a.in_head(thread), b[thread]);
    if (thread < a.tail) policy.add(values[0], *a.in_tail(thread), b[a.index(a.vectors) + thread]);

    typename P::Value value = policy.combine(values[0], values[1]);
    value = reduce_group(policy, value, dot_threads);
    if (collect(policy, value, 0, blockIdx.x, gridDim.x, slots, dot_threads) && threadIdx.x == 0)
        policy.store(out, value);
}

#ifndef CUSCOPE_ONE_INSTANCE  // else the caller names the instance to compile
#define OFFER_DOT(...)                                                                    \
    template __global__ void dot<__VA_ARGS__>(const void*, const void*, void*, long long, \
                                              unsigned long long, int, void*);
#define CUSCOPE_OFFER(id, name, bytes, kind, cuda, exponent, fraction, dlpack) OFFER_DOT(DotOf<cuda>)
CUSCOPE_FLOATS(CUSCOPE_OFFER)
CUSCOPE_SIGNED_INTEGERS(CUSCOPE_OFFER)
CUSCOPE_COMPLEX_NUMBERS(CUSCOPE_OFFER)
#endif
