// The CUDA C++ language for kernels that run on the CPU. Included before the user's source, which needs no
// #include for CUDA's built-in names. The compiler driver rewrites the constructs that a header cannot define
// (__shared__, threadIdx, __syncthreads, ...). With CUSCOPE_DIAGNOSE, macros replace the rewriting, so that
// the user's unchanged text can be checked.
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
#include "cuscope_simt/simd.h"
#include "cuscope_simt/spaces.h"
#include "cuscope_simt/textures.h"
#include "cuscope_simt/vectors.h"
#include "cuscope_simt/warp.h"
// keywords.h comes last, because the other headers are plain C++.
#include "cuscope_simt/keywords.h"
