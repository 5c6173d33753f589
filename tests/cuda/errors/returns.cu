// error 2 a __global__ function must have a void return type
__global__ int k(int* p) { return 1; }
