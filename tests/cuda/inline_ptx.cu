// PTX instructions in asm statements: copies into shared memory, tensor cores, loads and stores, arithmetic.
// launch copies 2 64 1024
// launch products 1 32
// launch products_of_doubles 1 32
// launch rows 1 32
// launch memory 2 32
// launch arithmetic 1 64
// launch together 1 64
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <stdint.h>

#define CHECK(condition)                    \
    do {                                    \
        if (!(condition)) {                 \
            atomicAdd(&failures[0], 1u);    \
            failures[1] = __LINE__;         \
        }                                   \
    } while (0)

__device__ __forceinline__ uint32_t shared_address(const void* p) {
    return static_cast<uint32_t>(__cvta_generic_to_shared(p));
}

template <int N>
__device__ __forceinline__ void cp_async_wait() {
    asm volatile("cp.async.wait_group %0;\n" ::"n"(N));
}

__device__ int numbers[512];

__global__ void copies(unsigned* failures) {
    extern __shared__ __align__(16) int dynamic[];
    __shared__ __align__(16) int fixed[256];
    const int t = threadIdx.x;
    for (int i = t; i < 512; i += 64) numbers[i] = i * 3;
    __threadfence();
    __syncthreads();
    asm volatile("cp.async.cg.shared.global [%0], [%1], %2;\n" ::"r"(shared_address(&dynamic[4 * t])), "l"(&numbers[4 * (63 - t)]), "n"(16));
    asm volatile("cp.async.ca.shared.global [%0], [%1], 8;" : : "r"(shared_address(fixed + 2 * t)), "l"(numbers + 2 * t) : "memory");
    const int kept = t < 10 ? 4 : 0;
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4, %2;" ::"r"(shared_address(&fixed[128 + threadIdx.x])), "l"(&numbers[t]), "r"(kept));
    asm volatile("cp.async.commit_group;\n" ::: "memory");
    cp_async_wait<0>();
    asm volatile("cp.async.wait_all;");
    __syncthreads();
    const int other = t ^ 21;
    CHECK(dynamic[4 * other + 1] == (4 * (63 - other) + 1) * 3 && fixed[2 * other + 1] == (2 * other + 1) * 3);
    CHECK(fixed[128 + other] == (other < 10 ? other * 3 : 0));
    CHECK(__cvta_shared_to_generic(shared_address(&fixed[3])) == &fixed[3]);
    uint32_t old_style;
    asm("{ .reg .u64 t; cvta.to.shared.u64 t, %1; cvt.u32.u64 %0, t; }" : "=r"(old_style) : "l"(&fixed[7]));
    CHECK(old_style == shared_address(&fixed[7]));
}

__device__ int a_of(int row, int column) { return (row * 7 + column * 3) % 9 - 4; }
__device__ int b_of(int row, int column) { return (row * 5 + column * 11) % 7 - 3; }
__device__ int ab_of(int row, int column, int k) {
    int sum = 0;
    for (int i = 0; i < k; ++i) sum += a_of(row, i) * b_of(i, column);
    return sum;
}
__device__ uint32_t pair(int x, int y) {
    return __half_as_ushort(__int2half_rn(x)) | (uint32_t)__half_as_ushort(__int2half_rn(y)) << 16;
}
__device__ uint32_t bpair(int x, int y) {
    return __bfloat16_as_ushort(__int2bfloat16_rn(x)) | (uint32_t)__bfloat16_as_ushort(__int2bfloat16_rn(y)) << 16;
}
__device__ uint32_t four(int (*of)(int, int), bool down, int row, int column) {
    uint32_t word = 0;
    for (int i = 0; i < 4; ++i) word |= (uint32_t)(of(down ? row + i : row, down ? column : column + i) & 255) << 8 * i;
    return word;
}

__global__ void products(unsigned* failures) {
    const int lane = threadIdx.x, g = lane / 4, t = lane % 4;
    uint32_t a[4], b[2];
    float d[4], c[4] = {1, 2, 3, 4};
    for (int i = 0; i < 4; ++i) a[i] = pair(a_of(g + i % 2 * 8, 2 * t + i / 2 * 8), a_of(g + i % 2 * 8, 2 * t + 1 + i / 2 * 8));
    for (int i = 0; i < 2; ++i) b[i] = pair(b_of(2 * t + i * 8, g), b_of(2 * t + 1 + i * 8, g));
    asm volatile(
        "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 "
        "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%10, %11, %12, %13};\n"
        : "=f"(d[0]), "=f"(d[1]), "=f"(d[2]), "=f"(d[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]), "f"(c[0]), "f"(c[1]), "f"(c[2]), "f"(c[3]));
    for (int i = 0; i < 4; ++i) CHECK(d[i] == ab_of(g + i / 2 * 8, 2 * t + i % 2, 16) + i + 1);
    uint32_t h[2] = {0, pair(5, 6)};
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16 {%0,%1}, {%2,%3,%4,%5}, {%6,%7}, {%0,%1};"
                 : "+r"(h[0]), "+r"(h[1])
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
    CHECK(h[0] == pair(ab_of(g, 2 * t, 16), ab_of(g, 2 * t + 1, 16)) || ab_of(g, 2 * t, 16) == 0 || ab_of(g, 2 * t + 1, 16) == 0);
    CHECK(__half2float(__ushort_as_half(h[1] >> 16)) == ab_of(g + 8, 2 * t + 1, 16) + 6);
    asm volatile("mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5}, {%6}, {%7,%8,%9,%10};"
                 : "=f"(d[0]), "=f"(d[1]), "=f"(d[2]), "=f"(d[3])
                 : "r"(a[0]), "r"(a[1]), "r"(b[0]), "f"(0.0f), "f"(0.0f), "f"(0.0f), "f"(0.0f));
    for (int i = 0; i < 4; ++i) CHECK(d[i] == ab_of(g + i / 2 * 8, 2 * t + i % 2, 8));

    for (int i = 0; i < 4; ++i) a[i] = bpair(a_of(g + i % 2 * 8, 2 * t + i / 2 * 8), a_of(g + i % 2 * 8, 2 * t + 1 + i / 2 * 8));
    for (int i = 0; i < 2; ++i) b[i] = bpair(b_of(2 * t + i * 8, g), b_of(2 * t + 1 + i * 8, g));
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
                 : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
    for (int i = 0; i < 4; ++i) CHECK(c[i] == ab_of(g + i / 2 * 8, 2 * t + i % 2, 16) + i + 1);

    for (int i = 0; i < 4; ++i) a[i] = __float_as_uint((float)a_of(g + i % 2 * 8, t + i / 2 * 4));
    for (int i = 0; i < 2; ++i) b[i] = __float_as_uint((float)b_of(t + i * 4, g));
    asm volatile("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%10,%10,%10,%10};"
                 : "=f"(d[0]), "=f"(d[1]), "=f"(d[2]), "=f"(d[3])
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]), "f"(0.5f));
    for (int i = 0; i < 4; ++i) CHECK(d[i] == ab_of(g + i / 2 * 8, 2 * t + i % 2, 8) + 0.5f);

    for (int i = 0; i < 4; ++i) a[i] = four(a_of, false, g + i % 2 * 8, 4 * t + i / 2 * 16);
    for (int i = 0; i < 2; ++i) b[i] = four(b_of, true, 4 * t + i * 16, g);
    int s[4];
    asm volatile("mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%10,%10,%10,%10};"
                 : "=r"(s[0]), "=r"(s[1]), "=r"(s[2]), "=r"(s[3])
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]), "r"(-9));
    for (int i = 0; i < 4; ++i) CHECK(s[i] == ab_of(g + i / 2 * 8, 2 * t + i % 2, 32) - 9);
}

__global__ void products_of_doubles(unsigned* failures) {
    const int lane = threadIdx.x, g = lane / 4, t = lane % 4;
    double a[8], b[4], d[4];
    for (int i = 0; i < 8; ++i) a[i] = a_of(g + i % 2 * 8, t + i / 2 * 4);
    for (int i = 0; i < 4; ++i) b[i] = b_of(t + i * 4, g);
    asm volatile("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0,%1}, {%2}, {%3}, {%4,%5};"
                 : "=d"(d[0]), "=d"(d[1])
                 : "d"(a[0]), "d"(b[0]), "d"(1.5), "d"(2.5));
    for (int i = 0; i < 2; ++i) CHECK(d[i] == ab_of(g, 2 * t + i, 4) + 1.5 + i);
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
    asm volatile("mma.sync.aligned.m16n8k4.row.col.f64.f64.f64.f64 {%0,%1,%2,%3}, {%4,%5}, {%6}, {%7,%7,%7,%7};"
                 : "=d"(d[0]), "=d"(d[1]), "=d"(d[2]), "=d"(d[3])
                 : "d"(a[0]), "d"(a[1]), "d"(b[0]), "d"(0.25));
    for (int i = 0; i < 4; ++i) CHECK(d[i] == ab_of(g + i / 2 * 8, 2 * t + i % 2, 4) + 0.25);
    asm volatile("mma.sync.aligned.m16n8k8.row.col.f64.f64.f64.f64 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%10,%10,%10,%10};"
                 : "=d"(d[0]), "=d"(d[1]), "=d"(d[2]), "=d"(d[3])
                 : "d"(a[0]), "d"(a[1]), "d"(a[2]), "d"(a[3]), "d"(b[0]), "d"(b[1]), "d"(-0.5));
    for (int i = 0; i < 4; ++i) CHECK(d[i] == ab_of(g + i / 2 * 8, 2 * t + i % 2, 8) - 0.5);
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f64.f64.f64.f64 {%0,%1,%2,%3}, {%4,%5,%6,%7,%8,%9,%10,%11}, "
                 "{%12,%13,%14,%15}, {%0,%1,%2,%3};"
                 : "+d"(d[0]), "+d"(d[1]), "+d"(d[2]), "+d"(d[3])
                 : "d"(a[0]), "d"(a[1]), "d"(a[2]), "d"(a[3]), "d"(a[4]), "d"(a[5]), "d"(a[6]), "d"(a[7]), "d"(b[0]), "d"(b[1]),
                   "d"(b[2]), "d"(b[3]));
    for (int i = 0; i < 4; ++i)
        CHECK(d[i] == ab_of(g + i / 2 * 8, 2 * t + i % 2, 8) - 0.5 + ab_of(g + i / 2 * 8, 2 * t + i % 2, 16));
    // In the order of k, each sum is 1 + 2^-53, which rounds to 1. Another order would add 2^-53 to 2^-53 first.
    a[0] = 1, a[1] = 1, b[0] = t == 0 ? 1 : 0x1p-53;
    asm volatile("mma.sync.aligned.m16n8k4.row.col.f64.f64.f64.f64 {%0,%1,%2,%3}, {%4,%5}, {%6}, {%7,%7,%7,%7};"
                 : "=d"(d[0]), "=d"(d[1]), "=d"(d[2]), "=d"(d[3])
                 : "d"(a[0]), "d"(a[1]), "d"(b[0]), "d"(0.0));
    for (int i = 0; i < 4; ++i) CHECK(d[i] == 1.0);
    // The product of 1 + 2^-52 and itself is not rounded before it is added.
    a[0] = a[1] = t == 1 ? 1 + 0x1p-52 : 1, b[0] = t == 0 ? -1 - 0x1p-51 : t == 1 ? 1 + 0x1p-52 : 0;
    asm volatile("mma.sync.aligned.m16n8k4.row.col.f64.f64.f64.f64 {%0,%1,%2,%3}, {%4,%5}, {%6}, {%7,%7,%7,%7};"
                 : "=d"(d[0]), "=d"(d[1]), "=d"(d[2]), "=d"(d[3])
                 : "d"(a[0]), "d"(a[1]), "d"(b[0]), "d"(0.0));
    for (int i = 0; i < 4; ++i) CHECK(d[i] == 0x1p-104);
#endif
}

__global__ void rows(unsigned* failures) {
    __shared__ __align__(16) unsigned short tile[32][8];
    const int lane = threadIdx.x;
    for (int i = 0; i < 8; ++i) tile[lane][i] = lane * 8 + i;
    __syncwarp();
    uint32_t r[4], x;
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
                 : "r"(shared_address(tile[lane])));
    for (int m = 0; m < 4; ++m) {
        const unsigned first = (m * 8 + lane / 4) * 8 + lane % 4 * 2;
        CHECK(r[m] == (first | (first + 1) << 16));
    }
    asm volatile("ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%0, %1}, [%2];" : "=r"(r[0]), "=r"(r[1]) : "r"(shared_address(tile[lane % 16 + 16])));
    for (int m = 0; m < 2; ++m) {
        const unsigned first = (16 + m * 8 + lane % 4 * 2) * 8 + lane / 4;
        CHECK(r[m] == (first | (first + 8) << 16));
    }
    asm volatile("ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%0}, [%1];" : "=r"(x) : "r"(shared_address(tile[lane % 8])));
    CHECK(x == ((lane / 4 * 8 + lane % 4 * 2) | (lane / 4 * 8 + lane % 4 * 2 + 1) << 16));
}

__device__ __align__(16) float values[128];
__device__ int flag;

__global__ void memory(unsigned* failures) {
    __shared__ int word[32];
    const int t = threadIdx.x;
    if (blockIdx.x == 0) {
        asm volatile("st.global.v4.f32 [%0], {%1, %2, %3, %4};" ::"l"(&values[4 * t]), "f"(t + 0.5f), "f"(1.0f), "f"(2.0f), "f"(-1.0f * t) : "memory");
        float4 v;
        asm volatile("ld.global.v4.f32 {%0, %1, %2, %3}, [%4];" : "=f"(v.x), "=f"(v.y), "=f"(v.z), "=f"(v.w) : "l"(&values[4 * t]));
        CHECK(v.x == t + 0.5f && v.y == 1 && v.z == 2 && v.w == -t);
        float y;
        asm volatile("ld.global.cg.f32 %0, [%1+8];" : "=f"(y) : "l"(values + 4 * t));
        CHECK(y == 2.0f);
        __syncthreads();
        asm volatile("membar.gl;" ::: "memory");
        if (t == 0) asm volatile("st.release.gpu.global.s32 [%0], %1;" ::"l"(&flag), "r"(7) : "memory");
    } else {
        int seen = 0;
        if (t == 0) {
            do {
                asm volatile("ld.acquire.gpu.global.s32 %0, [%1];" : "=r"(seen) : "l"(&flag) : "memory");
            } while (seen != 7);
        }
        __syncthreads();
        CHECK(*(volatile float*)&values[4 * t] == t + 0.5f);
    }
    asm volatile("st.shared.u32 [%0], %1;" ::"r"(shared_address(&word[t])), "r"(t * 5));
    __syncwarp();
    int back;
    asm volatile("ld.shared.u32 %0, [%1];" : "=r"(back) : "r"(shared_address(&word[31 - t])));
    CHECK(back == (31 - t) * 5);
    if (t > 40) asm volatile("trap;");
}

__device__ float f_sum;
__device__ unsigned tickets;

__global__ void together(unsigned* failures) {
    __shared__ unsigned drawn[64], count;
    const int t = threadIdx.x;
    if (t == 0) count = 0;
    drawn[t] = 0;
    asm volatile("bar.sync 0;" ::: "memory");
    unsigned ticket;
    asm volatile("atom.global.add.u32 %0, [%1], %2;" : "=r"(ticket) : "l"(&tickets), "r"(1) : "memory");
    atomicAdd(&drawn[ticket], 1u);
    asm volatile("red.shared.add.u32 [%0], %1;" ::"r"(shared_address(&count)), "r"(2) : "memory");
    asm volatile("red.global.add.f32 [%0], %1;" ::"l"(&f_sum), "f"(0.5f) : "memory");
    asm volatile("bar.sync 0;" ::: "memory");
    asm volatile("bar.warp.sync 0xffffffff;");
    CHECK(drawn[t] == 1 && count == 128 && *(volatile float*)&f_sum == 32.0f);
}

__global__ void arithmetic(unsigned* failures) {
    const unsigned x = threadIdx.x * 2654435761u, y = x ^ 0x5a5a1234;
    unsigned r;
    float f;
    asm("lop3.b32 %0, %1, %2, %3, 0x96;" : "=r"(r) : "r"(x), "r"(y), "r"(0xff00ff00u));
    CHECK(r == (x ^ y ^ 0xff00ff00u));
    asm("lop3.b32 %0, %1, %2, %3, %4;" : "=r"(r) : "r"(x), "r"(y), "r"(15), "n"((0xf0 & 0xcc) | 0xaa));
    CHECK(r == ((x & y) | 15u));
    asm("prmt.b32 %0, %1, %2, %3;" : "=r"(r) : "r"(x), "r"(y), "r"(0x7610));
    CHECK(r == ((x & 0xffff) | (y & 0xffff0000)));
    asm("bfe.u32 %0, %1, %2, %3;" : "=r"(r) : "r"(x), "r"(5), "r"(7));
    CHECK(r == (x >> 5 & 127));
    int s;
    asm("bfe.s32 %0, %1, 20, 12;" : "=r"(s) : "r"((int)x));
    CHECK(s == (int)x >> 20);
    asm("bfi.b32 %0, %1, %2, 8, 4;" : "=r"(r) : "r"(x), "r"(y));
    CHECK(r == ((y & ~0xf00u) | (x & 15) << 8));
    asm("shf.l.wrap.b32 %0, %1, %2, %3;" : "=r"(r) : "r"(x), "r"(y), "r"(9));
    CHECK(r == (y << 9 | x >> 23));
    unsigned long long wide;
    asm("mad.wide.u32 %0, %1, %2, %3;" : "=l"(wide) : "r"(x), "r"(y), "l"(11ull));
    CHECK(wide == (unsigned long long)x * y + 11);
    asm("mul.hi.u32 %0, %1, %2;" : "=r"(r) : "r"(x), "r"(y));
    CHECK(r == __umulhi(x, y));
    asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(f) : "f"(3.0f));
    CHECK(fabsf(f - 8.0f) < 1e-5f);
    asm volatile("rcp.approx.f32 %0, %1;" : "=f"(f) : "f"(4.0f));
    CHECK(fabsf(f - 0.25f) < 1e-6f);
    asm("tanh.approx.f32 %0, %1;" : "=f"(f) : "f"(0.5f));
    CHECK(fabsf(f - 0.46211716f) < 2e-3f);
    asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(r) : "f"(2.0f), "f"(-1.5f));
    CHECK(r == 0x4000be00u);
    asm("mov.b32 %0, %1;" : "=r"(r) : "f"(1.0f));
    CHECK(r == 0x3f800000u);
    float loaded = -1.0f;
    const int wanted = threadIdx.x % 3;
    asm volatile(
        "{\n\t.reg .pred p, q;\n\t"
        "setp.ne.s32 p, %3, 0;\n\t"
        "setp.gt.u32 q, %4, 31;\n\t"
        "@!p mov.f32 %0, 0fC0000000;\n\t"
        "@p ld.global.f32 %0, [%2];\n\t"
        "selp.b32 %1, %3, 77, q;\n\t}"
        : "+f"(loaded), "=r"(r)
        : "l"(&values[5]), "r"(wanted), "r"(threadIdx.x));
    CHECK(loaded == (wanted ? values[5] : -2.0f) && r == (threadIdx.x > 31 ? wanted : 77));
    unsigned steps = 0;
    asm volatile("{ .reg .pred p; LOOP: mad.lo.u32 %0, %0, 1, 1; setp.lt.u32 p, %0, %1; @p bra LOOP; }"
                 : "+r"(steps)
                 : "r"(threadIdx.x % 5));
    CHECK(steps == max(threadIdx.x % 5, 1u));
    if (threadIdx.x & 1)
        asm("popc.b32 %0, %1;" : "=r"(r) : "r"(x));
    else
        r = __popc(x);
    CHECK(r == (unsigned)__popc(x));
}
