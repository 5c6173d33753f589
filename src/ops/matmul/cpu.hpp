// Matrix products on a simulated device as the processor does them best.
#pragma once

#include "cuda_kernels/matmul/problem.hpp"
#include "ops/array.hpp"

namespace cuscope::ops {

// `problem.m` and the like as for the kernels, `batch` times. Enqueued in the stream.
void multiply_natively(const Array& a, const Array& b, const Array& c, const Problem& problem, int batch,
                       std::int64_t duration_ns, const core::StreamPtr& stream);

}  // namespace cuscope::ops
