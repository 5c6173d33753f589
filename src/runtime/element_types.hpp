// The table of element types (cuda_kernels/common/types.hpp) as data, for all layers.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "cuda_kernels/common/types.hpp"

namespace cuscope {

struct ElementRow {
    std::string_view name;  // of the dtype: "float32"
    std::size_t bytes;
    char kind;              // 0 for a type that is only stored and exchanged
    std::string_view type;  // in the package's kernels: "float"; empty for a type that is only stored
    std::uint8_t dlpack_code;

    // Does NumPy itself have the dtype? It gets the other ones from the package ml_dtypes.
    constexpr bool in_numpy() const {
        return kind == 'b' || kind == 'i' || kind == 'u' || kind == 'f' || kind == 'c';
    }
    // Is `type` a type of CUDA or of C++, and not a class of the package's kernels (Bool, Complex)?
    constexpr bool is_built_in() const { return !type.empty() && kind != 'b' && kind != 'c'; }
};

#define CUSCOPE_COMPUTED_ROW(id, name, bytes, kind, type, exponent, fraction, dlpack) \
    ElementRow{name, bytes, kind, #type, dlpack},
#define CUSCOPE_STORED_ROW(name, bytes, dlpack) ElementRow{name, bytes, 0, "", dlpack},
inline constexpr std::array every_element_type{CUSCOPE_ELEMENT_TYPES(CUSCOPE_COMPUTED_ROW)
                                                   CUSCOPE_STORED_TYPES(CUSCOPE_STORED_ROW)};
#undef CUSCOPE_COMPUTED_ROW
#undef CUSCOPE_STORED_ROW

// The types that kernels and operations compute with, in the order of kernels::Type.
inline constexpr std::span element_types =
    std::span(every_element_type).first<static_cast<std::size_t>(kernels::Type::complex128) + 1>();
static_assert(element_types.back().name == "complex128" && !element_types.back().type.empty());

}  // namespace cuscope
