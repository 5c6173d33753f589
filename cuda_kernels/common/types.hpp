// The table of element types: everything that the package knows about an element type is a row here. The
// layers of src/ see the rows as data (src/runtime/element_types.hpp), and Python asks for them. Includes no
// headers, because both the kernels and the code that launches them include this file.
//
// A row is X(id, name, bytes, kind, type, exponent, fraction, dlpack):
//   id         the enumerator of Type
//   name       the dtype's name in NumPy, or in ml_dtypes if NumPy does not have the type
//   kind       NumPy's kind: 'b', 'i', 'u', 'f', 'c'; else the character of ml_dtypes' dtype
//   type       the type in the package's kernels, and in other kernels except for Bool and Complex
//   exponent   the bits of a float's exponent, and
//   fraction   the bits of its fraction; both are 0 for other types
//   dlpack     DLPack's code of the type
#pragma once

// Computed in float, or in a wider type. They have infinities and NaN as in IEEE 754, but float8_e4m3fn has
// no infinity: all bits of the exponent and the fraction set are its NaN, and its greatest number is 448.
#define CUSCOPE_SMALL_FLOATS(X)                                        \
    X(float8_e4m3fn, "float8_e4m3fn", 1, '4', __nv_fp8_e4m3, 4, 3, 10) \
    X(float8_e5m2, "float8_e5m2", 1, '5', __nv_fp8_e5m2, 5, 2, 12)     \
    X(float16, "float16", 2, 'f', __half, 5, 10, 2)                    \
    X(bfloat16, "bfloat16", 2, 'E', __nv_bfloat16, 8, 7, 4)
#define CUSCOPE_WIDE_FLOATS(X)                     \
    X(float32, "float32", 4, 'f', float, 8, 23, 2) \
    X(float64, "float64", 8, 'f', double, 11, 52, 2)
#define CUSCOPE_FLOATS(X)   \
    CUSCOPE_SMALL_FLOATS(X) \
    CUSCOPE_WIDE_FLOATS(X)
#define CUSCOPE_SIGNED_INTEGERS(X)                \
    X(int8, "int8", 1, 'i', signed char, 0, 0, 0) \
    X(int16, "int16", 2, 'i', short, 0, 0, 0)     \
    X(int32, "int32", 4, 'i', int, 0, 0, 0)       \
    X(int64, "int64", 8, 'i', long long, 0, 0, 0)
#define CUSCOPE_UNSIGNED_INTEGERS(X)                     \
    X(uint8, "uint8", 1, 'u', unsigned char, 0, 0, 1)    \
    X(uint16, "uint16", 2, 'u', unsigned short, 0, 0, 1) \
    X(uint32, "uint32", 4, 'u', unsigned int, 0, 0, 1)   \
    X(uint64, "uint64", 8, 'u', unsigned long long, 0, 0, 1)
#define CUSCOPE_COMPLEX_NUMBERS(X)                             \
    X(complex64, "complex64", 8, 'c', Complex<float>, 0, 0, 5) \
    X(complex128, "complex128", 16, 'c', Complex<double>, 0, 0, 5)

#define CUSCOPE_ELEMENT_TYPES(X)              \
    CUSCOPE_FLOATS(X)                         \
    CUSCOPE_SIGNED_INTEGERS(X)                \
    CUSCOPE_UNSIGNED_INTEGERS(X)              \
    X(boolean, "bool", 1, 'b', Bool, 0, 0, 6) \
    CUSCOPE_COMPLEX_NUMBERS(X)

// Types that arrays hold and DLPack exchanges, but that no operation computes with: X(name, bytes, dlpack).
#define CUSCOPE_STORED_TYPES(X)   \
    X("float8_e3m4", 1, 7)        \
    X("float8_e4m3", 1, 8)        \
    X("float8_e4m3b11fnuz", 1, 9) \
    X("float8_e4m3fnuz", 1, 11)   \
    X("float8_e5m2fnuz", 1, 13)   \
    X("float8_e8m0fnu", 1, 14)

namespace cuscope::kernels {

#define CUSCOPE_ENUMERATOR(id, name, bytes, kind, type, exponent, fraction, dlpack) id,
enum class Type : int { CUSCOPE_ELEMENT_TYPES(CUSCOPE_ENUMERATOR) };
#undef CUSCOPE_ENUMERATOR

}  // namespace cuscope::kernels
