// CUDA's keywords. Each is a macro for itself. So `#ifdef __global__` is true, and the compiler driver still
// finds the keyword after preprocessing.
#pragma once
#pragma GCC system_header

#ifndef CUSCOPE_DIAGNOSE
#define __global__ __global__
#define __device__ __device__
#define __host__ __host__
#define __shared__ __shared__
#define __constant__ __constant__
#define __managed__ __managed__
#define __forceinline__ __forceinline__
#define __inline_hint__ __inline_hint__
#define __grid_constant__ __grid_constant__
#else
#define __global__
#define __device__
#define __host__
#define __shared__ thread_local
#ifdef CUSCOPE_NO_ALIGNAS
#define alignas(...)
#endif
#define __constant__
#define __forceinline__ inline
#define __noinline__
#define __inline_hint__
#define __grid_constant__
#define __launch_bounds__(...)
#define __cluster_dims__(...)
#define __maxnreg__(...)
#define __syncthreads ::cuscope_simt::At<0, 0>::__syncthreads
#define __syncthreads_count ::cuscope_simt::At<0, 0>::__syncthreads_count
#define __syncthreads_and ::cuscope_simt::At<0, 0>::__syncthreads_and
#define __syncthreads_or ::cuscope_simt::At<0, 0>::__syncthreads_or
#define __barrier_sync ::cuscope_simt::At<0, 0>::__barrier_sync
#define __barrier_sync_count ::cuscope_simt::At<0, 0>::__barrier_sync_count
#define __syncwarp ::cuscope_simt::At<0, 0>::__syncwarp
#define __shfl_sync ::cuscope_simt::At<0, 0>::__shfl_sync
#define __shfl_up_sync ::cuscope_simt::At<0, 0>::__shfl_up_sync
#define __shfl_down_sync ::cuscope_simt::At<0, 0>::__shfl_down_sync
#define __shfl_xor_sync ::cuscope_simt::At<0, 0>::__shfl_xor_sync
#define __ballot_sync ::cuscope_simt::At<0, 0>::__ballot_sync
#define __any_sync ::cuscope_simt::At<0, 0>::__any_sync
#define __all_sync ::cuscope_simt::At<0, 0>::__all_sync
#define __uni_sync ::cuscope_simt::At<0, 0>::__uni_sync
#define __match_any_sync ::cuscope_simt::At<0, 0>::__match_any_sync
#define __match_all_sync ::cuscope_simt::At<0, 0>::__match_all_sync
#define __reduce_add_sync ::cuscope_simt::At<0, 0>::__reduce_add_sync
#define __reduce_min_sync ::cuscope_simt::At<0, 0>::__reduce_min_sync
#define __reduce_max_sync ::cuscope_simt::At<0, 0>::__reduce_max_sync
#define __reduce_and_sync ::cuscope_simt::At<0, 0>::__reduce_and_sync
#define __reduce_or_sync ::cuscope_simt::At<0, 0>::__reduce_or_sync
#define __reduce_xor_sync ::cuscope_simt::At<0, 0>::__reduce_xor_sync
#define __activemask ::cuscope_simt::At<0, 0>::__activemask
#endif

#define __align__(n) __attribute__((aligned(n)))
#define __builtin_align__(n) __attribute__((aligned(n)))
#ifndef __clang__
#define __builtin_assume(condition) static_cast<void>(0)
#endif
#define __assume(condition) __builtin_assume(condition)
