// The operations of reductions, and how the CPU computes them. The kernels of cuda_kernels/reduce_auto/ give
// the same results, except for the order in which floating-point numbers are added.
#pragma once

#include <string_view>

#include "ops/array.hpp"

namespace cuscope::ops {

enum class Operation { sum, prod, min, max, argmin, argmax, any, all, mean, dot };

const char* name(Operation operation);
// Is the result a place among the reduced elements? Then their order counts.
constexpr bool finds_place(Operation operation) {
    return operation == Operation::argmin || operation == Operation::argmax;
}

// A contiguous array as three dimensions; the reduction is over the middle one.
struct Extents {
    std::int64_t outer = 1, length = 1, inner = 1;
};

}  // namespace cuscope::ops
