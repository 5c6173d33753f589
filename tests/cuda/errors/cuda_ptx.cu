// error 0 does not support <cuda/ptx>
#include <cuda/ptx>
__global__ void k(float* a) {}
