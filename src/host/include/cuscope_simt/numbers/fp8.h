// The declarations of <cuda_fp8.h>: numbers of 8 bits, E4M3 and E5M2, and scales, E8M0.
#pragma once
#pragma GCC system_header

#include "cuscope_simt/numbers/bf16.h"
#pragma cuscope needs ptx
#include "cuscope_simt/numbers/format8.h"
#include "cuscope_simt/runtime_structs.h"

using __nv_fp8_storage_t = unsigned char;
using __nv_fp8x2_storage_t = unsigned short;
using __nv_fp8x4_storage_t = unsigned int;

enum __nv_saturation_t { __NV_NOSAT, __NV_SATFINITE };
enum __nv_fp8_interpretation_t { __NV_E4M3, __NV_E5M2 };

// ---- to E4M3 and E5M2

namespace cuscope_simt {

template <class T>
CUSCOPE_INLINE unsigned char narrow8(T value, __nv_saturation_t saturate, __nv_fp8_interpretation_t format) {
    const bool finite = saturate == __NV_SATFINITE;
    return format == __NV_E4M3 ? E4M3::narrow(value, finite) : E5M2::narrow(value, finite);
}

}  // namespace cuscope_simt

CUSCOPE_INLINE __nv_fp8_storage_t __nv_cvt_double_to_fp8(const double x, const __nv_saturation_t saturate,
                                                         const __nv_fp8_interpretation_t format) {
    return ::cuscope_simt::narrow8(x, saturate, format);
}
CUSCOPE_INLINE __nv_fp8x2_storage_t __nv_cvt_double2_to_fp8x2(const double2 x,
                                                              const __nv_saturation_t saturate,
                                                              const __nv_fp8_interpretation_t format) {
    return ::cuscope_simt::two(__nv_cvt_double_to_fp8(x.x, saturate, format),
                               __nv_cvt_double_to_fp8(x.y, saturate, format));
}
CUSCOPE_INLINE __nv_fp8_storage_t __nv_cvt_float_to_fp8(const float x, const __nv_saturation_t saturate,
                                                        const __nv_fp8_interpretation_t format) {
    return ::cuscope_simt::narrow8(x, saturate, format);
}
CUSCOPE_INLINE __nv_fp8x2_storage_t __nv_cvt_float2_to_fp8x2(const float2 x, const __nv_saturation_t saturate,
                                                             const __nv_fp8_interpretation_t format) {
    return ::cuscope_simt::two(__nv_cvt_float_to_fp8(x.x, saturate, format),
                               __nv_cvt_float_to_fp8(x.y, saturate, format));
}
CUSCOPE_INLINE __nv_fp8_storage_t __nv_cvt_halfraw_to_fp8(const __half_raw x,
                                                          const __nv_saturation_t saturate,
                                                          const __nv_fp8_interpretation_t format) {
    return __nv_cvt_float_to_fp8(::cuscope_simt::Half16::widen(x.x), saturate, format);
}
CUSCOPE_INLINE __nv_fp8x2_storage_t __nv_cvt_halfraw2_to_fp8x2(const __half2_raw x,
                                                               const __nv_saturation_t saturate,
                                                               const __nv_fp8_interpretation_t format) {
    return ::cuscope_simt::two(__nv_cvt_halfraw_to_fp8({x.x}, saturate, format),
                               __nv_cvt_halfraw_to_fp8({x.y}, saturate, format));
}
CUSCOPE_INLINE __nv_fp8_storage_t __nv_cvt_bfloat16raw_to_fp8(const __nv_bfloat16_raw x,
                                                              const __nv_saturation_t saturate,
                                                              const __nv_fp8_interpretation_t format) {
    return __nv_cvt_float_to_fp8(::cuscope_simt::Brain16::widen(x.x), saturate, format);
}
CUSCOPE_INLINE __nv_fp8x2_storage_t __nv_cvt_bfloat16raw2_to_fp8x2(const __nv_bfloat162_raw x,
                                                                   const __nv_saturation_t saturate,
                                                                   const __nv_fp8_interpretation_t format) {
    return ::cuscope_simt::two(__nv_cvt_bfloat16raw_to_fp8({x.x}, saturate, format),
                               __nv_cvt_bfloat16raw_to_fp8({x.y}, saturate, format));
}

// ---- from E4M3 and E5M2

CUSCOPE_INLINE __half_raw __nv_cvt_fp8_to_halfraw(const __nv_fp8_storage_t x,
                                                  const __nv_fp8_interpretation_t format) {
    return {format == __NV_E5M2 ? ::cuscope_simt::E5M2::half_bits(x) : ::cuscope_simt::E4M3::half_bits(x)};
}
CUSCOPE_INLINE __half2_raw __nv_cvt_fp8x2_to_halfraw2(const __nv_fp8x2_storage_t x,
                                                      const __nv_fp8_interpretation_t format) {
    return {__nv_cvt_fp8_to_halfraw(static_cast<__nv_fp8_storage_t>(x), format).x,
            __nv_cvt_fp8_to_halfraw(static_cast<__nv_fp8_storage_t>(x >> 8), format).x};
}

// ---- to and from E8M0. CUDA asserts too that `rounding` is one of two modes, except for a single bfloat16.

CUSCOPE_INLINE __nv_fp8_storage_t __nv_cvt_double_to_e8m0(const double x, const __nv_saturation_t saturate,
                                                          const enum cudaRoundMode rounding) {
    assert(rounding == cudaRoundZero || rounding == cudaRoundPosInf);
    return ::cuscope_simt::E8M0::narrow(x, saturate == __NV_SATFINITE, rounding == cudaRoundPosInf);
}
CUSCOPE_INLINE __nv_fp8x2_storage_t __nv_cvt_double2_to_e8m0x2(const double2 x,
                                                               const __nv_saturation_t saturate,
                                                               const enum cudaRoundMode rounding) {
    return ::cuscope_simt::two(__nv_cvt_double_to_e8m0(x.x, saturate, rounding),
                               __nv_cvt_double_to_e8m0(x.y, saturate, rounding));
}
CUSCOPE_INLINE __nv_fp8_storage_t __nv_cvt_float_to_e8m0(const float x, const __nv_saturation_t saturate,
                                                         const enum cudaRoundMode rounding) {
    return __nv_cvt_double_to_e8m0(x, saturate, rounding);
}
CUSCOPE_INLINE __nv_fp8x2_storage_t __nv_cvt_float2_to_e8m0x2(const float2 x,
                                                              const __nv_saturation_t saturate,
                                                              const enum cudaRoundMode rounding) {
    return ::cuscope_simt::two(__nv_cvt_float_to_e8m0(x.x, saturate, rounding),
                               __nv_cvt_float_to_e8m0(x.y, saturate, rounding));
}
CUSCOPE_INLINE __nv_fp8_storage_t __nv_cvt_bfloat16raw_to_e8m0(const __nv_bfloat16_raw x,
                                                               const __nv_saturation_t saturate,
                                                               const enum cudaRoundMode rounding) {
    return ::cuscope_simt::E8M0::narrow(::cuscope_simt::Brain16::widen(x.x), saturate == __NV_SATFINITE,
                                        rounding == cudaRoundPosInf);
}
CUSCOPE_INLINE __nv_fp8x2_storage_t __nv_cvt_bfloat162raw_to_e8m0x2(const __nv_bfloat162_raw x,
                                                                    const __nv_saturation_t saturate,
                                                                    const enum cudaRoundMode rounding) {
    assert(rounding == cudaRoundZero || rounding == cudaRoundPosInf);
    return ::cuscope_simt::two(__nv_cvt_bfloat16raw_to_e8m0({x.x}, saturate, rounding),
                               __nv_cvt_bfloat16raw_to_e8m0({x.y}, saturate, rounding));
}
CUSCOPE_INLINE __nv_bfloat16_raw __nv_cvt_e8m0_to_bf16raw(const __nv_fp8_storage_t x) {
    return {::cuscope_simt::E8M0::brain_bits(x)};
}
CUSCOPE_INLINE __nv_bfloat162_raw __nv_cvt_e8m0x2_to_bf162raw(const __nv_fp8x2_storage_t x) {
    return {::cuscope_simt::E8M0::brain_bits(static_cast<__nv_fp8_storage_t>(x)),
            ::cuscope_simt::E8M0::brain_bits(static_cast<__nv_fp8_storage_t>(x >> 8))};
}

// ---- classes

#define CUSCOPE_T __nv_fp8_e5m2
#define CUSCOPE_T2 __nv_fp8x2_e5m2
#define CUSCOPE_T4 __nv_fp8x4_e5m2
#define CUSCOPE_FORMAT ::cuscope_simt::E5M2
#define CUSCOPE_SCALE 0
#include "cuscope_simt/numbers/number8.inc"

#define CUSCOPE_T __nv_fp8_e4m3
#define CUSCOPE_T2 __nv_fp8x2_e4m3
#define CUSCOPE_T4 __nv_fp8x4_e4m3
#define CUSCOPE_FORMAT ::cuscope_simt::E4M3
#define CUSCOPE_SCALE 0
#include "cuscope_simt/numbers/number8.inc"

#define CUSCOPE_T __nv_fp8_e8m0
#define CUSCOPE_T2 __nv_fp8x2_e8m0
#define CUSCOPE_T4 __nv_fp8x4_e8m0
#define CUSCOPE_FORMAT ::cuscope_simt::E8M0
#define CUSCOPE_SCALE 1
#include "cuscope_simt/numbers/number8.inc"

#define __CUDA_FP8_TYPES_EXIST__
#define __CUDA_FP8_H__
