// status cudaErrorMisalignedAddress
// launch 1 32
// detail misaligned_vector.cu:6
__global__ void fault(float* p) {
    float4* v = reinterpret_cast<float4*>(p + 1);
    p[100 + threadIdx.x] = v[threadIdx.x].x + v[threadIdx.x].y + v[threadIdx.x].z + v[threadIdx.x].w;
}
