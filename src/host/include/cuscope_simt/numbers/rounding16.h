// Floating-point numbers of 16 bits: conversion from double with one rounding, and back. All arithmetic with
// them is done in double and rounded once.
#pragma once
#pragma GCC system_header

#include "cuscope_simt/conversions.h"

namespace cuscope_simt {

enum class Toward { nearest, zero, down, up };

template <int Exponent, int Mantissa>
struct Format16 {
    static constexpr int bias = (1 << (Exponent - 1)) - 1, least = 1 - bias;
    static constexpr unsigned infinity = ((1u << Exponent) - 1) << Mantissa;
    static constexpr unsigned not_a_number = 0x7fff;  // the NaN that a GPU makes

    static CUSCOPE_INLINE unsigned short narrow(double value, Toward toward = Toward::nearest) {
        const auto bits = bit_copy<unsigned long long>(value);
        const unsigned sign = static_cast<unsigned>(bits >> 48) & 0x8000u;
        const int biased = static_cast<int>(bits >> 52 & 0x7ff);
        unsigned long long significand = bits & ((1ull << 52) - 1);
        if (biased == 0x7ff)
            return static_cast<unsigned short>(significand != 0 ? not_a_number : sign | infinity);
        const int exponent = biased - 1023;
        if (biased != 0) significand |= 1ull << 52;
        int shift = 52 - Mantissa + (exponent < least ? least - exponent : 0);
        if (shift > 60) shift = 60;
        const unsigned long long whole = significand >> shift, half = 1ull << (shift - 1),
                                 rest = significand & (2 * half - 1);
        bool away = false;
        switch (toward) {
            case Toward::nearest:
                away = rest > half || (rest == half && (whole & 1) != 0);
                break;
            case Toward::zero:
                break;
            case Toward::down:
                away = sign != 0 && rest != 0;
                break;
            case Toward::up:
                away = sign == 0 && rest != 0;
                break;
        }
        unsigned long long result = whole + away;
        if (exponent >= least)
            result += static_cast<unsigned long long>(exponent > bias ? bias + 1 - least : exponent - least)
                      << Mantissa;
        if (exponent > bias || result >= infinity) {
            const bool most = toward == Toward::zero || (toward == Toward::down && sign == 0) ||
                              (toward == Toward::up && sign != 0);
            result = most ? infinity - 1 : infinity;
        }
        return static_cast<unsigned short>(sign | static_cast<unsigned>(result));
    }

    static CUSCOPE_INLINE float widen(unsigned short bits) {
        const unsigned sign = (bits & 0x8000u) << 16, rest = bits & 0x7fffu;
        if (rest > infinity) return bit_copy<float>(0x7fffffffu);
        if (Exponent == 8) return bit_copy<float>(static_cast<unsigned>(bits) << 16);
        if (rest == infinity) return bit_copy<float>(sign | 0x7f800000u);
        if (rest < (1u << Mantissa)) {
            const float tiny = static_cast<float>(rest) * 0x1p-24f;
            return sign != 0 ? -tiny : tiny;
        }
        return bit_copy<float>(sign | ((rest << (23 - Mantissa)) + ((127u - bias) << 23)));
    }
};

// x + y, rounded to an odd last bit if it is not exact. Then a second rounding gives the right result.
CUSCOPE_INLINE double add_to_odd(double x, double y) {
    const double sum = x + y, part = sum - x, error = (x - (sum - part)) + (y - part);
    auto bits = bit_copy<long long>(sum);
    if (error == 0 || error != error || (bits & 1) != 0) return sum;
    bits += (error > 0) == (sum > 0) ? 1 : -1;
    return bit_copy<double>(bits);
}

// Converts an integer to double, rounding to odd.
template <class T>
CUSCOPE_INLINE double to_odd(T value) {
    if (sizeof(T) < 8) return static_cast<double>(value);
    const T low = value & static_cast<T>(0xffffffffll);
    return add_to_odd(static_cast<double>(value - low), static_cast<double>(low));
}

// `value` is integral. Returns the nearest To; for a NaN, the same as saturated().
template <class To>
CUSCOPE_INLINE To saturated_to(double value) {
    if constexpr (sizeof(To) >= 4) {
        return saturated<To>(value);
    } else {
        constexpr bool is_signed = static_cast<To>(-1) < static_cast<To>(0);
        constexpr int bits = static_cast<int>(sizeof(To) * 8);
        constexpr int most = (1 << (bits - is_signed)) - 1, least = is_signed ? -most - 1 : 0;
        if (value != value) return 0;
        return static_cast<To>(value > most ? most : value < least ? least : static_cast<int>(value));
    }
}

}  // namespace cuscope_simt
