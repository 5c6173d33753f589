// Shifts as on a GPU: if the amount is at least the number of bits of the left operand, all bits are shifted
// out. The compiler driver writes `a << shift << b` for `a << b`, which keeps the precedence of the user's
// operator. For `a <<= b` it writes `a = a << shift |= b` if `a` is a name, because the name may be that of a
// bit-field, and otherwise `a <<= shift |= b`.
#pragma once
#pragma GCC system_header

#include "cuscope_simt/fiber.h"

namespace cuscope_simt {

struct Shift {};
inline constexpr Shift shift{};

template <bool>
struct EnableIf {};
template <>
struct EnableIf<true> {
    using Type = int;
};
template <class T>
struct WithoutReference {
    using Type = T;
};
template <class T>
struct WithoutReference<T&> {
    using Type = T;
};
template <class T>
struct WithoutReference<T&&> {
    using Type = T;
};
template <class T>
inline constexpr bool is_class = __is_class(typename WithoutReference<T>::Type) ||
                                 __is_union(typename WithoutReference<T>::Type);
template <class T>
using IfScalar = typename EnableIf<!is_class<T>>::Type;
template <class T>
using IfClass = typename EnableIf<is_class<T>>::Type;

// A GPU uses the lower 32 bits of the amount.
template <class T, class U>
CUSCOPE_INLINE constexpr auto shifted_left(T value, U amount) -> decltype(value << amount) {
    using Result = decltype(value << amount);
    return static_cast<unsigned>(amount) < 8 * sizeof(Result) ? value << static_cast<unsigned>(amount)
                                                              : Result(0);
}
template <class T, class U>
CUSCOPE_INLINE constexpr auto shifted_right(T value, U amount) -> decltype(value >> amount) {
    using Result = decltype(value >> amount);
    constexpr unsigned bits = 8 * sizeof(Result);
    if constexpr (Result(-1) < Result(0))
        return value >> (static_cast<unsigned>(amount) < bits ? static_cast<unsigned>(amount) : bits - 1);
    else
        return static_cast<unsigned>(amount) < bits ? value >> static_cast<unsigned>(amount) : Result(0);
}

// The left operand. A number is kept by value, because a bit-field has no address.
template <class T>
struct ShiftedLeft {
    T value;
};
template <class T>
struct ShiftedRight {
    T value;
};

template <class T, IfScalar<T> = 0>
CUSCOPE_INLINE constexpr ShiftedLeft<T> operator<<(T value, Shift) {
    return {value};
}
template <class T, IfScalar<T> = 0>
CUSCOPE_INLINE constexpr ShiftedRight<T> operator>>(T value, Shift) {
    return {value};
}
// A class may define the operator itself: then its own operator is called.
template <class T, IfClass<T> = 0>
CUSCOPE_INLINE constexpr ShiftedLeft<T&&> operator<<(T&& value, Shift) {
    return {static_cast<T&&>(value)};
}
template <class T, IfClass<T> = 0>
CUSCOPE_INLINE constexpr ShiftedRight<T&&> operator>>(T&& value, Shift) {
    return {static_cast<T&&>(value)};
}

#define CUSCOPE_SHIFT(Operand, op, assign, shifted)                                 \
    template <class T, class U, IfScalar<T> = 0, IfScalar<U> = 0>                   \
    CUSCOPE_INLINE constexpr auto operator op(Operand<T> left, U amount)            \
        ->decltype(shifted(left.value, amount)) {                                   \
        return shifted(left.value, amount);                                         \
    }                                                                               \
    template <class T, class U, IfClass<T> = 0, IfScalar<U> = 0>                    \
    CUSCOPE_INLINE constexpr auto operator op(Operand<T> left, U amount)            \
        ->decltype(static_cast<T>(left.value) op amount) {                          \
        return static_cast<T>(left.value) op amount;                                \
    }                                                                               \
    template <class T, class U, IfClass<U> = 0>                                     \
    CUSCOPE_INLINE constexpr auto operator op(Operand<T> left, U&& other)           \
        ->decltype(static_cast<T>(left.value) op static_cast<U&&>(other)) {         \
        return static_cast<T>(left.value) op static_cast<U&&>(other);               \
    }                                                                               \
    /* a = a << shift |= b */                                                       \
    template <class T, class U, IfScalar<T> = 0>                                    \
    CUSCOPE_INLINE constexpr auto operator|=(Operand<T> left, U amount)             \
        ->decltype(left op static_cast<U&&>(amount)) {                              \
        return left op static_cast<U&&>(amount);                                    \
    }                                                                               \
    template <class T, class U, IfClass<T> = 0>                                     \
    CUSCOPE_INLINE constexpr decltype(auto) operator|=(Operand<T> left, U amount) { \
        return static_cast<T>(left.value) assign static_cast<U&&>(amount);          \
    }
CUSCOPE_SHIFT(ShiftedLeft, <<, <<=, shifted_left)
CUSCOPE_SHIFT(ShiftedRight, >>, >>=, shifted_right)
#undef CUSCOPE_SHIFT

// The right operand of a <<= shift |= b.
template <class T>
struct ShiftAmount {
    T value;
};
template <class U, IfScalar<U> = 0>
CUSCOPE_INLINE constexpr ShiftAmount<U> operator|=(Shift, U amount) {
    return {amount};
}
template <class U, IfClass<U> = 0>
CUSCOPE_INLINE constexpr ShiftAmount<U&&> operator|=(Shift, U&& amount) {
    return {static_cast<U&&>(amount)};
}
template <class T, class U, IfScalar<T> = 0, IfScalar<U> = 0>
CUSCOPE_INLINE constexpr T& operator<<=(T& value, ShiftAmount<U> amount) {
    value = static_cast<T>(shifted_left(value, amount.value));
    return value;
}
template <class T, class U, IfScalar<T> = 0, IfScalar<U> = 0>
CUSCOPE_INLINE constexpr T& operator>>=(T& value, ShiftAmount<U> amount) {
    value = static_cast<T>(shifted_right(value, amount.value));
    return value;
}
template <class T, class U, typename EnableIf<is_class<T> || is_class<U>>::Type = 0>
CUSCOPE_INLINE constexpr decltype(auto) operator<<=(T& value, ShiftAmount<U> amount) {
    return value <<= static_cast<U>(amount.value);
}
template <class T, class U, typename EnableIf<is_class<T> || is_class<U>>::Type = 0>
CUSCOPE_INLINE constexpr decltype(auto) operator>>=(T& value, ShiftAmount<U> amount) {
    return value >>= static_cast<U>(amount.value);
}

}  // namespace cuscope_simt
