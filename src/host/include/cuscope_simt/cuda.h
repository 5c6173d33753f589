// The CUDA C++ language for kernels that run on the CPU: included before the user's source, which needs no
// #include of its own for what CUDA has built in. The compiler driver rewrites what no header can say
// (__shared__, threadIdx, __syncthreads, ...); with CUSCOPE_DIAGNOSE macros stand in for that, so that the
// user's own text can be checked as it is.
#pragma once
#pragma GCC system_header

// nvcc includes cuda_runtime.h before every source, which says which runtime it is of.
#define CUDART_VERSION 13000

// clang-format off
// First of all: a global register variable has to come before the first function, and attributes before the
// declarations of the standard headers.
#include "cuscope_simt/fiber.h"
#include "cuscope_simt/host_functions.h"
// clang-format on

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
// keywords.h last: the rest is written in plain C++.
#include "cuscope_simt/keywords.h"
