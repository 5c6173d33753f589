// Minima and maxima; a NaN wins over every number. One instance for each width of integers and each floating
// type:
//   ExtremeOf<unsigned char>, <unsigned short>, <unsigned int>, <unsigned long long>   (bool: unsigned char)
//   ExtremeOf<__half>, <__nv_bfloat16>, <float>, <double>
// bits: chooses minimum or maximum, with or without a sign: keys.cuh, plan.hpp: bits_of. The output has the
// elements' type. kind and divisor are not read.
#include "keys.cuh"
#include "shapes.cuh"

template <class E>
struct ExtremeOf {
    using Element = E;
    using Value = typename Keys<E>::Key;
    using State = typename Keys<E>::Packed;
    static constexpr int loads = 8, chains = 2, column_blocks = 3;
    Keys<E> keys;

    __device__ ExtremeOf(unsigned long long bits, int, long long) : keys(bits) {}
    __device__ Value identity() const { return keys.lowest(); }
    __device__ Value combine(Value a, Value b) const { return larger(a, b); }
    __device__ Value lift(E x, long long) const { return keys.key(x); }
    __device__ void add(Value& value, E x, long long) const { value = larger(value, keys.key(x)); }
    __device__ void start(State& state) const { state = keys.bottom(); }
    __device__ void absorb(State& state, const uint4& vector, long long) const { keys.keep(state, vector); }
    __device__ Value finish(State state) const { return keys.best_of(state); }
    template <class Use>
    __device__ void with_output(void* out, double, Use use) const {
        use(static_cast<E*>(out), [&](E& to, Value value) { to = keys.element(value); });
    }
};

#ifndef CUSCOPE_ONE_INSTANCE  // else the caller names the instance to compile
#define CUSCOPE_OFFER(id, name, bytes, kind, cuda, exponent, fraction, dlpack) OFFER_SHAPES(ExtremeOf<cuda>)
CUSCOPE_UNSIGNED_INTEGERS(CUSCOPE_OFFER)
CUSCOPE_FLOATS(CUSCOPE_OFFER)
#endif
