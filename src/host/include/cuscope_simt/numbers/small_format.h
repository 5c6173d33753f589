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

// A format like the formats of IEEE 754, with so many bits of exponent and fraction. The format with 4 and 3
// has no infinity, like E4M3 of CUDA and float8_e4m3fn of ml_dtypes: the greatest exponent has numbers, too,
// and all bits set are NaN.
template <int exponent_bits, int fraction_bits, NaN nan = NaN::of_gpu>
struct SmallFormat {
    static constexpr int width = 1 + exponent_bits + fraction_bits;
    using Bits = typename BitsOf<width / 8>::type;

    static constexpr int bias = (1 << (exponent_bits - 1)) - 1, least = 1 - bias;
    static constexpr unsigned sign_bit = 1u << (width - 1);
    static constexpr unsigned not_a_number = sign_bit - 1;  // the NaN that a GPU makes
    static constexpr bool has_infinity = exponent_bits != 4 || fraction_bits != 3;
    static constexpr unsigned infinity = ((1u << exponent_bits) - 1) << fraction_bits;
    // The bits of a number that is too large: infinity, or NaN if there is none. All greater bits are NaN.
    static constexpr unsigned overflow = has_infinity ? infinity : not_a_number;
    static constexpr int most = has_infinity ? bias : bias + 1;  // the greatest exponent

    __attribute__((always_inline, artificial)) static inline Bits narrow(double value,
                                                                         Toward toward = Toward::nearest) {
        unsigned long long bits;
        __builtin_memcpy(&bits, &value, sizeof bits);
        const unsigned sign = bits >> 63 != 0 ? sign_bit : 0;
        const int biased = static_cast<int>(bits >> 52 & 0x7ff);
        unsigned long long significand = bits & ((1ull << 52) - 1);
        if (biased == 0x7ff) {
            if (significand == 0) return static_cast<Bits>(sign | overflow);
            if (nan == NaN::of_gpu) return static_cast<Bits>(not_a_number);
            const auto first = static_cast<unsigned>(significand >> (52 - fraction_bits));
            return static_cast<Bits>(sign | overflow | 1u << (fraction_bits - 1) | first);
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
            result += static_cast<unsigned long long>(exponent > most ? most + 1 - least : exponent - least)
                      << fraction_bits;
        if (exponent > most || result >= overflow) {
            const bool greatest = toward == Toward::zero || (toward == Toward::down && sign == 0) ||
                                  (toward == Toward::up && sign != 0);
            result = greatest ? overflow - 1 : overflow;
        }
        return static_cast<Bits>(sign | static_cast<unsigned>(result));
    }

    __attribute__((always_inline, artificial)) static inline float widen(Bits number) {
        const unsigned bits = number, rest = bits & (sign_bit - 1);
        if (nan == NaN::of_gpu && is_nan(rest)) return as_float(0x7fffffffu);
        if (exponent_bits == 8) return as_float(bits << (32 - width));
        const unsigned sign = (bits & sign_bit) << (32 - width);
        if (rest < (1u << fraction_bits)) {
            const float tiny = static_cast<float>(rest) * as_float((127u + least - fraction_bits) << 23);
            return sign != 0 ? -tiny : tiny;
        }
        const unsigned wide = rest << (23 - fraction_bits);
        return as_float(sign | (rest >= overflow ? 0x7f800000u | wide : wide + ((127u - bias) << 23)));
    }

    // Are these the bits of a number that was too large?
    static constexpr bool is_overflow(Bits number) { return (number & (sign_bit - 1)) == overflow; }

  private:
    // `rest`: the bits without the sign.
    static constexpr bool is_nan(unsigned rest) { return has_infinity ? rest > overflow : rest == overflow; }
    __attribute__((always_inline, artificial)) static inline float as_float(unsigned bits) {
        float value;
        __builtin_memcpy(&value, &bits, sizeof value);
        return value;
    }
};

}  // namespace cuscope_simt
