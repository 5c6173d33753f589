#pragma once

// How the rungs divide a matrix: a block of 32 x 8 threads takes tiles of 32 x 32 elements, and each thread
// takes four elements of one column. blockIdx.x counts tiles along a row of the matrix, blockIdx.y down a
// column. A grid has at most 65535 blocks in y. If there are more tiles in a column, a block continues with
// the tile gridDim.y tiles further down.
constexpr int tile = 32;
constexpr int block_rows = 8;

// Transposes rows x columns elements through tiles in shared memory. A tile's rows are `row_length` elements
// apart. Both global reads and global writes go along rows. The transposition happens in shared memory, where
// the tile is written by rows and read by columns.
template <typename T, int row_length>
__device__ void transpose_through_tiles(const T* in, T* out, long long rows, long long columns) {
    __shared__ T buffer[tile][row_length];
    const long long column_0 = static_cast<long long>(blockIdx.x) * tile;
    for (long long row_0 = static_cast<long long>(blockIdx.y) * tile; row_0 < rows;
         row_0 += static_cast<long long>(gridDim.y) * tile) {
        for (int k = threadIdx.y; k < tile; k += block_rows) {
            const long long row = row_0 + k, column = column_0 + threadIdx.x;
            if (row < rows && column < columns) buffer[k][threadIdx.x] = in[row * columns + column];
        }
        __syncthreads();
        for (int k = threadIdx.y; k < tile; k += block_rows) {
            const long long row = column_0 + k, column = row_0 + threadIdx.x;  // in the result
            if (row < columns && column < rows) out[row * rows + column] = buffer[threadIdx.x][k];
        }
        __syncthreads();  // the next tile overwrites this one
    }
}
