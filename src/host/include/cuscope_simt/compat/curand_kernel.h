// The toolkit's random number generators. Not a system header, because the compiler driver has to rewrite it.
#pragma once
#ifndef CUSCOPE_CURAND_KERNEL
#error \
    "<curand_kernel.h> is of the CUDA toolkit, which is not on this machine: pip install nvidia-curand, or set CUDA_HOME to a toolkit"
#else
#include "cuscope_simt/toolkit/host.h"
typedef struct CUstream_st* cudaStream_t;
typedef enum libraryPropertyType_t { MAJOR_VERSION, MINOR_VERSION, PATCH_LEVEL } libraryPropertyType;
#ifndef __NV_SILENCE_DEPRECATION_BEGIN
#define __NV_SILENCE_DEPRECATION_BEGIN
#define __NV_SILENCE_DEPRECATION_END
#endif
#ifdef CUSCOPE_DIAGNOSE
#pragma push_macro("__syncthreads")
#undef __syncthreads
#define __syncthreads() static_cast<void>(0)
#endif
#include CUSCOPE_CURAND_KERNEL
#ifdef CUSCOPE_DIAGNOSE
#pragma pop_macro("__syncthreads")
#endif
#include "cuscope_simt/toolkit/kernel.h"
// These generators synchronise their block. For a host compiler, the toolkit's header leaves that out.
#pragma GCC poison curandStateMtgp32 curandStateMtgp32_t
#endif
