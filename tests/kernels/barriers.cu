// Barriers: their values, in loops, for odd block sizes, in functions.
// launch values 1 96
// launch loop 3 70
// launch in_function 1 64
#define CHECK(condition)                    \
    do {                                    \
        if (!(condition)) {                 \
            atomicAdd(&failures[0], 1u);    \
            failures[1] = __LINE__;         \
        }                                   \
    } while (0)

__global__ void values(unsigned* failures) {
    int i = threadIdx.x;
    CHECK(__syncthreads_count(i % 3 == 0) == 32);
    CHECK(__syncthreads_and(i < 96) && !__syncthreads_and(i < 95));
    CHECK(__syncthreads_or(i == 50) && !__syncthreads_or(i == 96));
    CHECK(__syncthreads_count(i == 1 ? 5 : 0) == 1);
}

__global__ void loop(unsigned* failures) {
    __shared__ int box[70];
    int i = threadIdx.x, v = i;
    for (int round = 0; round < 50; ++round) {
        box[i] = v;
        __syncthreads();
        v = box[(i + 1) % 70];
        __syncthreads();
    }
    CHECK(v == (i + 50) % 70);
}

__device__ int exchange(int* box, int value) {
    box[threadIdx.x] = value;
    __syncthreads();
    int result = box[blockDim.x - 1 - threadIdx.x];
    __syncthreads();
    return result;
}

__global__ void in_function(unsigned* failures) {
    __shared__ int box[64];
    int first = exchange(box, threadIdx.x);
    int second = exchange(box, first);
    CHECK(first == 63 - (int)threadIdx.x && second == (int)threadIdx.x);
}
