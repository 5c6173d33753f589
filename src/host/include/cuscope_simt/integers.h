// Integer intrinsics: counting bits, permuting bytes, wide products, funnel shifts, dot products.
#pragma once
#pragma GCC system_header

#include "cuscope_simt/vectors.h"

CUSCOPE_INLINE int __popc(unsigned x) { return __builtin_popcount(x); }
CUSCOPE_INLINE int __popcll(unsigned long long x) { return __builtin_popcountll(x); }
CUSCOPE_INLINE int __clz(int x) { return x == 0 ? 32 : __builtin_clz(static_cast<unsigned>(x)); }
CUSCOPE_INLINE int __clzll(long long x) {
    return x == 0 ? 64 : __builtin_clzll(static_cast<unsigned long long>(x));
}
CUSCOPE_INLINE int __ffs(int x) { return __builtin_ffs(x); }
CUSCOPE_INLINE int __ffsll(long long x) { return __builtin_ffsll(x); }
CUSCOPE_INLINE unsigned __fns(unsigned mask, unsigned base, int offset) {
    // The position of the offset-th set bit from `base` on, downwards where offset is negative.
    const int step = offset < 0 ? -1 : 1;
    int left = offset < 0 ? -offset : offset;
    if (left == 0) return mask >> (base & 31u) & 1u ? base : 0xffffffffu;
    for (int i = static_cast<int>(base); i >= 0 && i < 32; i += step)
        if ((mask >> i & 1u) != 0 && --left == 0) return static_cast<unsigned>(i);
    return 0xffffffffu;
}
CUSCOPE_INLINE unsigned __brev(unsigned x) {
    x = (x >> 1 & 0x55555555u) | (x & 0x55555555u) << 1;
    x = (x >> 2 & 0x33333333u) | (x & 0x33333333u) << 2;
    x = (x >> 4 & 0x0f0f0f0fu) | (x & 0x0f0f0f0fu) << 4;
    return __builtin_bswap32(x);
}
CUSCOPE_INLINE unsigned long long __brevll(unsigned long long x) {
    return static_cast<unsigned long long>(__brev(static_cast<unsigned>(x))) << 32 |
           __brev(static_cast<unsigned>(x >> 32));
}
CUSCOPE_INLINE unsigned __byte_perm(unsigned x, unsigned y, unsigned selector) {
    const unsigned long long bytes = static_cast<unsigned long long>(y) << 32 | x;
    unsigned result = 0;
    for (unsigned i = 0; i < 4; ++i) {
        const unsigned choice = selector >> 4 * i & 7u;  // PTX's sign bit is not CUDA C++'s
        result |= (static_cast<unsigned>(bytes >> 8 * choice) & 0xffu) << 8 * i;
    }
    return result;
}
CUSCOPE_INLINE int __mul24(int x, int y) {
    const int a = static_cast<int>(static_cast<unsigned>(x) << 8) >> 8;
    const int b = static_cast<int>(static_cast<unsigned>(y) << 8) >> 8;
    return static_cast<int>(static_cast<long long>(a) * b);
}
CUSCOPE_INLINE unsigned __umul24(unsigned x, unsigned y) { return (x & 0xffffffu) * (y & 0xffffffu); }
CUSCOPE_INLINE int __mulhi(int x, int y) { return static_cast<int>(static_cast<long long>(x) * y >> 32); }
CUSCOPE_INLINE unsigned __umulhi(unsigned x, unsigned y) {
    return static_cast<unsigned>(static_cast<unsigned long long>(x) * y >> 32);
}
CUSCOPE_INLINE long long __mul64hi(long long x, long long y) {
    return static_cast<long long>(static_cast<__int128>(x) * y >> 64);
}
CUSCOPE_INLINE unsigned long long __umul64hi(unsigned long long x, unsigned long long y) {
    return static_cast<unsigned long long>(static_cast<unsigned __int128>(x) * y >> 64);
}
CUSCOPE_INLINE unsigned __sad(int x, int y, unsigned z) {
    return z + (x > y ? static_cast<unsigned>(x) - static_cast<unsigned>(y)
                      : static_cast<unsigned>(y) - static_cast<unsigned>(x));
}
CUSCOPE_INLINE unsigned __usad(unsigned x, unsigned y, unsigned z) { return z + (x > y ? x - y : y - x); }
CUSCOPE_INLINE int __hadd(int x, int y) { return static_cast<int>((static_cast<long long>(x) + y) >> 1); }
CUSCOPE_INLINE int __rhadd(int x, int y) {
    return static_cast<int>((static_cast<long long>(x) + y + 1) >> 1);
}
CUSCOPE_INLINE unsigned __uhadd(unsigned x, unsigned y) {
    return static_cast<unsigned>((static_cast<unsigned long long>(x) + y) >> 1);
}
CUSCOPE_INLINE unsigned __urhadd(unsigned x, unsigned y) {
    return static_cast<unsigned>((static_cast<unsigned long long>(x) + y + 1) >> 1);
}
CUSCOPE_INLINE unsigned __funnelshift_l(unsigned low, unsigned high, unsigned shift) {
    return static_cast<unsigned>((static_cast<unsigned long long>(high) << 32 | low) << (shift & 31u) >> 32);
}
CUSCOPE_INLINE unsigned __funnelshift_lc(unsigned low, unsigned high, unsigned shift) {
    return shift >= 32 ? low : __funnelshift_l(low, high, shift);
}
CUSCOPE_INLINE unsigned __funnelshift_r(unsigned low, unsigned high, unsigned shift) {
    return static_cast<unsigned>((static_cast<unsigned long long>(high) << 32 | low) >> (shift & 31u));
}
CUSCOPE_INLINE unsigned __funnelshift_rc(unsigned low, unsigned high, unsigned shift) {
    return shift >= 32 ? high : __funnelshift_r(low, high, shift);
}

// The sum of four products of bytes, and of `sum`.
CUSCOPE_INLINE int __dp4a(int x, int y, int sum) {
    for (int i = 0; i < 4; ++i)
        sum += static_cast<signed char>(x >> 8 * i) * static_cast<signed char>(y >> 8 * i);
    return sum;
}
CUSCOPE_INLINE unsigned __dp4a(unsigned x, unsigned y, unsigned sum) {
    for (int i = 0; i < 4; ++i) sum += (x >> 8 * i & 0xffu) * (y >> 8 * i & 0xffu);
    return sum;
}
CUSCOPE_INLINE int __dp4a(char4 x, char4 y, int sum) {
    return sum + x.x * y.x + x.y * y.y + x.z * y.z + x.w * y.w;
}
CUSCOPE_INLINE unsigned __dp4a(uchar4 x, uchar4 y, unsigned sum) {
    return sum + static_cast<unsigned>(x.x * y.x + x.y * y.y + x.z * y.z + x.w * y.w);
}
