// Sums and means. One instance serves several types and every output type:
//   SumOf<__half>, <__nv_bfloat16>, <float>, <double>   kind: a floating output type
//   SumOf<signed char>, <short>, <int>, <long long>     both signs, and signed char for bool; kind: any real
//   SumOf<Complex<float>>, <Complex<double>>            kind: complex64 or complex128
//   MeanOf<long long>, <unsigned long long>             as float64, since their sum may not fit;
//                                                       kind: a floating output type
// bits: for unsigned types of 8 to 32 bits the top bit of each element, eight bytes of it (plan.hpp:
// bits_of); else 0. divisor: 1, or the count for a mean.
#include "accumulate.cuh"
#include "shapes.cuh"
#include "stores.cuh"

// float16, bfloat16, float32: summed in double (accumulate.cuh).
template <class E>
struct SumOf {
    using Element = E;
    using Value = FloatSum;
    using State = FloatSum;
    static constexpr int loads = 8, chains = 2, column_blocks = 3;
    int kind;

    __device__ SumOf(unsigned long long, int kind, long long) : kind(kind) {}
    __device__ Value identity() const {
        Value value;
        clear(value);
        return value;
    }
    __device__ Value combine(Value a, Value b) const { return merged(a, b); }
    __device__ Value lift(E x, long long) const {
        Value value = identity();
        ::add(value, real(x));
        return value;
    }
    __device__ void add(Value& value, E x, long long) const { ::add(value, real(x)); }
    __device__ void start(State& state) const { clear(state); }
    __device__ void absorb(State& state, const uint4& vector, long long) const {
        const E* x = reinterpret_cast<const E*>(&vector);
        if constexpr (sizeof(E) == 4) {
            ::add(state, x[0], x[1], x[2], x[3]);
        } else {
            // Pairs are added in float: the error is 2^-24 of a pair, and the result has an error of 2^-11 or
            // more anyway.
#pragma unroll
            for (int i = 0; i < static_cast<int>(16 / sizeof(E)); i += 8)
                ::add(state, real(x[i]) + real(x[i + 1]), real(x[i + 2]) + real(x[i + 3]),
                      real(x[i + 4]) + real(x[i + 5]), real(x[i + 6]) + real(x[i + 7]));
        }
    }
    __device__ Value finish(State state) const { return state; }
    template <class Use>
    __device__ void with_output(void* out, double count, Use use) const {
        const Divisor divisor(count);
        with_real(out, kind, [&](auto* typed) {
            use(typed, [&](auto& to, Value value) { round_to(to, divisor.divide(value)); });
        });
    }
};

// Summed as float64, together with the rounding errors.
template <class E>
struct Compensated {
    using Element = E;
    using Value = Twofold<double>;
    using State = Value;
    static constexpr int loads = 6, chains = 2, column_blocks = 3;
    int kind;

    __device__ Compensated(unsigned long long, int kind, long long) : kind(kind) {}
    __device__ Value identity() const {
        Value value;
        clear(value);
        return value;
    }
    __device__ Value combine(Value a, Value b) const { return merged(a, b); }
    __device__ Value lift(E x, long long) const {
        Value value = identity();
        ::add(value, static_cast<double>(x));
        return value;
    }
    __device__ void add(Value& value, E x, long long) const { ::add(value, static_cast<double>(x)); }
    __device__ void start(State& state) const { clear(state); }
    __device__ void absorb(State& state, const uint4& vector, long long) const {
        const E* x = reinterpret_cast<const E*>(&vector);
        ::add(state, static_cast<double>(x[0]));
        ::add(state, static_cast<double>(x[1]));
    }
    __device__ Value finish(State state) const { return state; }
    template <class Use>
    __device__ void with_output(void* out, double count, Use use) const {
        const Divisor divisor(count);
        with_real(out, kind, [&](auto* typed) {
            use(typed, [&](auto& to, Value value) { round_to(to, divisor.divide(value)); });
        });
    }
};
template <>
struct SumOf<double> : Compensated<double> {
    using Compensated::Compensated;
};
template <class E>
struct MeanOf : Compensated<E> {
    using Compensated<E>::Compensated;
};

// Integers, modulo 2^64. An unsigned element with its top bit flipped is read as a signed element that is
// smaller by 2^(bits - 1). The missing amount is added at the end.
template <class E>
struct SumOfIntegers {
    using Element = E;
    using Value = long long;
    using State = long long;
    static constexpr int loads = 8, chains = 2, column_blocks = 3;
    int kind;
    unsigned flip;
    long long missing;

    __device__ SumOfIntegers(unsigned long long bits, int kind, long long count)
        : kind(kind), flip(static_cast<unsigned>(bits)), missing(0) {
        if constexpr (sizeof(E) < 8) missing = count * (flip >> (32 - 8 * sizeof(E)));
    }
    __device__ Value identity() const { return 0; }
    __device__ Value combine(Value a, Value b) const { return a + b; }
    __device__ Value lift(E x, long long) const {
        if constexpr (sizeof(E) < 8)
            return static_cast<E>(x ^ static_cast<E>(flip));
        else
            return x;
    }
    __device__ void add(Value& value, E x, long long) const { value += lift(x, 0); }
    __device__ void start(State& state) const { state = 0; }
    __device__ void absorb(State& state, const uint4& vector, long long) const {
        const unsigned words[4] = {vector.x, vector.y, vector.z, vector.w};
        if constexpr (sizeof(E) == 8) {
            state += static_cast<long long>(static_cast<unsigned long long>(words[1]) << 32 | words[0]);
            state += static_cast<long long>(static_cast<unsigned long long>(words[3]) << 32 | words[2]);
        } else if constexpr (sizeof(E) == 4) {
#pragma unroll
            for (const unsigned word : words) state += static_cast<int>(word ^ flip);
        } else {
            int sum = 0;  // four or two elements an instruction
#pragma unroll
            for (const unsigned word : words) {
                const int x = static_cast<int>(word ^ flip);
                sum = sizeof(E) == 1 ? __dp4a(x, 0x01010101, sum) : __dp2a_lo(x, 0x0101, sum);
            }
            state += sum;
        }
    }
    __device__ Value finish(State state) const { return state; }
    template <class Use>
    __device__ void with_output(void* out, double count, Use use) const {
        const Divisor divisor(count);
        with_integer(out, kind, [&](auto* typed) {
            use(typed, [&](auto& to, Value value) { set_integer(to, value + missing, divisor); });
        });
    }
};
template <>
struct SumOf<signed char> : SumOfIntegers<signed char> {
    using SumOfIntegers::SumOfIntegers;
};
template <>
struct SumOf<short> : SumOfIntegers<short> {
    using SumOfIntegers::SumOfIntegers;
};
template <>
struct SumOf<int> : SumOfIntegers<int> {
    using SumOfIntegers::SumOfIntegers;
};
template <>
struct SumOf<long long> : SumOfIntegers<long long> {
    using SumOfIntegers::SumOfIntegers;
};

// Real and imaginary parts are summed separately, as above.
template <class R>
struct SumOf<Complex<R>> {
    using Value = Parts<typename SumOf<R>::Value>;
    using Element = Complex<R>;
    using State = Value;
    static constexpr int loads = sizeof(R) == 4 ? 4 : 3, chains = 2, column_blocks = 3;
    int kind;

    __device__ SumOf(unsigned long long, int kind, long long) : kind(kind) {}
    __device__ Value identity() const {
        Value value;
        start(value);
        return value;
    }
    __device__ Value combine(Value a, Value b) const { return {merged(a.re, b.re), merged(a.im, b.im)}; }
    __device__ Value lift(Element x, long long) const {
        Value value = identity();
        add(value, x, 0);
        return value;
    }
    __device__ void add(Value& value, Element x, long long) const {
        ::add(value.re, x.re);
        ::add(value.im, x.im);
    }
    __device__ void start(State& state) const {
        clear(state.re);
        clear(state.im);
    }
    __device__ void absorb(State& state, const uint4& vector, long long) const {
        const Element* x = reinterpret_cast<const Element*>(&vector);
#pragma unroll
        for (int i = 0; i < static_cast<int>(16 / sizeof(Element)); ++i) add(state, x[i], 0);
    }
    __device__ Value finish(State state) const { return state; }
    template <class Use>
    __device__ void with_output(void* out, double count, Use use) const {
        const Divisor divisor(count);
        with_complex(out, kind, [&](auto* typed) {
            use(typed, [&](auto& to, const Value& value) {
                set_complex(to, divisor.divide(value.re), divisor.divide(value.im));
            });
        });
    }
};

#ifndef CUSCOPE_ONE_INSTANCE  // else the caller names the instance to compile
#define CUSCOPE_OFFER(id, name, bytes, kind, cuda, exponent, fraction, dlpack) OFFER_SHAPES(SumOf<cuda>)
CUSCOPE_FLOATS(CUSCOPE_OFFER)
CUSCOPE_SIGNED_INTEGERS(CUSCOPE_OFFER)
CUSCOPE_COMPLEX_NUMBERS(CUSCOPE_OFFER)
OFFER_SHAPES(MeanOf<long long>)
OFFER_SHAPES(MeanOf<unsigned long long>)
#endif
