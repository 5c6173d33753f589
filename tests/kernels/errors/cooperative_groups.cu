// error 0 does not support <cooperative_groups.h>
#include <cooperative_groups.h>
__global__ void k(float* a) {}
