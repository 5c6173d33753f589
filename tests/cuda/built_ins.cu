// threadIdx and similar variables are objects with members: they convert, deduce, and go through varargs and templates.
// launch geometry 2,3,4 4,2,2
// launch lines 5 96
// launch members 1 1
// prints 7 1 1 2
#define CHECK(condition)                    \
    do {                                    \
        if (!(condition)) {                 \
            atomicAdd(&failures[0], 1u);    \
            failures[1] = __LINE__;         \
        }                                   \
    } while (0)

__device__ unsigned seen[24 * 16];

template <class T>
__device__ T twice(T value) {
    return value + value;
}

__device__ unsigned volume(dim3 d) { return d.x * d.y * d.z; }

__global__ void geometry(unsigned* failures) {
    CHECK(gridDim.x == 2 && gridDim.y == 3 && gridDim.z == 4);
    CHECK(blockDim.x == 4 && blockDim.y == 2 && blockDim.z == 2);
    CHECK(threadIdx.x < 4 && threadIdx.y < 2 && threadIdx.z < 2);
    CHECK(blockIdx.x < 2 && blockIdx.y < 3 && blockIdx.z < 4);
    unsigned block = blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z);
    unsigned thread = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
    CHECK(atomicAdd(&seen[block * volume(blockDim) + thread], 1u) == 0);
    CHECK(warpSize == 32);
}

__global__ void lines(unsigned* failures) {
    int i = blockDim.x * blockIdx.x + threadIdx.x;
    CHECK(i >= 0 && i < 480);
    CHECK(twice(threadIdx.x) == 2 * threadIdx.x);
    CHECK(min(threadIdx.x, 50u) <= 50u && max(blockIdx.x, 1u) >= 1u);
    dim3 copy = blockDim;
    uint3 where = threadIdx;
    auto deduced = blockIdx;
    CHECK(copy.x == 96 && copy.y == 1 && where.x == threadIdx.x && deduced.x == blockIdx.x);
    unsigned before = threadIdx.x - 1u > threadIdx.x ? 1u : 0u;
    CHECK(before == (threadIdx.x == 0));
}

struct Settings {
    dim3 gridDim, blockDim;
    int threadIdx;
};

__global__ void members(unsigned* failures) {
    Settings s;
    s.gridDim = dim3(7);
    s.blockDim = dim3(1, 2);
    s.threadIdx = 3;
    Settings* p = &s;
    CHECK(p->gridDim.x == 7 && p->blockDim.y == 2 && p->threadIdx == 3 && s.gridDim.z == 1);
    printf("%u %u %u %u\n", s.gridDim.x, s.gridDim.y, blockDim.x, s.blockDim.y);
}
