// Conversions with a rounding mode, and reinterpretations. As on a device, a number that does not fit becomes
// the nearest number that fits. A NaN becomes zero, but the highest bit alone if one of the two types has 64
// bits.
#pragma once
#pragma GCC system_header

#include "cuscope_simt/mathematics.h"

namespace cuscope_simt {

template <class To, class From>
CUSCOPE_INLINE To bit_copy(From from) {
    static_assert(sizeof(To) == sizeof(From), "the same bits");
    To to;
    __builtin_memcpy(&to, &from, sizeof to);
    return to;
}

// `value` is a From, and integral already. `least` and `limit` are exact: the least To, and the greatest To
// plus one.
template <class To, class From>
CUSCOPE_INLINE To saturated(double value) {
    constexpr int bits = static_cast<int>(sizeof(To) * 8);
    constexpr bool is_signed = static_cast<To>(-1) < static_cast<To>(0);
    constexpr double limit = is_signed ? (bits == 32 ? 0x1p31 : 0x1p63) : (bits == 32 ? 0x1p32 : 0x1p64);
    constexpr To least = is_signed ? static_cast<To>(static_cast<To>(1) << (bits - 1)) : static_cast<To>(0);
    if (value != value) {
        return bits == 32 && sizeof(From) < 8 ? static_cast<To>(0) : static_cast<To>(1ull << (bits - 1));
    }
    if (value >= limit) return static_cast<To>(~least);
    if (value < static_cast<double>(least)) return least;
    return static_cast<To>(value);
}

}  // namespace cuscope_simt

#define CUSCOPE_TO_INTEGER(from, from_name, type, name)                       \
    CUSCOPE_INLINE type __##from_name##2##name##_rn(from x) {                 \
        return ::cuscope_simt::saturated<type, from>(__builtin_nearbyint(x)); \
    }                                                                         \
    CUSCOPE_INLINE type __##from_name##2##name##_rz(from x) {                 \
        return ::cuscope_simt::saturated<type, from>(__builtin_trunc(x));     \
    }                                                                         \
    CUSCOPE_INLINE type __##from_name##2##name##_rd(from x) {                 \
        return ::cuscope_simt::saturated<type, from>(__builtin_floor(x));     \
    }                                                                         \
    CUSCOPE_INLINE type __##from_name##2##name##_ru(from x) {                 \
        return ::cuscope_simt::saturated<type, from>(__builtin_ceil(x));      \
    }
CUSCOPE_TO_INTEGER(float, float, int, int)
CUSCOPE_TO_INTEGER(float, float, unsigned, uint)
CUSCOPE_TO_INTEGER(float, float, long long, ll)
CUSCOPE_TO_INTEGER(float, float, unsigned long long, ull)
CUSCOPE_TO_INTEGER(double, double, int, int)
CUSCOPE_TO_INTEGER(double, double, unsigned, uint)
CUSCOPE_TO_INTEGER(double, double, long long, ll)
CUSCOPE_TO_INTEGER(double, double, unsigned long long, ull)
#undef CUSCOPE_TO_INTEGER

#define CUSCOPE_ROUND_TO(to, to_name, type, name, mode, direction)                  \
    CUSCOPE_INLINE to __##name##2##to_name##_##mode(type x) {                       \
        const ::cuscope_simt::Rounding rounding(::cuscope_simt::round_##direction); \
        return ::cuscope_simt::held(static_cast<to>(::cuscope_simt::held(x)));      \
    }
#define CUSCOPE_ROUND_ALL(to, to_name, type, name)                                     \
    CUSCOPE_INLINE to __##name##2##to_name##_rn(type x) { return static_cast<to>(x); } \
    CUSCOPE_ROUND_TO(to, to_name, type, name, rz, zero)                                \
    CUSCOPE_ROUND_TO(to, to_name, type, name, rd, down)                                \
    CUSCOPE_ROUND_TO(to, to_name, type, name, ru, up)
CUSCOPE_ROUND_ALL(float, float, int, int)
CUSCOPE_ROUND_ALL(float, float, unsigned, uint)
CUSCOPE_ROUND_ALL(float, float, long long, ll)
CUSCOPE_ROUND_ALL(float, float, unsigned long long, ull)
CUSCOPE_ROUND_ALL(float, float, double, double)
CUSCOPE_ROUND_ALL(double, double, long long, ll)
CUSCOPE_ROUND_ALL(double, double, unsigned long long, ull)
#undef CUSCOPE_ROUND_ALL
#undef CUSCOPE_ROUND_TO
CUSCOPE_INLINE double __int2double_rn(int x) { return x; }
CUSCOPE_INLINE double __uint2double_rn(unsigned x) { return x; }

CUSCOPE_INLINE int __float_as_int(float x) { return ::cuscope_simt::bit_copy<int>(x); }
CUSCOPE_INLINE unsigned __float_as_uint(float x) { return ::cuscope_simt::bit_copy<unsigned>(x); }
CUSCOPE_INLINE float __int_as_float(int x) { return ::cuscope_simt::bit_copy<float>(x); }
CUSCOPE_INLINE float __uint_as_float(unsigned x) { return ::cuscope_simt::bit_copy<float>(x); }
CUSCOPE_INLINE long long __double_as_longlong(double x) { return ::cuscope_simt::bit_copy<long long>(x); }
CUSCOPE_INLINE double __longlong_as_double(long long x) { return ::cuscope_simt::bit_copy<double>(x); }
CUSCOPE_INLINE int __double2hiint(double x) { return static_cast<int>(__double_as_longlong(x) >> 32); }
CUSCOPE_INLINE int __double2loint(double x) { return static_cast<int>(__double_as_longlong(x)); }
CUSCOPE_INLINE double __hiloint2double(int high, int low) {
    return ::cuscope_simt::bit_copy<double>(
        static_cast<unsigned long long>(static_cast<unsigned>(high)) << 32 | static_cast<unsigned>(low));
}
