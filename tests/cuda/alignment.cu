// Alignment of shared memory, in every way to ask for it, and complex numbers.
// launch fixed 2 32
// launch dynamic 1 32 512
// launch complex 1 32
#include <cuComplex.h>

#define CHECK(condition)                    \
    do {                                    \
        if (!(condition)) {                 \
            atomicAdd(&failures[0], 1u);    \
            failures[1] = __LINE__;         \
        }                                   \
    } while (0)

struct alignas(16) Cell {
    float v[3];
};

__device__ bool is_aligned(const volatile void* p, unsigned n) { return reinterpret_cast<size_t>(p) % n == 0; }

template <int n>
__device__ float* room() {
    __shared__ alignas(n) float values[n];
    return values;
}

__global__ void fixed(unsigned* failures) {
    __shared__ char odd;
    __shared__ alignas(128) char a[3];
    alignas(64) __shared__ char b[5];
    __shared__ __align__(32) unsigned char c[7];
    __shared__ alignas(Cell) alignas(64) char d[16], e[16];
    alignas(double) volatile __shared__ char f[8];
    odd = 1;
    CHECK(odd == 1 && is_aligned(a, 128) && is_aligned(b, 64) && is_aligned(c, 32));
    CHECK(is_aligned(d, 64) && is_aligned(e, 64) && is_aligned(f, 8) && is_aligned(room<16>(), 16));
}

__global__ void dynamic(unsigned* failures) {
    extern __shared__ __align__(128) unsigned char bytes[];
    CHECK(is_aligned(bytes, 16));
    Cell* cells = reinterpret_cast<Cell*>(bytes);
    cells[threadIdx.x].v[1] = threadIdx.x;
    __syncthreads();
    CHECK(cells[31 - threadIdx.x].v[1] == 31 - threadIdx.x);
}

__global__ void complex(unsigned* failures) {
    const cuFloatComplex a = make_cuFloatComplex(3, 4), b = make_cuFloatComplex(1, -2);
    const cuFloatComplex p = cuCmulf(a, b), q = cuCdivf(p, b), s = cuCaddf(cuCsubf(a, b), cuConjf(a));
    CHECK(cuCrealf(p) == 11 && cuCimagf(p) == -2 && fabsf(q.x - 3) < 1e-5f && fabsf(q.y - 4) < 1e-5f);
    CHECK(s.x == 5 && s.y == 2 && fabsf(cuCabsf(a) - 5) < 1e-5f);
    const cuDoubleComplex d = cuCfma(make_cuDoubleComplex(0, 1), make_cuDoubleComplex(2, 3), make_cuDoubleComplex(10, 20));
    CHECK(d.x == 7 && d.y == 22 && cuCreal(cuCmul(d, d)) == 49 - 484);
    const cuComplex f = cuComplexDoubleToFloat(d);
    CHECK(f.x == 7.0f && cuComplexFloatToDouble(f).y == 22.0);
}
