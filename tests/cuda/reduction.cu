// The reductions of the samples: from interleaved addressing to shuffles and a grid-stride loop.
// instance unrolled<128>
// launch fill 64 256
// launch interleaved 32 128 512
// launch strided 32 128 512
// launch sequential 32 128 512
// launch first_add 16 128 512
// launch unrolled<128> 16 128 512
// launch shuffled 32 128
// launch grid_stride 4 256
// launch last_block 8 128
// launch check 1 1
#define CHECK(condition)                    \
    do {                                    \
        if (!(condition)) {                 \
            atomicAdd(&failures[0], 1u);    \
            failures[1] = __LINE__;         \
        }                                   \
    } while (0)

#define COUNT 4096
__device__ int input[COUNT];
__device__ int sums[8][64];
__device__ int total;
__device__ unsigned finished;

__global__ void fill(unsigned* failures) {
    int i = threadIdx.x + blockIdx.x * blockDim.x;
    if (i < COUNT) input[i] = (i * 7919) % 1000 - 300;
}

__global__ void interleaved(unsigned* failures) {
    extern __shared__ int data[];
    unsigned t = threadIdx.x;
    data[t] = input[blockIdx.x * blockDim.x + t];
    __syncthreads();
    for (unsigned s = 1; s < blockDim.x; s *= 2) {
        if (t % (2 * s) == 0) data[t] += data[t + s];
        __syncthreads();
    }
    if (t == 0) sums[0][blockIdx.x] = data[0];
}

__global__ void strided(unsigned* failures) {
    extern __shared__ int data[];
    unsigned t = threadIdx.x;
    data[t] = input[blockIdx.x * blockDim.x + t];
    __syncthreads();
    for (unsigned s = 1; s < blockDim.x; s *= 2) {
        unsigned index = 2 * s * t;
        if (index < blockDim.x) data[index] += data[index + s];
        __syncthreads();
    }
    if (t == 0) sums[1][blockIdx.x] = data[0];
}

__global__ void sequential(unsigned* failures) {
    extern __shared__ int data[];
    unsigned t = threadIdx.x;
    data[t] = input[blockIdx.x * blockDim.x + t];
    __syncthreads();
    for (unsigned s = blockDim.x / 2; s > 0; s >>= 1) {
        if (t < s) data[t] += data[t + s];
        __syncthreads();
    }
    if (t == 0) sums[2][blockIdx.x] = data[0];
}

__global__ void first_add(unsigned* failures) {
    extern __shared__ int data[];
    unsigned t = threadIdx.x, i = blockIdx.x * (blockDim.x * 2) + t;
    data[t] = input[i] + input[i + blockDim.x];
    __syncthreads();
    for (unsigned s = blockDim.x / 2; s > 0; s >>= 1) {
        if (t < s) data[t] += data[t + s];
        __syncthreads();
    }
    if (t == 0) sums[3][blockIdx.x] = data[0];
}

__device__ void last_warp(volatile int* data, unsigned t) {
    int v = data[t] + data[t + 32];
    for (int offset = 16; offset > 0; offset /= 2) v += __shfl_down_sync(0xffffffff, v, offset);
    if (t == 0) data[0] = v;
}

template <unsigned SIZE>
__global__ void __launch_bounds__(SIZE) unrolled(unsigned* failures) {
    extern __shared__ int data[];
    unsigned t = threadIdx.x, i = blockIdx.x * (SIZE * 2) + t;
    data[t] = input[i] + input[i + SIZE];
    __syncthreads();
    if (SIZE >= 512) { if (t < 256) { data[t] += data[t + 256]; } __syncthreads(); }
    if (SIZE >= 256) { if (t < 128) { data[t] += data[t + 128]; } __syncthreads(); }
    if (SIZE >= 128) { if (t < 64) { data[t] += data[t + 64]; } __syncthreads(); }
    if (t < 32) last_warp(data, t);
    if (t == 0) sums[4][blockIdx.x] = data[0];
}

__inline__ __device__ int warp_sum(int v) {
    for (int offset = warpSize / 2; offset > 0; offset /= 2) v += __shfl_down_sync(0xffffffff, v, offset);
    return v;
}

__inline__ __device__ int block_sum(int v) {
    static __shared__ int partial[32];
    int lane = threadIdx.x % warpSize, warp = threadIdx.x / warpSize;
    v = warp_sum(v);
    if (lane == 0) partial[warp] = v;
    __syncthreads();
    v = threadIdx.x < blockDim.x / warpSize ? partial[lane] : 0;
    if (warp == 0) v = warp_sum(v);
    return v;
}

__global__ void shuffled(unsigned* failures) {
    int sum = block_sum(input[blockIdx.x * blockDim.x + threadIdx.x]);
    if (threadIdx.x == 0) sums[5][blockIdx.x] = sum;
}

__global__ void grid_stride(unsigned* failures) {
    int sum = 0;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < COUNT; i += gridDim.x * blockDim.x) sum += input[i];
    sum = block_sum(sum);
    if (threadIdx.x == 0) atomicAdd(&total, sum);
}

__global__ void last_block(unsigned* failures) {
    __shared__ bool is_last;
    int sum = 0;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < COUNT; i += gridDim.x * blockDim.x) sum += input[i];
    sum = block_sum(sum);
    if (threadIdx.x == 0) {
        sums[6][blockIdx.x] = sum;
        __threadfence();
        is_last = atomicInc(&finished, gridDim.x) == gridDim.x - 1;
    }
    __syncthreads();
    if (is_last) {
        sum = block_sum(threadIdx.x < gridDim.x ? ((volatile int*)sums[6])[threadIdx.x] : 0);
        if (threadIdx.x == 0) sums[7][0] = sum;
    }
}

__global__ void check(unsigned* failures) {
    int expected = 0;
    for (int i = 0; i < COUNT; ++i) expected += (i * 7919) % 1000 - 300;
    for (int rung = 0; rung < 6; ++rung) {
        int sum = 0;
        for (int i = 0; i < 64; ++i) sum += sums[rung][i];
        CHECK(sum == expected);
    }
    CHECK(total == expected && sums[7][0] == expected);
}
