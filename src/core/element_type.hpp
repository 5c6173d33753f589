// NumPy's element types that kernels can have: a kind and a size.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace cuscope::core {

struct ElementType {
    // 'b' bool, 'i', 'u', 'f', 'c' as in NumPy, 'E' bfloat16 as in ml_dtypes; 0: any other type, which is not
    // compared
    char kind = 0;
    std::size_t size = 0;

    bool operator==(const ElementType&) const = default;
    bool known() const { return kind != 0; }
};

inline constexpr ElementType bfloat16{'E', 2};

// CUDA's built-in vectors: float4, uchar2, dim3, __half2; and complex numbers, which are two numbers.
struct VectorType {
    ElementType element;
    std::size_t lanes = 0;  // 0: no vector
    bool complex = false;   // a class of complex numbers: cuda::std::complex<float>

    std::size_t bytes() const { return element.size * lanes; }
};

VectorType vector_type(std::string_view type);    // as a compiler spells it: "float4"
ElementType element_type(std::string_view name);  // "float32"
std::string name(ElementType type);               // "float32"

}  // namespace cuscope::core
