// Sorts keys with their values: bitonic merges, in shared memory as soon as they fit.
#include <stdint.h>

constexpr uint32_t SHARED_SIZE = 512;

template <typename K, typename V>
__device__ inline void compare(K& key_a, V& value_a, K& key_b, V& value_b, bool ascending) {
    if ((key_a > key_b) == ascending) {
        const K key = key_a;
        key_a = key_b, key_b = key;
        const V value = value_a;
        value_a = value_b, value_b = value;
    }
}

__global__ void __launch_bounds__(SHARED_SIZE / 2) sort_shared(uint32_t* keys, uint32_t* values, uint32_t length) {
    __shared__ uint32_t k[SHARED_SIZE], v[SHARED_SIZE];
    const uint32_t t = threadIdx.x, base = blockIdx.x * SHARED_SIZE;
    for (uint32_t i : {t, t + SHARED_SIZE / 2}) k[i] = keys[base + i], v[i] = values[base + i];
    for (uint32_t size = 2; size <= SHARED_SIZE; size <<= 1) {
        for (uint32_t stride = size / 2; stride > 0; stride >>= 1) {
            __syncthreads();
            const uint32_t pos = 2 * t - (t & (stride - 1));
            const bool up = ((base + pos) & size) == 0;
            compare(k[pos], v[pos], k[pos + stride], v[pos + stride], up);
        }
    }
    __syncthreads();
    for (uint32_t i : {t, t + SHARED_SIZE / 2}) keys[base + i] = k[i], values[base + i] = v[i];
}

__global__ void merge_global(uint32_t* keys, uint32_t* values, uint32_t size, uint32_t stride) {
    const uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
    const uint32_t pos = 2 * i - (i & (stride - 1));
    compare(keys[pos], values[pos], keys[pos + stride], values[pos + stride], (pos & size) == 0);
}

__global__ void __launch_bounds__(SHARED_SIZE / 2) merge_shared(uint32_t* keys, uint32_t* values, uint32_t size) {
    __shared__ uint32_t k[SHARED_SIZE], v[SHARED_SIZE];
    const uint32_t t = threadIdx.x, base = blockIdx.x * SHARED_SIZE;
    k[t] = keys[base + t], k[t + SHARED_SIZE / 2] = keys[base + t + SHARED_SIZE / 2];
    v[t] = values[base + t], v[t + SHARED_SIZE / 2] = values[base + t + SHARED_SIZE / 2];
    for (uint32_t stride = SHARED_SIZE / 2; stride > 0; stride >>= 1) {
        __syncthreads();
        const uint32_t pos = 2 * t - (t & (stride - 1));
        compare(k[pos], v[pos], k[pos + stride], v[pos + stride], ((base + pos) & size) == 0);
    }
    __syncthreads();
    keys[base + t] = k[t], keys[base + t + SHARED_SIZE / 2] = k[t + SHARED_SIZE / 2];
    values[base + t] = v[t], values[base + t + SHARED_SIZE / 2] = v[t + SHARED_SIZE / 2];
}
