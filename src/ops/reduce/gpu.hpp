// Reductions by the kernels of cuda_kernels/.
#pragma once

#include "ops/reduce/reduce.hpp"

namespace cuscope::ops {

// The rungs of cuda_kernels/reduce_ladder/.
std::vector<Variant> ladder_variants();
// Of an array in C order. Throws std::invalid_argument for a rung that is not there, core::WrongKind for
// one that does not take this.
void run_ladder(const std::string& rung, Operation operation, const Array& in, const Array& out,
                const Extents& extents, const core::StreamPtr& stream);

// By cuda_kernels/reduce_auto/: what "auto" takes on a GPU.
inline constexpr const char* single_launch = "single_launch";
Choice run_reduction(Operation operation, const Array& in, const Array* other, const Array& out,
                     const Extents& extents, const core::StreamPtr& stream);
// The same without a launch: which kernel it would be, in which grid.
Choice explain_reduction(const core::Device& device, Operation operation, Type type, const Extents& extents);

}  // namespace cuscope::ops
