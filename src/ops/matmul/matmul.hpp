// Matrix products: the choice of a variant, and the launches.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "ops/array.hpp"

namespace cuscope::ops {

struct Variant {
    std::string name, needs, does;
};
// In the order of the ladder; on a simulated device also "native", the CPU's own way.
std::vector<Variant> matmul_variants(const core::Device& device);

struct Choice {
    std::string variant, reason;
};

// C = A B over the last two dimensions. A, B and C have at least two dimensions. The dimensions
// before the last two are broadcast. C is in C order and does not overlap A or B; A and B are converted to
// its type, except for float8, which some kernels take as it is. An operand that the variant cannot read with
// its strides is copied first. `variant` is one of matmul_variants(), or "auto". Throws std::invalid_argument
// for an unknown variant, core::WrongKind for one that does not support this type or device. Enqueued in the
// stream.
void matmul(const Operand& a, const Operand& b, const Operand& c, std::string_view variant,
            const core::StreamPtr& stream);
// The variant that "auto" would take for `batch` products of type `out`, and the reason.
Choice explain_matmul(const core::Device& device, const Operand& a, const Operand& b, Type out,
                      std::int64_t batch);

// Nanoseconds that a variant takes on a simulated device; -1 if unknown. Throws as matmul() does.
std::int64_t predict_matmul(const core::Device& device, const std::string& variant, Type type, std::int64_t m,
                            std::int64_t n, std::int64_t k, std::int64_t batch);

}  // namespace cuscope::ops
