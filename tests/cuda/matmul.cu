// Matrix products: naive, tiled with the tile as a template parameter, and transposes with and without padding.
// instance tiled<8>
// instance tiled<16>
// launch fill 16,16 8,8
// launch naive 8,8 16,16
// launch tiled<8> 16,16 8,8
// launch check 8,8 16,16
// launch tiled<16> 8,8 16,16
// launch check 8,8 16,16
// launch transpose_naive 4,4 32,8
// launch check_transpose 4,4 32,32
// launch transpose_padded 4,4 32,8
// launch check_transpose 4,4 32,32
#define CHECK(condition)                    \
    do {                                    \
        if (!(condition)) {                 \
            atomicAdd(&failures[0], 1u);    \
            failures[1] = __LINE__;         \
        }                                   \
    } while (0)

#define N 128
__device__ float a[N * N], b[N * N], c[N * N], d[N * N];

__global__ void fill(unsigned* failures) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    a[y * N + x] = (x * 3 + y * 5) % 11 - 5;
    b[y * N + x] = (x * 7 + y * 2) % 13 - 6;
}

__global__ void naive(unsigned* failures) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    float sum = 0;
    for (int k = 0; k < N; ++k) sum += a[y * N + k] * b[k * N + x];
    c[y * N + x] = sum;
}

template <int TILE>
__global__ void tiled(unsigned* failures) {
    __shared__ float as[TILE][TILE], bs[TILE][TILE];
    int tx = threadIdx.x, ty = threadIdx.y, x = blockIdx.x * TILE + tx, y = blockIdx.y * TILE + ty;
    float sum = 0;
    for (int t = 0; t < N / TILE; ++t) {
        as[ty][tx] = a[y * N + t * TILE + tx];
        bs[ty][tx] = b[(t * TILE + ty) * N + x];
        __syncthreads();
#pragma unroll
        for (int k = 0; k < TILE; ++k) sum += as[ty][k] * bs[k][tx];
        __syncthreads();
    }
    d[y * N + x] = sum;
}

__global__ void check(unsigned* failures) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    CHECK(c[y * N + x] == d[y * N + x]);
    d[y * N + x] = -1e30f;
}

__global__ void transpose_naive(unsigned* failures) {
    int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
    for (int j = 0; j < 32; j += 8) d[x * N + y + j] = a[(y + j) * N + x];
}

__global__ void transpose_padded(unsigned* failures) {
    __shared__ float tile[32][32 + 1];
    int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
    for (int j = 0; j < 32; j += 8) tile[threadIdx.y + j][threadIdx.x] = a[(y + j) * N + x];
    __syncthreads();
    x = blockIdx.y * 32 + threadIdx.x;
    y = blockIdx.x * 32 + threadIdx.y;
    for (int j = 0; j < 32; j += 8) d[(y + j) * N + x] = tile[threadIdx.x][threadIdx.y + j];
}

__global__ void check_transpose(unsigned* failures) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    CHECK(d[y * N + x] == a[x * N + y]);
    d[y * N + x] = -1e30f;
}
