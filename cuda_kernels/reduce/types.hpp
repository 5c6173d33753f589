// The element types that reductions know, by number: what kernels take as `kind`, and plan.hpp as an
// argument. Includes nothing, since kernels include it too.
#pragma once

namespace cuscope::reduce {

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

}  // namespace cuscope::reduce
