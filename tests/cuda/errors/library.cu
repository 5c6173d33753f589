// error 0 does not support <cub/cub.cuh>
#include <cub/cub.cuh>
__global__ void k(float* a) {}
