// Matrices of a warp: every documented shape and type, layouts, and changes of their elements.
// launch products 1 32
// launch bytes 1 32
// launch wide 1 32
// launch elements 1 64
// option -std=c++17
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <mma.h>

#define CHECK(condition)                    \
    do {                                    \
        if (!(condition)) {                 \
            atomicAdd(&failures[0], 1u);    \
            failures[1] = __LINE__;         \
        }                                   \
    } while (0)

using namespace nvcuda;

template <class T>
struct Layout {
    static constexpr bool by_columns = false;
};
template <>
struct Layout<wmma::col_major> {
    static constexpr bool by_columns = true;
};

// Small integers: every sum is exact, in any order.
__device__ int a_of(int row, int column) { return (row * 7 + column * 3) % 9 - 4; }
__device__ int b_of(int row, int column) { return (row * 5 + column * 11) % 7 - 3; }
__device__ int c_of(int row, int column) { return (row + 2 * column) % 13; }
__device__ int ab_of(int row, int column, int k) {
    int sum = 0;
    for (int i = 0; i < k; ++i) sum += a_of(row, i) * b_of(i, column);
    return sum;
}

template <class T, class Number, class Sum, int m, int n, int k, class LayoutA, class LayoutB>
__device__ void product(unsigned* failures, char* room, wmma::layout_t layout) {
    Number* a = reinterpret_cast<Number*>(room);
    Number* b = reinterpret_cast<Number*>(room + 4096);
    Sum* c = reinterpret_cast<Sum*>(room + 8192);
    constexpr bool a_columns = Layout<LayoutA>::by_columns, b_columns = Layout<LayoutB>::by_columns;
    const bool c_columns = layout == wmma::mem_col_major;
    const int lane = threadIdx.x, pitch_a = a_columns ? m : k, pitch_b = b_columns ? k : n,
              pitch_c = c_columns ? m : n;
    for (int i = lane; i < m * k; i += 32)
        a[a_columns ? i / k + i % k * pitch_a : i] = (Number)(float)a_of(i / k, i % k);
    for (int i = lane; i < k * n; i += 32)
        b[b_columns ? i / n + i % n * pitch_b : i] = (Number)(float)b_of(i / n, i % n);
    for (int i = lane; i < m * n; i += 32)
        c[c_columns ? i / n + i % n * pitch_c : i] = (Sum)(float)c_of(i / n, i % n);
    __syncwarp();
    wmma::fragment<wmma::matrix_a, m, n, k, T, LayoutA> fa;
    wmma::fragment<wmma::matrix_b, m, n, k, T, LayoutB> fb;
    wmma::fragment<wmma::accumulator, m, n, k, Sum> fc, fd;
    wmma::load_matrix_sync(fa, a, pitch_a);
    wmma::load_matrix_sync(fb, b, pitch_b);
    wmma::load_matrix_sync(fc, c, pitch_c, layout);
    wmma::mma_sync(fd, fa, fb, fc);
    wmma::mma_sync(fd, fa, fb, fd);
    __syncwarp();
    wmma::store_matrix_sync(c, fd, pitch_c, layout);
    __syncwarp();
    for (int i = lane; i < m * n; i += 32)
        CHECK((float)c[c_columns ? i / n + i % n * pitch_c : i] ==
              2 * ab_of(i / n, i % n, k) + c_of(i / n, i % n));
    __syncwarp();
}

template <class T, class Number, class Sum, int m, int n, int k>
__device__ void products_of(unsigned* failures, char* room) {
    product<T, Number, Sum, m, n, k, wmma::row_major, wmma::row_major>(failures, room, wmma::mem_row_major);
    product<T, Number, Sum, m, n, k, wmma::row_major, wmma::col_major>(failures, room, wmma::mem_col_major);
    product<T, Number, Sum, m, n, k, wmma::col_major, wmma::row_major>(failures, room, wmma::mem_row_major);
    product<T, Number, Sum, m, n, k, wmma::col_major, wmma::col_major>(failures, room, wmma::mem_col_major);
}

__global__ void products(unsigned* failures) {
    __shared__ alignas(128) char room[16384];
    products_of<__half, __half, float, 16, 16, 16>(failures, room);
    products_of<__half, __half, float, 32, 8, 16>(failures, room);
    products_of<__half, __half, float, 8, 32, 16>(failures, room);
    products_of<half, half, half, 16, 16, 16>(failures, room);
    products_of<half, half, half, 8, 32, 16>(failures, room);
    products_of<__nv_bfloat16, __nv_bfloat16, float, 16, 16, 16>(failures, room);
    products_of<__nv_bfloat16, __nv_bfloat16, float, 32, 8, 16>(failures, room);
}

__global__ void bytes(unsigned* failures) {
    __shared__ alignas(128) char room[16384];
    products_of<signed char, signed char, int, 16, 16, 16>(failures, room);
    products_of<signed char, signed char, int, 32, 8, 16>(failures, room);
    products_of<signed char, signed char, int, 8, 32, 16>(failures, room);

    // Unsigned integers, and a sum that stays at the largest int.
    __shared__ alignas(32) unsigned char ones[256];
    for (int i = threadIdx.x; i < 256; i += 32) ones[i] = 255;
    __syncwarp();
    wmma::fragment<wmma::matrix_a, 16, 16, 16, unsigned char, wmma::row_major> a;
    wmma::fragment<wmma::matrix_b, 16, 16, 16, unsigned char, wmma::col_major> b;
    wmma::fragment<wmma::accumulator, 16, 16, 16, int> c, d;
    wmma::load_matrix_sync(a, ones, 16);
    wmma::load_matrix_sync(b, ones, 16);
    wmma::fill_fragment(c, 5);
    wmma::mma_sync(d, a, b, c);
    for (int i = 0; i < d.num_elements; ++i) CHECK(d.x[i] == 16 * 255 * 255 + 5);
    wmma::fill_fragment(c, 0x7fffff00);
    wmma::mma_sync(d, a, b, c, true);
    for (int i = 0; i < d.num_elements; ++i) CHECK(d.x[i] == 0x7fffffff);
}

__global__ void wide(unsigned* failures) {
    __shared__ alignas(128) char room[16384];
    products_of<double, double, double, 8, 8, 4>(failures, room);
    products_of<wmma::precision::tf32, float, float, 16, 16, 8>(failures, room);
    CHECK(wmma::__float_to_tf32(1.0f + 1.0f / 4096) == 1.0f);
    CHECK(wmma::__float_to_tf32(1.0f + 3.0f / 2048) == 1.0f + 1.0f / 512);
    CHECK(wmma::__float_to_tf32(-0.75f) == -0.75f);
}

// Two warps; every element of a fragment is scaled in place, and a float fragment is added to another one.
__global__ void elements(unsigned* failures) {
    __shared__ alignas(32) half tile[2][256];
    __shared__ alignas(32) float out[2][256];
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    for (int i = lane; i < 256; i += 32) tile[warp][i] = __int2half_rn(i % 16 == i / 16 ? 1 + warp : 0);
    __syncwarp();
    wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> a;
    wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::row_major> b;
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> sum, more;
    wmma::load_matrix_sync(a, tile[warp], 16);
    for (int i = 0; i < a.num_elements; ++i) a.x[i] = __hmul(a.x[i], __float2half(3.0f));
    __syncwarp();
    for (int i = lane; i < 256; i += 32) tile[warp][i] = __int2half_rn(i);
    __syncwarp();
    wmma::load_matrix_sync(b, tile[warp], 16);
    wmma::fill_fragment(sum, 0.5f);
    wmma::fill_fragment(more, 1.0f);
    wmma::mma_sync(sum, a, b, sum);
    for (int i = 0; i < sum.num_elements; ++i) sum.x[i] = sum.x[i] * 2.0f + more.x[i];
    wmma::store_matrix_sync(out[warp], sum, 16, wmma::mem_row_major);
    __syncwarp();
    for (int i = lane; i < 256; i += 32) CHECK(out[warp][i] == (3 * (1 + warp) * i + 0.5f) * 2 + 1);
}
