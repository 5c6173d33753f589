// error 3 a kernel launch (<<<...>>>)
__global__ void child(float* a) {}
__global__ void parent(float* a) { child<<<1, 1>>>(a); }
