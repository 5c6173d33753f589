// error 0 does not support <cuda_fp4.h>
#include <cuda_fp4.h>
__global__ void k(float* a) {}
