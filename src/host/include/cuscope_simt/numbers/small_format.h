// Floating-point numbers of 8 or 16 bits: conversion from double with one rounding, and to float. Kernels on
// simulated devices include this file, and so do the layers of src/ that convert such numbers. Therefore it
// includes nothing.
#pragma once
#pragma GCC system_header

namespace cuscope_simt {

enum class Toward { nearest, zero, down, up };

// Which NaN the conversion of a NaN gives: the only one that a GPU makes, or one with the same sign and first
// bits, as in NumPy.
enum class NaN { of_gpu, same };

template <unsigned bytes>
struct BitsOf;
template <>
struct BitsOf<1> {
    using type = unsigned char;
};
template <>
struct BitsOf<2> {
    using type = unsigned short;
};

// A format like the formats of IEEE 754, with so many bits of exponent and fraction.
template <int exponent_bits, int fraction_bits, NaN nan = NaN::of_gpu>
struct SmallFormat {
    static constexpr int width = 1 + exponent_bits + fraction_bits;
    using Bits = typename BitsOf<width / 8>::type;

    static constexpr int bias = (1 << (exponent_bits - 1)) - 1, least = 1 - bias;
    static constexpr unsigned sign_bit = 1u << (width - 1);
    static constexpr unsigned infinity = ((1u << exponent_bits) - 1) << fraction_bits;
    static constexpr unsigned not_a_number = sign_bit - 1;  // the NaN that a GPU makes

    __attribute__((always_inline, artificial)) static inline Bits narrow(double value,
                                                                         Toward toward = Toward::nearest) {
        unsigned long long bits;
        __builtin_memcpy(&bits, &value, sizeof bits);
        const unsigned sign = bits >> 63 != 0 ? sign_bit : 0;
        const int biased = static_cast<int>(bits >> 52 & 0x7ff);
        unsigned long long significand = bits & ((1ull << 52) - 1);
        if (biased == 0x7ff) {
            if (significand == 0) return static_cast<Bits>(sign | infinity);
            if (nan == NaN::of_gpu) return static_cast<Bits>(not_a_number);
            const auto first = static_cast<unsigned>(significand >> (52 - fraction_bits));
            return static_cast<Bits>(sign | infinity | 1u << (fraction_bits - 1) | first);
        }
        const int exponent = biased - 1023;
        if (biased != 0) significand |= 1ull << 52;
        int shift = 52 - fraction_bits + (exponent < least ? least - exponent : 0);
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
                      << fraction_bits;
        if (exponent > bias || result >= infinity) {
            const bool most = toward == Toward::zero || (toward == Toward::down && sign == 0) ||
                              (toward == Toward::up && sign != 0);
            result = most ? infinity - 1 : infinity;
        }
        return static_cast<Bits>(sign | static_cast<unsigned>(result));
    }

    __attribute__((always_inline, artificial)) static inline float widen(Bits number) {
        const unsigned bits = number, rest = bits & (sign_bit - 1);
        if (nan == NaN::of_gpu && rest > infinity) return as_float(0x7fffffffu);
        if (exponent_bits == 8) return as_float(bits << (32 - width));
        const unsigned sign = (bits & sign_bit) << (32 - width);
        if (rest < (1u << fraction_bits)) {
            const float tiny = static_cast<float>(rest) * as_float((127u + least - fraction_bits) << 23);
            return sign != 0 ? -tiny : tiny;
        }
        const unsigned wide = rest << (23 - fraction_bits);
        return as_float(sign | (rest >= infinity ? 0x7f800000u | wide : wide + ((127u - bias) << 23)));
    }

    // Is the magnitude that of an infinity?
    static constexpr bool is_infinite(Bits number) { return (number & (sign_bit - 1)) == infinity; }

  private:
    __attribute__((always_inline, artificial)) static inline float as_float(unsigned bits) {
        float value;
        __builtin_memcpy(&value, &bits, sizeof value);
        return value;
    }
};

}  // namespace cuscope_simt
