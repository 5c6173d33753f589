// error 2 __managed__
__managed__ int m;
__global__ void k(float* a) { a[0] = m; }
