// status cudaErrorAssert
// launch 2 32
// detail block: [0,0,0], thread: [3,0,0] Assertion `threadIdx.x != 3` failed.
__global__ void fault(int* p) {
    if (blockIdx.x == 0)
        assert(threadIdx.x != 3);
}
