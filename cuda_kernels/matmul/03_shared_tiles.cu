// Coalesced or not, every thread reads its whole row and column: A is read n times from memory, and B m
// times. Here a block loads a 16 x 16 tile of each into shared memory, one element a thread, and all its
// threads read the tiles from there. So A is read n / 16 times and B m / 16 times. The block moves along k
// tile by tile.
#include "arithmetic.cuh"
#include "problem.cuh"

constexpr int side = 16;

template <class T>
__global__ void shared_tiles(const T* a, const T* b, T* c, Problem p) {
    __shared__ T a_tile[side][side], b_tile[side][side];
    select_batch(a, b, p);
    const Corner corner = corner_of_block<side, side>(p);
    const int y = threadIdx.y, x = threadIdx.x;
    const int row = corner.row + y, column = corner.column + x;

    Accumulator<T> sum{};
    for (int first = 0; first < p.k; first += side) {
        // Threads past an edge load zeros, which do not change the sums. So all threads reach the barriers.
        a_tile[y][x] = row < p.m && x < p.k - first ? a[row * p.a_row + first + x] : T{};
        b_tile[y][x] = column < p.n && y < p.k - first ? b[(first + y) * p.b_row + column] : T{};
        __syncthreads();  // the tiles are complete
        for (int i = 0; i < side; ++i) multiply_add(sum, a_tile[y][i], b_tile[i][x]);
        __syncthreads();  // no thread reads the tiles any more
    }
    if (row < p.m && column < p.n) c[blockIdx.z * p.c_batch + row * p.c_row + column] = rounded<T>(sum);
}

#define INSTANCE(T) template __global__ void shared_tiles<T>(const T*, const T*, T*, Problem);
FOR_EVERY_ELEMENT_TYPE
