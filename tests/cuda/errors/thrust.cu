// error 2 does not support thrust::sort() in kernels
#include <thrust/sort.h>
__global__ void k(float* a) { thrust::sort(a, a + 4); }
