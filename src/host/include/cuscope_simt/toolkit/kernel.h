// Include after a header of the toolkit's C++ library: restores the macros that host.h removed.
#pragma pop_macro("__CUDACC__")
#pragma pop_macro("__CUDACC_RTC__")
#pragma pop_macro("__CUDACC_VER_MAJOR__")
#pragma pop_macro("__CUDACC_VER_MINOR__")
#pragma pop_macro("__CUDA_ARCH__")
