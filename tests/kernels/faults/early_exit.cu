// host only: a GPU lets the others pass
// status cudaErrorLaunchFailure
// launch 2 100
// detail early_exit.cu:7
__global__ void fault(int* p) {
    if (threadIdx.x >= 60) return;
    __syncthreads();
    p[threadIdx.x] = 1;
}
