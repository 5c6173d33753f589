// The tensor cores' instructions, one struct for each element type: C (16 x 8) += A (16 x 32 bytes; double:
// 64) times B (32 bytes x 8; double: 64). The matrices are spread over the lanes of a warp as defined by
// PTX's mma.sync. With g = lane / 4 and t = lane % 4, the four sums of a lane are in rows g, g, g + 8, g + 8
// and columns 2t, 2t + 1, 2t, 2t + 1. A register of A or B is a Part.
#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#ifdef __CUDA_ARCH__
constexpr int compiled_arch = __CUDA_ARCH__;
#else
constexpr int compiled_arch = 900;
#endif

// Loads four 8 x 8 matrices of 16-bit elements. Each lane passes the address of a row of 16 bytes.
__device__ __forceinline__ void load_matrices(unsigned (&d)[4], const void* row) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(d[0]), "=r"(d[1]), "=r"(d[2]), "=r"(d[3])
                 : "r"(static_cast<unsigned>(__cvta_generic_to_shared(row)))
                 : "memory");
}
__device__ __forceinline__ void load_matrices_transposed(unsigned (&d)[4], const void* row) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(d[0]), "=r"(d[1]), "=r"(d[2]), "=r"(d[3])
                 : "r"(static_cast<unsigned>(__cvta_generic_to_shared(row)))
                 : "memory");
}

template <class T>
struct Mma;

template <>
struct Mma<__half> {
    using Part = unsigned;
    using Sum = float;
    static constexpr int least_arch = 750, a_parts = 4, b_parts = 2;
    __device__ static void multiply_add(float (&c)[4], const unsigned (&a)[4], const unsigned (&b)[2]) {
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
        asm("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
            "{%0, %1, %2, %3};"
            : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
            : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
#else
#pragma unroll
        for (int i = 0; i < 2; ++i)  // sm_75 has half the depth
            asm("mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5}, {%6}, "
                "{%0, %1, %2, %3};"
                : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
                : "r"(a[2 * i]), "r"(a[2 * i + 1]), "r"(b[i]));
#endif
    }
};

template <>
struct Mma<__nv_bfloat16> {
    using Part = unsigned;
    using Sum = float;
    static constexpr int least_arch = 800, a_parts = 4, b_parts = 2;
    __device__ static void multiply_add(float (&c)[4], const unsigned (&a)[4], const unsigned (&b)[2]) {
        asm("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, "
            "%9}, "
            "{%0, %1, %2, %3};"
            : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
            : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
    }
};

// The tensor cores read the upper 19 bits of a float and ignore the rest. This rounds to 19 bits.
__device__ __forceinline__ unsigned to_tf32(unsigned bits) {
    unsigned rounded;
    asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(rounded) : "f"(__uint_as_float(bits)));
    return rounded;
}

template <>
struct Mma<float> {
    using Part = unsigned;
    using Sum = float;
    static constexpr int least_arch = 800, a_parts = 4, b_parts = 2;
    __device__ static void multiply_add(float (&c)[4], const unsigned (&a)[4], const unsigned (&b)[2]) {
        asm("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, "
            "%9}, "
            "{%0, %1, %2, %3};"
            : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
            : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
    }
};

template <>
struct Mma<signed char> {
    using Part = unsigned;
    using Sum = int;  // wraps around
    static constexpr int least_arch = 750, a_parts = 4, b_parts = 2;
    __device__ static void multiply_add(int (&c)[4], const unsigned (&a)[4], const unsigned (&b)[2]) {
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
        asm("mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
            "{%0, %1, %2, %3};"
            : "+r"(c[0]), "+r"(c[1]), "+r"(c[2]), "+r"(c[3])
            : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
#else
#pragma unroll
        for (int i = 0; i < 4; ++i)  // sm_75 has half the depth and half the rows
            asm("mma.sync.aligned.m8n8k16.row.col.s32.s8.s8.s32 {%0, %1}, {%2}, {%3}, {%0, %1};"
                : "+r"(c[i % 2 * 2]), "+r"(c[i % 2 * 2 + 1])
                : "r"(a[i]), "r"(b[i / 2]));
#endif
    }
};

template <>
struct Mma<unsigned char> {
    using Part = unsigned;
    using Sum = int;  // wraps around
    static constexpr int least_arch = 800, a_parts = 4, b_parts = 2;
    __device__ static void multiply_add(int (&c)[4], const unsigned (&a)[4], const unsigned (&b)[2]) {
        asm("mma.sync.aligned.m16n8k32.row.col.s32.u8.u8.s32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
            "{%0, %1, %2, %3};"
            : "+r"(c[0]), "+r"(c[1]), "+r"(c[2]), "+r"(c[3])
            : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
    }
};

// Each product is added without rounding it first, k after k, as by a loop of fma(). Larger instructions
// would multiply 8 or 16 steps of k, but a warp alone then keeps 0.64 or 0.57 of the tensor core busy (0.91
// with 4).
template <>
struct Mma<double> {
    using Part = double;
    using Sum = double;
    static constexpr int least_arch = 800, a_parts = 2, b_parts = 1;
    __device__ static void multiply_add(double (&c)[4], const double (&a)[2], const double (&b)[1]) {
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
        asm("mma.sync.aligned.m16n8k4.row.col.f64.f64.f64.f64 {%0, %1, %2, %3}, {%4, %5}, {%6}, "
            "{%0, %1, %2, %3};"
            : "+d"(c[0]), "+d"(c[1]), "+d"(c[2]), "+d"(c[3])
            : "d"(a[0]), "d"(a[1]), "d"(b[0]));
#else
#pragma unroll
        for (int i = 0; i < 2; ++i)  // sm_80 has half the rows
            asm("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0, %1}, {%2}, {%3}, {%0, %1};"
                : "+d"(c[i * 2]), "+d"(c[i * 2 + 1])
                : "d"(a[i]), "d"(b[0]));
#endif
    }
};
