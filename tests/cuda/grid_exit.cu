// Threads that return before the grid's barrier: it waits for the remaining threads of each block.
// launch grid_barrier 4 70 0 cooperative
#include <cooperative_groups.h>
#define CHECK(condition)                    \
    do {                                    \
        if (!(condition)) {                 \
            atomicAdd(&failures[0], 1u);    \
            failures[1] = __LINE__;         \
        }                                   \
    } while (0)

__device__ int box[4];

__global__ void grid_barrier(unsigned* failures) {
    if (threadIdx.x >= 50) return;
    for (int round = 1; round < 4; ++round) {
        if (threadIdx.x == 0) box[blockIdx.x] = round;
        cooperative_groups::this_grid().sync();
        CHECK(*(volatile int*)&box[(blockIdx.x + 1) % 4] == round);
        cooperative_groups::this_grid().sync();
    }
}
