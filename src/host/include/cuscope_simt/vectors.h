// CUDA's vector types, with its sizes and alignments, dim3, and the built-in variables.
#pragma once
#pragma GCC system_header

#include "cuscope_simt/fiber.h"

#define CUSCOPE_VECTOR_TYPE(type, name, align2, align4)                                           \
    struct name##1 {                                                                              \
        type x;                                                                                   \
    };                                                                                            \
    struct __attribute__((aligned(align2))) name##2 {                                             \
        type x, y;                                                                                \
    };                                                                                            \
    struct name##3 {                                                                              \
        type x, y, z;                                                                             \
    };                                                                                            \
    struct __attribute__((aligned(align4))) name##4 {                                             \
        type x, y, z, w;                                                                          \
    };                                                                                            \
    CUSCOPE_INLINE constexpr name##1 make_##name##1(type x) { return {x}; }                       \
    CUSCOPE_INLINE constexpr name##2 make_##name##2(type x, type y) { return {x, y}; }            \
    CUSCOPE_INLINE constexpr name##3 make_##name##3(type x, type y, type z) { return {x, y, z}; } \
    CUSCOPE_INLINE constexpr name##4 make_##name##4(type x, type y, type z, type w) { return {x, y, z, w}; }

CUSCOPE_VECTOR_TYPE(signed char, char, 2, 4)
CUSCOPE_VECTOR_TYPE(unsigned char, uchar, 2, 4)
CUSCOPE_VECTOR_TYPE(short, short, 4, 8)
CUSCOPE_VECTOR_TYPE(unsigned short, ushort, 4, 8)
CUSCOPE_VECTOR_TYPE(int, int, 8, 16)
CUSCOPE_VECTOR_TYPE(unsigned, uint, 8, 16)
CUSCOPE_VECTOR_TYPE(long, long, 2 * sizeof(long), 16)
CUSCOPE_VECTOR_TYPE(unsigned long, ulong, 2 * sizeof(long), 16)
CUSCOPE_VECTOR_TYPE(long long, longlong, 16, 16)
CUSCOPE_VECTOR_TYPE(unsigned long long, ulonglong, 16, 16)
CUSCOPE_VECTOR_TYPE(float, float, 8, 16)
CUSCOPE_VECTOR_TYPE(double, double, 16, 16)
#undef CUSCOPE_VECTOR_TYPE

// Four values of 8 bytes; the name tells the alignment.
#define CUSCOPE_VECTOR_TYPE(type, name, alignment)                                                        \
    struct __attribute__((aligned(alignment))) name##4_##alignment##a {                                   \
        type x, y, z, w;                                                                                  \
    };                                                                                                    \
    CUSCOPE_INLINE constexpr name##4_##alignment##a make_##name##4_##alignment##a(type x, type y, type z, \
                                                                                  type w) {               \
        return {x, y, z, w};                                                                              \
    }
#define CUSCOPE_VECTOR_TYPES(type, name) \
    CUSCOPE_VECTOR_TYPE(type, name, 16)  \
    CUSCOPE_VECTOR_TYPE(type, name, 32)
CUSCOPE_VECTOR_TYPES(long, long)
CUSCOPE_VECTOR_TYPES(unsigned long, ulong)
CUSCOPE_VECTOR_TYPES(long long, longlong)
CUSCOPE_VECTOR_TYPES(unsigned long long, ulonglong)
CUSCOPE_VECTOR_TYPES(double, double)
#undef CUSCOPE_VECTOR_TYPES
#undef CUSCOPE_VECTOR_TYPE

// No alignment check of `this`: it would need the address of each temporary blockDim, and so store it on the
// stack in every function with a protected frame.
struct dim3 {
    unsigned x, y, z;
    CUSCOPE_OWN constexpr dim3(unsigned vx = 1, unsigned vy = 1, unsigned vz = 1) : x(vx), y(vy), z(vz) {}
    CUSCOPE_OWN constexpr dim3(uint3 v) : x(v.x), y(v.y), z(v.z) {}
    CUSCOPE_OWN constexpr operator uint3() const { return {x, y, z}; }
};

static const int warpSize = 32;

namespace cuscope_simt {

// The built-in variables; the compiler driver writes thread_index() for threadIdx.
CUSCOPE_OWN uint3 thread_index() {
    const Index3& index = cuscope_fiber->thread_index;
    return {CUSCOPE_FIELD(index.x), CUSCOPE_FIELD(index.y), CUSCOPE_FIELD(index.z)};
}
CUSCOPE_OWN uint3 block_index() {
    const Index3& index = cuscope_fiber->block_index;
    return {CUSCOPE_FIELD(index.x), CUSCOPE_FIELD(index.y), CUSCOPE_FIELD(index.z)};
}
CUSCOPE_OWN dim3 block_dim() {
    const Index3& size = cuscope_fiber->block_dim;
    return {CUSCOPE_FIELD(size.x), CUSCOPE_FIELD(size.y), CUSCOPE_FIELD(size.z)};
}
CUSCOPE_OWN dim3 grid_dim() {
    const Index3& size = cuscope_fiber->grid_dim;
    return {CUSCOPE_FIELD(size.x), CUSCOPE_FIELD(size.y), CUSCOPE_FIELD(size.z)};
}

}  // namespace cuscope_simt

#ifdef CUSCOPE_DIAGNOSE
extern const uint3 threadIdx, blockIdx;
extern const dim3 blockDim, gridDim;
#endif
