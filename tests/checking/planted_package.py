"""Kernels of cuda_kernels/, for floats, with one mistake each."""

from __future__ import annotations

import numpy as np
from planted import ABSENT, MISALIGNED, NEVER, OUT, RACE, Planted, floats, numbers

import cuscope as cs


def matrices(m: int, n: int, k: int) -> tuple:
    return numbers(m * k), numbers(k * n), floats(m * n), m, n, k


TABLE = [
    # ---- vec_add
    Planted("vec_add", OUT, """
__global__ void vec_add(const float* a, const float* b, float* c, long long n) {
    const long long i = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
    RIGHT(if (i < n)) c[i] = a[i] + b[i];  // here
}""", lambda: (floats(100), floats(100), floats(100), 100), grid=2, block=64),
    Planted("add_in_strides", OUT, """
__global__ void add_in_strides(const float* a, const float* b, float* c, long long n) {
    const long long stride = static_cast<long long>(gridDim.x) * blockDim.x;
    for (long long i = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x; i RIGHT(<) WRONG(<=) n;
         i += stride)
        c[i] = a[i] + b[i];  // here
}""", lambda: (floats(100), floats(100), floats(100), 100), grid=1, block=50, says="element 100"),
    Planted("add_in_packs", OUT, """
struct alignas(16) FloatPack { float item[4]; };
__global__ void add_in_packs(const float* a, const float* b, float* c, long long n) {
    const long long stride = static_cast<long long>(gridDim.x) * blockDim.x;
    const long long first = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
    for (long long i = first; i < RIGHT(n) WRONG((n + 3)) / 4; i += stride) {
        FloatPack x = reinterpret_cast<const FloatPack*>(a)[i];  // here
        const FloatPack y = reinterpret_cast<const FloatPack*>(b)[i];
        for (int k = 0; k < 4; ++k) x.item[k] += y.item[k];
        reinterpret_cast<FloatPack*>(c)[i] = x;
    }
    for (long long i = n / 4 * 4 + first; i < n; i += stride) c[i] = a[i] + b[i];
}""", lambda: (floats(102), floats(102), floats(104), 102)),
    # ---- transpose
    Planted("straight", OUT, """
__global__ void straight(const float* in, float* out, long long rows, long long columns) {
    const long long column = static_cast<long long>(blockIdx.x) * 32 + threadIdx.x;
    if (column >= columns) return;
    for (int k = threadIdx.y; k < 32; k += 8) {
        const long long row = static_cast<long long>(blockIdx.y) * 32 + k;
        if (row < rows)
            out[column * RIGHT(rows) WRONG(columns) + row] = in[row * columns + column];  // here
    }
}""", lambda: (numbers(20 * 50), floats(20 * 50), 20, 50), grid=2, block=(32, 8)),
    Planted("straight_without_rows", OUT, """
__global__ void straight_without_rows(const float* in, float* out, long long rows, long long columns) {
    const long long column = static_cast<long long>(blockIdx.x) * 32 + threadIdx.x;
    if (column >= columns) return;
    for (int k = threadIdx.y; k < 32; k += 8) {
        const long long row = static_cast<long long>(blockIdx.y) * 32 + k;
        RIGHT(if (row < rows))
            out[column * rows + row] = in[row * columns + column];  // here
    }
}""", lambda: (numbers(20 * 50), floats(20 * 50), 20, 50), grid=2, block=(32, 8)),
    Planted("tiled", RACE, """
__global__ void tiled(const float* in, float* out, long long rows, long long columns) {
    __shared__ float buffer[32][32];
    const long long column_0 = static_cast<long long>(blockIdx.x) * 32;
    for (long long row_0 = blockIdx.y * 32ll; row_0 < rows; row_0 += gridDim.y * 32ll) {
        for (int k = threadIdx.y; k < 32; k += 8) {
            const long long row = row_0 + k, column = column_0 + threadIdx.x;
            if (row < rows && column < columns)
                buffer[k][threadIdx.x] = in[row * columns + column];  // other
        }
        RIGHT(__syncthreads();)
        for (int k = threadIdx.y; k < 32; k += 8) {
            const long long row = column_0 + k, column = row_0 + threadIdx.x;
            if (row < columns && column < rows)
                out[row * rows + column] = buffer[threadIdx.x][k];  // here
        }
        __syncthreads();
    }
}""", lambda: (numbers(32 * 32), floats(32 * 32), 32, 32), block=(32, 8)),
    Planted("next_tile", RACE, """
__global__ void next_tile(const float* in, float* out, long long rows, long long columns) {
    __shared__ float buffer[32][33];
    const long long column_0 = static_cast<long long>(blockIdx.x) * 32;
    for (long long row_0 = blockIdx.y * 32ll; row_0 < rows; row_0 += gridDim.y * 32ll) {
        for (int k = threadIdx.y; k < 32; k += 8) {
            const long long row = row_0 + k, column = column_0 + threadIdx.x;
            if (row < rows && column < columns)
                buffer[k][threadIdx.x] = in[row * columns + column];  // here
        }
        __syncthreads();
        for (int k = threadIdx.y; k < 32; k += 8) {
            const long long row = column_0 + k, column = row_0 + threadIdx.x;
            if (row < columns && column < rows)
                out[row * rows + column] = buffer[threadIdx.x][k];  // other
        }
        RIGHT(__syncthreads();)
    }
}""", lambda: (numbers(96 * 32), floats(96 * 32), 96, 32), block=(32, 8)),
    Planted("padded", OUT, """
__global__ void padded(const float* in, float* out, long long rows, long long columns) {
    __shared__ float buffer[RIGHT(32) WRONG(31)][33];
    for (int k = threadIdx.y; k < 32; k += 8)
        buffer[k][threadIdx.x] = in[k * columns + threadIdx.x];  // here
    __syncthreads();
    for (int k = threadIdx.y; k < 32; k += 8) out[k * rows + threadIdx.x] = buffer[threadIdx.x][k];
}""", lambda: (numbers(32 * 32), floats(32 * 32), 32, 32), block=(32, 8), says="index 31"),
    # ---- reduce_ladder
    Planted("interleaved_modulo", RACE, """
__global__ void interleaved_modulo(const float* in, float* out, long long n) {
    __shared__ float shared[256];
    const unsigned tid = threadIdx.x;
    const long long i = static_cast<long long>(blockIdx.x) * blockDim.x + tid;
    shared[tid] = i < n ? in[i] : 0;
    __syncthreads();
    for (unsigned s = 1; s < blockDim.x; s *= 2) {
        if (tid % (2 * s) == 0) shared[tid] = shared[tid] + shared[tid + s];  // here
        RIGHT(__syncthreads();)
    }
    if (tid == 0) out[blockIdx.x] = shared[0];
}""", lambda: (numbers(300), floats(2), 300), grid=2, block=256),
    Planted("first_load", RACE, """
__global__ void first_load(const float* in, float* out, long long n) {
    __shared__ float shared[256];
    const unsigned tid = threadIdx.x;
    const long long i = static_cast<long long>(blockIdx.x) * blockDim.x + tid;
    shared[tid] = i < n ? in[i] : 0;  // other
    RIGHT(__syncthreads();)
    for (unsigned s = blockDim.x / 2; s > 0; s /= 2) {
        if (tid < s) shared[tid] = shared[tid] + shared[tid + s];  // here
        __syncthreads();
    }
    if (tid == 0) out[blockIdx.x] = shared[0];
}""", lambda: (numbers(300), floats(2), 300), grid=2, block=256),
    Planted("unguarded_load", OUT, """
__global__ void unguarded_load(const float* in, float* out, long long n) {
    __shared__ float shared[256];
    const unsigned tid = threadIdx.x;
    const long long i = static_cast<long long>(blockIdx.x) * blockDim.x + tid;
    shared[tid] = RIGHT(i < n ? in[i] : 0) WRONG(in[i]);  // here
    __syncthreads();
    for (unsigned s = 1; s < blockDim.x; s *= 2) {
        if (tid % (2 * s) == 0) shared[tid] = shared[tid] + shared[tid + s];
        __syncthreads();
    }
    if (tid == 0) out[blockIdx.x] = shared[0];
}""", lambda: (numbers(300), floats(2), 300), grid=2, block=256, says="element 300 of the argument 'in'"),
    Planted("interleaved_strided", OUT, """
__global__ void interleaved_strided(const float* in, float* out, long long n) {
    __shared__ float shared[256];
    const unsigned tid = threadIdx.x;
    const long long i = static_cast<long long>(blockIdx.x) * blockDim.x + tid;
    shared[tid] = i < n ? in[i] : 0;
    __syncthreads();
    for (unsigned s = 1; s < blockDim.x; s *= 2) {
        const unsigned index = 2 * s * tid;
        if (index RIGHT(<) WRONG(<=) blockDim.x)
            shared[index] = shared[index] + shared[index + s];  // here
        __syncthreads();
    }
    if (tid == 0) out[blockIdx.x] = shared[0];
}""", lambda: (numbers(300), floats(2), 300), grid=2, block=256),
    Planted("sequential", OUT, """
__global__ void sequential(const float* in, float* out, long long n) {
    __shared__ float shared[256];
    const unsigned tid = threadIdx.x;
    const long long i = static_cast<long long>(blockIdx.x) * blockDim.x + tid;
    shared[tid] = i < n ? in[i] : 0;
    __syncthreads();
    for (unsigned s = blockDim.x RIGHT(/ 2); s > 0; s /= 2) {
        if (tid < s) shared[tid] = shared[tid] + shared[tid + s];  // here
        __syncthreads();
    }
    if (tid == 0) out[blockIdx.x] = shared[0];
}""", lambda: (numbers(300), floats(2), 300), grid=2, block=256, says="index 256"),
    Planted("first_add_during_load", OUT, """
__global__ void first_add_during_load(const float* in, float* out, long long n) {
    __shared__ float shared[256];
    const unsigned tid = threadIdx.x;
    const long long i = static_cast<long long>(blockIdx.x) * (2 * blockDim.x) + tid;
    float value = i < n ? in[i] : 0;
    if (i RIGHT(+ blockDim.x) < n) value += in[i + blockDim.x];  // here
    shared[tid] = value;
    __syncthreads();
    for (unsigned s = blockDim.x / 2; s > 0; s /= 2) {
        if (tid < s) shared[tid] = shared[tid] + shared[tid + s];
        __syncthreads();
    }
    if (tid == 0) out[blockIdx.x] = shared[0];
}""", lambda: (numbers(300), floats(1), 300), block=256),
    Planted("unrolled_last_warp", RACE, """
__global__ void unrolled_last_warp(const float* in, float* out) {
    __shared__ float shared[64];
    const unsigned tid = threadIdx.x;
    shared[tid] = in[tid];
    __syncthreads();
    if (tid >= 32) return;
    float value = shared[tid];
    for (unsigned s = 32; s > 0; s /= 2) {
        value = value + shared[tid + s];  // other
        RIGHT(__syncwarp();)
        shared[tid] = value;  // here
        __syncwarp();
    }
    if (tid == 0) out[0] = shared[0];
}""", lambda: (numbers(64), floats(1)), block=64, says="__syncwarp()"),
    Planted("unrolled_tree", RACE, """
template <int half>
__device__ void tree_step(float* shared, int tid) {
    if (tid < half) shared[tid] += shared[tid + half];  // here
    RIGHT(__syncthreads();) WRONG(if constexpr (half != 128) __syncthreads();)
}
__global__ void unrolled_tree(const float* in, float* out) {
    __shared__ float shared[256];
    shared[threadIdx.x] = in[threadIdx.x];
    __syncthreads();
    tree_step<128>(shared, threadIdx.x);
    tree_step<64>(shared, threadIdx.x);
    tree_step<32>(shared, threadIdx.x);
    if (threadIdx.x < 32) out[threadIdx.x] = shared[threadIdx.x];
}""", lambda: (numbers(256), floats(32)), block=256),
    Planted("grid_of_sums", OUT, """
__global__ void grid_of_sums(const float* in, float* out, long long n) {
    const long long step = static_cast<long long>(gridDim.x) * blockDim.x;
    float value = 0;
    for (long long i = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x; i < n; i += step)
        value += in[i];
    atomicAdd(out + blockIdx.x RIGHT(% 2), value);  // here
}""", lambda: (numbers(500), floats(2), 500), grid=4, says="argument 'out'"),
    Planted("warps_of_a_block", OUT, """
__global__ void warps_of_a_block(const float* in, float* out) {
    __shared__ float of_warp[8];
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    float value = sum_of_warp(in[threadIdx.x]);
    if (lane == 0) of_warp[warp] = value;
    __syncthreads();
    if (warp == 0) {
        value = sum_of_warp(RIGHT(lane < 8 ?) of_warp[lane] RIGHT(: 0));  // here
        if (lane == 0) *out = value;
    }
}""", lambda: (numbers(256), floats(1)), block=256, says="index 8"),
    Planted("fewer_warps", NEVER, """
__global__ void fewer_warps(const float* in, float* out) {
    __shared__ float of_warp[8];
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    float value = sum_of_warp(in[threadIdx.x]);
    if (lane == 0) of_warp[warp] = value;
    __syncthreads();
    if (warp == 0) {
        value = sum_of_warp(lane < RIGHT(blockDim.x / 32) WRONG(8) ? of_warp[lane] : 0);  // here
        if (lane == 0) *out = value;
    }
}""", lambda: (numbers(128), floats(1)), block=128, says="'of_warp' (32 bytes)"),
    Planted("two_sums", RACE, """
__device__ float sum_of_block(float value, float* of_warp) {
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    value = sum_of_warp(value);
    if (lane == 0) of_warp[warp] = value;  // here
    __syncthreads();
    if (warp == 0) value = sum_of_warp(lane < 8 ? of_warp[lane] : 0);  // other
    return value;
}
__global__ void two_sums(const float* in, float* out) {
    __shared__ float of_warp[8];
    const float first = sum_of_block(in[threadIdx.x], of_warp);
    RIGHT(__syncthreads();)
    const float second = sum_of_block(in[threadIdx.x] * in[threadIdx.x], of_warp);
    if (threadIdx.x == 0) out[0] = first * first - second;
}""", lambda: (numbers(256), floats(1)), block=256),
    Planted("half_a_reduction", ABSENT, """
__global__ void half_a_reduction(const float* in, float* out) {
    if (threadIdx.x >= 16) return;
    float value = in[threadIdx.x];
    for (int offset = RIGHT(8) WRONG(16); offset > 0; offset /= 2)
        value += __shfl_xor_sync(0xffffu, value, offset);  // here
    if (threadIdx.x == 0) *out = value;
}""", lambda: (numbers(32), floats(1)), severity="warning"),
    Planted("leave_to_last_block", RACE, """
__global__ void leave_to_last_block(const float* in, float* out, float* partials, unsigned* ticket) {
    __shared__ bool is_last;
    float value = sum_of_warp(in[blockIdx.x * 32 + threadIdx.x]);
    if (threadIdx.x == 0) {
        partials[blockIdx.x] = value;  // other
        RIGHT(__threadfence();)
        is_last = atomicInc(ticket, gridDim.x - 1) == gridDim.x - 1;
        RIGHT(__threadfence();)
    }
    __syncthreads();
    if (!is_last) return;
    value = threadIdx.x < gridDim.x ? __ldcg(partials + threadIdx.x) : 0;  // here
    value = sum_of_warp(value);
    if (threadIdx.x == 0) *out = value;
}""", lambda: (numbers(128), floats(1), floats(4), cs.zeros(1, np.uint32)), grid=4),
    Planted("plain_ticket", RACE, """
__global__ void plain_ticket(const float* in, float* out, float* partials, unsigned* ticket) {
    float value = sum_of_warp(in[blockIdx.x * 32 + threadIdx.x]);
    if (threadIdx.x == 0) {
        partials[blockIdx.x] = value;
        __threadfence();
        RIGHT(atomicAdd(ticket, 1u);) WRONG(*ticket += 1;)  // here
    }
}""", lambda: (numbers(128), floats(1), floats(4), cs.zeros(1, np.uint32)), grid=4, says="argument 'ticket'"),
    Planted("two_kernels", OUT, """
__global__ void two_kernels(const float* in, float* out, long long n) {
    const long long step = static_cast<long long>(gridDim.x) * blockDim.x;
    float value = 0;
    for (long long i = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x; i < n; i += step)
        value += in[i];
    value = sum_of_warp(value);
    RIGHT(if (threadIdx.x == 0)) out[blockIdx.x WRONG(* blockDim.x + threadIdx.x)] = value;  // here
}""", lambda: (numbers(500), floats(4), 500), grid=4, says="argument 'out'"),
    # ---- matmul
    Planted("naive", OUT, """
__global__ void naive(const float* a, const float* b, float* c, int m, int n, int k) {
    const int row = blockIdx.y * 16 + threadIdx.x, column = blockIdx.x * 16 + threadIdx.y;
    if (row RIGHT(>=) WRONG(>) m || column >= n) return;
    float sum = 0;
    for (int i = 0; i < k; ++i) sum += a[row * k + i] * b[i * n + column];  // here
    c[row * n + column] = sum;
}""", lambda: matrices(20, 12, 8), grid=(1, 2), block=(16, 16), says="element 160 of the argument 'a'"),
    Planted("coalesced", OUT, """
__global__ void coalesced(const float* a, const float* b, float* c, int m, int n, int k) {
    const int row = blockIdx.y * 16 + threadIdx.y, column = blockIdx.x * 16 + threadIdx.x;
    if (row >= m || column >= n) return;
    float sum = 0;
    for (int i = 0; i RIGHT(<) WRONG(<=) k; ++i) sum += a[row * k + i] * b[i * n + column];  // here
    c[row * n + column] = sum;
}""", lambda: matrices(20, 12, 8), grid=(1, 2), block=(16, 16), says="argument 'b'"),
    Planted("wrong_pitch", OUT, """
__global__ void wrong_pitch(const float* a, const float* b, float* c, int m, int n, int k) {
    const int row = blockIdx.y * 16 + threadIdx.y, column = blockIdx.x * 16 + threadIdx.x;
    if (row >= m || column >= n) return;
    float sum = 0;
    for (int i = 0; i < k; ++i) sum += a[row * k + i] * b[i * n + column];
    c[row * RIGHT(n) WRONG(m) + column] = sum;  // here
}""", lambda: matrices(20, 12, 8), grid=(1, 2), block=(16, 16), says="argument 'c'"),
    *[
        Planted(name, kind, f"""
__global__ void {name}(const float* a, const float* b, float* c, int m, int n, int k) {{
    __shared__ float a_tile[16][16], b_tile[16][16];
    const int y = threadIdx.y, x = threadIdx.x;
    const int row = blockIdx.y * 16 + y, column = blockIdx.x * 16 + x;
    {early}
    float sum = 0;
    for (int first = 0; first < k; first += 16) {{
        a_tile[y][x] = {guard} ? a[row * k + first + x] : 0;  // {load}
        b_tile[y][x] = column < n && y < k - first ? b[(first + y) * n + column] : 0;
        {complete}
        for (int i = 0; i < 16; ++i) sum += a_tile[y][i] * b_tile[i][x];  // {use}
        {done}
    }}
    if (row < m && column < n) c[row * n + column] = sum;
}}""", lambda: matrices(20, 12, 40), grid=(1, 2), block=(16, 16), says=says)
        for name, kind, early, guard, load, complete, use, done, says in [
            ("tile_that_is_not_complete", RACE, "", "row < m && x < k - first", "other", "RIGHT(__syncthreads();)",
             "here", "__syncthreads();", "__sync"),
            ("tile_that_is_still_read", RACE, "", "row < m && x < k - first", "here", "__syncthreads();", "other",
             "RIGHT(__syncthreads();)", "'a_tile'"),
            ("tile_past_the_edge", OUT, "", "row < m RIGHT(&& x < k - first)", "here", "__syncthreads();", "use",
             "__syncthreads();", "argument 'a'"),
            ("tile_past_the_last_row", OUT, "", "RIGHT(row < m &&) x < k - first", "here", "__syncthreads();", "use",
             "__syncthreads();", "argument 'a'"),
            ("tile_of_threads_that_left", NEVER, "WRONG(if (row >= m || column >= n) return;)",
             "row < m && x < k - first", "load", "__syncthreads();", "here", "__syncthreads();", "never written"),
        ]
    ],
    Planted("thread_tile", OUT, """
__global__ void thread_tile(const float* a, const float* b, float* c) {
    __shared__ float a_tile[64][8], b_tile[8][64];
    const int t = threadIdx.x, y = t / 64 * 8, x = t % 64;
    a_tile[t / 8][t % 8] = a[t];
    b_tile[t / 64][t % 64] = b[t];
    __syncthreads();
    float sums[8] = {};
    for (int i = 0; i < 8; ++i)
        for (int r = 0; r < 8; ++r) sums[r] += a_tile[y + r RIGHT(+ 0) WRONG(+ 1)][i] * b_tile[i][x];  // here
    for (int r = 0; r < 8; ++r) c[(y + r) * 64 + x] = sums[r];
}""", lambda: (numbers(512), numbers(512), floats(4096)), block=512, says="index 64"),
    Planted("sums_of_a_thread", OUT, """
__global__ void sums_of_a_thread(const float* a, float* c, int height) {
    float sums[8] = {};
    for (int i = 0; i < 4; ++i)
        for (int r = 0; r < height RIGHT(- 1); ++r) sums[r] += a[i * 32 + threadIdx.x] * r;  // here
    c[threadIdx.x] = sums[0] + sums[1] + sums[7];
}""", lambda: (numbers(128), floats(32), 9), says="index 8 of an array of type 'float"),
    Planted("double_buffered", RACE, """
__global__ void double_buffered(const float* a, float* c, int k) {
    __shared__ float slabs[2][64];
    const int t = threadIdx.x;
    slabs[0][t] = a[t];
    __syncthreads();
    int current = 0;
    float sum = 0;
    for (int first = 64; first < k; first += 64) {
        const float next = a[first + t];
        for (int i = 0; i < 64; ++i) sum += slabs[current][i];  // other
        RIGHT(current ^= 1;)
        slabs[current][t] = next;  // here
        __syncthreads();
    }
    for (int i = 0; i < 64; ++i) sum += slabs[current][i];
    c[t] = sum;
}""", lambda: (numbers(256), floats(64), 256), block=64),
    Planted("packs_of_a_row", MISALIGNED, """
__global__ void packs_of_a_row(const float* a, float* c, int width) {
    const float4* v = reinterpret_cast<const float4*>(a + threadIdx.x * width RIGHT(/ 4 * 4));
    c[threadIdx.x] = v->x + v->y + v->z + v->w;  // here
}""", lambda: (numbers(256), floats(32), 7)),
    # ---- averaging, memory_walks, gather
    Planted("averaging", OUT, """
__global__ void averaging(const int* x, int* c, long long n) {
    constexpr int window = 256;
    const long long i = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
    if (i < n) c[i] = (x[i] + x[(i + 1) % window] + x[(i + 2) RIGHT(% window)]) / 3;  // here
}""", lambda: (cs.zeros(256, np.int32), cs.zeros(256, np.int32), 256), block=256, says="element 256"),
    Planted("rows", OUT, """
__global__ void rows(float* data, long long pitch, long long width, long long height, float factor) {
    const long long y = threadIdx.x;
    if (y >= height) return;
    float* row = reinterpret_cast<float*>(RIGHT(reinterpret_cast<char*>)(data) + y * pitch);
    for (long long x = 0; x < width; ++x) row[x] *= factor;  // here
}""", lambda: (numbers(16 * 8), 64, 16, 8, 2.0), says="argument 'data'"),
    Planted("columns", OUT, """
__global__ void columns(float* data, long long pitch, long long width, long long height, float factor) {
    for (long long y = threadIdx.y; y < height; y += blockDim.y) {
        float* row = reinterpret_cast<float*>(reinterpret_cast<char*>(data) + y * pitch);
        for (long long x = threadIdx.x; x < RIGHT(width) WRONG(pitch); x += blockDim.x)
            row[x] *= factor;  // here
    }
}""", lambda: (numbers(16 * 8), 64, 16, 8, 2.0), block=(32, 8)),
    Planted("slices", OUT, """
__global__ void slices(float* data, long long pitch, long long rows, long long width, long long height,
                       long long depth, float factor) {
    for (long long z = blockIdx.z; z < depth; z += gridDim.z) {
        char* slice = reinterpret_cast<char*>(data) + z * pitch * rows;
        for (long long y = threadIdx.y; y < height; y += RIGHT(blockDim.y) WRONG(1)) {
            float* row = reinterpret_cast<float*>(slice + y * pitch);
            for (long long x = threadIdx.x; x < width; x += blockDim.x) row[x RIGHT(* 1) WRONG(* 5)] *= factor;  // here
        }
    }
}""", lambda: (numbers(4 * 8 * 16), 64, 8, 16, 8, 4, 2.0), grid=(1, 1, 2), block=(16, 1)),
    Planted("gather", OUT, """
struct Layout { int dimensions; long long extent[4], stride[4]; };
__global__ void gather(const char* in, float* out, Layout layout, long long count) {
    const long long i = threadIdx.x;
    if (i >= count) return;
    long long offset = 0, index = i;
    for (int k = layout.dimensions - 1; k RIGHT(>) WRONG(>=) 0; --k) {
        offset += index % layout.extent[k] * layout.stride[k RIGHT(+ 0) WRONG(- 1)];  // here
        index /= layout.extent[k];
    }
    out[i] = *reinterpret_cast<const float*>(in + offset + index * layout.stride[0]);
}""", lambda: (cs.zeros(128, np.int8), floats(32), layout_of_rows(), 32), says="index -1"),
]  # fmt: skip


def layout_of_rows() -> np.void:
    """Two dimensions of 4 x 8 floats."""
    layout = np.zeros(
        (), np.dtype([("dimensions", np.int32), ("extent", np.int64, 4), ("stride", np.int64, 4)], align=True)
    )
    layout["dimensions"], layout["extent"], layout["stride"] = 2, [4, 8, 0, 0], [32, 4, 0, 0]
    return layout[()]
