// Divides the integers of a matrix into their bytes, for 12_byte_planes: plane i has byte i of every number,
// the lowest byte first. A plane is a matrix of `width` bytes a row, a multiple of 16; the bytes behind a row
// are 0.
//
// Launch: blocks of 256 threads, of which each divides four neighbours of a row. The grid has a block in x
// for every 1024 bytes of a row, and any number of blocks in y, which take the rows in turns; no dynamic
// shared memory.

template <class T>
__global__ void __launch_bounds__(256)
    to_planes(const T* from, unsigned char* to, int rows, int columns, long long row, int width) {
    constexpr int size = sizeof(T);
    const int column = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x) * 4;
    if (column >= width) return;
    const long long plane = static_cast<long long>(rows) * width;
    for (int y = static_cast<int>(blockIdx.y); y < rows; y += static_cast<int>(gridDim.y)) {
        unsigned long long numbers[4];
#pragma unroll
        for (int i = 0; i < 4; ++i)
            numbers[i] =
                column + i < columns ? static_cast<unsigned long long>(from[y * row + column + i]) : 0;
        unsigned char* const at = to + static_cast<long long>(y) * width + column;
#pragma unroll
        for (int i = 0; i < size; ++i) {
            unsigned bytes = 0;
#pragma unroll
            for (int j = 0; j < 4; ++j) bytes |= static_cast<unsigned>(numbers[j] >> 8 * i & 255u) << 8 * j;
            *reinterpret_cast<unsigned*>(at + i * plane) = bytes;
        }
    }
}

#define INSTANCE(T) template __global__ void to_planes<T>(const T*, unsigned char*, int, int, long long, int);
INSTANCE(int)
INSTANCE(long long)
