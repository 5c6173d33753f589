// any and all. Elements are words of 1, 2, 4, 8 or 16 bytes, of whatever type:
//   TruthOf<unsigned char>, <unsigned short>, <unsigned int>, <unsigned long long>, <TwoWords>
// bits: a mask of eight bytes for the bits of an element that count. For an integer, all of them; for a float
// or a complex number, all but the signs, because -0.0 is false (plan.hpp: bits_of). kind: 0 for any, 1 for
// all. The output is bool; divisor is not read.
#include "accumulate.cuh"
#include "shapes.cuh"

// An element of complex128.
struct alignas(16) TwoWords {
    unsigned long long first, second;
};

template <class E>
struct TruthOf {
    using Element = E;
    using Value = unsigned;  // not 0 once an element has decided: a true element for any, a false one for all
    using State = unsigned;
    static constexpr int loads = sizeof(E) == 8 ? 6 : 8, chains = 2, column_blocks = 3;
    unsigned long long bits;
    bool all;

    __device__ TruthOf(unsigned long long bits, int kind, long long) : bits(bits), all(kind != 0) {}
    __device__ Value identity() const { return 0; }
    __device__ Value combine(Value a, Value b) const { return a | b; }
    __device__ Value lift(const E& x, long long) const {
        if constexpr (sizeof(E) == 16)
            return (((x.first | x.second) & bits) != 0) != all;
        else
            return ((x & static_cast<E>(bits)) != 0) != all;
    }
    __device__ void add(Value& value, const E& x, long long) const { value |= lift(x, 0); }
    __device__ void start(State& state) const { state = 0; }
    __device__ void absorb(State& state, const uint4& vector, long long) const {
        if constexpr (sizeof(E) <= 2) {
            constexpr unsigned low = sizeof(E) == 1 ? 0x01010101 : 0x00010001,
                               high = low << (8 * sizeof(E) - 1);
            const unsigned words[4] = {vector.x, vector.y, vector.z, vector.w};
#pragma unroll
            for (const unsigned word : words) {
                const unsigned x = word & static_cast<unsigned>(bits);
                state |= all ? (x - low) & ~x & high : x;  // the first is not 0 if a byte (a half) of x is 0
            }
        } else {
            const E* x = reinterpret_cast<const E*>(&vector);
#pragma unroll
            for (int i = 0; i < static_cast<int>(16 / sizeof(E)); ++i) state |= lift(x[i], 0);
        }
    }
    __device__ Value finish(State state) const { return state; }
    template <class Use>
    __device__ void with_output(void* out, double, Use use) const {
        use(static_cast<bool*>(out), [&](bool& to, Value value) { to = (value != 0) != all; });
    }
};

#ifndef CUSCOPE_ONE_INSTANCE  // else the caller names the instance to compile
OFFER_SHAPES(TruthOf<unsigned char>)
OFFER_SHAPES(TruthOf<unsigned short>)
OFFER_SHAPES(TruthOf<unsigned int>)
OFFER_SHAPES(TruthOf<unsigned long long>)
OFFER_SHAPES(TruthOf<TwoWords>)
#endif
