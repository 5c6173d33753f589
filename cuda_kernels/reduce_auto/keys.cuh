// Defines the order for minima and maxima: both are found as the maximum of *keys*. A key is an element with
// some bits flipped. So one instance serves minimum and maximum, and signed and unsigned integers. The
// flipped bits are:
//
//   minimum, maximum of unsigned   all bits, none
//   minimum, maximum of signed     all bits but the top one, the top one
//   minimum, maximum of floats     the sign bit, none
//
// Keys of integers are compared as unsigned, keys of floats as floats, where a NaN is above all other keys.
#pragma once

#include "accumulate.cuh"

// E: an unsigned integer or a float of the table of element types.
// `Packed` is the running maximum over vectors. It has as many lanes as one instruction compares at once.
// bottom() is its initial value.
template <class E>
struct Keys;

template <class K>
__device__ bool above(K a, K b) {
    return a > b;
}
__device__ inline bool above(float a, float b) { return !(a <= b) && b == b; }
__device__ inline bool above(double a, double b) { return !(a <= b) && b == b; }
template <class K>
__device__ bool level(K a, K b) {
    return a == b || (a != a && b != b);
}

// An unsigned integer in the same order as the keys, equal for keys that are level.
__device__ inline unsigned ordered(unsigned key) { return key; }
__device__ inline unsigned long long ordered(unsigned long long key) { return key; }
__device__ inline unsigned ordered(float key) {
    if (key != key) return ~0u;
    const unsigned bits = static_cast<unsigned>(__float_as_int(key + 0.0f));  // -0.0f becomes 0.0f
    return bits ^ (bits >> 31 ? ~0u : 1u << 31);
}
__device__ inline unsigned long long ordered(double key) {
    if (key != key) return ~0ull;
    const unsigned long long bits = static_cast<unsigned long long>(__double_as_longlong(key + 0.0));
    return bits ^ (bits >> 63 ? ~0ull : 1ull << 63);
}

// Compares one element at a time.
template <class E, class K>
struct SingleKeys {
    using Key = K;
    using Packed = K;
    unsigned long long bits;

    __device__ explicit SingleKeys(unsigned long long bits) : bits(bits) {}
    __device__ void keep(Packed& best, const uint4& vector) const {
        const E* x = reinterpret_cast<const E*>(&vector);
#pragma unroll
        for (int i = 0; i < static_cast<int>(16 / sizeof(E)); ++i)
            best = larger(best, static_cast<const Keys<E>*>(this)->key(x[i]));
    }
    __device__ Packed bottom() const { return static_cast<const Keys<E>*>(this)->lowest(); }
    __device__ Key best_of(Packed best) const { return best; }
};

// Of a small float, compared as a float, which holds it exactly.
template <class E>
struct FloatKeys {
    using Key = float;
    unsigned bits;

    __device__ explicit FloatKeys(unsigned long long bits) : bits(static_cast<unsigned>(bits)) {}
    __device__ float flipped(float x) const {
        return __int_as_float(__float_as_int(x) ^ static_cast<int>(bits & 0x80000000));
    }
    __device__ float lowest() const { return __int_as_float(0xff800000); }
    __device__ float key(E x) const { return flipped(real(x)); }
    __device__ E element(float key) const {
        E x;
        round_to(x, flipped(key));
        return x;
    }
};
template <class E>
struct Keys : FloatKeys<E> {
    using Packed = float;
    using FloatKeys<E>::FloatKeys;

    __device__ void keep(Packed& best, const uint4& vector) const {
        const E* x = reinterpret_cast<const E*>(&vector);
#pragma unroll
        for (int i = 0; i < static_cast<int>(16 / sizeof(E)); ++i) best = larger(best, this->key(x[i]));
    }
    __device__ Packed bottom() const { return this->lowest(); }
    __device__ float best_of(Packed best) const { return best; }
};

template <>
struct Keys<unsigned> : SingleKeys<unsigned, unsigned> {
    using SingleKeys::SingleKeys;
    __device__ unsigned lowest() const { return 0; }
    __device__ unsigned key(unsigned x) const { return x ^ static_cast<unsigned>(bits); }
    __device__ unsigned element(unsigned key) const { return key ^ static_cast<unsigned>(bits); }
};
template <>
struct Keys<unsigned long long> : SingleKeys<unsigned long long, unsigned long long> {
    using SingleKeys::SingleKeys;
    __device__ unsigned long long lowest() const { return 0; }
    __device__ unsigned long long key(unsigned long long x) const { return x ^ bits; }
    __device__ unsigned long long element(unsigned long long key) const { return key ^ bits; }
};
template <>
struct Keys<float> : SingleKeys<float, float> {
    using SingleKeys::SingleKeys;
    __device__ float lowest() const { return __int_as_float(0xff800000); }
    __device__ float key(float x) const { return __int_as_float(__float_as_int(x) ^ static_cast<int>(bits)); }
    __device__ float element(float key) const { return this->key(key); }
};
template <>
struct Keys<double> : SingleKeys<double, double> {
    using SingleKeys::SingleKeys;
    __device__ double lowest() const { return __longlong_as_double(0xfff0000000000000LL); }
    __device__ double key(double x) const {
        return __longlong_as_double(__double_as_longlong(x) ^ static_cast<long long>(bits));
    }
    __device__ double element(double key) const { return this->key(key); }
};

// Four bytes become two pairs of 16-bit numbers, because there is an instruction for such pairs. The bytes
// with odd numbers need no mask: they are the upper halves of their numbers, and decide.
template <>
struct Keys<unsigned char> {
    using Key = unsigned;
    struct Packed {
        unsigned even, odd;
    };
    unsigned bits;

    __device__ explicit Keys(unsigned long long bits) : bits(static_cast<unsigned>(bits)) {}
    __device__ unsigned lowest() const { return 0; }
    __device__ unsigned key(unsigned char x) const { return x ^ (bits & 0xff); }
    __device__ unsigned char element(unsigned key) const { return static_cast<unsigned char>(key ^ bits); }
    __device__ void keep(Packed& best, const uint4& vector) const {
        const unsigned words[4] = {vector.x, vector.y, vector.z, vector.w};
#pragma unroll
        for (const unsigned word : words) {
            best.even = __vmaxu2(best.even, (word ^ bits) & 0x00ff00ff);
            best.odd = __vmaxu2(best.odd, word ^ bits);
        }
    }
    __device__ Packed bottom() const { return {0, 0}; }
    __device__ Key best_of(Packed best) const {
        const unsigned both = __vmaxu2(best.even, best.odd >> 8 & 0x00ff00ff);
        return max(both & 0xffff, both >> 16);
    }
};
template <>
struct Keys<unsigned short> {
    using Key = unsigned;
    using Packed = unsigned;
    unsigned bits;

    __device__ explicit Keys(unsigned long long bits) : bits(static_cast<unsigned>(bits)) {}
    __device__ unsigned lowest() const { return 0; }
    __device__ unsigned key(unsigned short x) const { return x ^ (bits & 0xffff); }
    __device__ unsigned short element(unsigned key) const { return static_cast<unsigned short>(key ^ bits); }
    __device__ void keep(Packed& best, const uint4& vector) const {
        const unsigned words[4] = {vector.x, vector.y, vector.z, vector.w};
#pragma unroll
        for (const unsigned word : words) best = __vmaxu2(best, word ^ bits);
    }
    __device__ Packed bottom() const { return 0; }
    __device__ Key best_of(Packed best) const { return max(best & 0xffff, best >> 16); }
};

// Pairs of halves, because there is an instruction for such pairs. Infinities: the bits of a pair of -inf.
template <class E, class E2, unsigned Infinities>
struct HalfKeys : FloatKeys<E> {
    using Packed = E2;
    using FloatKeys<E>::FloatKeys;

    __device__ void keep(Packed& best, const uint4& vector) const {
        const unsigned words[4] = {vector.x, vector.y, vector.z, vector.w};
#pragma unroll
        for (const unsigned word : words) {
            const unsigned flipped = word ^ this->bits;
            E2 pair;
            memcpy(&pair, &flipped, sizeof pair);
            best = __hmax2_nan(best, pair);
        }
    }
    __device__ Packed bottom() const {
        const unsigned infinities = Infinities;
        E2 pair;
        memcpy(&pair, &infinities, sizeof pair);
        return pair;
    }
    __device__ float best_of(Packed best) const { return larger(real(best.x), real(best.y)); }
};
template <>
struct Keys<__half> : HalfKeys<__half, __half2, 0xfc00fc00> {
    using HalfKeys::HalfKeys;
};
template <>
struct Keys<__nv_bfloat16> : HalfKeys<__nv_bfloat16, __nv_bfloat162, 0xff80ff80> {
    using HalfKeys::HalfKeys;
};
