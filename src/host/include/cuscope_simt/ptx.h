// Functions for PTX instructions in asm statements. The compiler driver writes the calls.
#pragma once
#pragma GCC system_header

#include "cuscope_simt/atomics.h"
#include "cuscope_simt/integers.h"
#include "cuscope_simt/numbers/rounding16.h"
#include "cuscope_simt/spaces.h"
#include "cuscope_simt/warp.h"

namespace cuscope_simt {
namespace ptx {

// Copies the bits of a value to a variable of another type. Missing bits become zero, extra bits are cut off.
template <class To, class From>
CUSCOPE_INLINE void put(To&& to, const From& from) {
    __builtin_memset(static_cast<void*>(&to), 0, sizeof to);
    __builtin_memcpy(static_cast<void*>(&to), &from, sizeof to < sizeof from ? sizeof to : sizeof from);
}

CUSCOPE_INLINE char* at(const volatile void* address, long long offset) {
    return const_cast<char*>(static_cast<const volatile char*>(address)) + offset;
}
CUSCOPE_INLINE char* at(unsigned long long address, long long offset) {
    return reinterpret_cast<char*>(address) + offset;
}
CUSCOPE_INLINE char* at(unsigned long address, long long offset) {
    return reinterpret_cast<char*>(address) + offset;
}
CUSCOPE_INLINE char* at(long long address, long long offset) {
    return reinterpret_cast<char*>(address) + offset;
}
CUSCOPE_INLINE char* at(long address, long long offset) { return reinterpret_cast<char*>(address) + offset; }
CUSCOPE_INLINE char* shared_at(unsigned long long address, long long offset) {
    return static_cast<char*>(__cvta_shared_to_generic(static_cast<size_t>(address))) + offset;
}

CUSCOPE_INLINE void check_aligned(const char* address, unsigned bytes) {
    if (reinterpret_cast<__UINTPTR_TYPE__>(address) % bytes != 0)
        fault(Fault::misaligned, "an asm statement with an address that is no multiple of the access's size",
              nullptr);
}
template <class T, unsigned long n>
CUSCOPE_INLINE void read(T (&to)[n], const char* from) {
    check_aligned(from, sizeof to);
    copying(to, from, sizeof to);
    __builtin_memcpy(to, from, sizeof to);
}
template <class T, unsigned long n>
CUSCOPE_INLINE void write(char* to, const T (&from)[n]) {
    check_aligned(to, sizeof from);
    copying(to, from, sizeof from);
    __builtin_memcpy(to, from, sizeof from);
}
// The same for accesses that other threads may make at the same time: volatile, relaxed, acquire and release.
template <class T, unsigned long n>
CUSCOPE_INLINE void read_ordered(T (&to)[n], const char* from) {
    count(from, sizeof to, Access::ordered_load);
    const Unchecked unchecked;
    read(to, from);
}
template <class T, unsigned long n>
CUSCOPE_INLINE void write_ordered(char* to, const T (&from)[n]) {
    count(to, sizeof from, Access::ordered_store);
    const Unchecked unchecked;
    write(to, from);
}
CUSCOPE_INLINE void visible() {
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
    poll();
}

#if defined(CUSCOPE_COUNTED) && !defined(CUSCOPE_CHECKED) && defined(__x86_64__)
// One instruction of a GPU: a function without hooks, whose cost images that count know by its name; the
// caller counts its accesses. False if an address is not aligned. Mistakes must happen in the caller, which
// has the line of the source.
#ifdef __clang__
#define CUSCOPE_ONE_INSTRUCTION CUSCOPE_UNCOUNTED __attribute__((noinline, no_sanitize("alignment")))
#else
#define CUSCOPE_ONE_INSTRUCTION CUSCOPE_UNCOUNTED __attribute__((noipa, no_sanitize("alignment")))
#endif
CUSCOPE_ONE_INSTRUCTION inline bool copied_aligned(char* to, const char* from, long long bytes,
                                                   long long taken) __asm__("cuscope_cp_async");
inline bool copied_aligned(char* to, const char* from, long long bytes, long long taken) {
    const auto both = reinterpret_cast<__UINTPTR_TYPE__>(to) | reinterpret_cast<__UINTPTR_TYPE__>(from);
    if (both % static_cast<size_t>(bytes) != 0) return false;
    const auto copied = static_cast<size_t>(taken < bytes ? taken : bytes);
    __builtin_memset(to, 0, static_cast<size_t>(bytes));
    __builtin_memcpy(to, from, copied);
    return true;
}
CUSCOPE_INLINE void cp_async(char* to, const char* from, long long bytes, long long taken) {
    char byte;
    // Is there memory? Moves cost nothing, and inline assembly has no hooks.
    asm volatile("movb $0, %0" : "=m"(*to));
    asm volatile("movb %1, %0" : "=q"(byte) : "m"(*(taken > 0 ? from : to)));
#ifndef CUSCOPE_TIMED  // the model of times would wait for the copy at once
    if (taken > 0) count(from, static_cast<unsigned>(taken < bytes ? taken : bytes), Access::load);
    count(to, static_cast<unsigned>(bytes), Access::store);
#endif
    if (copied_aligned(to, from, bytes, taken)) return;
    check_aligned(to, static_cast<unsigned>(bytes));
    check_aligned(from, static_cast<unsigned>(bytes));
}
#undef CUSCOPE_ONE_INSTRUCTION
#else
CUSCOPE_INLINE void cp_async(char* to, const char* from, long long bytes, long long taken) {
    check_aligned(to, static_cast<unsigned>(bytes));
    check_aligned(from, static_cast<unsigned>(bytes));
    const auto copied = static_cast<size_t>(taken < bytes ? taken : bytes);
    // The zeroes behind the copied bytes are written, too.
    if (copied != static_cast<size_t>(bytes)) wrote(to + copied, static_cast<size_t>(bytes) - copied);
    copying(to, from, copied);
    __builtin_memset(to, 0, static_cast<size_t>(bytes));
    __builtin_memcpy(to, from, copied);
}
#endif
CUSCOPE_INLINE void cp_async(char* to, const char* from, long long bytes) {
    cp_async(to, from, bytes, bytes);
}

// The lanes bring addresses of rows of 16 bytes. Each lane gets two neighbours of a row, or of a column.
template <int count, bool transposed>
inline void ldmatrix(unsigned (&d)[count], const char* row, const Site& site) {
    check_aligned(row, 16);
    const auto* const table = reinterpret_cast<const unsigned long long*>(rendezvous(
        WarpKind::gather, 0xffffffffu, reinterpret_cast<unsigned long long>(row), 0, nullptr, &site));
    const int group = lane() >> 2, pair = (lane() & 3) * 2;
    for (int m = 0; m < count; ++m) {
        unsigned short half[2];
        for (int k = 0; k < 2; ++k) {
            const int r = transposed ? pair + k : group, c = transposed ? group : pair + k;
            __builtin_memcpy(&half[k], reinterpret_cast<const char*>(table[m * 8 + r]) + 2 * c, 2);
        }
        d[m] = half[0] | static_cast<unsigned>(half[1]) << 16;
    }
    rendezvous(WarpKind::sync, 0xffffffffu, 0, 0, nullptr, &site);
}

// The elements in one register of an operand.
struct Half {
    static constexpr int count = 2;
    static CUSCOPE_INLINE double get(unsigned word, int i) {
        return Format16<5, 10>::widen(static_cast<unsigned short>(word >> 16 * i));
    }
};
struct Bfloat {
    static constexpr int count = 2;
    static CUSCOPE_INLINE double get(unsigned word, int i) {
        return Format16<8, 7>::widen(static_cast<unsigned short>(word >> 16 * i));
    }
};
struct Tf32 {
    static constexpr int count = 1;
    static CUSCOPE_INLINE double get(unsigned word, int) { return bit_copy<float>(word & 0xffffe000u); }
};
struct Signed {
    static constexpr int count = 4;
    static CUSCOPE_INLINE long long get(unsigned word, int i) {
        return static_cast<signed char>(word >> 8 * i);
    }
};
struct Unsigned {
    static constexpr int count = 4;
    static CUSCOPE_INLINE long long get(unsigned word, int i) {
        return static_cast<unsigned char>(word >> 8 * i);
    }
};

// d = a * b + c, for 16 x k times k x 8, in the register layout that PTX specifies. Each sum is rounded once.
template <int k, class ElementA, class ElementB, bool halves, class Sum>
inline void mma(Sum (&d)[4], const unsigned (&a)[4], const unsigned (&b)[2], const Sum (&c)[4],
                const Site& site) {
    struct Operands {
        const unsigned *a, *b;
    } const mine{a, b};
    const auto* const table = reinterpret_cast<const unsigned long long*>(rendezvous(
        WarpKind::gather, 0xffffffffu, reinterpret_cast<unsigned long long>(&mine), 0, nullptr, &site));
    constexpr int count = ElementA::count;
    const int group = lane() >> 2, pair = (lane() & 3) * 2;
    for (int i = 0; i < 4; ++i) {
        const int row = group + 8 * (i >> 1), column = pair + (i & 1);
        using Number = decltype(ElementA::get(0, 0));
        Number sum;
        if constexpr (halves)
            sum = Half::get(c[i >> 1], i & 1);
        else
            sum = static_cast<Number>(c[i]);
        for (int j = 0; j < k; ++j) {
            const int inside = j / count % 4, far = j / (4 * count);
            const auto* const of_a = reinterpret_cast<const Operands*>(table[group * 4 + inside]);
            const auto* const of_b = reinterpret_cast<const Operands*>(table[column * 4 + inside]);
            sum += ElementA::get(of_a->a[(row >> 3) + 2 * far], j % count) *
                   ElementB::get(of_b->b[far], j % count);
        }
        if constexpr (halves) {
            const unsigned bits = Format16<5, 10>::narrow(static_cast<double>(sum));
            d[i >> 1] = (i & 1) == 0 ? bits : d[i >> 1] | bits << 16;
        } else {
            d[i] = static_cast<Sum>(sum);
        }
    }
    rendezvous(WarpKind::sync, 0xffffffffu, 0, 0, nullptr, &site);
}

// The same for double, for 8 * rows8 x k times k x 8. Each product is added without rounding it first, in the
// order of k.
template <int rows8, int k>
inline void mma_f64(double (&d)[2 * rows8], const double (&a)[rows8 * k / 4], const double (&b)[k / 4],
                    const double (&c)[2 * rows8], const Site& site) {
    struct Operands {
        const double *a, *b;
    } const mine{a, b};
    const auto* const table = reinterpret_cast<const unsigned long long*>(rendezvous(
        WarpKind::gather, 0xffffffffu, reinterpret_cast<unsigned long long>(&mine), 0, nullptr, &site));
    const int group = lane() >> 2, pair = (lane() & 3) * 2;
    for (int i = 0; i < 2 * rows8; ++i) {
        const int column = pair + (i & 1);
        double sum = c[i];
        for (int j = 0; j < k; ++j) {
            const auto* const of_a = reinterpret_cast<const Operands*>(table[group * 4 + j % 4]);
            const auto* const of_b = reinterpret_cast<const Operands*>(table[column * 4 + j % 4]);
            sum = __builtin_fma(of_a->a[(i >> 1) + rows8 * (j / 4)], of_b->b[j / 4], sum);
        }
        d[i] = sum;
    }
    rendezvous(WarpKind::sync, 0xffffffffu, 0, 0, nullptr, &site);
}

#define CUSCOPE_UNARY(name, expression)                                   \
    CUSCOPE_INLINE void name##_f32(float& d, float x) { d = expression; } \
    CUSCOPE_INLINE void name##_ftz_f32(float& d, float x) { d = expression; }
CUSCOPE_UNARY(ex2_approx, __builtin_exp2f(x))
CUSCOPE_UNARY(lg2_approx, __builtin_log2f(x))
CUSCOPE_UNARY(sin_approx, __builtin_sinf(x))
CUSCOPE_UNARY(cos_approx, __builtin_cosf(x))
CUSCOPE_UNARY(tanh_approx, __builtin_tanhf(x))
#undef CUSCOPE_UNARY

template <class D>
CUSCOPE_INLINE void lop3_b32(D& d, unsigned a, unsigned b, unsigned c, unsigned table) {
    unsigned result = 0;
    for (unsigned i = 0; i < 8; ++i)
        if ((table >> i & 1u) != 0) result |= (i & 4 ? a : ~a) & (i & 2 ? b : ~b) & (i & 1 ? c : ~c);
    put(d, result);
}
template <class D>
CUSCOPE_INLINE void prmt_b32(D& d, unsigned a, unsigned b, unsigned selector) {
    const unsigned long long bytes = static_cast<unsigned long long>(b) << 32 | a;
    unsigned result = 0;
    for (unsigned i = 0; i < 4; ++i) {
        const unsigned choice = selector >> 4 * i & 15u;
        unsigned byte = static_cast<unsigned>(bytes >> 8 * (choice & 7u)) & 0xffu;
        if (choice & 8u) byte = byte & 0x80u ? 0xffu : 0;
        result |= byte << 8 * i;
    }
    put(d, result);
}
#define CUSCOPE_SHIFT(name, function)                                             \
    template <class D>                                                            \
    CUSCOPE_INLINE void name(D& d, unsigned low, unsigned high, unsigned shift) { \
        put(d, function(low, high, shift));                                       \
    }
CUSCOPE_SHIFT(shf_l_wrap_b32, __funnelshift_l)
CUSCOPE_SHIFT(shf_r_wrap_b32, __funnelshift_r)
CUSCOPE_SHIFT(shf_l_clamp_b32, __funnelshift_lc)
CUSCOPE_SHIFT(shf_r_clamp_b32, __funnelshift_rc)
#undef CUSCOPE_SHIFT
// The sum of the distances of four bytes, and of c.
template <class D>
CUSCOPE_INLINE void vabsdiff4_u32_u32_u32_add(D& d, unsigned a, unsigned b, unsigned c) {
    for (unsigned i = 0; i < 32; i += 8) {
        const unsigned x = a >> i & 0xffu, y = b >> i & 0xffu;
        c += x > y ? x - y : y - x;
    }
    put(d, c);
}
// The first of the two operands becomes the upper half.
template <class D>
CUSCOPE_INLINE void cvt_rn_f16x2_f32(D& d, float high, float low) {
    put(d, Format16<5, 10>::narrow(low) | static_cast<unsigned>(Format16<5, 10>::narrow(high)) << 16);
}
template <class D>
CUSCOPE_INLINE void cvt_rn_bf16x2_f32(D& d, float high, float low) {
    put(d, Format16<8, 7>::narrow(low) | static_cast<unsigned>(Format16<8, 7>::narrow(high)) << 16);
}
template <class D>
CUSCOPE_INLINE void cvt_rna_tf32_f32(D& d, float a) {
    const unsigned bits = bit_copy<unsigned>(a);
    put(d, (bits & 0x7f800000u) == 0x7f800000u ? bits : (bits + 0x1000u) & 0xffffe000u);
}
template <class D, class A>
CUSCOPE_INLINE void cvta_to_shared_u64(D& d, A a) {
    put(d, __cvta_generic_to_shared(at(a, 0)));
}
template <class D, class A>
CUSCOPE_INLINE void cvta_to_global_u64(D& d, A a) {
    put(d, a);
}

}  // namespace ptx
}  // namespace cuscope_simt
