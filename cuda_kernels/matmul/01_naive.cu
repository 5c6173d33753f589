// The first rung: each thread computes one element of C, and reads a row of A and a column of B from global
// memory. The index x counts down the rows, as in the notation (i, j). So the 32 threads of a warp belong to
// different rows: they read 16 rows of A that lie far apart, and write to as many rows of C.
#include "arithmetic.cuh"
#include "problem.cuh"

constexpr int side = 16;  // side of the square of C that a block computes

template <class T>
__global__ void naive(const T* a, const T* b, T* c, Problem p) {
    select_batch(a, b, p);
    const Corner corner = corner_of_block<side, side>(p);
    const int row = corner.row + threadIdx.x, column = corner.column + threadIdx.y;
    if (row >= p.m || column >= p.n) return;

    Accumulator<T> sum{};
    for (int i = 0; i < p.k; ++i) multiply_add(sum, a[row * p.a_row + i], b[i * p.b_row + column]);
    c[blockIdx.z * p.c_batch + row * p.c_row + column] = rounded<T>(sum);
}

#define INSTANCE(T) template __global__ void naive<T>(const T*, const T*, T*, Problem);
FOR_EVERY_ELEMENT_TYPE
