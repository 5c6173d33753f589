// The C++ types of elements on the CPU, for each row of the table of element types.
#pragma once

#include <complex>
#include <cstdint>
#include <stdexcept>
#include <type_traits>

#include "cuscope_simt/numbers/small_format.h"
#include "ops/array.hpp"

namespace cuscope::ops {

// A floating-point number that the CPU may not support: computed in float.
template <int exponent, int fraction>
struct SmallFloat {
    using Format = cuscope_simt::SmallFormat<exponent, fraction, cuscope_simt::NaN::same>;

    typename Format::Bits bits;

    explicit operator float() const { return Format::widen(bits); }
    static SmallFloat from(double value) { return {Format::narrow(value)}; }  // rounded once
};

template <class T>
inline constexpr bool is_complex = false;
template <class T>
inline constexpr bool is_complex<std::complex<T>> = true;
template <class T>
inline constexpr bool is_small_float = false;
template <int exponent, int fraction>
inline constexpr bool is_small_float<SmallFloat<exponent, fraction>> = true;

template <class T>
struct Tag {
    using type = T;
};

// The type for a row of the table.
template <std::size_t bytes, char kind, int exponent, int fraction>
constexpr auto element_of_row() {
    if constexpr (kind == 'b') {
        return Tag<bool>();
    } else if constexpr (kind == 'c') {
        return Tag<std::complex<std::conditional_t<bytes == 8, float, double>>>();
    } else if constexpr (kind == 'i' || kind == 'u') {
        using Signed = std::conditional_t<
            bytes == 1, std::int8_t,
            std::conditional_t<bytes == 2, std::int16_t,
                               std::conditional_t<bytes == 4, std::int32_t, std::int64_t>>>;
        return Tag<std::conditional_t<kind == 'i', Signed, std::make_unsigned_t<Signed>>>();
    } else if constexpr (bytes < sizeof(float)) {
        return Tag<SmallFloat<exponent, fraction>>();
    } else {
        return Tag<std::conditional_t<bytes == sizeof(float), float, double>>();
    }
}

// Calls function(Tag<T>()) with the type of the elements.
template <class Function>
auto with_element(Type type, const Function& function) {
    switch (type) {
#define CUSCOPE_CASE(id, name, bytes, kind, cuda, exponent, fraction, dlpack) \
    case Type::id:                                                            \
        return function(element_of_row<bytes, kind, exponent, fraction>());
        CUSCOPE_ELEMENT_TYPES(CUSCOPE_CASE)
#undef CUSCOPE_CASE
    }
    throw std::logic_error("an element type without a row in its table");
}

}  // namespace cuscope::ops
