// Flaw of 02_grid_stride: a thread has one pair of elements under way at a time, and each instruction moves 4
// or 8 bytes, where the hardware can move 16. Here each instruction moves 16 bytes. That is a quarter of the
// loads and stores for floats, half of them for doubles, and more bytes are under way. The rest at the end
// (fewer than 16 bytes) is added element by element.
//
// Grid: any number of blocks, of any size. The arrays must begin at addresses that are multiples of 16, as
// allocations do.

template <typename T>
struct alignas(16) Pack {
    static constexpr int length = 16 / sizeof(T);
    T item[length];
};

template <typename T>
__global__ void vectorised(const T* a, const T* b, T* c, long long n) {
    constexpr int length = Pack<T>::length;
    const long long stride = static_cast<long long>(gridDim.x) * blockDim.x;
    const long long first = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
    for (long long i = first; i < n / length; i += stride) {
        Pack<T> x = reinterpret_cast<const Pack<T>*>(a)[i];
        const Pack<T> y = reinterpret_cast<const Pack<T>*>(b)[i];
#pragma unroll
        for (int k = 0; k < length; ++k) x.item[k] += y.item[k];
        reinterpret_cast<Pack<T>*>(c)[i] = x;
    }
    for (long long i = n / length * length + first; i < n; i += stride) c[i] = a[i] + b[i];
}

template __global__ void vectorised<float>(const float*, const float*, float*, long long);
template __global__ void vectorised<double>(const double*, const double*, double*, long long);
template __global__ void vectorised<int>(const int*, const int*, int*, long long);
template __global__ void vectorised<long long>(const long long*, const long long*, long long*, long long);
