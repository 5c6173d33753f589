// The formats of <cuda_fp8.h>: conversion from double with one rounding, and to wider types.
#pragma once
#pragma GCC system_header

#include "cuscope_simt/numbers/rounding16.h"

namespace cuscope_simt {

using Half16 = Format16<5, 10>;
using Brain16 = Format16<8, 7>;

// What E4M3 and E5M2 share. `finite`: a number that is too large becomes the largest one.
template <class Format>
struct SignedFormat8 {
    // Only a double keeps the sign of a NaN.
    CUSCOPE_INLINE static unsigned char narrow(float value, bool finite) {
        return value != value ? static_cast<unsigned char>(0x7f)
                              : Format::narrow(static_cast<double>(value), finite);
    }
    template <class T>
    CUSCOPE_INLINE static unsigned char of(T value) {
        return Format::narrow(value, true);
    }
    CUSCOPE_INLINE static bool truth(unsigned char code) { return (code & 0x7f) != 0; }
};

// Four bits of exponent, three of fraction. No infinity; only the codes 0x7f and 0xff are NaN.
struct E4M3 : SignedFormat8<E4M3> {
    using SignedFormat8::narrow;
    CUSCOPE_INLINE static unsigned char narrow(double value, bool finite) {
        const unsigned code = SmallFormat<4, 3, NaN::same>::narrow(value);
        const bool too_large = value == value && (code & 0x7f) == 0x7f;
        return static_cast<unsigned char>(finite && too_large ? code - 1 : code);
    }
    CUSCOPE_INLINE static float widen(unsigned char code) { return SmallFormat<4, 3>::widen(code); }
    CUSCOPE_INLINE static unsigned short half_bits(unsigned char code) {
        const unsigned bits = code & 0x7fu, sign = (code & 0x80u) << 8;
        if (bits == 0x7f) return 0x7fff;
        if (bits == 0) return static_cast<unsigned short>(sign);
        // Every other number is a normal half: the float's bits with another bias, without 13 bits of zero.
        const unsigned wide = bit_copy<unsigned>(widen(static_cast<unsigned char>(bits)));
        return static_cast<unsigned short>(sign | ((wide >> 13) - ((127 - 15) << 10)));
    }
};

// Five bits of exponent, two of fraction; infinity and NaN as in IEEE 754. It is the first half of a __half.
struct E5M2 : SignedFormat8<E5M2> {
    using SignedFormat8::narrow;
    CUSCOPE_INLINE static unsigned char narrow(double value, bool finite) {
        const unsigned code = SmallFormat<5, 2, NaN::same>::narrow(value);
        return static_cast<unsigned char>(finite && (code & 0x7f) == 0x7c ? code - 1 : code);
    }
    CUSCOPE_INLINE static unsigned short half_bits(unsigned char code) {
        return static_cast<unsigned short>((code & 0x7f) > 0x7c ? 0x7fff : code << 8);
    }
    CUSCOPE_INLINE static float widen(unsigned char code) { return Half16::widen(half_bits(code)); }
};

// A power of two from 2^-127 to 2^127, without zero, sign and infinity. 0xff is NaN.
struct E8M0 {
    // `up`: to the next power, not to the one before.
    CUSCOPE_INLINE static unsigned char narrow(double value, bool finite, bool up) {
        const auto bits = bit_copy<unsigned long long>(__builtin_fabs(value));
        const bool is_power = (bits & ((1ull << 52) - 1)) == 0;
        int exponent = static_cast<int>(bits >> 52) - 1023;  // -1023: zero, or too small in any case
        if (exponent == 1024) {
            if (!is_power) return 0xff;
            exponent = finite ? 127 : 128;
        } else {
            if (up && !is_power) ++exponent;
            const int most = up && !finite ? 128 : 127;
            if (exponent > most) exponent = most;
            if (exponent < -127) exponent = -127;
        }
        return static_cast<unsigned char>(exponent + 127);
    }
    template <class T>
    CUSCOPE_INLINE static unsigned char of(T value) {
        return narrow(value, true, true);
    }
    CUSCOPE_INLINE static unsigned short brain_bits(unsigned char code) {
        return static_cast<unsigned short>(code == 0xff ? 0x7fff : code == 0 ? 0x0040 : code << 7);
    }
    CUSCOPE_INLINE static float widen(unsigned char code) {
        return bit_copy<float>(static_cast<unsigned>(brain_bits(code)) << 16);
    }
    CUSCOPE_INLINE static unsigned short half_bits(unsigned char code) { return Half16::narrow(widen(code)); }
    CUSCOPE_INLINE static bool truth(unsigned char) { return true; }
};

CUSCOPE_INLINE unsigned short two(unsigned char low, unsigned char high) {
    return static_cast<unsigned short>(low | high << 8);
}
CUSCOPE_INLINE unsigned four(unsigned char a, unsigned char b, unsigned char c, unsigned char d) {
    return two(a, b) | static_cast<unsigned>(two(c, d)) << 16;
}

}  // namespace cuscope_simt
