// Floating-point numbers of 16 bits in kernels. All arithmetic with them is done in double and rounded once.
#pragma once
#pragma GCC system_header

#include "cuscope_simt/conversions.h"
#include "cuscope_simt/numbers/small_format.h"

namespace cuscope_simt {

template <int exponent_bits, int fraction_bits>
using Format16 = SmallFormat<exponent_bits, fraction_bits>;

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

// `value` is a From (a number of 8 or 16 bits counts as a float), and integral. Returns the nearest To; for a
// NaN, the same as saturated().
template <class To, class From = float>
CUSCOPE_INLINE To saturated_to(double value) {
    if constexpr (sizeof(To) >= 4) {
        return saturated<To, From>(value);
    } else {
        constexpr bool is_signed = static_cast<To>(-1) < static_cast<To>(0);
        constexpr int bits = static_cast<int>(sizeof(To) * 8);
        constexpr int most = (1 << (bits - is_signed)) - 1, least = is_signed ? -most - 1 : 0;
        if (value != value) return 0;
        return static_cast<To>(value > most ? most : value < least ? least : static_cast<int>(value));
    }
}

}  // namespace cuscope_simt
