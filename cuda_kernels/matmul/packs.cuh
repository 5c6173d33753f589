// Packs of 16 bytes: the widest load and store of a thread.
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

// Loads the first `left` elements (none, if `left` is not positive) from a 16-byte aligned address, and fills
// the rest of the pack with zeros.
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

// Can rows from here on be read and written 16 bytes at a time?
template <class T>
__device__ __forceinline__ bool in_packs(const T* first, long long row) {
    return reinterpret_cast<unsigned long long>(first) % 16 == 0 && row % Pack<T>::size == 0;
}
