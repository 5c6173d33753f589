// Special registers read by inline PTX, clocks, and an empty asm statement.
// launch lanes 2 96
// launch clocks 1 1
#define CHECK(condition)                    \
    do {                                    \
        if (!(condition)) {                 \
            atomicAdd(&failures[0], 1u);    \
            failures[1] = __LINE__;         \
        }                                   \
    } while (0)

__device__ __forceinline__ unsigned lane_id() {
    unsigned result;
    asm("mov.u32 %0, %%laneid;" : "=r"(result));
    return result;
}

__device__ unsigned smid(void) {
    unsigned r;
    asm volatile("mov.u32 %0, %%smid;" : "=r"(r) : : "memory");
    return r;
}

struct Where {
    unsigned lane, warp;
};

__global__ void lanes(unsigned* failures) {
    CHECK(lane_id() == threadIdx.x % 32);
    unsigned less, equal, many;
    asm volatile("mov.u32 %0, %%lanemask_lt;" : "=r"(less));
    asm volatile("mov.u32 %0, %lanemask_eq;" : "=r"(equal) :);
    asm volatile("mov.u32 %0, %%nsmid;" : "=r"(many)::"memory");
    CHECK(less == (1u << lane_id()) - 1 && equal == 1u << lane_id());
    CHECK(smid() < many);
    Where w[2];
    asm("mov.u32 %0, %%warpid;\n\t" : "=r"(w[threadIdx.x % 2].warp));
    CHECK(w[threadIdx.x % 2].warp < 64);
    int x;
    asm("mov.u32 %0, %%tid.x;" : "=r"(x));
    CHECK(x == (int)threadIdx.x);
    asm volatile("" ::: "memory");
}

__global__ void clocks(unsigned* failures) {
    long long start = clock64();
    unsigned long long t0, t1;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(t0));
    do {
        asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(t1));
    } while (t1 - t0 < 20000);
    CHECK(clock64() > start);
    clock_t before = clock();
    __nanosleep(1000);
    CHECK(clock() != before);
    unsigned low;
    asm volatile("mov.u32 %0, %%clock;" : "=r"(low));
    CHECK(t1 > t0 && low != 0);
}
