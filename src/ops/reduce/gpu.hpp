// Reductions with the kernels of cuda_kernels/.
#pragma once

#include "ops/reduce/reduce.hpp"
#include "ops/reduce/strided.hpp"

namespace cuscope::ops {

// The variants in cuda_kernels/reduce_ladder/.
std::vector<Variant> ladder_variants();
// For an array in C order. Throws std::invalid_argument for an unknown variant, core::WrongKind for one that
// does not support this operation and type.
void run_ladder(const std::string& rung, Operation operation, const Array& in, const Array& out,
                const Extents& extents, const core::StreamPtr& stream);

// With the kernels of cuda_kernels/reduce_auto/, which "auto" takes on a GPU.
inline constexpr const char* single_launch = "single_launch";
Choice run_reduction(Operation operation, const Array& in, const Array* other, const Array& out,
                     const Extents& extents, const core::StreamPtr& stream);
// The same for elements that do not lie together, without a copy.
Choice run_reduction(Operation operation, const Array& in, const Array& out, const Strided& view,
                     const core::StreamPtr& stream);
// Names the kernel and the grid without launching.
Choice explain_reduction(const core::Device& device, const Strided& view);
Choice explain_reduction(const core::Device& device, Operation operation, Type type, const Extents& extents);

}  // namespace cuscope::ops
