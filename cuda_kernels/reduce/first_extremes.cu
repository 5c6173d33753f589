// Where the minimum or maximum is: the first index among equals, and that of the first NaN if there is one.
// Instances and bits as in extremes.cu; the output is int64, kind and divisor are not read.
//
// A thread compares a whole vector's maximum with its best so far, and keeps the vector itself and its index
// only where it is better; which element of it was the one is asked once, at the end. So a vector costs
// little more than in extremes.cu, and nothing is read twice.
#include "keys.cuh"
#include "shapes.cuh"

template <class E>
struct FirstExtremeOf {
    using Element = E;
    using Key = typename Keys<E>::Key;
    struct Value {
        Key key;
        long long index;  // -1: of nothing
    };
    struct State {
        Value best;
        uint4 vector;
    };
    static constexpr int loads = sizeof(E) == 8 ? 6 : 8, chains = 1, column_blocks = 3;
    Keys<E> keys;

    __device__ FirstExtremeOf(unsigned long long bits, int, long long) : keys(bits) {}
    __device__ Value identity() const { return {keys.lowest(), -1}; }
    __device__ Value combine(Value a, Value b) const {
        if (a.index < 0 || b.index < 0) return a.index < 0 ? b : a;
        const bool second = above(b.key, a.key) || (level(a.key, b.key) && b.index < a.index);
        return second ? b : a;
    }
    __device__ Value lift(E x, long long index) const { return {keys.key(x), index}; }
    // Indices come in ascending order, so of equals the first stays.
    __device__ void add(Value& value, E x, long long index) const {
        const Key key = keys.key(x);
        if (value.index < 0 || above(key, value.key)) value = {key, index};
    }
    __device__ void start(State& state) const {
        state.best = identity();
        state.vector = {};
    }
    __device__ void absorb(State& state, const uint4& vector, long long index) const {
        typename Keys<E>::Packed packed = keys.bottom();
        keys.keep(packed, vector);
        const Key key = keys.best_of(packed);
        if (state.best.index < 0 || above(key, state.best.key)) {
            state.best = {key, index};
            state.vector = vector;
        }
    }
    __device__ Value finish(const State& state) const {
        const E* x = reinterpret_cast<const E*>(&state.vector);
        int first = 0;
#pragma unroll
        for (int i = static_cast<int>(16 / sizeof(E)) - 1; i >= 0; --i)
            if (level(keys.key(x[i]), state.best.key)) first = i;
        return {state.best.key, state.best.index < 0 ? -1 : state.best.index + first};
    }
    __device__ void store(void* out, long long i, Value value, double) const {
        static_cast<long long*>(out)[i] = value.index;
    }
};

OFFER_SHAPES(FirstExtremeOf<unsigned char>)
OFFER_SHAPES(FirstExtremeOf<unsigned short>)
OFFER_SHAPES(FirstExtremeOf<unsigned int>)
OFFER_SHAPES(FirstExtremeOf<unsigned long long>)
OFFER_SHAPES(FirstExtremeOf<__half>)
OFFER_SHAPES(FirstExtremeOf<__nv_bfloat16>)
OFFER_SHAPES(FirstExtremeOf<float>)
OFFER_SHAPES(FirstExtremeOf<double>)
