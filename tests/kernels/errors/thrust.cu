// error 0 does not support <thrust/
#include <thrust/device_vector.h>
__global__ void k(float* a) {}
