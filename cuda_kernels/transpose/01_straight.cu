// Transposes a matrix element by element: reads along a row, writes down a column.
//
// The reads of a warp are one piece of memory. Its writes are `rows` elements apart: they touch 32 sectors of
// 32 bytes, and each sector gets one element.
//
// Elements are copied as bytes. So the instances differ only in the element's size, and serve every type of
// this size.
// Grid: ceil(columns / 32) x min(ceil(rows / 32), 65535) blocks of 32 x 8 threads.
#include "tile.cuh"

template <typename T>
__global__ void straight(const void* in, void* out, long long rows, long long columns) {
    const long long column = static_cast<long long>(blockIdx.x) * tile + threadIdx.x;
    if (column >= columns) return;
    for (long long row_0 = static_cast<long long>(blockIdx.y) * tile; row_0 < rows;
         row_0 += static_cast<long long>(gridDim.y) * tile) {
        for (int k = threadIdx.y; k < tile; k += block_rows) {
            const long long row = row_0 + k;
            if (row < rows)
                static_cast<T*>(out)[column * rows + row] = static_cast<const T*>(in)[row * columns + column];
        }
    }
}

template __global__ void straight<unsigned char>(const void*, void*, long long, long long);
template __global__ void straight<unsigned short>(const void*, void*, long long, long long);
template __global__ void straight<unsigned int>(const void*, void*, long long, long long);
template __global__ void straight<unsigned long long>(const void*, void*, long long, long long);
template __global__ void straight<uint4>(const void*, void*, long long, long long);
