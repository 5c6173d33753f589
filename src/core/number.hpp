// Numbers as elements of a type: the one check that a number fits its type.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>

#include "core/element_type.hpp"
#include "cuda_kernels/common/types.hpp"
#include "cuscope_simt/numbers/small_format.h"

namespace cuscope::core {

// Stores an integer, given in two's complement. False if the type, one of integers, cannot hold it.
inline bool store_integer(ElementType type, std::uint64_t value, bool negative, void* out) {
    const unsigned bits = static_cast<unsigned>(type.size) * 8;
    if (type.kind == 'u') {
        if (negative || (bits < 64 && value >> bits != 0)) return false;
    } else if (negative) {
        if (static_cast<std::int64_t>(value) < -(std::int64_t{1} << (bits - 2)) * 2) return false;
    } else if (value >> (bits - 1) != 0) {
        return false;
    }
    std::memcpy(out, &value, type.size);  // CUDA hosts are little-endian
    return true;
}

// The least and the greatest number of a type of integers.
struct IntegerLimits {
    std::int64_t least;
    std::uint64_t most;
};
inline IntegerLimits integer_limits(ElementType type) {
    const bool is_signed = type.kind == 'i';
    const unsigned bits = static_cast<unsigned>(type.size) * 8;
    const std::uint64_t most = std::numeric_limits<std::uint64_t>::max() >> (64 - bits + (is_signed ? 1 : 0));
    return {is_signed ? -static_cast<std::int64_t>(most) - 1 : 0, most};
}

// Stores a number rounded once, to nearest even as NumPy does. False if the type, one of real numbers, cannot
// hold it: it would become an infinity, or NaN.
inline bool store_real(ElementType type, double value, void* out) {
    if (type.size == sizeof(double)) {
        std::memcpy(out, &value, sizeof value);
        return true;
    }
    if (type.size == sizeof(float)) {
        const auto narrow = static_cast<float>(value);
        if (std::isinf(narrow) && !std::isinf(value)) return false;
        std::memcpy(out, &narrow, sizeof narrow);
        return true;
    }
#define CUSCOPE_STORE(id, name, bytes, kind_of_row, cuda, exponent, fraction, dlpack)                       \
    if (type == ElementType{kind_of_row, bytes}) {                                                          \
        using Format = cuscope_simt::SmallFormat<exponent, fraction, cuscope_simt::NaN::same>;              \
        const typename Format::Bits narrow = Format::narrow(value);                                         \
        if (Format::is_overflow(narrow) && !(Format::has_infinity ? std::isinf(value) : std::isnan(value))) \
            return false;                                                                                   \
        std::memcpy(out, &narrow, sizeof narrow);                                                           \
        return true;                                                                                        \
    }
    CUSCOPE_SMALL_FLOATS(CUSCOPE_STORE)
#undef CUSCOPE_STORE
    return false;
}

}  // namespace cuscope::core
