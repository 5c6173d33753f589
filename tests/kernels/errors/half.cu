// error 0 does not support <cuda_fp16.h>
#include <cuda_fp16.h>
__global__ void k(float* a) {}
