// error 3 inline PTX `add.f32 %0, %1, %1;`
__device__ float f(float x) {
    asm volatile("add.f32 %0, %1, %1;" : "=f"(x) : "f"(x));
    return x;
}
__global__ void k(float* a) { *a = f(*a); }
