// printf from kernels: conversions, and the values that it returns.
// launch conversions 1 1
// launch threads 2 2
// prints int -5 unsigned 7 long -123456789012 hex ff char x string text percent %
// prints float 1.500000 1.50 1.500000e+00
// prints 2 3
// prints block 0 thread 0
// prints block 0 thread 1
// prints block 1 thread 0
// prints block 1 thread 1
#define CHECK(condition)                    \
    do {                                    \
        if (!(condition)) {                 \
            atomicAdd(&failures[0], 1u);    \
            failures[1] = __LINE__;         \
        }                                   \
    } while (0)

__global__ void conversions(unsigned* failures) {
    printf("int %d unsigned %u long %lld hex %x char %c string %s percent %%\n", -5, 7u, -123456789012LL, 255, 'x', "text");
    int count = printf("float %f %.2f %e\n", 1.5f, 1.5, 1.5);
    printf("%d %d\n", 2, count);
    CHECK(count == 3);
}

__global__ void threads(unsigned* failures) { printf("block %d thread %d\n", blockIdx.x, threadIdx.x); }
