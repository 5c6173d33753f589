// Sixteen bytes at a time: the widest load and store that a thread has.
#pragma once

template <class T>
struct alignas(16) Pack {
    static constexpr int size = 16 / sizeof(T);
    T x[size];
};

template <class T>
__device__ __forceinline__ Pack<T> load_pack(const T* aligned) {
    return *reinterpret_cast<const Pack<T>*>(aligned);
}

// The elements from a 16-byte aligned place of which `left` are there (none, if it is not positive), and
// zeros after them.
template <class T>
__device__ __forceinline__ Pack<T> load_pack(const T* aligned, int left) {
    if (left >= Pack<T>::size) return load_pack(aligned);
    Pack<T> pack{};
#pragma unroll
    for (int i = 0; i < Pack<T>::size - 1; ++i)
        if (i < left) pack.x[i] = aligned[i];
    return pack;
}

template <class T>
__device__ __forceinline__ void store_pack(T* aligned, const Pack<T>& pack) {
    *reinterpret_cast<Pack<T>*>(aligned) = pack;
}

// Whether rows from here on can be read or written 16 bytes at a time.
template <class T>
__device__ __forceinline__ bool in_packs(const T* first, long long row) {
    return reinterpret_cast<unsigned long long>(first) % 16 == 0 && row % Pack<T>::size == 0;
}
