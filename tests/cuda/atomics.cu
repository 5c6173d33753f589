// Atomic functions: the values that they store and the values that they return.
// launch add 4 128
// launch check_add 1 1
// launch others 2 64
// launch check_others 1 1
// launch single 1 1
// launch lock 4 64
// launch check_lock 1 1
#define CHECK(condition)                    \
    do {                                    \
        if (!(condition)) {                 \
            atomicAdd(&failures[0], 1u);    \
            failures[1] = __LINE__;         \
        }                                   \
    } while (0)

__device__ int i_sum;
__device__ unsigned u_sum;
__device__ unsigned long long l_sum;
__device__ float f_sum;
__device__ double d_sum;

__global__ void add(unsigned* failures) {
    int i = threadIdx.x + blockDim.x * blockIdx.x;
    atomicAdd(&i_sum, i - 100);
    atomicAdd(&u_sum, (unsigned)i);
    atomicAdd(&l_sum, 1ull << 32);
    atomicAdd(&f_sum, 0.5f);
    atomicAdd(&d_sum, 0.25);
}

__global__ void check_add(unsigned* failures) {
    CHECK(i_sum == 512 * 511 / 2 - 51200 && u_sum == 512 * 511 / 2 && l_sum == 512ull << 32);
    CHECK(f_sum == 256.0f && d_sum == 128.0);
}

__device__ int lowest = 1 << 30, highest = -(1 << 30), difference = 1000;
__device__ unsigned ring, countdown = 9, ors, ands = 0xffffffffu, xors;
__device__ long long far_low = 1LL << 60;
__device__ unsigned long long far_high;
__device__ int tickets[128];

__global__ void others(unsigned* failures) {
    int i = threadIdx.x + blockDim.x * blockIdx.x;
    atomicMin(&lowest, i - 20);
    atomicMax(&highest, i + 20);
    atomicSub(&difference, 2);
    CHECK(atomicInc(&ring, 9) <= 9);
    CHECK(atomicDec(&countdown, 9) <= 9);
    atomicOr(&ors, 1u << (i & 31));
    atomicAnd(&ands, ~(1u << (i & 15)));
    atomicXor(&xors, 1u << (i & 31));
    atomicMin(&far_low, (long long)-i);
    atomicMax(&far_high, (unsigned long long)i << 40);
    CHECK(atomicExch(&tickets[i], i) == 0);
    atomicAdd_block(&tickets[i], 1);
    atomicAdd_system(&tickets[i], 1);
}

__global__ void check_others(unsigned* failures) {
    CHECK(lowest == -20 && highest == 147 && difference == 744 && ring == 8 && countdown == 1);
    CHECK(ors == 0xffffffffu && ands == 0xffff0000u && xors == 0);
    CHECK(far_low == -127 && far_high == 127ull << 40 && tickets[5] == 7);
}

__global__ void single(unsigned* failures) {
    int a = 5;
    __shared__ int s;
    s = a;
    CHECK(atomicCAS(&s, 5, 6) == 5 && s == 6 && atomicCAS(&s, 5, 7) == 6 && s == 6);
    CHECK(atomicAdd(&s, 1) == 6 && atomicSub(&s, 2) == 7 && atomicExch(&s, 9) == 5 && s == 9);
    __shared__ unsigned u;
    u = 3;
    CHECK(atomicInc(&u, 3) == 3 && u == 0 && atomicDec(&u, 3) == 0 && u == 3 && atomicInc(&u, 5) == 3 && u == 4);
    __shared__ float f;
    f = 1.0f;
    CHECK(atomicExch(&f, 2.5f) == 1.0f && atomicAdd(&f, 1.0f) == 2.5f && f == 3.5f);
    __shared__ unsigned long long l;
    l = 1;
    CHECK(atomicCAS(&l, 1ull, 1ull << 50) == 1 && l == 1ull << 50 && atomicAnd(&l, 0ull) == 1ull << 50);
    __shared__ unsigned short h[2];
    h[0] = 1;
    h[1] = 2;
    CHECK(atomicCAS(&h[1], (unsigned short)2, (unsigned short)9) == 2 && h[0] == 1 && h[1] == 9);
}

__device__ int mutex, guarded;

__global__ void lock(unsigned* failures) {
    if (threadIdx.x % 32 != 0) return;
    while (atomicCAS(&mutex, 0, 1) != 0) {
    }
    __threadfence();
    int seen = guarded;
    guarded = seen + 1;
    __threadfence();
    atomicExch(&mutex, 0);
}

__global__ void check_lock(unsigned* failures) { CHECK(guarded == 8 && mutex == 0); }
