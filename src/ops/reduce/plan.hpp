// What a reduction computes, and how a native one does it: the operations over their accumulators. The
// kernels of cuda_kernels/reduce_auto/ give the same results, but for the order of floating-point sums.
#pragma once

#include <string_view>

#include "ops/array.hpp"

namespace cuscope::ops {

enum class Operation { sum, prod, min, max, argmin, argmax, any, all, mean, dot };

// By the name of the function. Throws std::invalid_argument with the names there are.
Operation operation_named(std::string_view name);
const char* name(Operation operation);

// A contiguous array as a reduction over its middle dimension sees it.
struct Extents {
    std::int64_t outer = 1, length = 1, inner = 1;
};

// out[outer][inner] of in[outer][length][inner], both in C order; for dot, in times `other`. On a simulated
// device, as the processor does it best. Length is at least 1. Enqueued in the stream.
void reduce_natively(Operation operation, const Array& in, const Array* other, const Array& out,
                     const Extents& extents, std::int64_t duration_ns, const core::StreamPtr& stream);

}  // namespace cuscope::ops
