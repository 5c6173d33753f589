// error 3 experimental
#include <mma.h>
using u4 = nvcuda::wmma::experimental::precision::u4;
__global__ void k(float* a) {}
