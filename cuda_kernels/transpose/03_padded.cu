// Flaw of 02_tiled: the lanes that read a column of the tile use the same bank, because the tile's rows are
// 32 elements long. Here rows are 33 elements long, and one element is never used. So every row begins one
// element further along the banks than the row before, and the elements of a column are in different banks.
// (For elements of one or two bytes not all of them are, because several share a bank. Doubles are served in
// two halves.)
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
