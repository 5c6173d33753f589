// The index of the minimum or maximum: the first index among equals, or the index of the first NaN if there
// is one. Instances and bits as in extremes.cu; the output is int64, kind and divisor are not read.
//
// A thread compares the maximum of a round of vectors with its best key so far. Only if the new maximum is
// better, it finds the vector that holds it, and keeps this vector and its index. Only at the end it finds
// the element in the vector. So a vector costs little more than in extremes.cu, and no data is read twice. A
// warp combines its best keys as integers, because there is an instruction for that: with shuffles, as in
// other reductions, 2^16 elements took 3.8 us instead of 3.1.
#include "keys.cuh"
#include "shapes.cuh"

template <class E>
struct FirstExtremeOf {
    using Element = E;
    using Key = typename Keys<E>::Key;
    using Order = decltype(ordered(Key()));
    // Threads exchange this. It is compared as integers, and is as small as possible.
    struct Value {
        Order order;
        unsigned low, high;  // of the index; all bits set: no element yet

        __device__ unsigned long long index() const {
            return static_cast<unsigned long long>(high) << 32 | low;
        }
    };
    struct State {
        Key key;
        long long index;  // of the vector's first element; -1: no vector yet
        uint4 vector;
    };
    static constexpr int loads = sizeof(E) == 8 ? 4 : 8, chains = 1, column_blocks = 3;
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
    // Combines the warp's 32 values with the instructions that reduce 32-bit integers: finds the largest
    // order, and then the least index among the lanes that have it.
    __device__ Value of_warp(Value value) const {
        bool among = true;
        Order best = 0;
#pragma unroll
        for (int shift = 8 * sizeof(Order) - 32; shift >= 0; shift -= 32) {
            const auto word = static_cast<unsigned>(value.order >> shift);
            const unsigned largest = __reduce_max_sync(0xffffffffu, among ? word : 0);
            among = among && word == largest;
            best |= static_cast<Order>(largest) << shift;
        }
        const unsigned high = __reduce_min_sync(0xffffffffu, among ? value.high : ~0u);
        const unsigned low = __reduce_min_sync(0xffffffffu, among && value.high == high ? value.low : ~0u);
        return {best, low, high};
    }
    __device__ Value lift(E x, long long index) const {
        return value(ordered(keys.key(x)), static_cast<unsigned long long>(index));
    }
    // Indices come in ascending order, so the first of equal elements stays, and indices are not compared.
    __device__ void add(Value& value, E x, long long index) const {
        const Value next = lift(x, index);
        if (next.order > value.order || value.high == ~0u) value = next;
    }
    __device__ void start(State& state) const { state = {keys.lowest(), -1, {}}; }
    // Takes the vectors of one round, `distance` elements apart. In the last round only the first `count` of
    // them exist.
    template <int loads>
    __device__ void absorb_round(State& state, const uint4 (&vectors)[loads], int count, long long index,
                                 unsigned distance) const {
        Key of_vector[loads];
#pragma unroll
        for (int i = 0; i < loads; ++i) {
            typename Keys<E>::Packed packed = keys.bottom();
            if (i < count) keys.keep(packed, vectors[i]);
            of_vector[i] = keys.best_of(packed);
        }
        Key best = of_vector[0];
#pragma unroll
        for (int i = 1; i < loads; ++i) best = larger(best, of_vector[i]);
        if (count == 0 || (state.index >= 0 && !above(best, state.key))) return;
        // Vectors that do not exist are no better than the first vector, and the first wins over equal ones.
        int which = 0;
        uint4 vector = vectors[0];
#pragma unroll
        for (int i = loads - 1; i >= 0; --i) {
            if (level(of_vector[i], best)) {
                which = i;
                vector = vectors[i];
            }
        }
        state = {best, index + static_cast<long long>(which) * distance, vector};
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
    template <class Use>
    __device__ void with_output(void* out, double, Use use) const {
        use(static_cast<long long*>(out),
            [](long long& to, const Value& value) { to = static_cast<long long>(value.index()); });
    }
};

template <class E>
constexpr bool has_faster_ways<FirstExtremeOf<E>> = true;

#ifndef CUSCOPE_ONE_INSTANCE  // else the caller names the instance to compile
#define CUSCOPE_OFFER(id, name, bytes, kind, cuda, exponent, fraction, dlpack) \
    OFFER_SHAPES(FirstExtremeOf<cuda>)
CUSCOPE_UNSIGNED_INTEGERS(CUSCOPE_OFFER)
CUSCOPE_FLOATS(CUSCOPE_OFFER)
#endif
