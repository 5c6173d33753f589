// Macros, namespaces, overloads, templates, lambdas, recursion, function pointers, structures, device variables.
// option -DFROM_OPTION=7
// instance pick<Add>
// instance pick<Multiply>
// launch outer::inner::scoped 1 4
// launch made_by_macro 1 4
// launch variables 1 1
// launch features 1 32
// launch pick<Add> 1 4
// launch pick<Multiply> 1 4
// launch c_name 1 4
// launch heap 2 32
#define CHECK(condition)                    \
    do {                                    \
        if (!(condition)) {                 \
            atomicAdd(&failures[0], 1u);    \
            failures[1] = __LINE__;         \
        }                                   \
    } while (0)

#define KERNEL(name) __global__ void name(unsigned* failures)
#ifndef __CUDACC__
#error "device code"
#endif
#if __CUDA_ARCH__ < 700
#error "architecture"
#endif
#ifdef __global__
#define KEYWORDS 1
#endif

#if 0
__global__ void not_there(unsigned* failures) { this does not compile }
#endif

__constant__ float coefficients[4] = {1, 2, 3, 4};
__constant__ int size;
__device__ int counter = 5, table[] = {1, 2, 3};
static __device__ double hidden = 2.5;
__device__ const float fixed = 1.5f;

namespace outer {
namespace inner {
__device__ int deep = 9;
__constant__ short narrow = 3;
__global__ void scoped(unsigned* failures) { CHECK(deep == 9 && narrow == 3 && FROM_OPTION == 7); }
}  // namespace inner
}  // namespace outer

KERNEL(made_by_macro) { CHECK(blockDim.x == 4); }

__global__ void variables(unsigned* failures) {
    CHECK(coefficients[2] == 3 && size == 0 && counter == 5 && table[2] == 3 && hidden == 2.5 && fixed == 1.5f);
    counter += 1;
    CHECK(counter == 6);
}

__host__ __device__ inline int factorial(int n) { return n <= 1 ? 1 : n * factorial(n - 1); }
__device__ __noinline__ int add_one(int x) { return x + 1; }
__device__ __forceinline__ int add_two(int x) { return x + 2; }
__device__ float overloaded(float) { return 1; }
__device__ int overloaded(int) { return 2; }

struct Shape {
    int sides;
    __device__ Shape(int n) : sides(n) {}
    __device__ virtual int area() const { return sides; }
    __device__ virtual ~Shape() {}
};
struct Square : Shape {
    __device__ Square() : Shape(4) {}
    __device__ int area() const override { return 16; }
};

template <class F>
__device__ int apply(F f, int x) {
    return f(x);
}

template <class... T>
__device__ int count(T...) {
    return sizeof...(T);
}

__global__ void features(unsigned* failures) {
    CHECK(factorial(6) == 720 && add_one(1) == 2 && add_two(1) == 3);
    CHECK(overloaded(1.0f) == 1 && overloaded(1) == 2);
    int (*function)(int) = add_one;
    CHECK(function(4) == 5);
    Square square;
    Shape* shape = &square;
    CHECK(shape->area() == 16 && shape->sides == 4);
    int offset = threadIdx.x;
    CHECK(apply([=](int x) { return x + offset; }, 1) == 1 + (int)threadIdx.x);
    CHECK(apply([](int x) { return 2 * x; }, 4) == 8);
    CHECK(count(1, 2.0, 'c') == 3);
    float local[8];
    memset(local, 0, sizeof(local));
    local[3] = 2.0f;
    float copy[8];
    memcpy(copy, local, sizeof(local));
    CHECK(copy[3] == 2.0f && copy[0] == 0.0f);
    const float* __restrict__ view = copy;
    CHECK(view[3] == 2.0f && __ldg(&table[1]) == 2 && __ldg(table + 2) == 3);
    int sum = 0;
    for (int i = 0; i < 10; ++i) {
        if (i == 5) continue;
        if (i == 8) break;
        sum += i;
    }
    CHECK(sum == 23);
    switch (threadIdx.x % 2) {
        case 0: CHECK(threadIdx.x % 2 == 0); break;
        default: CHECK(threadIdx.x % 2 == 1);
    }
    CHECK(KEYWORDS == 1);
    assert(threadIdx.x < 32);
}

struct Add {
    __device__ static int of(int a, int b) { return a + b; }
};
struct Multiply {
    __device__ static int of(int a, int b) { return a * b; }
};
template <class Operation>
__global__ void __launch_bounds__(64) pick(unsigned* failures) {
    CHECK(Operation::of(2, 2) == 4);
}

extern "C" __global__ void c_name(unsigned* failures) { CHECK(threadIdx.x < 4); }

__global__ void heap(unsigned* failures) {
    int* block = (int*)malloc(16 * sizeof(int));
    CHECK(block != nullptr);
    for (int i = 0; i < 16; ++i) block[i] = i + threadIdx.x;
    CHECK(block[15] == 15 + (int)threadIdx.x);
    free(block);
    int* one = new int(3);
    CHECK(*one == 3);
    delete one;
}
