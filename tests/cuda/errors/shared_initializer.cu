// error 3 an initializer is not allowed for a __shared__ variable
__global__ void k(float* a) {
    __shared__ int z = 3;
    a[0] = z;
}
