// Only the version and the types of handles: the header's functions are not for kernels.
#pragma once
#pragma GCC system_header
#define CUDA_VERSION 13000
typedef unsigned long long CUdeviceptr;
typedef unsigned long long CUtexObject;
typedef unsigned long long CUsurfObject;
typedef struct CUstream_st* CUstream;
typedef struct CUevent_st* CUevent;
typedef struct CUctx_st* CUcontext;
typedef struct CUmod_st* CUmodule;
typedef struct CUfunc_st* CUfunction;
typedef int CUdevice;
typedef unsigned int cuuint32_t;
typedef unsigned long long cuuint64_t;
// Made by cuTensorMapEncodeTiled on the host, and passed to kernels by value.
typedef struct CUtensorMap_st {
    alignas(128) cuuint64_t opaque[16];
} CUtensorMap;
