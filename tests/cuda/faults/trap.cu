// status cudaErrorLaunchFailure
// launch 1 32
// detail __trap() in trap.cu:5
__global__ void fault(int* p) {
    if (threadIdx.x == 5) __trap();
}
