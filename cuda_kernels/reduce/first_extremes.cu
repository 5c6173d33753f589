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
    using Order = decltype(ordered(Key()));
    // What threads hand to each other is compared as integers, and as small as it can be.
    struct Value {
        Order order;
        unsigned low, high;  // of the index; all bits: of nothing

        __device__ unsigned long long index() const {
            return static_cast<unsigned long long>(high) << 32 | low;
        }
    };
    struct State {
        Key key;
        long long index;  // of the first element of the vector; -1: of nothing
        uint4 vector;
    };
    static constexpr int loads = sizeof(E) == 8 ? 6 : 8, chains = 1, column_blocks = 3;
    Keys<E> keys;

    __device__ FirstExtremeOf(unsigned long long bits, int, long long) : keys(bits) {}
    static __device__ Value value(Order order, unsigned long long index) {
        return {order, static_cast<unsigned>(index), static_cast<unsigned>(index >> 32)};
    }
    __device__ Value identity() const { return value(0, ~0ull); }
    __device__ Value combine(Value a, Value b) const {
        const bool second = b.order > a.order || (b.order == a.order && b.index() < a.index());
        return second ? b : a;
    }
    __device__ Value lift(E x, long long index) const {
        return value(ordered(keys.key(x)), static_cast<unsigned long long>(index));
    }
    // Indices come in ascending order, so of equals the first stays.
    __device__ void add(Value& value, E x, long long index) const { value = combine(value, lift(x, index)); }
    __device__ void start(State& state) const { state = {keys.lowest(), -1, {}}; }
    __device__ void absorb(State& state, const uint4& vector, long long index) const {
        typename Keys<E>::Packed packed = keys.bottom();
        keys.keep(packed, vector);
        const Key key = keys.best_of(packed);
        if (state.index < 0 || above(key, state.key)) state = {key, index, vector};
    }
    __device__ Value finish(const State& state) const {
        if (state.index < 0) return identity();
        const E* x = reinterpret_cast<const E*>(&state.vector);
        int first = 0;
#pragma unroll
        for (int i = static_cast<int>(16 / sizeof(E)) - 1; i >= 0; --i)
            if (level(keys.key(x[i]), state.key)) first = i;
        return value(ordered(state.key), static_cast<unsigned long long>(state.index + first));
    }
    __device__ void store(void* out, long long i, Value value, double) const {
        static_cast<long long*>(out)[i] = static_cast<long long>(value.index());
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
