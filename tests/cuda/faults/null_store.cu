// status cudaErrorIllegalAddress
// launch 1 1
__global__ void fault(int* p) { *(volatile int*)nullptr = 1; }
