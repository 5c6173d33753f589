// Flaw of 01_vec_add: a thread does only one addition. It is started, computes its index and compares it with
// n for 12 bytes of traffic. And the size of the grid has to follow the size of the arrays. Here the grid is
// as large as the device, or smaller, and its threads go over the arrays in strides of the whole grid.
// Neighbouring threads still take neighbouring elements, so every access of a warp is still one piece of
// memory.
//
// Grid: any number of blocks, of any size; best as many as the device holds at once
// (Kernel.best_block_size()).

template <typename T>
__global__ void grid_stride(const T* a, const T* b, T* c, long long n) {
    const long long stride = static_cast<long long>(gridDim.x) * blockDim.x;
    for (long long i = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x; i < n; i += stride)
        c[i] = a[i] + b[i];
}

template __global__ void grid_stride<float>(const float*, const float*, float*, long long);
template __global__ void grid_stride<double>(const double*, const double*, double*, long long);
template __global__ void grid_stride<int>(const int*, const int*, int*, long long);
template __global__ void grid_stride<long long>(const long long*, const long long*, long long*, long long);
