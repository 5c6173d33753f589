// Half precision and bfloat16 on a CPU that may not support them.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>

namespace cuscope::ops {

struct Half {
    std::uint16_t bits;

    explicit operator float() const {
        const std::uint32_t sign = std::uint32_t{bits & 0x8000U} << 16, exponent = bits >> 10 & 31,
                            fraction = bits & 1023;
        if (exponent == 31) return std::bit_cast<float>(sign | 0x7f800000U | fraction << 13);
        if (exponent == 0)
            return std::copysign(std::ldexp(static_cast<float>(fraction), -24),
                                 std::bit_cast<float>(sign | 1));
        return std::bit_cast<float>(sign | (exponent + 112) << 23 | fraction << 13);
    }
    static Half from(float value) {
        const auto word = std::bit_cast<std::uint32_t>(value);
        const auto sign = static_cast<std::uint16_t>(word >> 16 & 0x8000U);
        const std::uint32_t magnitude = word & 0x7fffffffU;
        if (magnitude > 0x7f800000U) return {static_cast<std::uint16_t>(sign | 0x7e00U)};
        if (magnitude >= 0x477ff000U)
            return {static_cast<std::uint16_t>(sign | 0x7c00U)};  // rounds to infinity
        if (magnitude < 0x38800000U) {                            // subnormal: a multiple of 2^-24
            const float scaled = std::bit_cast<float>(magnitude) * 0x1p24F;
            return {static_cast<std::uint16_t>(sign | static_cast<std::uint32_t>(std::nearbyint(scaled)))};
        }
        const std::uint32_t rounded = magnitude + 0xfffU + (magnitude >> 13 & 1);
        return {static_cast<std::uint16_t>(sign | (rounded - 0x38000000U) >> 13)};
    }
};

struct BFloat16 {
    std::uint16_t bits;

    explicit operator float() const { return std::bit_cast<float>(std::uint32_t{bits} << 16); }
    static BFloat16 from(float value) {
        const auto word = std::bit_cast<std::uint32_t>(value);
        if ((word & 0x7fffffffU) > 0x7f800000U) return {static_cast<std::uint16_t>(word >> 16 | 0x40U)};
        return {static_cast<std::uint16_t>((word + 0x7fffU + (word >> 16 & 1)) >> 16)};
    }
};

}  // namespace cuscope::ops
