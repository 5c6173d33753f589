// Matrix products on a simulated device, computed in the fastest way for the CPU.
#pragma once

#include "cuda_kernels/matmul/problem.hpp"
#include "ops/array.hpp"

namespace cuscope::ops {

// `problem` is the same as for the kernels; `batch` is the number of matrices. Enqueued in the stream.
void multiply_natively(const Array& a, const Array& b, const Array& c, const Problem& problem, int batch,
                       std::int64_t duration_ns, const core::StreamPtr& stream);

}  // namespace cuscope::ops
