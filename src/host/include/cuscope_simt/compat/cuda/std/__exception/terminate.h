// On a host, terminate() ends the process. Here it has to end the kernel.
// clang-format off
#include "cuscope_simt/toolkit/host.h"
#include <cuda/std/cstdlib>
#define exit(code) __trap()
#include_next <cuda/std/__exception/terminate.h>
#undef exit
#include "cuscope_simt/toolkit/kernel.h"
