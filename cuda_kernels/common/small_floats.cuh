// Conversions of the small floating types. All kernels that take these types convert them here.
#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>

#include "types.hpp"

template <class T>
constexpr bool is_small_float = false;
#define CUSCOPE_SMALL(id, name, bytes, kind, cuda, exponent, fraction, dlpack) \
    template <>                                                                \
    constexpr bool is_small_float<cuda> = true;
CUSCOPE_SMALL_FLOATS(CUSCOPE_SMALL)
#undef CUSCOPE_SMALL

__device__ inline float widened(__half x) { return __half2float(x); }
__device__ inline float widened(__nv_bfloat16 x) { return __bfloat162float(x); }
__device__ inline float widened(__nv_fp8_e4m3 x) {
    return __half2float(__half(__nv_cvt_fp8_to_halfraw(x.__x, __NV_E4M3)));
}
__device__ inline float widened(__nv_fp8_e5m2 x) {
    return __half2float(__half(__nv_cvt_fp8_to_halfraw(x.__x, __NV_E5M2)));
}

// `to` becomes the number that is nearest to `value`. A number that is too large becomes an infinity, or NaN
// where the type has none, as in NumPy with ml_dtypes. CUDA's constructors of 8-bit floats would make it the
// greatest number.
__device__ inline void round_to(__half& to, double value) { to = __double2half(value); }
__device__ inline void round_to(__half& to, float value) { to = __float2half_rn(value); }
__device__ inline void round_to(__nv_bfloat16& to, double value) { to = __double2bfloat16(value); }
__device__ inline void round_to(__nv_bfloat16& to, float value) { to = __float2bfloat16_rn(value); }
__device__ inline void round_to(__nv_fp8_e4m3& to, double value) {
    to.__x = __nv_cvt_double_to_fp8(value, __NV_NOSAT, __NV_E4M3);
}
__device__ inline void round_to(__nv_fp8_e4m3& to, float value) {
    to.__x = __nv_cvt_float_to_fp8(value, __NV_NOSAT, __NV_E4M3);
}
__device__ inline void round_to(__nv_fp8_e5m2& to, double value) {
    to.__x = __nv_cvt_double_to_fp8(value, __NV_NOSAT, __NV_E5M2);
}
__device__ inline void round_to(__nv_fp8_e5m2& to, float value) {
    to.__x = __nv_cvt_float_to_fp8(value, __NV_NOSAT, __NV_E5M2);
}
