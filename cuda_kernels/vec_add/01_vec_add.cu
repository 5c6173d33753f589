// Adds two arrays: one thread adds one pair of elements.
//
// The number of threads is a multiple of the block's size, but the number of elements need not be: threads
// past the end do nothing. Indices have 64 bits, because a grid can have more threads than an int can count.
//
// Grid: ceil(n / block) blocks, of any size.

template <typename T>
__global__ void vec_add(const T* a, const T* b, T* c, long long n) {
    const long long i = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
    if (i < n) c[i] = a[i] + b[i];
}

template __global__ void vec_add<float>(const float*, const float*, float*, long long);
template __global__ void vec_add<double>(const double*, const double*, double*, long long);
template __global__ void vec_add<int>(const int*, const int*, int*, long long);
template __global__ void vec_add<long long>(const long long*, const long long*, long long*, long long);
