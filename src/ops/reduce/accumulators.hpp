// The operations of reductions on the CPU: the conversion of an element to a partial result, and the
// combination of two partial results. The semantics are NumPy's: NaN wins, the first of equal elements wins,
// integers wrap around.
#pragma once

#include <cmath>
#include <complex>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "ops/elements.hpp"

namespace cuscope::ops {

// The type that elements are computed with.
template <class T>
using Value = std::conditional_t<is_small_float<T>, float, T>;
// The type in which elements are summed: double precision for floats, and 64 bits for integers.
template <class T>
using Total = std::conditional_t<std::is_integral_v<T>, std::uint64_t,
                                 std::conditional_t<is_complex<T>, std::complex<double>, double>>;

template <class T>
Value<T> value_of(T element) {
    return static_cast<Value<T>>(element);
}
template <class T>
Total<T> total_of(T element) {
    if constexpr (std::is_same_v<T, bool>) return element ? 1 : 0;
    if constexpr (std::is_integral_v<T>)
        return static_cast<std::uint64_t>(static_cast<std::int64_t>(element));
    return static_cast<Total<T>>(value_of(element));
}

template <class To, class From>
To rounded(const From& value) {
    if constexpr (is_small_float<To>) {
        return To::from(static_cast<double>(value));
    } else {
        return static_cast<To>(value);
    }
}

template <class T>
bool is_nan(T value) {
    if constexpr (std::is_floating_point_v<T>) {
        return std::isnan(value);
    } else {
        return false;
    }
}

template <class T>
struct Sum {
    using Partial = Total<T>;
    static Partial identity() { return Partial(0); }  // as NumPy's: the sum of negative zeros is 0
    static Partial of(T element, std::int64_t) { return total_of(element); }
    static Partial combine(const Partial& a, const Partial& b) { return a + b; }
};

template <class T>
struct Product {
    using Partial = Total<T>;
    static Partial identity() { return Partial(1); }
    static Partial of(T element, std::int64_t) { return total_of(element); }
    static Partial combine(const Partial& a, const Partial& b) { return a * b; }
};

template <class T>
struct Minimum {
    using Partial = Value<T>;
    static Partial identity() {
        if constexpr (std::is_floating_point_v<Partial>) return std::numeric_limits<Partial>::infinity();
        return std::numeric_limits<Partial>::max();
    }
    static Partial of(T element, std::int64_t) { return value_of(element); }
    static Partial combine(Partial a, Partial b) { return a < b || is_nan(a) ? a : b; }
};

template <class T>
struct Maximum {
    using Partial = Value<T>;
    static Partial identity() {
        if constexpr (std::is_floating_point_v<Partial>) return -std::numeric_limits<Partial>::infinity();
        return std::numeric_limits<Partial>::lowest();
    }
    static Partial of(T element, std::int64_t) { return value_of(element); }
    static Partial combine(Partial a, Partial b) { return a > b || is_nan(a) ? a : b; }
};

// An element and its index; index -1 means that there is none.
template <class T>
struct Placed {
    Value<T> value;
    std::int64_t index;
};

template <class T, bool smallest>
struct Extreme {
    using Partial = Placed<T>;
    static Partial identity() { return {Value<T>{}, -1}; }
    static Partial of(T element, std::int64_t index) { return {value_of(element), index}; }
    static bool before(const Partial& a, const Partial& b) {
        if (is_nan(a.value) != is_nan(b.value)) return is_nan(a.value);
        if (!is_nan(a.value) && a.value != b.value) return smallest ? a.value < b.value : a.value > b.value;
        return a.index < b.index;
    }
    static Partial combine(const Partial& a, const Partial& b) {
        if (a.index < 0) return b;
        return b.index < 0 || before(a, b) ? a : b;
    }
};

template <class T>
struct Any {
    using Partial = unsigned char;
    static Partial identity() { return 0; }
    static Partial of(T element, std::int64_t) { return value_of(element) != Value<T>(0); }
    static Partial combine(Partial a, Partial b) { return a | b; }
};

template <class T>
struct All {
    using Partial = unsigned char;
    static Partial identity() { return 1; }
    static Partial of(T element, std::int64_t) { return value_of(element) != Value<T>(0); }
    static Partial combine(Partial a, Partial b) { return a & b; }
};

}  // namespace cuscope::ops
