// error 3 inline PTX `vadd.s32.s32.s32 %0, %1, %1;`
__device__ int f(int x) {
    asm volatile("vadd.s32.s32.s32 %0, %1, %1;" : "=r"(x) : "r"(x));
    return x;
}
__global__ void k(int* a) { *a = f(*a); }
