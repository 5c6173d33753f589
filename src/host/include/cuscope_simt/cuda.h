// The CUDA C++ language for kernels that run on the CPU. Included before the user's source, which needs no
// #include for CUDA's built-in names. The compiler driver rewrites the constructs that a header cannot define
// (__shared__, threadIdx, __syncthreads, ...). With CUSCOPE_DIAGNOSE, macros replace the rewriting, so that
// the user's unchanged text can be checked. CUSCOPE_WITHOUT_... leaves out a part that the source does not
// use. Of a source with an #include or an option, the driver cuts the same parts out of the preprocessed text
// (compiler/header_parts.hpp).
#pragma once
#pragma GCC system_header

// nvcc includes cuda_runtime.h before every source, and that header defines the runtime's version.
#define CUDART_VERSION 13000

// clang-format off
// These come first: a global register variable has to come before the first function, and attributes before
// the declarations of the standard headers.
#include "cuscope_simt/fiber.h"
#include "cuscope_simt/host_functions.h"
// clang-format on

// The special functions of C++17 (std::beta, ...) are for the host. Parsing them takes as long as parsing all
// the other headers.
#if __has_include(<bits/c++config.h>)
#include <bits/c++config.h>
#undef _GLIBCXX_USE_STD_SPEC_FUNCS
#endif

// Glibc declares each mathematical function for more types (_Float32, ...), which CUDA does not have: 60 KB
// of declarations.
#if __has_include(<bits/floatn.h>)
#include <bits/floatn.h>
#undef __HAVE_FLOAT16
#undef __HAVE_FLOAT32
#undef __HAVE_FLOAT64
#undef __HAVE_FLOAT128
#undef __HAVE_FLOAT32X
#undef __HAVE_FLOAT64X
#undef __HAVE_FLOAT128X
#undef __HAVE_DISTINCT_FLOAT128
#define __HAVE_FLOAT16 0
#define __HAVE_FLOAT32 0
#define __HAVE_FLOAT64 0
#define __HAVE_FLOAT128 0
#define __HAVE_FLOAT32X 0
#define __HAVE_FLOAT64X 0
#define __HAVE_FLOAT128X 0
#define __HAVE_DISTINCT_FLOAT128 0
#endif

#include <assert.h>
#include <limits.h>
#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <initializer_list>
#include <typeinfo>

#include "cuscope_simt/atomics.h"
#include "cuscope_simt/conversions.h"
#include "cuscope_simt/device_functions.h"
#include "cuscope_simt/guards.h"
#include "cuscope_simt/integers.h"
#include "cuscope_simt/mathematics.h"
#include "cuscope_simt/ptx.h"
#include "cuscope_simt/registration.h"
#include "cuscope_simt/runtime_structs.h"
#include "cuscope_simt/shifts.h"
#include "cuscope_simt/spaces.h"
#include "cuscope_simt/vectors.h"
#include "cuscope_simt/warp.h"
#ifndef CUSCOPE_WITHOUT_PTX
#pragma cuscope begin ptx
#include "cuscope_simt/matrix/warpgroup.h"
#include "cuscope_simt/ptx_arithmetic.h"
#include "cuscope_simt/tensor/bulk_copy.h"
#pragma cuscope end ptx
#endif
#ifndef CUSCOPE_WITHOUT_SIMD
#pragma cuscope begin simd
#include "cuscope_simt/simd.h"
#pragma cuscope end simd
#endif
#ifndef CUSCOPE_WITHOUT_TEXTURES
#pragma cuscope begin textures
#include "cuscope_simt/textures.h"
#pragma cuscope end textures
#endif
#ifndef CUSCOPE_WITHOUT_STANDARD_LIBRARY
#pragma cuscope begin standard_library
#include "cuscope_simt/standard_library.h"
#pragma cuscope end standard_library
#endif
// keywords.h comes last, because the other headers are plain C++.
#include "cuscope_simt/keywords.h"
#pragma cuscope source
