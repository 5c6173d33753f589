// A walk over a pitched array of two axes: every element is multiplied by a factor, a thread takes whole
// rows.
//
// Rows are `pitch` bytes apart, which need not be a multiple of the element: the address of a row is computed
// in bytes, the address of an element within it in elements. The bytes between the end of a row and the next
// one are not touched.
//
// Grid: any number of blocks, of any size; threads that have no row do nothing.

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
