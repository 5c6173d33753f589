// The declarations of <cuComplex.h>: complex numbers as pairs.
#pragma once
#pragma GCC system_header

#include "cuscope_simt/vectors.h"

typedef float2 cuFloatComplex;
typedef double2 cuDoubleComplex;
typedef cuFloatComplex cuComplex;

#define CUSCOPE_COMPLEX(type, pair, suffix, hypotenuse)                                                   \
    CUSCOPE_INLINE type cuCreal##suffix(pair x) { return x.x; }                                           \
    CUSCOPE_INLINE type cuCimag##suffix(pair x) { return x.y; }                                           \
    CUSCOPE_INLINE pair cuConj##suffix(pair x) { return {x.x, -x.y}; }                                    \
    CUSCOPE_INLINE pair cuCadd##suffix(pair x, pair y) { return {x.x + y.x, x.y + y.y}; }                 \
    CUSCOPE_INLINE pair cuCsub##suffix(pair x, pair y) { return {x.x - y.x, x.y - y.y}; }                 \
    CUSCOPE_INLINE pair cuCmul##suffix(pair x, pair y) {                                                  \
        return {x.x * y.x - x.y * y.y, x.x * y.y + x.y * y.x};                                            \
    }                                                                                                     \
    CUSCOPE_INLINE pair cuCdiv##suffix(pair x, pair y) {                                                  \
        const type scale = type(1) / static_cast<type>(__builtin_fabs(y.x) + __builtin_fabs(y.y));        \
        const type a = x.x * scale, b = x.y * scale, c = y.x * scale, d = y.y * scale, n = c * c + d * d; \
        return {(a * c + b * d) / n, (b * c - a * d) / n};                                                \
    }                                                                                                     \
    CUSCOPE_INLINE type cuCabs##suffix(pair x) { return hypotenuse(x.x, x.y); }                           \
    CUSCOPE_INLINE pair cuCfma##suffix(pair x, pair y, pair z) {                                          \
        return {(x.x * y.x + z.x) - x.y * y.y, (x.x * y.y + z.y) + x.y * y.x};                            \
    }
CUSCOPE_COMPLEX(float, cuFloatComplex, f, __builtin_hypotf)
CUSCOPE_COMPLEX(double, cuDoubleComplex, , __builtin_hypot)
#undef CUSCOPE_COMPLEX

CUSCOPE_INLINE cuFloatComplex make_cuFloatComplex(float re, float im) { return {re, im}; }
CUSCOPE_INLINE cuDoubleComplex make_cuDoubleComplex(double re, double im) { return {re, im}; }
CUSCOPE_INLINE cuComplex make_cuComplex(float re, float im) { return {re, im}; }
CUSCOPE_INLINE cuFloatComplex cuComplexDoubleToFloat(cuDoubleComplex x) {
    return {static_cast<float>(x.x), static_cast<float>(x.y)};
}
CUSCOPE_INLINE cuDoubleComplex cuComplexFloatToDouble(cuFloatComplex x) { return {x.x, x.y}; }
