// CUDA's mathematical functions beyond the C library's. A function that a C library may declare in the future
// is a template, so that the library's declaration takes precedence instead of being in conflict. The fast
// forms (__sinf) are as exact as the others, because a host has no faster ones.
#pragma once
#pragma GCC system_header

#include <math.h>
#include <stdlib.h>

#include "cuscope_simt/fiber.h"

#ifndef INFINITY
#define INFINITY __builtin_inff()
#endif
#ifndef NAN
#define NAN __builtin_nanf("")
#endif

// min and max of two numbers, in CUDA's combinations of signed and unsigned types.
#define CUSCOPE_MIN_MAX(type, a, b)                                                                       \
    CUSCOPE_INLINE constexpr type min(a x, b y) {                                                         \
        return static_cast<type>(x) < static_cast<type>(y) ? static_cast<type>(x) : static_cast<type>(y); \
    }                                                                                                     \
    CUSCOPE_INLINE constexpr type max(a x, b y) {                                                         \
        return static_cast<type>(x) > static_cast<type>(y) ? static_cast<type>(x) : static_cast<type>(y); \
    }
CUSCOPE_MIN_MAX(int, int, int)
CUSCOPE_MIN_MAX(unsigned, unsigned, unsigned)
CUSCOPE_MIN_MAX(unsigned, int, unsigned)
CUSCOPE_MIN_MAX(unsigned, unsigned, int)
CUSCOPE_MIN_MAX(long, long, long)
CUSCOPE_MIN_MAX(unsigned long, unsigned long, unsigned long)
CUSCOPE_MIN_MAX(unsigned long, long, unsigned long)
CUSCOPE_MIN_MAX(unsigned long, unsigned long, long)
CUSCOPE_MIN_MAX(long long, long long, long long)
CUSCOPE_MIN_MAX(unsigned long long, unsigned long long, unsigned long long)
CUSCOPE_MIN_MAX(unsigned long long, long long, unsigned long long)
CUSCOPE_MIN_MAX(unsigned long long, unsigned long long, long long)
#undef CUSCOPE_MIN_MAX
// If one number is NaN, the result is the other, as in fmin and fmax.
CUSCOPE_INLINE float min(float x, float y) { return __builtin_fminf(x, y); }
CUSCOPE_INLINE float max(float x, float y) { return __builtin_fmaxf(x, y); }
CUSCOPE_INLINE double min(double x, double y) { return __builtin_fmin(x, y); }
CUSCOPE_INLINE double max(double x, double y) { return __builtin_fmax(x, y); }
CUSCOPE_INLINE double min(float x, double y) { return __builtin_fmin(x, y); }
CUSCOPE_INLINE double max(float x, double y) { return __builtin_fmax(x, y); }
CUSCOPE_INLINE double min(double x, float y) { return __builtin_fmin(x, y); }
CUSCOPE_INLINE double max(double x, float y) { return __builtin_fmax(x, y); }

CUSCOPE_INLINE unsigned umin(unsigned x, unsigned y) { return x < y ? x : y; }
CUSCOPE_INLINE unsigned umax(unsigned x, unsigned y) { return x > y ? x : y; }
CUSCOPE_INLINE long long llmin(long long x, long long y) { return x < y ? x : y; }
CUSCOPE_INLINE long long llmax(long long x, long long y) { return x > y ? x : y; }
CUSCOPE_INLINE unsigned long long ullmin(unsigned long long x, unsigned long long y) { return x < y ? x : y; }
CUSCOPE_INLINE unsigned long long ullmax(unsigned long long x, unsigned long long y) { return x > y ? x : y; }

namespace cuscope_simt {

// sin and cos of pi * x: exact at multiples of a half, because fmod is exact.
inline double sine_of_pi(double x) {
    double r = __builtin_fmod(x, 2.0);
    if (r > 1.0) r -= 2.0;
    if (r < -1.0) r += 2.0;
    if (r > 0.5) r = 1.0 - r;
    if (r < -0.5) r = -1.0 - r;
    return r == 0.0 ? __builtin_copysign(0.0, x) : __builtin_sin(r * 3.14159265358979323846);
}
inline double cosine_of_pi(double x) {
    double r = __builtin_fabs(__builtin_fmod(x, 2.0));
    if (r > 1.0) r = 2.0 - r;
    return r == 0.5 ? 0.0 : __builtin_sin((0.5 - r) * 3.14159265358979323846);
}

// The inverse normal distribution: Acklam's rational approximation, good to 1e-9, then Halley's steps on
// erfc, which reach the last digits.
inline double inverse_normal(double p) {
    if (!(p >= 0.0 && p <= 1.0)) return __builtin_nan("");
    if (p == 0.0) return -__builtin_inf();
    if (p == 1.0) return __builtin_inf();
    const double tail = p < 0.5 ? p : 1.0 - p;
    const double t = __builtin_sqrt(-2.0 * __builtin_log(tail));
    double x = -(t - (2.515517 + t * (0.802853 + t * 0.010328)) /
                         (1.0 + t * (1.432788 + t * (0.189269 + t * 0.001308))));
    for (int i = 0; i < 4; ++i) {
        const double error = 0.5 * __builtin_erfc(-x * 0.70710678118654752440) - tail;
        const double step = error * 2.50662827463100050242 * __builtin_exp(0.5 * x * x);
        x -= step / (1.0 + 0.5 * x * step);
    }
    return p < 0.5 ? x : -x;
}

// erfc^-1: half of `y` is a tail of the normal distribution.
inline double inverse_erfc(double y) {
    if (!(y >= 0.0 && y <= 2.0)) return __builtin_nan("");
    return -inverse_normal(0.5 * y) * 0.70710678118654752440;
}
inline double inverse_erf(double y) {
    if (!(y >= -1.0 && y <= 1.0)) return __builtin_nan("");
    if (__builtin_fabs(y) < 0.5) {
        double x = 0.88622692545275801365 * y;
        for (int i = 0; i < 5; ++i)
            x -= (__builtin_erf(x) - y) * 0.88622692545275801365 * __builtin_exp(x * x);
        return x;
    }
    return y > 0.0 ? inverse_erfc(1.0 - y) : -inverse_erfc(1.0 + y);
}

// exp(x^2) erfc(x). For large x a continued fraction, because erfc alone would underflow.
inline double scaled_erfc(double x) {
    if (x < 10.0) return __builtin_exp(x * x) * __builtin_erfc(x);
    double fraction = 0.0;
    for (int i = 40; i > 0; --i) fraction = 0.5 * i / (x + fraction);
    return 0.56418958354775628695 / (x + fraction);
}

// Modified Bessel functions of the first kind: the power series. All of its terms are positive.
inline double bessel_i(int order, double x) {
    const double half = 0.5 * x;
    double term = order == 0 ? 1.0 : half, sum = term;
    for (int k = 1; k < 1000; ++k) {
        term *= half * half / (static_cast<double>(k) * (k + order));
        sum += term;
        if (__builtin_fabs(term) <= 1e-17 * __builtin_fabs(sum)) break;
    }
    return sum;
}

inline double norm_of(int count, const double* values) {
    double largest = 0.0;
    for (int i = 0; i < count; ++i) largest = __builtin_fmax(largest, __builtin_fabs(values[i]));
    if (largest == 0.0 || __builtin_isinf(largest)) return largest;
    double sum = 0.0;
    for (int i = 0; i < count; ++i) sum += (values[i] / largest) * (values[i] / largest);
    return largest * __builtin_sqrt(sum);
}

}  // namespace cuscope_simt

// f(double), ff(float) and the overload f(float), computed as `value` of a double x.
#define CUSCOPE_FUNCTION(name, value)      \
    template <int = 0>                     \
    inline double name(double x) {         \
        return value;                      \
    }                                      \
    template <int = 0>                     \
    inline float name##f(float argument) { \
        const double x = argument;         \
        return static_cast<float>(value);  \
    }                                      \
    template <int = 0>                     \
    inline float name(float argument) {    \
        return name##f(argument);          \
    }
CUSCOPE_FUNCTION(rsqrt, 1.0 / __builtin_sqrt(x))
CUSCOPE_FUNCTION(rcbrt, 1.0 / __builtin_cbrt(x))
CUSCOPE_FUNCTION(sinpi, ::cuscope_simt::sine_of_pi(x))
CUSCOPE_FUNCTION(cospi, ::cuscope_simt::cosine_of_pi(x))
CUSCOPE_FUNCTION(erfinv, ::cuscope_simt::inverse_erf(x))
CUSCOPE_FUNCTION(erfcinv, ::cuscope_simt::inverse_erfc(x))
CUSCOPE_FUNCTION(erfcx, ::cuscope_simt::scaled_erfc(x))
CUSCOPE_FUNCTION(normcdf, 0.5 * __builtin_erfc(-x * 0.70710678118654752440))
CUSCOPE_FUNCTION(normcdfinv, ::cuscope_simt::inverse_normal(x))
CUSCOPE_FUNCTION(cyl_bessel_i0, ::cuscope_simt::bessel_i(0, x))
CUSCOPE_FUNCTION(cyl_bessel_i1, ::cuscope_simt::bessel_i(1, x))
#undef CUSCOPE_FUNCTION

#define CUSCOPE_NORMS(type, suffix)                                                  \
    template <int = 0>                                                               \
    inline type norm3d##suffix(type a, type b, type c) {                             \
        const double v[] = {a, b, c};                                                \
        return static_cast<type>(::cuscope_simt::norm_of(3, v));                     \
    }                                                                                \
    template <int = 0>                                                               \
    inline type norm4d##suffix(type a, type b, type c, type d) {                     \
        const double v[] = {a, b, c, d};                                             \
        return static_cast<type>(::cuscope_simt::norm_of(4, v));                     \
    }                                                                                \
    template <int = 0>                                                               \
    inline type rnorm3d##suffix(type a, type b, type c) {                            \
        const double v[] = {a, b, c};                                                \
        return static_cast<type>(1.0 / ::cuscope_simt::norm_of(3, v));               \
    }                                                                                \
    template <int = 0>                                                               \
    inline type rnorm4d##suffix(type a, type b, type c, type d) {                    \
        const double v[] = {a, b, c, d};                                             \
        return static_cast<type>(1.0 / ::cuscope_simt::norm_of(4, v));               \
    }                                                                                \
    template <int = 0>                                                               \
    inline type norm##suffix(int count, const type* values) {                        \
        double length = 0.0;                                                         \
        for (int i = 0; i < count; ++i) length = __builtin_hypot(length, values[i]); \
        return static_cast<type>(length);                                            \
    }                                                                                \
    template <int = 0>                                                               \
    inline type rnorm##suffix(int count, const type* values) {                       \
        double length = 0.0;                                                         \
        for (int i = 0; i < count; ++i) length = __builtin_hypot(length, values[i]); \
        return static_cast<type>(1.0 / length);                                      \
    }                                                                                \
    template <int = 0>                                                               \
    inline type rhypot##suffix(type a, type b) {                                     \
        return static_cast<type>(1.0 / __builtin_hypot(a, b));                       \
    }                                                                                \
    template <int = 0>                                                               \
    inline void sincospi##suffix(type x, type* sine, type* cosine) {                 \
        *sine = static_cast<type>(::cuscope_simt::sine_of_pi(x));                    \
        *cosine = static_cast<type>(::cuscope_simt::cosine_of_pi(x));                \
    }
CUSCOPE_NORMS(float, f)
CUSCOPE_NORMS(double, )
#undef CUSCOPE_NORMS

// For C libraries without GNU extensions.
template <int = 0>
inline void sincosf(float x, float* sine, float* cosine) {
    *sine = __builtin_sinf(x);
    *cosine = __builtin_cosf(x);
}
template <int = 0>
inline void sincos(double x, double* sine, double* cosine) {
    *sine = __builtin_sin(x);
    *cosine = __builtin_cos(x);
}
template <int = 0>
inline void sincos(float x, float* sine, float* cosine) {
    *sine = __builtin_sinf(x);
    *cosine = __builtin_cosf(x);
}
template <int = 0>
inline float exp10f(float x) {
    return static_cast<float>(__builtin_pow(10.0, x));
}
template <int = 0>
inline double exp10(double x) {
    return __builtin_pow(10.0, x);
}
template <int = 0>
inline float exp10(float x) {
    return exp10f(x);
}

template <int = 0>
inline double fdivide(double x, double y) {
    return x / y;
}
CUSCOPE_INLINE float fdividef(float x, float y) { return x / y; }
CUSCOPE_INLINE float __fdividef(float x, float y) { return x / y; }
CUSCOPE_INLINE float __saturatef(float x) { return x > 0.0f ? (x < 1.0f ? x : 1.0f) : 0.0f; }
CUSCOPE_INLINE float __sinf(float x) { return __builtin_sinf(x); }
CUSCOPE_INLINE float __cosf(float x) { return __builtin_cosf(x); }
CUSCOPE_INLINE float __tanf(float x) { return __builtin_tanf(x); }
CUSCOPE_INLINE float __tanhf(float x) { return __builtin_tanhf(x); }
CUSCOPE_INLINE void __sincosf(float x, float* sine, float* cosine) {
    *sine = __builtin_sinf(x);
    *cosine = __builtin_cosf(x);
}
CUSCOPE_INLINE float __expf(float x) { return __builtin_expf(x); }
CUSCOPE_INLINE float __exp10f(float x) { return static_cast<float>(__builtin_pow(10.0, x)); }
CUSCOPE_INLINE float __logf(float x) { return __builtin_logf(x); }
CUSCOPE_INLINE float __log2f(float x) { return __builtin_log2f(x); }
CUSCOPE_INLINE float __log10f(float x) { return __builtin_log10f(x); }
CUSCOPE_INLINE float __powf(float x, float y) { return __builtin_powf(x, y); }

// Arithmetic with a rounding mode. Rounding to nearest needs only the plain operation, because the compiler
// does not contract it with another one (-ffp-contract=off).
namespace cuscope_simt {

#if defined(__x86_64__)
inline constexpr unsigned round_nearest = 0x0000, round_down = 0x2000, round_up = 0x4000, round_zero = 0x6000;
struct Rounding {
    unsigned saved;
    CUSCOPE_INLINE explicit Rounding(unsigned mode) : saved(__builtin_ia32_stmxcsr()) {
        __builtin_ia32_ldmxcsr((saved & ~0x6000u) | mode);
    }
    CUSCOPE_INLINE ~Rounding() { __builtin_ia32_ldmxcsr(saved); }
};
#else
}
#include <fenv.h>
namespace cuscope_simt {
inline constexpr int round_nearest = FE_TONEAREST, round_down = FE_DOWNWARD, round_up = FE_UPWARD,
                     round_zero = FE_TOWARDZERO;
struct Rounding {
    int saved;
    explicit Rounding(int mode) : saved(fegetround()) { fesetround(mode); }
    ~Rounding() { fesetround(saved); }
};
#endif

// Hides a value from the optimiser, which must not move the operation out of the scope of the rounding mode.
template <class T>
CUSCOPE_INLINE T held(T value) {
    volatile T kept = value;
    return kept;
}

}  // namespace cuscope_simt

#define CUSCOPE_ROUNDED(type, prefix, root, fused, mode, direction)                              \
    CUSCOPE_INLINE type __##prefix##add_##mode(type x, type y) {                                 \
        const ::cuscope_simt::Rounding rounding(::cuscope_simt::round_##direction);              \
        return ::cuscope_simt::held(::cuscope_simt::held(x) + ::cuscope_simt::held(y));          \
    }                                                                                            \
    CUSCOPE_INLINE type __##prefix##sub_##mode(type x, type y) {                                 \
        const ::cuscope_simt::Rounding rounding(::cuscope_simt::round_##direction);              \
        return ::cuscope_simt::held(::cuscope_simt::held(x) - ::cuscope_simt::held(y));          \
    }                                                                                            \
    CUSCOPE_INLINE type __##prefix##mul_##mode(type x, type y) {                                 \
        const ::cuscope_simt::Rounding rounding(::cuscope_simt::round_##direction);              \
        return ::cuscope_simt::held(::cuscope_simt::held(x) * ::cuscope_simt::held(y));          \
    }                                                                                            \
    CUSCOPE_INLINE type __##prefix##div_##mode(type x, type y) {                                 \
        const ::cuscope_simt::Rounding rounding(::cuscope_simt::round_##direction);              \
        return ::cuscope_simt::held(::cuscope_simt::held(x) / ::cuscope_simt::held(y));          \
    }                                                                                            \
    CUSCOPE_INLINE type __##prefix##rcp_##mode(type x) { return __##prefix##div_##mode(1, x); }  \
    CUSCOPE_INLINE type __##prefix##sqrt_##mode(type x) {                                        \
        const ::cuscope_simt::Rounding rounding(::cuscope_simt::round_##direction);              \
        return ::cuscope_simt::held(root(::cuscope_simt::held(x)));                              \
    }                                                                                            \
    CUSCOPE_INLINE type fused##_##mode(type x, type y, type z) {                                 \
        const ::cuscope_simt::Rounding rounding(::cuscope_simt::round_##direction);              \
        return ::cuscope_simt::held(::fma(::cuscope_simt::held(x), ::cuscope_simt::held(y), z)); \
    }
#define CUSCOPE_ROUNDINGS(type, prefix, root, fused)                         \
    CUSCOPE_ROUNDED(type, prefix, root, fused, rd, down)                     \
    CUSCOPE_ROUNDED(type, prefix, root, fused, ru, up)                       \
    CUSCOPE_ROUNDED(type, prefix, root, fused, rz, zero)                     \
    CUSCOPE_INLINE type __##prefix##add_rn(type x, type y) { return x + y; } \
    CUSCOPE_INLINE type __##prefix##sub_rn(type x, type y) { return x - y; } \
    CUSCOPE_INLINE type __##prefix##mul_rn(type x, type y) { return x * y; } \
    CUSCOPE_INLINE type __##prefix##div_rn(type x, type y) { return x / y; } \
    CUSCOPE_INLINE type __##prefix##rcp_rn(type x) { return 1 / x; }         \
    CUSCOPE_INLINE type __##prefix##sqrt_rn(type x) { return root(x); }      \
    CUSCOPE_INLINE type fused##_rn(type x, type y, type z) { return ::fma(x, y, z); }
CUSCOPE_ROUNDINGS(float, f, __builtin_sqrtf, __fmaf)
CUSCOPE_ROUNDINGS(double, d, __builtin_sqrt, __fma)
#undef CUSCOPE_ROUNDINGS
#undef CUSCOPE_ROUNDED
// These functions keep subnormal numbers whatever the options are, as all operations do here. They are
// macros, and fdivide is a template, because GCC inlines other code differently if this header has more
// functions.
#define __fmaf_ieee_rn __fmaf_rn
#define __fmaf_ieee_rd __fmaf_rd
#define __fmaf_ieee_ru __fmaf_ru
#define __fmaf_ieee_rz __fmaf_rz
CUSCOPE_INLINE float __frsqrt_rn(float x) { return static_cast<float>(1.0 / __builtin_sqrt(x)); }
