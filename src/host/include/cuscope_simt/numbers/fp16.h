// The declarations of <cuda_fp16.h>: numbers of IEEE 754 binary16.
#pragma once
#pragma GCC system_header

#include "cuscope_simt/atomics.h"
#include "cuscope_simt/numbers/rounding16.h"

#define CUSCOPE_T __half
#define CUSCOPE_T2 __half2
#define CUSCOPE_RAW __half_raw
#define CUSCOPE_RAW2 __half2_raw
#define CUSCOPE_N half
#define CUSCOPE_N2 half2
#define CUSCOPE_TWICE 2half2
#define CUSCOPE_OTHER __nv_bfloat16
#define CUSCOPE_FORMAT ::cuscope_simt::Format16<5, 10>
#ifdef __CUDA_NO_HALF_CONVERSIONS__
#define CUSCOPE_CONVERSIONS 0
#else
#define CUSCOPE_CONVERSIONS 1
#endif
#ifdef __CUDA_NO_HALF_OPERATORS__
#define CUSCOPE_OPERATORS 0
#else
#define CUSCOPE_OPERATORS 1
#endif
#ifdef __CUDA_NO_HALF2_OPERATORS__
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

#define __CUDA_FP16_TYPES_EXIST__
#define __CUDA_FP16_H__
#define CUDART_INF_FP16 __ushort_as_half(static_cast<unsigned short>(0x7c00u))
#define CUDART_NAN_FP16 __ushort_as_half(static_cast<unsigned short>(0x7fffu))
#define CUDART_MIN_DENORM_FP16 __ushort_as_half(static_cast<unsigned short>(0x0001u))
#define CUDART_MAX_NORMAL_FP16 __ushort_as_half(static_cast<unsigned short>(0x7bffu))
#define CUDART_NEG_ZERO_FP16 __ushort_as_half(static_cast<unsigned short>(0x8000u))
#define CUDART_ZERO_FP16 __ushort_as_half(static_cast<unsigned short>(0x0000u))
#define CUDART_ONE_FP16 __ushort_as_half(static_cast<unsigned short>(0x3c00u))

using half = __half;
using half2 = __half2;
using __nv_half = __half;
using __nv_half2 = __half2;
using __nv_half_raw = __half_raw;
using __nv_half2_raw = __half2_raw;
using nv_half = __half;
using nv_half2 = __half2;
