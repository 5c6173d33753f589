// The element types of the package's kernels, by number. Includes no headers, because both the kernels and
// the code that launches them include it.
#pragma once

namespace cuscope::kernels {

enum class Type : int {
    float16,
    bfloat16,
    float32,
    float64,
    int8,
    int16,
    int32,
    int64,
    uint8,
    uint16,
    uint32,
    uint64,
    boolean,
    complex64,
    complex128,
};

}  // namespace cuscope::kernels
