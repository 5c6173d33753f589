// Reductions of arrays of any strides over any axes: the choice of a variant, and the launches.
#pragma once

#include <string>
#include <vector>

#include "ops/matmul/matmul.hpp"
#include "ops/reduce/plan.hpp"

namespace cuscope::ops {

// In the order of the ladder; on a simulated device also "native", the CPU's own way.
std::vector<Variant> reduce_variants(const core::Device& device);

// Reduces `in` over `axes`, which are ascending, at least one, and not empty. `out` has the remaining
// extents, is in C order, and has the type that result_type() gives. For dot, `other` is an array like `in`,
// and the products are summed. Throws std::invalid_argument for an unknown variant, core::WrongKind for one
// that does not support this operation and type.
Choice reduce(Operation operation, const Array& in, const Array* other, const std::vector<std::size_t>& axes,
              const Array& out, const std::string& variant, const core::StreamPtr& stream);
// The variant that "auto" would take for an array of this type, shape and strides, and the reason.
Choice explain_reduce(const core::Device& device, Operation operation, const Array& in,
                      const std::vector<std::size_t>& axes);

// 64-bit integers for sums and products of integers, int64 for argmin and argmax, bool for any and all,
// float64 for means of integers.
Type result_type(Operation operation, Type type);

}  // namespace cuscope::ops
