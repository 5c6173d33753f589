// Empty: the declarations for kernels are built in.
#pragma once
#pragma GCC system_header
#include "cuda_runtime_api.h"
