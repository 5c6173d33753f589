// status cudaErrorMisalignedAddress
// launch 1 32
// not with clang: it checks the alignment of members that are read, not of whole structures that are copied
// detail misaligned_struct.cu:7
__global__ void fault(float* p) {
    float4* v = reinterpret_cast<float4*>(p + 1);
    float4 all = v[threadIdx.x];
    p[100 + threadIdx.x] = all.x + all.y + all.z + all.w;
}
