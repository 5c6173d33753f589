// The declarations of <cuda_bf16.h>: numbers with the exponent of a float and seven bits behind the point.
#pragma once
#pragma GCC system_header

#include "cuscope_simt/numbers/fp16.h"

#define CUSCOPE_T __nv_bfloat16
#define CUSCOPE_T2 __nv_bfloat162
#define CUSCOPE_RAW __nv_bfloat16_raw
#define CUSCOPE_RAW2 __nv_bfloat162_raw
#define CUSCOPE_N bfloat16
#define CUSCOPE_N2 bfloat162
#define CUSCOPE_TWICE 2bfloat162
#define CUSCOPE_OTHER __half
#define CUSCOPE_FORMAT ::cuscope_simt::Format16<8, 7>
#ifdef __CUDA_NO_BFLOAT16_CONVERSIONS__
#define CUSCOPE_CONVERSIONS 0
#else
#define CUSCOPE_CONVERSIONS 1
#endif
#ifdef __CUDA_NO_BFLOAT16_OPERATORS__
#define CUSCOPE_OPERATORS 0
#else
#define CUSCOPE_OPERATORS 1
#endif
#ifdef __CUDA_NO_BFLOAT162_OPERATORS__
#define CUSCOPE_OPERATORS2 0
#else
#define CUSCOPE_OPERATORS2 1
#endif
#include "cuscope_simt/numbers/number16.inc"
#undef CUSCOPE_T
#undef CUSCOPE_T2
#undef CUSCOPE_RAW
#undef CUSCOPE_RAW2
#undef CUSCOPE_N
#undef CUSCOPE_N2
#undef CUSCOPE_TWICE
#undef CUSCOPE_OTHER
#undef CUSCOPE_FORMAT
#undef CUSCOPE_CONVERSIONS
#undef CUSCOPE_OPERATORS
#undef CUSCOPE_OPERATORS2

#define __CUDA_BF16_TYPES_EXIST__
#define __CUDA_BF16_H__
#define CUDART_INF_BF16 __ushort_as_bfloat16(static_cast<unsigned short>(0x7f80u))
#define CUDART_NAN_BF16 __ushort_as_bfloat16(static_cast<unsigned short>(0x7fffu))
#define CUDART_MIN_DENORM_BF16 __ushort_as_bfloat16(static_cast<unsigned short>(0x0001u))
#define CUDART_MAX_NORMAL_BF16 __ushort_as_bfloat16(static_cast<unsigned short>(0x7f7fu))
#define CUDART_NEG_ZERO_BF16 __ushort_as_bfloat16(static_cast<unsigned short>(0x8000u))
#define CUDART_ZERO_BF16 __ushort_as_bfloat16(static_cast<unsigned short>(0x0000u))
#define CUDART_ONE_BF16 __ushort_as_bfloat16(static_cast<unsigned short>(0x3f80u))

using nv_bfloat16 = __nv_bfloat16;
using nv_bfloat162 = __nv_bfloat162;

#ifndef __CUDA_NO_BFLOAT16_CONVERSIONS__
CUSCOPE_INLINE __nv_bfloat16::__nv_bfloat16(const __half other)
    : __x(cuscope_format::narrow(::cuscope_simt::wide(other))) {}
#endif
#ifndef __CUDA_NO_HALF_CONVERSIONS__
CUSCOPE_INLINE __half::__half(const __nv_bfloat16 other)
    : __x(cuscope_format::narrow(::cuscope_simt::wide(other))) {}
#endif
