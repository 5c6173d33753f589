// error 0 does not support <cuda_fp8.h>
#include <cuda_fp8.h>
__global__ void k(float* a) {}
