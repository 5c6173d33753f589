// The types stand in the toolkit's header for kernels, which the compiler driver has to rewrite. So this file
// is no system header either. Functions of the host are not for kernels.
#pragma once
#ifdef CUSCOPE_CURAND_KERNEL
#include "curand_kernel.h"
#endif
