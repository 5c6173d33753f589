// Histogram of bytes: a private one for each warp in shared memory, sixteen bytes at a time.
#include <cuda_runtime.h>
#include <stdint.h>

constexpr int kBins = 256;
constexpr int kWarps = 8;
typedef unsigned int uint;

__device__ __forceinline__ void add_word(uint* hist, uint word) {
    atomicAdd(hist + (word & 0xFFu), 1u);
    atomicAdd(hist + ((word >> 8) & 0xFFu), 1u);
    atomicAdd(hist + ((word >> 16) & 0xFFu), 1u);
    atomicAdd(hist + (word >> 24), 1u);
}

__global__ void __launch_bounds__(kWarps * 32) histogram_partial(const uint4* __restrict__ data, size_t count,
                                                                 uint* __restrict__ partial) {
    __shared__ uint hist[kWarps][kBins];
    uint* const mine = hist[threadIdx.x >> 5];
    for (int i = threadIdx.x; i < kWarps * kBins; i += blockDim.x) (&hist[0][0])[i] = 0;
    __syncthreads();
    for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < count; i += (size_t)blockDim.x * gridDim.x) {
        const uint4 v = __ldcs(data + i);
        add_word(mine, v.x);
        add_word(mine, v.y);
        add_word(mine, v.z);
        add_word(mine, v.w);
    }
    __syncthreads();
    for (int bin = threadIdx.x; bin < kBins; bin += blockDim.x) {
        uint sum = 0;
#pragma unroll
        for (int w = 0; w < kWarps; ++w) sum += hist[w][bin];
        partial[blockIdx.x * kBins + bin] = sum;
    }
}

__global__ void histogram_merge(const uint* partial, int blocks, uint64_t* total) {
    uint64_t sum = 0;
    for (int b = 0; b < blocks; ++b) sum += partial[b * kBins + threadIdx.x];
    total[threadIdx.x] = sum;
}

// If most bytes are alike: the lanes with the same value elect one lane, which adds for all of them.
__global__ void histogram_match(const uint8_t* data, int count, unsigned long long* total) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const unsigned active = __ballot_sync(0xffffffffu, i < count);
    if (i >= count) return;
    const int value = data[i];
    const unsigned peers = __match_any_sync(active, value);
    if ((threadIdx.x & 31) == __ffs(peers) - 1) atomicAdd(&total[value], (unsigned long long)__popc(peers));
}
