// The types are declared in the toolkit's header for kernels, which the compiler driver has to rewrite. So
// this file is not a system header either. Functions of the host are not for kernels. The include uses <>:
// after a system header of this folder has included another file in quotes, GCC would remember this folder
// for "curand_kernel.h" as well.
#pragma once
#ifdef CUSCOPE_CURAND_KERNEL
#include <curand_kernel.h>
#endif
