// Flaw of 01_straight: a warp's store touches 32 sectors for 32 elements. Full sectors of floats would be
// eight times fewer. Here a tile goes through shared memory, and both the reads and the writes of a warp are
// one piece of global memory. The new flaw: a warp reads a column of the tile at once. A row has 32 floats,
// so the whole column is in one bank, and the 32 lanes are served one after another.
//
// Grid and elements as in 01_straight.
#include "tile.cuh"

template <typename T>
__global__ void tiled(const void* in, void* out, long long rows, long long columns) {
    transpose_through_tiles<T, tile>(static_cast<const T*>(in), static_cast<T*>(out), rows, columns);
}

template __global__ void tiled<unsigned char>(const void*, void*, long long, long long);
template __global__ void tiled<unsigned short>(const void*, void*, long long, long long);
template __global__ void tiled<unsigned int>(const void*, void*, long long, long long);
template __global__ void tiled<unsigned long long>(const void*, void*, long long, long long);
template __global__ void tiled<uint4>(const void*, void*, long long, long long);
