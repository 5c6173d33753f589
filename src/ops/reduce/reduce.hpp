// Reductions of arrays of any strides over any axes: which variant to take, and the launches.
#pragma once

#include <string>
#include <vector>

#include "ops/matmul/matmul.hpp"
#include "ops/reduce/plan.hpp"

namespace cuscope::ops {

// In the order of the ladder; on a simulated device also what the processor does best.
std::vector<Variant> reduce_variants(const core::Device& device);

// out = in reduced over `axes` (ascending, at least one; of a product of extents that is not 0). The extents
// that are left are those of out, which is in C order and of the type that the operation gives (see
// result_type). For dot, `other` is an array like in, and the sum is of the products. Throws
// std::invalid_argument for a variant that is not there, core::WrongKind for one that does not take this.
Choice reduce(Operation operation, const Array& in, const Array* other, const std::vector<std::size_t>& axes,
              const Array& out, const std::string& variant, const core::StreamPtr& stream);
// What "auto" would take, and why: of an array of this type, shape and strides, wherever it is.
Choice explain_reduce(const core::Device& device, Operation operation, const Array& in,
                      const std::vector<std::size_t>& axes);

// Of integers' sums and products 64 bits, of argmin and argmax int64, of any and all bool, of integers' means
// float64.
Type result_type(Operation operation, Type type);

}  // namespace cuscope::ops
