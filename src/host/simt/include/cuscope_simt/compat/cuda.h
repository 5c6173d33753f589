// The version; what else it declares is not for kernels.
#pragma once
#pragma GCC system_header
#define CUDA_VERSION 13000
