// Barriers that lanes of one warp reach at different places. CUDA leaves the result undefined.
// host only: on a GPU one such kernel gave the right result, and this one never ended
// launch odd_and_even_lanes 1 64
#define CHECK(condition)                    \
    do {                                    \
        if (!(condition)) {                 \
            atomicAdd(&failures[0], 1u);    \
            failures[1] = __LINE__;         \
        }                                   \
    } while (0)

__global__ void odd_and_even_lanes(unsigned* failures) {
    __shared__ int box[64];
    int i = threadIdx.x;
    box[i] = i;
    if (i % 2) {
        __syncthreads();
        CHECK(box[i - 1] == i - 1);
    } else {
        __syncthreads();
        CHECK(box[i + 1] == i + 1);
    }
}
