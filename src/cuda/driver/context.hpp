// The current context of driver calls.
#pragma once

#include <cuda.h>
#include <cuda_runtime_api.h>

namespace cuscope::cuda {

// The context of the thread's device. The runtime library makes it current at a thread's first call.
cudaError_t current_context(CUcontext* context);

// The current device; -1 if the query fails.
int current_device();

}  // namespace cuscope::cuda
