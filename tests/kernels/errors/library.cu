// error 2 does not support <cuda/atomic>
#include <cuda/atomic>
__global__ void k(float* a) {}
