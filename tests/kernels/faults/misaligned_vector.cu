// status cudaErrorMisalignedAddress
// launch 1 32
// detail misaligned_vector.cu:6
__global__ void fault(float* p) {
    float4* v = reinterpret_cast<float4*>(p + 1);
    float4 all = v[threadIdx.x];
    p[100 + threadIdx.x] = all.x + all.y + all.z + all.w;
}
