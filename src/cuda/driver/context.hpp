// The context that calls of the driver work in.
#pragma once

#include <cuda.h>
#include <cuda_runtime_api.h>

namespace cuscope::cuda {

// That of the thread's device, which the runtime library makes current on a thread's first call.
cudaError_t current_context(CUcontext* context);

// -1: the library does not say.
int current_device();

}  // namespace cuscope::cuda
