// error 0 g(float)
__device__ float g(float);
__global__ void k(float* a) { a[0] = g(1.f); }
