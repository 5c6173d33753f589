// Two or four numbers in a word (__vadd4, ...), maxima of three (__vimax3_s32, ...), and products of bytes
// with halves of a word (__dp2a_lo).
#pragma once
#pragma GCC system_header

#include "cuscope_simt/mathematics.h"
#include "cuscope_simt/vectors.h"

namespace cuscope_simt {

// The parts of a word: `count` of them, signed or unsigned.
template <int count, bool is_signed>
struct Parts {
    static constexpr int bits = 32 / count;
    static constexpr unsigned mask = (1u << bits) - 1;
    static constexpr int most = static_cast<int>(is_signed ? mask >> 1 : mask),
                         least = is_signed ? -most - 1 : 0;

    static CUSCOPE_INLINE int part(unsigned word, int i) {
        const int shift = 32 - bits * (i + 1);
        return is_signed ? static_cast<int>(word << shift) >> (32 - bits)
                         : static_cast<int>(word >> bits * i & mask);
    }
    static CUSCOPE_INLINE int clamped(int x) { return x > most ? most : x < least ? least : x; }

    template <class F>
    static CUSCOPE_INLINE unsigned of(unsigned a, unsigned b, F f) {
        unsigned result = 0;
        for (int i = 0; i < count; ++i)
            result |= (static_cast<unsigned>(f(part(a, i), part(b, i))) & mask) << bits * i;
        return result;
    }
    template <class F>
    static CUSCOPE_INLINE unsigned sum(unsigned a, unsigned b, F f) {
        unsigned result = 0;
        for (int i = 0; i < count; ++i) result += static_cast<unsigned>(f(part(a, i), part(b, i)));
        return result;
    }
    // Applies f to the parts of three words.
    template <class F>
    static CUSCOPE_INLINE unsigned of(unsigned a, unsigned b, unsigned c, F f) {
        unsigned result = 0;
        for (int i = 0; i < count; ++i)
            result |= (static_cast<unsigned>(f(part(a, i), part(b, i), part(c, i))) & mask) << bits * i;
        return result;
    }
    // The sum, wrapped around to the size of a part.
    static CUSCOPE_INLINE int wrapped(int x) { return part(static_cast<unsigned>(x) & mask, 0); }
};

CUSCOPE_INLINE int distance(int x, int y) { return x > y ? x - y : y - x; }
CUSCOPE_INLINE int greater(int x, int y) { return x > y ? x : y; }
CUSCOPE_INLINE int smaller(int x, int y) { return x < y ? x : y; }

}  // namespace cuscope_simt

#define CUSCOPE_PARTS(name, count, sign, expression)                        \
    CUSCOPE_INLINE unsigned name##count(unsigned a, unsigned b) {           \
        using P = ::cuscope_simt::Parts<count, sign>;                       \
        return P::of(a, b, [](int x, int y) -> int { return expression; }); \
    }
#define CUSCOPE_PART(name, count, sign, expression)                       \
    CUSCOPE_INLINE unsigned name##count(unsigned a) {                     \
        using P = ::cuscope_simt::Parts<count, sign>;                     \
        return P::of(a, a, [](int x, int) -> int { return expression; }); \
    }
#define CUSCOPE_TOTAL(name, count, sign)                                                 \
    CUSCOPE_INLINE unsigned name##count(unsigned a, unsigned b) {                        \
        return ::cuscope_simt::Parts<count, sign>::sum(a, b, &::cuscope_simt::distance); \
    }
#define CUSCOPE_COMPARE(name, count, sign, op)                \
    CUSCOPE_PARTS(__vcmp##name, count, sign, x op y ? -1 : 0) \
    CUSCOPE_PARTS(__vset##name, count, sign, x op y ? 1 : 0)
#define CUSCOPE_WORDS(count)                                                 \
    CUSCOPE_PARTS(__vadd, count, false, x + y)                               \
    CUSCOPE_PARTS(__vaddss, count, true, P::clamped(x + y))                  \
    CUSCOPE_PARTS(__vaddus, count, false, P::clamped(x + y))                 \
    CUSCOPE_PARTS(__vsub, count, false, x - y)                               \
    CUSCOPE_PARTS(__vsubss, count, true, P::clamped(x - y))                  \
    CUSCOPE_PARTS(__vsubus, count, false, P::clamped(x - y))                 \
    CUSCOPE_PARTS(__vavgs, count, true, (x + y + (x + y >= 0 ? 1 : 0)) >> 1) \
    CUSCOPE_PARTS(__vavgu, count, false, (x + y + 1) >> 1)                   \
    CUSCOPE_PARTS(__vhaddu, count, false, (x + y) >> 1)                      \
    CUSCOPE_PARTS(__vabsdiffs, count, true, ::cuscope_simt::distance(x, y))  \
    CUSCOPE_PARTS(__vabsdiffu, count, false, ::cuscope_simt::distance(x, y)) \
    CUSCOPE_PARTS(__vmaxs, count, true, ::cuscope_simt::greater(x, y))       \
    CUSCOPE_PARTS(__vmaxu, count, false, ::cuscope_simt::greater(x, y))      \
    CUSCOPE_PARTS(__vmins, count, true, ::cuscope_simt::smaller(x, y))       \
    CUSCOPE_PARTS(__vminu, count, false, ::cuscope_simt::smaller(x, y))      \
    CUSCOPE_PART(__vabs, count, true, x < 0 ? -x : x)                        \
    CUSCOPE_PART(__vabsss, count, true, P::clamped(x < 0 ? -x : x))          \
    CUSCOPE_PART(__vneg, count, true, -x)                                    \
    CUSCOPE_PART(__vnegss, count, true, P::clamped(-x))                      \
    CUSCOPE_TOTAL(__vsads, count, true)                                      \
    CUSCOPE_TOTAL(__vsadu, count, false)                                     \
    CUSCOPE_COMPARE(eq, count, false, ==)                                    \
    CUSCOPE_COMPARE(ne, count, false, !=)                                    \
    CUSCOPE_COMPARE(ges, count, true, >=)                                    \
    CUSCOPE_COMPARE(geu, count, false, >=)                                   \
    CUSCOPE_COMPARE(gts, count, true, >)                                     \
    CUSCOPE_COMPARE(gtu, count, false, >)                                    \
    CUSCOPE_COMPARE(les, count, true, <=)                                    \
    CUSCOPE_COMPARE(leu, count, false, <=)                                   \
    CUSCOPE_COMPARE(lts, count, true, <)                                     \
    CUSCOPE_COMPARE(ltu, count, false, <)
CUSCOPE_WORDS(2)
CUSCOPE_WORDS(4)
#undef CUSCOPE_WORDS
#undef CUSCOPE_COMPARE
#undef CUSCOPE_TOTAL
#undef CUSCOPE_PART
#undef CUSCOPE_PARTS

// Maxima and minima of two and three numbers, of sums, with zero (_relu), and with a flag for which of two it
// is.
#define CUSCOPE_EXTREMES(name, better, holds, type, suffix)                                                \
    CUSCOPE_INLINE type __vi##name##3_##suffix(type a, type b, type c) { return better(better(a, b), c); } \
    CUSCOPE_INLINE type __viadd##name##_##suffix(type a, type b, type c) {                                 \
        return better(static_cast<type>(static_cast<unsigned>(a) + static_cast<unsigned>(b)), c);          \
    }                                                                                                      \
    CUSCOPE_INLINE type __vib##name##_##suffix(type a, type b, bool* first) {                              \
        *first = a holds b;                                                                                \
        return better(a, b);                                                                               \
    }
#define CUSCOPE_EXTREMES_OF_PARTS(name, better, holds, sign, suffix)                                \
    CUSCOPE_INLINE unsigned __vi##name##3_##suffix(unsigned a, unsigned b, unsigned c) {            \
        return ::cuscope_simt::Parts<2, sign>::of(                                                  \
            a, b, c, [](int x, int y, int z) { return better(better(x, y), z); });                  \
    }                                                                                               \
    CUSCOPE_INLINE unsigned __viadd##name##_##suffix(unsigned a, unsigned b, unsigned c) {          \
        using P = ::cuscope_simt::Parts<2, sign>;                                                   \
        return P::of(a, b, c, [](int x, int y, int z) { return better(P::wrapped(x + y), z); });    \
    }                                                                                               \
    CUSCOPE_INLINE unsigned __vib##name##_##suffix(unsigned a, unsigned b, bool* high, bool* low) { \
        using P = ::cuscope_simt::Parts<2, sign>;                                                   \
        *high = P::part(a, 1) holds P::part(b, 1);                                                  \
        *low = P::part(a, 0) holds P::part(b, 0);                                                   \
        return P::of(a, b, [](int x, int y) { return better(x, y); });                              \
    }
#define CUSCOPE_RELU(name, better)                                                           \
    CUSCOPE_INLINE int __vi##name##_s32_relu(int a, int b) { return max(better(a, b), 0); }  \
    CUSCOPE_INLINE int __vi##name##3_s32_relu(int a, int b, int c) {                         \
        return max(__vi##name##3_s32(a, b, c), 0);                                           \
    }                                                                                        \
    CUSCOPE_INLINE int __viadd##name##_s32_relu(int a, int b, int c) {                       \
        return max(__viadd##name##_s32(a, b, c), 0);                                         \
    }                                                                                        \
    CUSCOPE_INLINE unsigned __vi##name##_s16x2_relu(unsigned a, unsigned b) {                \
        return __vmaxs2(__v##name##s2(a, b), 0);                                             \
    }                                                                                        \
    CUSCOPE_INLINE unsigned __vi##name##3_s16x2_relu(unsigned a, unsigned b, unsigned c) {   \
        return __vmaxs2(__vi##name##3_s16x2(a, b, c), 0);                                    \
    }                                                                                        \
    CUSCOPE_INLINE unsigned __viadd##name##_s16x2_relu(unsigned a, unsigned b, unsigned c) { \
        return __vmaxs2(__viadd##name##_s16x2(a, b, c), 0);                                  \
    }
#define CUSCOPE_EXTREME(name, better, of_parts, holds)             \
    CUSCOPE_EXTREMES(name, better, holds, int, s32)                \
    CUSCOPE_EXTREMES(name, better, holds, unsigned, u32)           \
    CUSCOPE_EXTREMES_OF_PARTS(name, of_parts, holds, true, s16x2)  \
    CUSCOPE_EXTREMES_OF_PARTS(name, of_parts, holds, false, u16x2) \
    CUSCOPE_RELU(name, better)
CUSCOPE_EXTREME(max, max, ::cuscope_simt::greater, >=)
CUSCOPE_EXTREME(min, min, ::cuscope_simt::smaller, <=)
#undef CUSCOPE_EXTREME
#undef CUSCOPE_RELU
#undef CUSCOPE_EXTREMES_OF_PARTS
#undef CUSCOPE_EXTREMES

CUSCOPE_INLINE int __dp2a_lo(short2 a, char4 b, int c) { return c + a.x * b.x + a.y * b.y; }
CUSCOPE_INLINE int __dp2a_hi(short2 a, char4 b, int c) { return c + a.x * b.z + a.y * b.w; }
CUSCOPE_INLINE unsigned __dp2a_lo(ushort2 a, uchar4 b, unsigned c) {
    return c + static_cast<unsigned>(a.x) * b.x + static_cast<unsigned>(a.y) * b.y;
}
CUSCOPE_INLINE unsigned __dp2a_hi(ushort2 a, uchar4 b, unsigned c) {
    return c + static_cast<unsigned>(a.x) * b.z + static_cast<unsigned>(a.y) * b.w;
}
#define CUSCOPE_DOT(type, pair, four, half, byte)                                                           \
    CUSCOPE_INLINE pair cuscope_pair(type a) { return {static_cast<half>(a), static_cast<half>(a >> 16)}; } \
    CUSCOPE_INLINE four cuscope_four(type b) {                                                              \
        return {static_cast<byte>(b), static_cast<byte>(b >> 8), static_cast<byte>(b >> 16),                \
                static_cast<byte>(b >> 24)};                                                                \
    }                                                                                                       \
    CUSCOPE_INLINE type __dp2a_lo(type a, type b, type c) {                                                 \
        return __dp2a_lo(cuscope_pair(a), cuscope_four(b), c);                                              \
    }                                                                                                       \
    CUSCOPE_INLINE type __dp2a_hi(type a, type b, type c) {                                                 \
        return __dp2a_hi(cuscope_pair(a), cuscope_four(b), c);                                              \
    }
CUSCOPE_DOT(int, short2, char4, short, signed char)
CUSCOPE_DOT(unsigned, ushort2, uchar4, unsigned short, unsigned char)
#undef CUSCOPE_DOT
