// Transposes a matrix: while one tile is written, the next one is copied into shared memory.
#include <cooperative_groups.h>
#include <cuda/barrier>
#include <cuda/pipeline>

namespace cg = cooperative_groups;

constexpr int DIM = 32, ROWS = 8, STAGES = 2;

// Each block transposes a column of tiles.
__global__ void transpose_pipeline(float* __restrict__ out, const float* __restrict__ in, int width, int height) {
    __shared__ float tile[STAGES][DIM][DIM + 1];
    __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, STAGES> state;
    auto block = cg::this_thread_block();
    auto pipe = cuda::make_pipeline(block, &state);
    const int x = blockIdx.x * DIM + threadIdx.x, tiles = height / DIM;

    auto fetch = [&](int t) {
        pipe.producer_acquire();
        for (int r = threadIdx.y; r < DIM; r += ROWS)
            cuda::memcpy_async(&tile[t % STAGES][r][threadIdx.x], &in[(size_t)(t * DIM + r) * width + x], sizeof(float),
                               pipe);
        pipe.producer_commit();
    };
    fetch(0);
    for (int t = 0; t < tiles; ++t) {
        if (t + 1 < tiles) fetch(t + 1);
        pipe.consumer_wait();
        for (int r = threadIdx.y; r < DIM; r += ROWS)
            out[(size_t)(blockIdx.x * DIM + r) * height + t * DIM + threadIdx.x] = tile[t % STAGES][threadIdx.x][r];
        pipe.consumer_release();
    }
}

// A barrier for each of two buffers, whole rows at a time.
__global__ void transpose_barrier(float* __restrict__ out, const float* __restrict__ in, int width, int height) {
    using barrier = cuda::barrier<cuda::thread_scope_block>;
    __shared__ alignas(16) float tile[2][DIM][DIM];
#pragma nv_diag_suppress static_var_with_dynamic_init
    __shared__ barrier bar[2];
    auto block = cg::this_thread_block();
    if (block.thread_rank() == 0) {
        init(&bar[0], block.size());
        init(&bar[1], block.size());
    }
    block.sync();
    const int tiles = height / DIM;
    auto fetch = [&](int t) {
        for (int r = threadIdx.y; r < DIM; r += ROWS)
            cuda::memcpy_async(&tile[t & 1][r][threadIdx.x], &in[(size_t)(t * DIM + r) * width + blockIdx.x * DIM + threadIdx.x],
                               cuda::aligned_size_t<4>(sizeof(float)), bar[t & 1]);
    };
    fetch(0);
    barrier::arrival_token token = bar[0].arrive();
    for (int t = 0; t < tiles; ++t) {
        barrier::arrival_token next;
        if (t + 1 < tiles) {
            fetch(t + 1);
            next = bar[(t + 1) & 1].arrive();
        }
        bar[t & 1].wait(cuda::std::move(token));
        for (int r = threadIdx.y; r < DIM; r += ROWS)
            out[(size_t)(blockIdx.x * DIM + r) * height + t * DIM + threadIdx.x] = tile[t & 1][threadIdx.x][r];
        block.sync();
        token = cuda::std::move(next);
    }
}
