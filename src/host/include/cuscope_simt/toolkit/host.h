// Include before a header of the toolkit's C++ library. The header must take this compiler for the host's
// compiler.
#define CCCL_DISABLE_NVFP8_SUPPORT
#pragma push_macro("__CUDACC__")
#pragma push_macro("__CUDACC_RTC__")
#pragma push_macro("__CUDACC_VER_MAJOR__")
#pragma push_macro("__CUDACC_VER_MINOR__")
#pragma push_macro("__CUDA_ARCH__")
#undef __CUDACC__
#undef __CUDACC_RTC__
#undef __CUDACC_VER_MAJOR__
#undef __CUDACC_VER_MINOR__
#undef __CUDA_ARCH__
