// Divides the integers of a matrix into their bytes, for rungs 12 and 13: plane i has byte i of every number,
// the lowest byte first. A plane is a matrix of `width` bytes a row, a multiple of 16; the bytes behind a row
// are 0.
//
// Launch of to_planes: blocks of 256 threads, of which each divides four neighbours of a row. The grid has a
// block in x for every 1024 bytes of a row, and any number of blocks in y, which take the rows in turns; no
// dynamic shared memory.

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

// The same, of the transposed matrix: a row of a plane has the bytes of a column.
//
// Launch: blocks of 256 threads, which divide 32 columns and 128 rows at a time; each thread divides four
// neighbours of a column at a time. The grid has a block in x for every 32 columns and any number of blocks
// in y, which take 128 rows in turns; no dynamic shared memory.
template <class T>
__global__ void __launch_bounds__(256)
    to_transposed_planes(const T* from, unsigned char* to, int rows, int columns, long long row, int width) {
    constexpr int size = sizeof(T), across = 32, words = 32, down = 4 * words;
    // Neighbouring words of a row are neighbours, and a column of words has no two in the same bank.
    __shared__ unsigned bytes[size][across][words + 1];
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, warps = 8;
    const int first_column = static_cast<int>(blockIdx.x) * across, column = first_column + lane;
    for (long long first = static_cast<long long>(blockIdx.y) * down; first < width;
         first += gridDim.y * down) {
        for (int word = warp; word < words; word += warps) {
            unsigned long long numbers[4];
#pragma unroll
            for (int j = 0; j < 4; ++j) {
                const long long y = first + word * 4 + j;
                numbers[j] = column < columns && y < rows
                                 ? static_cast<unsigned long long>(from[y * row + column])
                                 : 0;
            }
#pragma unroll
            for (int i = 0; i < size; ++i) {
                unsigned four = 0;
#pragma unroll
                for (int j = 0; j < 4; ++j)
                    four |= static_cast<unsigned>(numbers[j] >> 8 * i & 255u) << 8 * j;
                bytes[i][lane][word] = four;
            }
        }
        __syncthreads();
        const long long at = first + lane * 4;
        for (int x = warp; at < width && x < across && first_column + x < columns; x += warps)
#pragma unroll
            for (int i = 0; i < size; ++i) {
                const long long line = static_cast<long long>(i) * columns + first_column + x;
                *reinterpret_cast<unsigned*>(to + line * width + at) = bytes[i][x][lane];
            }
        __syncthreads();  // before the words are overwritten
    }
}

#define INSTANCE(T)                                                                            \
    template __global__ void to_planes<T>(const T*, unsigned char*, int, int, long long, int); \
    template __global__ void to_transposed_planes<T>(const T*, unsigned char*, int, int, long long, int);
INSTANCE(int)
INSTANCE(long long)
