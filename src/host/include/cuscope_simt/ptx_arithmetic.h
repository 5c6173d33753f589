// Functions for the arithmetic instructions of PTX in asm statements. The compiler driver writes the calls.
#pragma once
#pragma GCC system_header

#include "cuscope_simt/ptx.h"

namespace cuscope_simt {
namespace ptx {

// A register's value as a T: its low bits.
template <class T, class From>
CUSCOPE_INLINE T get(const From& from) {
    T value;
    put(value, from);
    return value;
}
// Puts a number into a register that may be wider: its sign is extended.
template <class To, class T>
CUSCOPE_INLINE void put_number(To&& to, T value) {
    put(to, static_cast<long long>(value));
}
template <class To>
CUSCOPE_INLINE void put_number(To&& to, float value) {
    put(to, value);
}
template <class To>
CUSCOPE_INLINE void put_number(To&& to, double value) {
    put(to, value);
}

__extension__ typedef __int128 Signed128;
__extension__ typedef unsigned __int128 Unsigned128;

// The unsigned type of the same width, and the type of twice the width.
template <class T>
struct Widths;
#define CUSCOPE_WIDTHS(type, same, twice) \
    template <>                           \
    struct Widths<type> {                 \
        using Unsigned = same;            \
        using Twice = twice;              \
    };
CUSCOPE_WIDTHS(short, unsigned short, int)
CUSCOPE_WIDTHS(unsigned short, unsigned short, unsigned)
CUSCOPE_WIDTHS(int, unsigned, long long)
CUSCOPE_WIDTHS(unsigned, unsigned, unsigned long long)
CUSCOPE_WIDTHS(long long, unsigned long long, Signed128)
CUSCOPE_WIDTHS(unsigned long long, unsigned long long, Unsigned128)
#undef CUSCOPE_WIDTHS

template <class T>
struct Integer {
    using U = typename Widths<T>::Unsigned;
    using Twice = typename Widths<T>::Twice;
    static constexpr unsigned bits = sizeof(T) * 8;
    static constexpr bool is_signed = static_cast<T>(-1) < static_cast<T>(0);

    static CUSCOPE_INLINE T add(T a, T b) { return static_cast<T>(static_cast<U>(a) + static_cast<U>(b)); }
    static CUSCOPE_INLINE T sub(T a, T b) { return static_cast<T>(static_cast<U>(a) - static_cast<U>(b)); }
    static CUSCOPE_INLINE T limited(Twice value) {
        constexpr T most = is_signed ? static_cast<T>(static_cast<U>(~U{}) >> 1) : static_cast<T>(~U{});
        constexpr T least = static_cast<T>(~most);
        return value > most ? most : value < static_cast<Twice>(least) ? least : static_cast<T>(value);
    }
    static CUSCOPE_INLINE T add_sat(T a, T b) { return limited(static_cast<Twice>(a) + b); }
    static CUSCOPE_INLINE T sub_sat(T a, T b) { return limited(static_cast<Twice>(a) - b); }
    // With the carry of the instruction before, and for the one behind.
    static CUSCOPE_INLINE T add_carry(T a, T b, bool& carry, bool uses, bool sets) {
        const auto sum = static_cast<typename Widths<U>::Twice>(static_cast<U>(a)) + static_cast<U>(b) +
                         static_cast<U>(uses && carry);
        if (sets) carry = (sum >> bits) != 0;
        return static_cast<T>(sum);
    }
    static CUSCOPE_INLINE T sub_carry(T a, T b, bool& carry, bool uses, bool sets) {
        const auto difference = static_cast<typename Widths<U>::Twice>(static_cast<U>(a)) -
                                static_cast<U>(b) - static_cast<U>(uses && carry);
        if (sets) carry = (difference >> bits & 1u) != 0;
        return static_cast<T>(difference);
    }
    static CUSCOPE_INLINE Twice mul_wide(T a, T b) { return static_cast<Twice>(a) * b; }
    static CUSCOPE_INLINE T mul_lo(T a, T b) { return static_cast<T>(mul_wide(a, b)); }
    static CUSCOPE_INLINE T mul_hi(T a, T b) { return static_cast<T>(mul_wide(a, b) >> bits); }
    static CUSCOPE_INLINE Twice mad_wide(T a, T b, Twice c) { return mul_wide(a, b) + c; }
    static CUSCOPE_INLINE T mad_lo(T a, T b, T c) { return add(mul_lo(a, b), c); }
    static CUSCOPE_INLINE T mad_hi(T a, T b, T c) { return add(mul_hi(a, b), c); }
    static CUSCOPE_INLINE T low24(T a) {
        return is_signed ? static_cast<T>(static_cast<T>(static_cast<U>(a) << 8) >> 8)
                         : static_cast<T>(static_cast<U>(a) & 0xffffffu);
    }
    static CUSCOPE_INLINE T mul24_lo(T a, T b) { return mul_lo(low24(a), low24(b)); }
    static CUSCOPE_INLINE T mul24_hi(T a, T b) { return static_cast<T>(mul_wide(low24(a), low24(b)) >> 16); }
    static CUSCOPE_INLINE T mad24_lo(T a, T b, T c) { return add(mul24_lo(a, b), c); }
    static CUSCOPE_INLINE T sad(T a, T b, T c) { return add(c, a < b ? sub(b, a) : sub(a, b)); }
    static CUSCOPE_INLINE T div(T a, T b) { return static_cast<T>(a / b); }
    static CUSCOPE_INLINE T rem(T a, T b) { return static_cast<T>(a % b); }
    static CUSCOPE_INLINE T neg(T a) { return sub(0, a); }
    static CUSCOPE_INLINE T abs(T a) { return a < 0 ? neg(a) : a; }
    static CUSCOPE_INLINE T min(T a, T b) { return a < b ? a : b; }
    static CUSCOPE_INLINE T max(T a, T b) { return a < b ? b : a; }
    static CUSCOPE_INLINE T bit_and(T a, T b) { return static_cast<T>(a & b); }
    static CUSCOPE_INLINE T bit_or(T a, T b) { return static_cast<T>(a | b); }
    static CUSCOPE_INLINE T bit_xor(T a, T b) { return static_cast<T>(a ^ b); }
    static CUSCOPE_INLINE T bit_not(T a) { return static_cast<T>(~a); }
    static CUSCOPE_INLINE T cnot(T a) { return static_cast<T>(a == 0); }
    // A shift by the width or more moves all bits out.
    static CUSCOPE_INLINE T shl(T a, unsigned by) {
        return by >= bits ? T{} : static_cast<T>(static_cast<U>(a) << by);
    }
    static CUSCOPE_INLINE T shr(T a, unsigned by) {
        return by < bits ? static_cast<T>(a >> by) : static_cast<T>(a < 0 ? -1 : 0);
    }
    static CUSCOPE_INLINE int popc(T a) { return __builtin_popcountll(static_cast<U>(a)); }
    static CUSCOPE_INLINE int clz(T a) {
        const unsigned long long wide = static_cast<U>(a);
        return wide == 0 ? static_cast<int>(bits) : __builtin_clzll(wide) - static_cast<int>(64 - bits);
    }
    static CUSCOPE_INLINE T brev(T a) {
        U result = 0;
        for (unsigned i = 0; i < bits; ++i)
            result |= static_cast<U>(static_cast<U>(static_cast<U>(a) >> i & 1u) << (bits - 1 - i));
        return static_cast<T>(result);
    }
    // The place of the highest bit that is not the sign; ~0 if there is none.
    static CUSCOPE_INLINE int bfind(T a) {
        return static_cast<int>(bits) - 1 - clz(a < 0 ? static_cast<T>(~a) : a);
    }
    static CUSCOPE_INLINE int bfind_shiftamt(T a) {
        const int place = bfind(a);
        return place < 0 ? place : static_cast<int>(bits) - 1 - place;
    }
    static CUSCOPE_INLINE T bfe(T a, unsigned from, unsigned length) {
        if constexpr (bits == 32) from &= 255u, length &= 255u;
        // A GPU has no instruction for 64 bits: it shifts, and so looks at all bits of `from` and `length`.
        if (from > bits) from = bits;
        if (length > bits) length = bits;
        const unsigned last = from + length - 1;
        const bool negative = is_signed && length != 0 && (shr(a, last < bits ? last : bits - 1) & 1) != 0;
        const U mask = length >= bits ? static_cast<U>(~U{}) : static_cast<U>((U{1} << length) - 1u);
        U result = from >= bits ? U{} : static_cast<U>(static_cast<U>(a) >> from);
        // The bits from the end of the field on are the sign.
        const U inside = from >= bits ? U{} : static_cast<U>(static_cast<U>(~U{}) >> from);
        result = static_cast<U>(result & mask & inside);
        return static_cast<T>(negative ? result | static_cast<U>(~(mask & inside)) : result);
    }
    static CUSCOPE_INLINE T bfi(T a, T b, unsigned to, unsigned length) {
        to &= 255u, length &= 255u;
        const U field = length >= bits ? static_cast<U>(~U{}) : static_cast<U>((U{1} << length) - 1u);
        const U mask = to >= bits ? U{} : static_cast<U>(field << to);
        const U moved = to >= bits ? U{} : static_cast<U>(static_cast<U>(a) << to);
        return static_cast<T>((static_cast<U>(b) & ~mask) | (moved & mask));
    }
};

// A sum of the products of four bytes, and c.
template <class A, class B, class C>
CUSCOPE_INLINE C dp4a(unsigned a, unsigned b, C c) {
    for (unsigned i = 0; i < 32; i += 8)
        c = Integer<C>::add(c, static_cast<C>(static_cast<int>(static_cast<A>(a >> i & 0xffu)) *
                                              static_cast<int>(static_cast<B>(b >> i & 0xffu))));
    return c;
}

// How a float instruction rounds, whether it takes subnormals for zero, and whether its result is kept
// in 0 to 1.
enum class Round { nearest, zero, down, up };

template <Round round, class Function>
CUSCOPE_INLINE auto rounded(Function function) {
    if constexpr (round == Round::nearest) {
        return function();
    } else {
        const Rounding rounding(round == Round::zero   ? round_zero
                                : round == Round::down ? round_down
                                                       : round_up);
        return held(function());
    }
}

template <class T, Round round = Round::nearest, bool ftz = false, bool sat = false>
struct Float {
    static CUSCOPE_INLINE T in(T x) {
        if (ftz && x == x && __builtin_fabs(static_cast<double>(x)) < 0x1p-126)
            x = __builtin_copysign(0.0, x);
        return round == Round::nearest ? x : held(x);
    }
    static CUSCOPE_INLINE T out(T x) {
        if (ftz && __builtin_fabs(static_cast<double>(x)) < 0x1p-126) x = __builtin_copysign(0.0, x);
        return !sat ? x : x > 0 ? (x < 1 ? x : 1) : 0;
    }
    static CUSCOPE_INLINE T fused(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
    static CUSCOPE_INLINE T fused(double a, double b, double c) { return __builtin_fma(a, b, c); }
    static CUSCOPE_INLINE T root(float a) { return __builtin_sqrtf(a); }
    static CUSCOPE_INLINE T root(double a) { return __builtin_sqrt(a); }

    static CUSCOPE_INLINE T add(T a, T b) {
        return out(rounded<round>([&] { return in(a) + in(b); }));
    }
    static CUSCOPE_INLINE T sub(T a, T b) {
        return out(rounded<round>([&] { return in(a)-in(b); }));
    }
    static CUSCOPE_INLINE T mul(T a, T b) {
        return out(rounded<round>([&] { return in(a)*in(b); }));
    }
    static CUSCOPE_INLINE T div(T a, T b) {
        return out(rounded<round>([&] { return in(a) / in(b); }));
    }
    static CUSCOPE_INLINE T fma(T a, T b, T c) {
        return out(rounded<round>([&] { return fused(in(a), in(b), in(c)); }));
    }
    static CUSCOPE_INLINE T rcp(T a) {
        return out(rounded<round>([&] { return 1 / in(a); }));
    }
    static CUSCOPE_INLINE T sqrt(T a) {
        return out(rounded<round>([&] { return root(in(a)); }));
    }
    static CUSCOPE_INLINE T rsqrt(T a) { return out(1 / root(in(a))); }
    static CUSCOPE_INLINE T neg(T a) { return out(-in(a)); }
    static CUSCOPE_INLINE T abs(T a) { return out(__builtin_signbit(in(a)) ? -in(a) : in(a)); }
    static CUSCOPE_INLINE T copysign(T a, T b) { return static_cast<T>(__builtin_copysign(b, a)); }
    // The other number, if one is a NaN. -0 is less than +0.
    static CUSCOPE_INLINE T min(T a, T b) {
        a = in(a), b = in(b);
        return out(a != a || b < a || (a == b && __builtin_signbit(b)) ? b : a);
    }
    static CUSCOPE_INLINE T max(T a, T b) {
        a = in(a), b = in(b);
        return out(a != a || a < b || (a == b && __builtin_signbit(a)) ? b : a);
    }
    static CUSCOPE_INLINE T min_NaN(T a, T b) { return a != a || b != b ? a + b : min(a, b); }
    static CUSCOPE_INLINE T max_NaN(T a, T b) { return a != a || b != b ? a + b : max(a, b); }
    static CUSCOPE_INLINE T integral(T a) {
        a = in(a);
        switch (round) {
            case Round::zero:
                return static_cast<T>(__builtin_trunc(a));
            case Round::down:
                return static_cast<T>(__builtin_floor(a));
            case Round::up:
                return static_cast<T>(__builtin_ceil(a));
            default:
                return static_cast<T>(__builtin_nearbyint(a));
        }
    }
};

// cvt between numbers of 32 and 64 bits, and smaller integers.
template <class To, class From, bool sat>
CUSCOPE_INLINE To integer_of_integer(From from) {
    if constexpr (sat) {
        const auto wide = static_cast<Signed128>(from);
        constexpr bool is_signed = static_cast<To>(-1) < static_cast<To>(0);
        constexpr auto most = (static_cast<Signed128>(1) << (sizeof(To) * 8 - is_signed)) - 1;
        constexpr auto least = is_signed ? -most - 1 : static_cast<Signed128>(0);
        return static_cast<To>(wide > most ? most : wide < least ? least : wide);
    }
    return static_cast<To>(from);
}
template <class To, Round round, class From, bool ftz>
CUSCOPE_INLINE To integer_of_float(From from) {
    return saturated_to<To, From>(Float<From, round, ftz>::integral(from));
}
template <class To, Round round, class From, bool ftz, bool sat>
CUSCOPE_INLINE To float_of(From from) {
    return Float < To, Round::nearest, ftz && sizeof(To) == 4,
           sat > ::out(rounded<round>(
                     [&] { return static_cast<To>(round == Round::nearest ? from : held(from)); }));
}

// Floats of 16 bits, in registers of 16 bits, or two in one of 32.
template <int exponent_bits, int fraction_bits>
struct Float16 {
    using Format = Format16<exponent_bits, fraction_bits>;
    static CUSCOPE_INLINE double wide(unsigned short bits) { return Format::widen(bits); }
    template <class From>
    static CUSCOPE_INLINE unsigned short of(From value, Toward toward = Toward::nearest) {
        return Format::narrow(static_cast<double>(value), toward);
    }
    static CUSCOPE_INLINE unsigned short add(unsigned short a, unsigned short b) {
        return of(add_to_odd(wide(a), wide(b)));
    }
    static CUSCOPE_INLINE unsigned short sub(unsigned short a, unsigned short b) {
        return of(add_to_odd(wide(a), -wide(b)));
    }
    static CUSCOPE_INLINE unsigned short mul(unsigned short a, unsigned short b) {
        return of(wide(a) * wide(b));
    }
    static CUSCOPE_INLINE unsigned short fma(unsigned short a, unsigned short b, unsigned short c) {
        return of(add_to_odd(wide(a) * wide(b), wide(c)));
    }
    static CUSCOPE_INLINE unsigned short neg(unsigned short a) { return a ^ 0x8000u; }
    static CUSCOPE_INLINE unsigned short abs(unsigned short a) { return a & 0x7fffu; }
    static CUSCOPE_INLINE unsigned short min(unsigned short a, unsigned short b) {
        return of(Float<double>::min(wide(a), wide(b)));
    }
    static CUSCOPE_INLINE unsigned short max(unsigned short a, unsigned short b) {
        return of(Float<double>::max(wide(a), wide(b)));
    }
    static CUSCOPE_INLINE unsigned short ex2(unsigned short a) { return of(__builtin_exp2(wide(a))); }
    static CUSCOPE_INLINE unsigned short tanh(unsigned short a) { return of(__builtin_tanh(wide(a))); }
};
// The same function for both halves.
template <class Function>
CUSCOPE_INLINE unsigned both(Function function, unsigned a, unsigned b = 0, unsigned c = 0) {
    const auto half = [](unsigned word, unsigned i) { return static_cast<unsigned short>(word >> 16 * i); };
    const unsigned low = function(half(a, 0), half(b, 0), half(c, 0));
    return low | static_cast<unsigned>(function(half(a, 1), half(b, 1), half(c, 1))) << 16;
}

// shfl.sync: lanes a segment ends at, and the bits that a lane and its source share. Returns whether the
// source is inside of the segment; if not, each lane gets its own value.
enum class Shuffle { up, down, bfly, idx };
template <Shuffle kind, class To>
CUSCOPE_INLINE bool shfl(To&& to, unsigned value, unsigned b, unsigned c, unsigned mask, const Site& site) {
    const int own = lane(), clamp = static_cast<int>(c & 31u), segment = static_cast<int>(c >> 8 & 31u);
    const int by = static_cast<int>(b & 31u);
    const int last = (own & segment) | (clamp & ~segment), first = own & segment;
    int source = own;
    bool inside = false;
    switch (kind) {
        case Shuffle::up:
            source = own - by, inside = source >= last;
            break;
        case Shuffle::down:
            source = own + by, inside = source <= last;
            break;
        case Shuffle::bfly:
            source = own ^ by, inside = source <= last;
            break;
        case Shuffle::idx:
            source = first | (by & ~segment), inside = source <= last;
            break;
    }
    put(to, shuffle(mask, value, inside ? source : own, &site));
    return inside;
}

}  // namespace ptx
}  // namespace cuscope_simt
