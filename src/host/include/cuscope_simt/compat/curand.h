// The types stand in the toolkit's header for kernels, which the compiler driver has to rewrite. So this file
// is no system header either. Functions of the host are not for kernels. "curand_kernel.h" in quotes would be
// one where a system header of this folder has included another in quotes: GCC remembers that of the folder.
#pragma once
#ifdef CUSCOPE_CURAND_KERNEL
#include <curand_kernel.h>
#endif
