#include "ops/reduction_kernels.hpp"
namespace cuscope::ops {
Choice run_reduction(Operation operation, const Array& in, const Array*, const Array& out,
                     const Extents& extents, const core::StreamPtr& stream) {
    run_ladder("last_block", operation, in, out, extents, stream);
    return {"last_block", "temporary"};
}
}  // namespace cuscope::ops
