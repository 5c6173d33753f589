// Flaw of 02_columns: it handles only two axes. A part of a three-dimensional array is not a two-dimensional
// array with more rows: from the last row of the part in one slice to its first row in the next slice, it is
// further than one pitch. Here slices are `pitch * rows` bytes apart, where `rows` counts all rows of a
// slice. The kernel handles `width` x `height` x `depth` elements from `data` on.
//
// Grid: any number of blocks in x, y and z, of any size; best a multiple of 32 threads in x.

template <typename T>
__global__ void slices(T* data, long long pitch, long long rows, long long width, long long height,
                       long long depth, T factor) {
    const long long slice_pitch = pitch * rows;
    const long long stride_x = static_cast<long long>(gridDim.x) * blockDim.x;
    const long long stride_y = static_cast<long long>(gridDim.y) * blockDim.y;
    const long long first_x = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
    const long long first_y = static_cast<long long>(blockIdx.y) * blockDim.y + threadIdx.y;
    const long long first_z = static_cast<long long>(blockIdx.z) * blockDim.z + threadIdx.z;
    for (long long z = first_z; z < depth; z += static_cast<long long>(gridDim.z) * blockDim.z) {
        char* slice = reinterpret_cast<char*>(data) + z * slice_pitch;
        for (long long y = first_y; y < height; y += stride_y) {
            T* row = reinterpret_cast<T*>(slice + y * pitch);
            for (long long x = first_x; x < width; x += stride_x) row[x] *= factor;
        }
    }
}

template __global__ void slices<float>(float*, long long, long long, long long, long long, long long, float);
template __global__ void slices<double>(double*, long long, long long, long long, long long, long long,
                                        double);
template __global__ void slices<int>(int*, long long, long long, long long, long long, long long, int);
