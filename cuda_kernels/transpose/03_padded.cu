// Flaw of 02_tiled: the lanes that read a column of the tile meet in one bank, because its rows are 32
// elements long. Here they are 33 long, one of which is never used: every row begins one element further
// along the banks than the one before, and the elements of a column lie in different banks. (Not all of those
// of one or two bytes, which share banks; doubles pass in two halves.)
//
// Grid and elements as in 01_straight.
#include "tile.cuh"

template <typename T>
__global__ void padded(const void* in, void* out, long long rows, long long columns) {
    transpose_through_tiles<T, tile + 1>(static_cast<const T*>(in), static_cast<T*>(out), rows, columns);
}

template __global__ void padded<unsigned char>(const void*, void*, long long, long long);
template __global__ void padded<unsigned short>(const void*, void*, long long, long long);
template __global__ void padded<unsigned int>(const void*, void*, long long, long long);
template __global__ void padded<unsigned long long>(const void*, void*, long long, long long);
template __global__ void padded<uint4>(const void*, void*, long long, long long);
