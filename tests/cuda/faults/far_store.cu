// status cudaErrorIllegalAddress
// launch 1 1
__global__ void fault(int* p) { p[1LL << 40] = 1; }
