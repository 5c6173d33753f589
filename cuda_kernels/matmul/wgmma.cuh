// The instructions of Hopper's tensor cores, which four warps (a warpgroup) execute together: D (64 x N) += A
// (64 x K) times B (K x N), where K elements have 32 bytes. Both factors are read from shared memory, as
// descriptors say. The sums of a thread are in rows g and g + 8 of its warp's 16 rows and in columns 8i + 2t,
// 8i + 2t + 1, with g = lane / 4 and t = lane % 4: d[4i], d[4i + 1] in row g, d[4i + 2], d[4i + 3] in row g
// + 8.
//
// The instructions run on their own: fence_warpgroup() before the first, commit_products() after the last of
// a group, and wait_for_products<n>() until at most n groups are under way. Only then may a thread read the
// sums, or the block change the shared memory.
#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>

// Matrices in shared memory whose rows have 128 bytes and whose eight chunks of 16 bytes in a row are
// permuted: chunk x of row r is at x ^ (r % 8). `group` is the distance in bytes from 8 rows to the next 8;
// `panel` that from 64 columns to the next 64 of a factor whose rows are rows of memory (B). The address is a
// multiple of 1024, or 32 bytes times a step of k from one.
__device__ __forceinline__ unsigned long long matrix_at(const void* address, int panel, int group) {
    const auto from = static_cast<unsigned>(__cvta_generic_to_shared(address));
    return static_cast<unsigned long long>(from % (1 << 18) / 16) |
           static_cast<unsigned long long>(panel / 16) << 16 |
           static_cast<unsigned long long>(group / 16) << 32 | 1ull << 62;
}

// The stores of this thread to shared memory, cp.async included, are there for the tensor cores after a
// barrier.
__device__ __forceinline__ void show_to_tensor_cores() {
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
}
__device__ __forceinline__ void fence_warpgroup() { asm volatile("wgmma.fence.sync.aligned;" ::: "memory"); }
__device__ __forceinline__ void commit_products() {
    asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
}
template <int Pending>
__device__ __forceinline__ void wait_for_products() {
    asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(Pending) : "memory");
}

// Keeps the compiler from moving reads of a sum before the wait, which does not name the sums.
__device__ __forceinline__ void read_after_waiting(float& sum) {
#ifndef __CUSCOPE_HOST__
    asm volatile("" : "+f"(sum)::"memory");
#endif
}
__device__ __forceinline__ void read_after_waiting(int& sum) {
#ifndef __CUSCOPE_HOST__
    asm volatile("" : "+r"(sum)::"memory");
#endif
}

// `in` is the constraint of the sums: "+f" or "+r".
#define SUMS_8(in, i) \
    in(d[i]), in(d[i + 1]), in(d[i + 2]), in(d[i + 3]), in(d[i + 4]), in(d[i + 5]), in(d[i + 6]), in(d[i + 7])
#define SUMS_32(in, i) SUMS_8(in, i), SUMS_8(in, i + 8), SUMS_8(in, i + 16), SUMS_8(in, i + 24)
#define SUMS_64(in) SUMS_32(in, 0), SUMS_32(in, 32)
#define SUMS_96(in) SUMS_64(in), SUMS_32(in, 64)
#define SUMS_128(in) SUMS_96(in), SUMS_32(in, 96)
#define NAMES_64                                                                       \
    "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15"             \
    ", %16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31" \
    ", %32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47" \
    ", %48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63"
#define NAMES_96                                                                       \
    NAMES_64                                                                           \
    ", %64, %65, %66, %67, %68, %69, %70, %71, %72, %73, %74, %75, %76, %77, %78, %79" \
    ", %80, %81, %82, %83, %84, %85, %86, %87, %88, %89, %90, %91, %92, %93, %94, %95"
#define NAMES_128                                                                                  \
    NAMES_96                                                                                       \
    ", %96, %97, %98, %99, %100, %101, %102, %103, %104, %105, %106, %107, %108, %109, %110, %111" \
    ", %112, %113, %114, %115, %116, %117, %118, %119, %120, %121, %122, %123, %124, %125, %126, %127"

// The numbers behind the descriptors: add to the sums or replace them, negate neither factor (1, 1), and the
// two numbers that say along which side of a factor the neighbours in memory are: 0 along k, 1 along its rows
// (A) or its columns (B).
#define PRODUCT(count, columns, type, at_a, at_b, at_adds, along_a, along_b)                          \
    asm volatile("{\n.reg .pred adds;\nsetp.ne.s32 adds, " at_adds                                    \
                 ", 0;\nwgmma.mma_async.sync.aligned.m64n" columns "k16.f32." type "." type           \
                 " {" NAMES_##count "}, " at_a ", " at_b ", adds, 1, 1, " along_a ", " along_b ";\n}" \
                 : SUMS_##count("+f")                                                                 \
                 : "l"(a), "l"(b), "r"(static_cast<int>(adds)))
#define PRODUCTS(Type, count, columns, type, at_a, at_b, at_adds)                              \
    template <bool RowsInMemoryA = false, bool ColumnsInMemoryB = true>                        \
    __device__ __forceinline__ void multiply_add(Type, float(&d)[count], unsigned long long a, \
                                                 unsigned long long b, bool adds = true) {     \
        if constexpr (RowsInMemoryA && ColumnsInMemoryB)                                       \
            PRODUCT(count, columns, type, at_a, at_b, at_adds, "1", "1");                      \
        else if constexpr (RowsInMemoryA)                                                      \
            PRODUCT(count, columns, type, at_a, at_b, at_adds, "1", "0");                      \
        else if constexpr (ColumnsInMemoryB)                                                   \
            PRODUCT(count, columns, type, at_a, at_b, at_adds, "0", "1");                      \
        else                                                                                   \
            PRODUCT(count, columns, type, at_a, at_b, at_adds, "0", "0");                      \
    }

// d += A * B, with the descriptors of A and B; d = A * B if `adds` is false.
PRODUCTS(__half, 64, "128", "f16", "%64", "%65", "%66")
PRODUCTS(__half, 96, "192", "f16", "%96", "%97", "%98")
PRODUCTS(__half, 128, "256", "f16", "%128", "%129", "%130")
PRODUCTS(__nv_bfloat16, 64, "128", "bf16", "%64", "%65", "%66")
PRODUCTS(__nv_bfloat16, 96, "192", "bf16", "%96", "%97", "%98")
PRODUCTS(__nv_bfloat16, 128, "256", "bf16", "%128", "%129", "%130")

// The same for float, rounded to tf32, for 8-bit floats, and for bytes, of which the sums wrap around.
// Neighbours in memory have to be along k in both factors.
#define PRODUCTS_ALONG_K(Type, Sum, count, shape, in, at_a, at_b, at_adds, factors)                         \
    template <bool RowsInMemoryA = false, bool ColumnsInMemoryB = false>                                    \
    __device__ __forceinline__ void multiply_add(Type, Sum(&d)[count], unsigned long long a,                \
                                                 unsigned long long b, bool adds = true) {                  \
        static_assert(!RowsInMemoryA && !ColumnsInMemoryB, "neighbours in memory are along k");             \
        asm volatile("{\n.reg .pred adds;\nsetp.ne.s32 adds, " at_adds                                      \
                     ", 0;\nwgmma.mma_async.sync.aligned." shape " {" NAMES_##count "}, " at_a ", " at_b    \
                                                                                    ", adds" factors ";\n}" \
                     : SUMS_##count(in)                                                                     \
                     : "l"(a), "l"(b), "r"(static_cast<int>(adds)));                                        \
    }
PRODUCTS_ALONG_K(float, float, 64, "m64n128k8.f32.tf32.tf32", "+f", "%64", "%65", "%66", ", 1, 1")
PRODUCTS_ALONG_K(float, float, 96, "m64n192k8.f32.tf32.tf32", "+f", "%96", "%97", "%98", ", 1, 1")
PRODUCTS_ALONG_K(float, float, 128, "m64n256k8.f32.tf32.tf32", "+f", "%128", "%129", "%130", ", 1, 1")
#define FLOAT8_PRODUCTS(Type, type)                                                                         \
    PRODUCTS_ALONG_K(Type, float, 64, "m64n128k32.f32." type "." type, "+f", "%64", "%65", "%66", ", 1, 1") \
    PRODUCTS_ALONG_K(Type, float, 96, "m64n192k32.f32." type "." type, "+f", "%96", "%97", "%98", ", 1, 1") \
    PRODUCTS_ALONG_K(Type, float, 128, "m64n256k32.f32." type "." type, "+f", "%128", "%129", "%130",       \
                     ", 1, 1")
FLOAT8_PRODUCTS(__nv_fp8_e4m3, "e4m3")
FLOAT8_PRODUCTS(__nv_fp8_e5m2, "e5m2")
PRODUCTS_ALONG_K(unsigned char, int, 64, "m64n128k32.s32.u8.u8", "+r", "%64", "%65", "%66", "")
PRODUCTS_ALONG_K(unsigned char, int, 128, "m64n256k32.s32.u8.u8", "+r", "%128", "%129", "%130", "")

#undef FLOAT8_PRODUCTS
#undef PRODUCTS_ALONG_K
#undef PRODUCTS
#undef PRODUCT
#undef NAMES_128
#undef NAMES_96
#undef NAMES_64
#undef SUMS_128
#undef SUMS_96
#undef SUMS_64
#undef SUMS_32
#undef SUMS_8
