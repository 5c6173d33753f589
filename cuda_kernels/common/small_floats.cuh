// Conversions of the small floating types. All kernels that take these types convert them here.
#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>

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

// `to` becomes the number that is nearest to `value`.
__device__ inline void round_to(__half& to, double value) { to = __double2half(value); }
__device__ inline void round_to(__half& to, float value) { to = __float2half_rn(value); }
__device__ inline void round_to(__nv_bfloat16& to, double value) { to = __double2bfloat16(value); }
__device__ inline void round_to(__nv_bfloat16& to, float value) { to = __float2bfloat16_rn(value); }
