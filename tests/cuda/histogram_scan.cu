// A histogram with shared atomics, and inclusive and exclusive scans.
// launch histogram 8 128
// launch check_histogram 1 64
// launch blelloch 1 128 1024
// launch hillis_steele 1 256
// launch warp_scan 2 128
#define CHECK(condition)                    \
    do {                                    \
        if (!(condition)) {                 \
            atomicAdd(&failures[0], 1u);    \
            failures[1] = __LINE__;         \
        }                                   \
    } while (0)

__device__ unsigned bins[64];

__device__ unsigned value(unsigned i) { return (i * 2654435761u) >> 20; }

__global__ void histogram(unsigned* failures) {
    __shared__ unsigned local[64];
    if (threadIdx.x < 64) local[threadIdx.x] = 0;
    __syncthreads();
    for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < 10000; i += gridDim.x * blockDim.x)
        atomicAdd(&local[value(i) % 64], 1u);
    __syncthreads();
    if (threadIdx.x < 64) atomicAdd(&bins[threadIdx.x], local[threadIdx.x]);
}

__global__ void check_histogram(unsigned* failures) {
    unsigned count = 0;
    for (unsigned i = 0; i < 10000; ++i) count += value(i) % 64 == threadIdx.x;
    CHECK(bins[threadIdx.x] == count);
}

__global__ void blelloch(unsigned* failures) {
    extern __shared__ int temp[];
    const int n = 256;
    int t = threadIdx.x, offset = 1;
    temp[2 * t] = 2 * t % 5;
    temp[2 * t + 1] = (2 * t + 1) % 5;
    for (int d = n >> 1; d > 0; d >>= 1) {
        __syncthreads();
        if (t < d) temp[offset * (2 * t + 2) - 1] += temp[offset * (2 * t + 1) - 1];
        offset *= 2;
    }
    if (t == 0) temp[n - 1] = 0;
    for (int d = 1; d < n; d *= 2) {
        offset >>= 1;
        __syncthreads();
        if (t < d) {
            int left = offset * (2 * t + 1) - 1, right = offset * (2 * t + 2) - 1;
            int kept = temp[left];
            temp[left] = temp[right];
            temp[right] += kept;
        }
    }
    __syncthreads();
    int sum = 0;
    for (int i = 0; i < t; ++i) sum += i % 5;
    CHECK(temp[t] == sum);
}

__global__ void hillis_steele(unsigned* failures) {
    __shared__ int temp[2][256];
    int t = threadIdx.x, out = 0, in = 1;
    temp[out][t] = t;
    __syncthreads();
    for (int offset = 1; offset < 256; offset *= 2) {
        out = 1 - out;
        in = 1 - out;
        temp[out][t] = t >= offset ? temp[in][t] + temp[in][t - offset] : temp[in][t];
        __syncthreads();
    }
    CHECK(temp[out][t] == t * (t + 1) / 2);
}

__global__ void warp_scan(unsigned* failures) {
    int lane = threadIdx.x & 31, sum = lane + 1;
#pragma unroll
    for (int i = 1; i <= 16; i *= 2) {
        int other = __shfl_up_sync(0xffffffff, sum, i, 32);
        if (lane >= i) sum += other;
    }
    CHECK(sum == (lane + 1) * (lane + 2) / 2);
}
