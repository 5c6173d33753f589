// With shared tiles, a multiplication needs two numbers from shared memory, which delivers 32 numbers a cycle
// for the 128 lanes that multiply. Here a thread computes 8 elements below each other. It loads a number of B
// once and uses it 8 times, so 8 multiplications need 9 loads instead of 16. The tile of a block grows to 64
// x 64: A is read n / 64 times.
#include "arithmetic.cuh"
#include "problem.cuh"

constexpr int tile = 64;   // rows and columns of a block's part of C
constexpr int depth = 8;   // extent of a slab of A and B along k
constexpr int height = 8;  // rows of C that a thread computes
constexpr int threads = tile * tile / height;
static_assert(threads == tile * depth, "a thread loads one element of A and one of B");

template <class T>
__global__ void __launch_bounds__(threads, sizeof(T) == 4 ? 2 : 1)
    thread_tile_1d(const T* a, const T* b, T* c, Problem p) {
    __shared__ T a_tile[tile][depth], b_tile[depth][tile];
    select_batch(a, b, p);
    const Corner corner = corner_of_block<tile, tile>(p);
    const int t = threadIdx.x;
    const int a_y = t / depth, a_x = t % depth;  // the elements that this thread loads
    const int b_y = t / tile, b_x = t % tile;
    const int y = t / tile * height, x = t % tile;  // the elements that it computes, inside the tile

    Accumulator<T> sums[height] = {};
    for (int first = 0; first < p.k; first += depth) {
        const int a_row = corner.row + a_y, b_column = corner.column + b_x;
        a_tile[a_y][a_x] = a_row < p.m && a_x < p.k - first ? a[a_row * p.a_row + first + a_x] : T{};
        b_tile[b_y][b_x] = b_column < p.n && b_y < p.k - first ? b[(first + b_y) * p.b_row + b_column] : T{};
        __syncthreads();
#pragma unroll 2
        for (int i = 0; i < depth; ++i) {
            const T from_b = b_tile[i][x];
#pragma unroll
            for (int r = 0; r < height; ++r) multiply_add(sums[r], a_tile[y + r][i], from_b);
        }
        __syncthreads();
    }
    c += blockIdx.z * p.c_batch;
    const int column = corner.column + x;
#pragma unroll
    for (int r = 0; r < height; ++r) {
        const int row = corner.row + y + r;
        if (row < p.m && column < p.n) c[row * p.c_row + column] = rounded<T>(sums[r]);
    }
}

#define INSTANCE(T) template __global__ void thread_tile_1d<T>(const T*, const T*, T*, Problem);
INSTANCE(float)
INSTANCE(double)
