// C = alpha * A * B + beta * C with tensor cores: tiles of A and B in shared memory, four warps with 32x32 of
// the output each.
#include <cuda_fp16.h>
#include <mma.h>

using namespace nvcuda;

constexpr int WARP = 32;

template <int BM_, int BN_, int BK_>
struct Tiles {
    static constexpr int BM = BM_, BN = BN_, BK = BK_;
    static constexpr int PAD = 8;
    __half a[BM][BK + PAD];
    __half b[BK][BN + PAD];
};

using T = Tiles<64, 64, 32>;
constexpr int WARPS_M = 2, WARPS_N = 2;
constexpr int FRAG_M = T::BM / WARPS_M / 16, FRAG_N = T::BN / WARPS_N / 16;

// Eight halves at a time.
template <int ROWS, int COLUMNS, int PITCH>
__device__ __forceinline__ void load_tile(__half (*to)[PITCH], const __half* __restrict__ from, int pitch) {
    static_assert(COLUMNS % 8 == 0, "whole vectors");
    constexpr int PER_ROW = COLUMNS / 8;
#pragma unroll
    for (int i = threadIdx.x; i < ROWS * PER_ROW; i += WARPS_M * WARPS_N * WARP) {
        const int row = i / PER_ROW, column = (i % PER_ROW) * 8;
        *reinterpret_cast<int4*>(&to[row][column]) =
            __ldg(reinterpret_cast<const int4*>(from + static_cast<size_t>(row) * pitch + column));
    }
}

extern "C" __global__ void __launch_bounds__(WARPS_M* WARPS_N* WARP)
    wmma_gemm(const __half* __restrict__ A, const __half* __restrict__ B, float* __restrict__ C, int M, int N, int K,
              float alpha, float beta) {
    extern __shared__ __align__(128) unsigned char smem[];
    T& tile = *reinterpret_cast<T*>(smem);
    const int warp = threadIdx.x / WARP;
    const int warp_m = warp / WARPS_N, warp_n = warp % WARPS_N;
    const int row0 = blockIdx.y * T::BM, col0 = blockIdx.x * T::BN;

    wmma::fragment<wmma::accumulator, 16, 16, 16, float> acc[FRAG_M][FRAG_N];
#pragma unroll
    for (int i = 0; i < FRAG_M; i++)
#pragma unroll
        for (int j = 0; j < FRAG_N; j++) wmma::fill_fragment(acc[i][j], 0.0f);

    for (int k0 = 0; k0 < K; k0 += T::BK) {
        load_tile<T::BM, T::BK>(tile.a, A + static_cast<size_t>(row0) * K + k0, K);
        load_tile<T::BK, T::BN>(tile.b, B + static_cast<size_t>(k0) * N + col0, N);
        __syncthreads();
#pragma unroll
        for (int k = 0; k < T::BK; k += 16) {
            wmma::fragment<wmma::matrix_a, 16, 16, 16, __half, wmma::row_major> a[FRAG_M];
            wmma::fragment<wmma::matrix_b, 16, 16, 16, __half, wmma::row_major> b[FRAG_N];
#pragma unroll
            for (int i = 0; i < FRAG_M; i++)
                wmma::load_matrix_sync(a[i], &tile.a[(warp_m * FRAG_M + i) * 16][k], T::BK + T::PAD);
#pragma unroll
            for (int j = 0; j < FRAG_N; j++)
                wmma::load_matrix_sync(b[j], &tile.b[k][(warp_n * FRAG_N + j) * 16], T::BN + T::PAD);
#pragma unroll
            for (int i = 0; i < FRAG_M; i++)
#pragma unroll
                for (int j = 0; j < FRAG_N; j++) wmma::mma_sync(acc[i][j], a[i], b[j], acc[i][j]);
        }
        __syncthreads();
    }

#pragma unroll
    for (int i = 0; i < FRAG_M; i++)
#pragma unroll
        for (int j = 0; j < FRAG_N; j++) {
            float* c = C + static_cast<size_t>(row0 + (warp_m * FRAG_M + i) * 16) * N + col0 +
                       (warp_n * FRAG_N + j) * 16;
            wmma::fragment<wmma::accumulator, 16, 16, 16, float> old;
            wmma::load_matrix_sync(old, c, N, wmma::mem_row_major);
            for (int e = 0; e < old.num_elements; e++) acc[i][j].x[e] = alpha * acc[i][j].x[e] + beta * old.x[e];
            wmma::store_matrix_sync(c, acc[i][j], N, wmma::mem_row_major);
        }
}
