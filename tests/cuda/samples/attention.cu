// Attention of one head without the matrix of scores: tiles of keys and values, maxima and sums kept up as they
// come. Halves in, floats in between.
#include <cuda_fp16.h>
#include <cuda_pipeline.h>

constexpr int D = 32;        // of a key
constexpr int KEYS = 32;     // in a tile
constexpr int QUERIES = 64;  // of a block: a thread for each

struct Shared {
    alignas(16) half keys[2][KEYS][D];
    alignas(16) half values[2][KEYS][D];
};

__device__ __forceinline__ void fetch(Shared& s, int stage, const half* k, const half* v, int tile) {
    constexpr int CHUNK = 8, CHUNKS = KEYS * D / CHUNK;
    for (int i = threadIdx.x; i < CHUNKS; i += QUERIES) {
        const int at = i * CHUNK;
        __pipeline_memcpy_async(&s.keys[stage][0][0] + at, k + tile * KEYS * D + at, CHUNK * sizeof(half));
        __pipeline_memcpy_async(&s.values[stage][0][0] + at, v + tile * KEYS * D + at, CHUNK * sizeof(half));
    }
    __pipeline_commit();
}

__device__ __forceinline__ float dot(const half2 (&q)[D / 2], const half* key) {
    const half2* k = reinterpret_cast<const half2*>(key);
    float sum = 0.0f;
#pragma unroll
    for (int i = 0; i < D / 2; ++i) {
        const float2 a = __half22float2(q[i]), b = __half22float2(k[i]);
        sum = fmaf(a.x, b.x, fmaf(a.y, b.y, sum));
    }
    return sum;
}

__global__ void __launch_bounds__(QUERIES) attention(const half* __restrict__ q, const half* __restrict__ k,
                                                     const half* __restrict__ v, half* __restrict__ out, int length,
                                                     float scale) {
    __shared__ Shared s;
    const int query = blockIdx.x * QUERIES + threadIdx.x, tiles = length / KEYS;
    half2 mine[D / 2];
    const half2* from = reinterpret_cast<const half2*>(q + query * D);
#pragma unroll
    for (int i = 0; i < D / 2; ++i) mine[i] = from[i];
    float acc[D] = {}, most = -INFINITY, sum = 0.0f;

    fetch(s, 0, k, v, 0);
    for (int t = 0; t < tiles; ++t) {
        const int stage = t & 1;
        if (t + 1 < tiles) fetch(s, stage ^ 1, k, v, t + 1);
        __pipeline_wait_prior(t + 1 < tiles ? 1 : 0);
        __syncthreads();
        float scores[KEYS], top = most;
#pragma unroll 4
        for (int j = 0; j < KEYS; ++j) {
            scores[j] = dot(mine, s.keys[stage][j]) * scale;
            top = fmaxf(top, scores[j]);
        }
        const float shrink = __expf(most - top);
        sum *= shrink;
        for (int d = 0; d < D; ++d) acc[d] *= shrink;
        for (int j = 0; j < KEYS; ++j) {
            const float p = __expf(scores[j] - top);
            sum += p;
            for (int d = 0; d < D; ++d) acc[d] = fmaf(p, __half2float(s.values[stage][j][d]), acc[d]);
        }
        most = top;
        __syncthreads();
    }
    half2* to = reinterpret_cast<half2*>(out + query * D);
    for (int d = 0; d < D / 2; ++d) to[d] = __floats2half2_rn(acc[2 * d] / sum, acc[2 * d + 1] / sum);
}
