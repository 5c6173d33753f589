// status cudaErrorMisalignedAddress
// launch 1 1
__global__ void fault(char* p) { atomicAdd(reinterpret_cast<int*>(p + 2), 1); }
