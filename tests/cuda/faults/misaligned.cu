// status cudaErrorMisalignedAddress
// launch 1 1
// detail misaligned.cu:6
__global__ void fault(char* p) {
    if (threadIdx.x == 0)
        *(int*)(p + 1) = 1;
}
