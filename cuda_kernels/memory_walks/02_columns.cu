// Flaw of 01_rows: the threads of a warp are in different rows. So a load of the warp asks for 32 places a
// pitch apart, that is 32 sectors of 32 bytes, and uses one element of each. And an array with few rows keeps
// few threads busy. Here neighbouring threads take neighbouring elements of one row. So a load of a warp asks
// for one piece of memory, and thanks to the pitch this piece begins at a multiple of 32 bytes in every row.
//
// Grid: any number of blocks in x (along the rows) and y (across them), of any size; best a multiple of 32
// threads in x.

template <typename T>
__global__ void columns(T* data, long long pitch, long long width, long long height, T factor) {
    const long long stride_x = static_cast<long long>(gridDim.x) * blockDim.x;
    const long long stride_y = static_cast<long long>(gridDim.y) * blockDim.y;
    const long long first_x = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
    const long long first_y = static_cast<long long>(blockIdx.y) * blockDim.y + threadIdx.y;
    for (long long y = first_y; y < height; y += stride_y) {
        T* row = reinterpret_cast<T*>(reinterpret_cast<char*>(data) + y * pitch);
        for (long long x = first_x; x < width; x += stride_x) row[x] *= factor;
    }
}

template __global__ void columns<float>(float*, long long, long long, long long, float);
template __global__ void columns<double>(double*, long long, long long, long long, double);
template __global__ void columns<int>(int*, long long, long long, long long, int);
