// An element type of kernels: a kind and a size. src/runtime/element_types.hpp lists all.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace cuscope::core {

struct ElementType {
    char kind = 0;  // as in the table of element types; 0: any other type, which is not compared
    std::size_t size = 0;

    bool operator==(const ElementType&) const = default;
    bool known() const { return kind != 0; }
    bool is_integer() const { return kind == 'i' || kind == 'u'; }
    // A floating-point number; also one of a type that NumPy does not have, such as bfloat16.
    bool is_real() const { return known() && !is_integer() && kind != 'b' && kind != 'c'; }
    bool in_numpy() const { return known() && (!is_real() || kind == 'f'); }
};

// NumPy without ml_dtypes has no bfloat16 and no float8, so integers of the same size hold their bits.
inline bool holds_bits_of(ElementType wanted, ElementType given) {
    return wanted.known() && !wanted.in_numpy() && given.is_integer() && given.size == wanted.size;
}

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
