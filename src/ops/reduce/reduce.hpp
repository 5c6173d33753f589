// Reductions of arrays of any strides over any axes: the choice of a variant, and the launches.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "ops/matmul/matmul.hpp"
#include "ops/reduce/plan.hpp"

namespace cuscope::ops {

// In the order of the ladder; on a simulated device also "native", the CPU's own way.
std::vector<Variant> reduce_variants(const core::Device& device);

// Reduces `in` over the axes whose bits are set in `axes`; none of their extents is 0. `out` has the
// remaining extents, is in C order, and has the type that result_type() gives, or a type of 32-bit integers
// for sums and products of integers. For dot, `other` is an array like `in`, and the products are summed.
// Throws std::invalid_argument for an unknown variant, core::WrongKind for one that does not support this
// operation and type. Enqueued in the stream.
void reduce(Operation operation, const Operand& in, const Operand* other, std::uint64_t axes,
            const Operand& out, std::string_view variant, const core::StreamPtr& stream);
// The variant that is taken for such arrays, and the reason. Launches nothing.
Choice explain_reduce(const core::Device& device, Operation operation, const Operand& in, std::uint64_t axes,
                      std::string_view variant);

// The types of a reduction: that the elements are converted to first, that the kernels return, and that the
// program gets.
struct Types {
    Type computed, made, final;
};
// `asked`: by the program. Without it, sums and products of integers have 64 bits, argmin and argmax int64,
// any and all bool, means of integers float64, and all others the type of the elements.
Types types_of(Operation operation, Type type, std::optional<Type> asked);
// The type that the kernels return for elements of a type.
Type result_type(Operation operation, Type type);

}  // namespace cuscope::ops
