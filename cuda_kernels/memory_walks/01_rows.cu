// Multiplies every element of a pitched two-dimensional array by a factor. Each thread takes whole rows.
//
// Rows are `pitch` bytes apart, and the pitch need not be a multiple of the element's size. So the address of
// a row is computed in bytes, and the address of an element within it in elements. The bytes between the end
// of a row and the next row are not touched.
//
// Grid: any number of blocks, of any size; threads without a row do nothing.

template <typename T>
__global__ void rows(T* data, long long pitch, long long width, long long height, T factor) {
    const long long stride = static_cast<long long>(gridDim.x) * blockDim.x;
    for (long long y = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x; y < height;
         y += stride) {
        T* row = reinterpret_cast<T*>(reinterpret_cast<char*>(data) + y * pitch);
        for (long long x = 0; x < width; ++x) row[x] *= factor;
    }
}

template __global__ void rows<float>(float*, long long, long long, long long, float);
template __global__ void rows<double>(double*, long long, long long, long long, double);
template __global__ void rows<int>(int*, long long, long long, long long, int);
