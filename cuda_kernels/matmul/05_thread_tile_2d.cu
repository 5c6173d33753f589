// In a thread's column of 8 elements, each number of A is still used only once, so there are more loads than
// multiplications. Here a thread computes 8 x 8 elements: for each step of k it loads 8 numbers of A and 8 of
// B, and multiplies each with each. That is 16 loads for 64 multiplications. The rows and columns of a thread
// are 16 apart, so that the loads and stores of a warp stay side by side. The tile of a block is 128 x 128: A
// is read n / 128 times and B m / 128 times.
#include "arithmetic.cuh"
#include "problem.cuh"

constexpr int tile = 128;  // rows and columns of a block's part of C
constexpr int depth = 8;   // extent of a slab of A and B along k
constexpr int side = 8;    // side of the square that a thread computes
constexpr int apart = tile / side;
constexpr int threads = apart * apart;

template <class T>
__global__ void __launch_bounds__(threads, sizeof(T) == 4 ? 2 : 1)
    thread_tile_2d(const T* a, const T* b, T* c, Problem p) {
    __shared__ T a_tile[tile][depth], b_tile[depth][tile];
    select_batch(a, b, p);
    const Corner corner = corner_of_block<tile, tile>(p);
    const int t = threadIdx.x, y = t / apart, x = t % apart;

    Accumulator<T> sums[side][side] = {};
    for (int first = 0; first < p.k; first += depth) {
#pragma unroll 2
        for (int i = t; i < tile * depth; i += threads) {
            const int a_y = i / depth, a_x = i % depth, row = corner.row + a_y;
            a_tile[a_y][a_x] = row < p.m && a_x < p.k - first ? a[row * p.a_row + first + a_x] : T{};
            const int b_y = i / tile, b_x = i % tile, column = corner.column + b_x;
            b_tile[b_y][b_x] = column < p.n && b_y < p.k - first ? b[(first + b_y) * p.b_row + column] : T{};
        }
        __syncthreads();
#pragma unroll 1
        for (int i = 0; i < depth; ++i) {
            T from_a[side], from_b[side];
#pragma unroll
            for (int j = 0; j < side; ++j) {
                from_a[j] = a_tile[y + apart * j][i];
                from_b[j] = b_tile[i][x + apart * j];
            }
#pragma unroll
            for (int r = 0; r < side; ++r)
#pragma unroll
                for (int s = 0; s < side; ++s) multiply_add(sums[r][s], from_a[r], from_b[s]);
        }
        __syncthreads();
    }
    c += blockIdx.z * p.c_batch;
#pragma unroll
    for (int r = 0; r < side; ++r)
#pragma unroll
        for (int s = 0; s < side; ++s) {
            const int row = corner.row + y + apart * r, column = corner.column + x + apart * s;
            if (row < p.m && column < p.n) c[row * p.c_row + column] = rounded<T>(sums[r][s]);
        }
}

#define INSTANCE(T) template __global__ void thread_tile_2d<T>(const T*, const T*, T*, Problem);
INSTANCE(float)
INSTANCE(double)
