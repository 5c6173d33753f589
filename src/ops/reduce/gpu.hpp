// Reductions with the kernels of cuda_kernels/.
#pragma once

#include <vector>

#include "core/module/module.hpp"
#include "cuda_kernels/reduce_auto/plan.hpp"
#include "ops/matmul/matmul.hpp"
#include "ops/reduce/plan.hpp"
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
// A launch of one of them: all but the addresses.
struct KernelReduction {
    enum class Form { whole, dot, rows, columns, strided };  // which arguments the kernel takes

    std::shared_ptr<core::Kernel> kernel;
    Form form;
    reduce::Launch grid;
    Extents extents;
    Strided view;  // in place of extents, for Form::strided
    unsigned long long bits;
    int kind;
    double divisor;
    std::int64_t duration_ns;

    // `other` is the second factor of a dot product, else null. Enqueued in the stream.
    void run(const Place& in, const Place* other, const Place& out, const core::StreamPtr& stream) const;
};
// For arrays in C order. Throws core::WrongKind for an operation that the type does not have.
KernelReduction plan_reduction(core::Device& device, Operation operation, Type in, Type out,
                               const Extents& extents);
// For elements that do not lie together.
KernelReduction plan_reduction(core::Device& device, Operation operation, Type in, Type out,
                               const Strided& view);
// Name the kernel and the grid without launching.
Choice explain_reduction(const core::Device& device, Operation operation, Type type, const Extents& extents);
Choice explain_reduction(const core::Device& device, const Strided& view);

}  // namespace cuscope::ops
