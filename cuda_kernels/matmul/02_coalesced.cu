// In the naive rung, the threads of a warp touch many rows at once, and each row is a separate memory
// transaction. Here x counts along the columns: neighbouring threads of a warp read neighbouring elements in
// a row of B, write neighbouring elements in a row of C, and share the element of A. The only change is that
// the two indices are swapped.
#include "arithmetic.cuh"
#include "problem.cuh"

constexpr int side = 16;  // side of the square of C that a block computes

template <class T>
__global__ void coalesced(const T* a, const T* b, T* c, Problem p) {
    select_batch(a, b, p);
    const Corner corner = corner_of_block<side, side>(p);
    const int row = corner.row + threadIdx.y, column = corner.column + threadIdx.x;
    if (row >= p.m || column >= p.n) return;

    Accumulator<T> sum{};
    for (int i = 0; i < p.k; ++i) multiply_add(sum, a[row * p.a_row + i], b[i * p.b_row + column]);
    c[blockIdx.z * p.c_batch + row * p.c_row + column] = rounded<T>(sum);
}

#define INSTANCE(T) template __global__ void coalesced<T>(const T*, const T*, T*, Problem);
FOR_EVERY_ELEMENT_TYPE
