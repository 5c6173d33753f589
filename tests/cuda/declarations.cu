// The declarations in a source, in order: `// kernel NAME PARAMETERS` and `// global NAME BYTES`; templates only by
// their instances. `// bounds NAME THREADS BLOCKS` are launch bounds, `// shared NAME BYTES` static shared memory.
// instance scale<float, 128>
// kernel outer::in_namespace a,n,rows
// kernel by_macro p
// kernel scale<int, 64> x,factor
// kernel c_name p,
// kernel internal v,d
// kernel unnamed p
// kernel exp x,n
// kernel outer::div settings,q
// kernel last
// kernel scale<float, 128> x,factor
// bounds outer::in_namespace 256 2
// bounds scale<int, 64> 64 0
// bounds scale<float, 128> 128 0
// shared scale<int, 64> 772
// shared scale<float, 128> 1540
// shared internal 0
// global outer::counter 4
// global outer::coefficients 64
// global outer::table 24
// global hidden 8
#define KERNEL __global__ void

namespace outer {
__device__ int counter;
__constant__ float coefficients[16];
static __device__ double table[] = {1, 2, 3};
__global__ void __launch_bounds__(256, 2) in_namespace(float* a, const int n, int (*rows)[4]) {
    a[threadIdx.x] = coefficients[1] + table[2] + n + rows[0][1];
}
}  // namespace outer

KERNEL by_macro(const float* __restrict__ p) {}

#if 0
__global__ void disabled() {}
#endif
// __global__ void commented() {}
__device__ const char* text() { return "__global__ void quoted() {}"; }
__global__ void only_declared(int* p);

template <class T, int SIZE>
__global__ void __launch_bounds__(SIZE) scale(T* x, T factor) {
    __shared__ T rows[SIZE][3], one;
    rows[threadIdx.x][0] = x[threadIdx.x];
    __syncthreads();
    one = factor;
    x[threadIdx.x] = rows[SIZE - 1 - threadIdx.x][0] * one;
}
template __global__ void scale<int, 64>(int*, int);

extern "C" __global__ void c_name(char* p, int = 3) {}
static __global__ void internal(float4 v, dim3 d) {}

namespace {
__device__ double hidden;
__global__ void unnamed(int* p) { atomicAdd(p, 1); }
}  // namespace

__global__ void exp(float* x, int n) { x[0] = exp(x[0]); }

namespace outer {
struct Settings {
    int a;
};
__device__ int div(int a) { return a; }
__global__ void div(const __grid_constant__ Settings settings, const Settings* q = nullptr) {}
}  // namespace outer

__global__ void overloaded(int) {}
__global__ void overloaded(float) {}

__global__ void last() {}
