// Threads and blocks that wait for each other in loops.
// launch flags 4 1
// launch chain 8 32
// launch grid_barrier 6 64
// launch polled 3 1
#define CHECK(condition)                    \
    do {                                    \
        if (!(condition)) {                 \
            atomicAdd(&failures[0], 1u);    \
            failures[1] = __LINE__;         \
        }                                   \
    } while (0)

__device__ volatile int flag[8];
__device__ int turn;
__device__ unsigned arrived;
__device__ int stages[6];
__device__ int plain;

__global__ void flags(unsigned* failures) {
    int b = blockIdx.x;
    if (b == 0) {
        __threadfence();
        flag[0] = 1;
        while (flag[3] == 0);
    } else {
        while (flag[b - 1] == 0) {
        }
        flag[b] = 1;
    }
    CHECK(flag[0] == 1);
}

__global__ void chain(unsigned* failures) {
    // From the last block to the first: the blocks that start first have to wait.
    if (threadIdx.x == 0) {
        while (atomicAdd(&turn, 0) != (int)(gridDim.x - 1 - blockIdx.x)) {
        }
        atomicAdd(&turn, 1);
    }
    __syncthreads();
    CHECK(atomicAdd(&turn, 0) >= (int)(gridDim.x - blockIdx.x));
}

__device__ void meet(unsigned goal) {
    __syncthreads();
    if (threadIdx.x == 0) {
        __threadfence();
        atomicAdd(&arrived, 1u);
        while (*(volatile unsigned*)&arrived < goal) {
        }
    }
    __syncthreads();
}

__global__ void grid_barrier(unsigned* failures) {
    if (threadIdx.x == 0) stages[blockIdx.x] = blockIdx.x + 1;
    meet(gridDim.x);
    int sum = 0;
    for (int i = 0; i < 6; ++i) sum += ((volatile int*)stages)[i];
    CHECK(sum == 21);
    meet(2 * gridDim.x);
}

__global__ void polled(unsigned* failures) {
    if (blockIdx.x == 0) {
        int seen;
        do {
            seen = __ldcg(&plain);
        } while (seen != 2);
    } else {
        atomicAdd(&plain, 1);
    }
}
