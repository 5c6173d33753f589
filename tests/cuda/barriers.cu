// Barriers: their values, in loops, for odd block sizes, in functions, at several places of the source.
// launch values 1 96
// launch loop 3 70
// launch in_function 1 64
// launch halves_of_a_block 2 256
// launch two_roles 2 256
// launch different_kinds_of_sync 1 128
#include <cooperative_groups.h>
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

// Some warps wait at one barrier, the others at another: they meet.
__global__ void halves_of_a_block(unsigned* failures) {
    __shared__ int box[256];
    int i = threadIdx.x;
    box[i] = i;
    if (i < 128) {
        __syncthreads();
        CHECK(box[i + 128] == i + 128);
    } else {
        __syncthreads();
        CHECK(box[i - 128] == i - 128);
    }
}

// One half writes, and the other half reads one barrier later, each in a loop of its own.
__global__ void two_roles(unsigned* failures) {
    __shared__ int box[2][128];
    int i = threadIdx.x % 128;
    if (threadIdx.x < 128) {
        for (int round = 0; round < 20; ++round) {
            box[round % 2][i] = i + round;
            __syncthreads();
        }
    } else {
        for (int round = 0; round < 20; ++round) {
            __syncthreads();
            CHECK(box[round % 2][127 - i] == 127 - i + round);
        }
    }
}

__global__ void different_kinds_of_sync(unsigned* failures) {
    __shared__ int box[128];
    int i = threadIdx.x;
    box[i] = i;
    if (i < 32)
        __syncthreads();
    else if (i < 64)
        cooperative_groups::this_thread_block().sync();
    else if (i < 96)
        asm volatile("bar.sync 0;" ::: "memory");
    else
        cooperative_groups::sync(cooperative_groups::this_thread_block());
    CHECK(box[127 - i] == 127 - i);
}
