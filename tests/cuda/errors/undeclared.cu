// error 4 nothing_of_this_name
__global__ void k(float* a, int n) {
    int i = threadIdx.x + blockDim.x * blockIdx.x;
    if (i < n) a[i] = nothing_of_this_name + 1;
}
