#include "cuda/driver/context.hpp"

#include "cuda/driver/function.hpp"
#include "cuda/driver/wait.hpp"

namespace cuscope::cuda {
namespace {

DriverFunction<CUresult (*)(CUcontext*)> ctx_get_current("cuCtxGetCurrent", 4000);

}  // namespace

cudaError_t current_context(CUcontext* context) {
    const auto get = ctx_get_current.get();
    if (get == nullptr) return cudaErrorCallRequiresNewerDriver;
    *context = nullptr;
    if (get(context) == CUDA_SUCCESS && *context != nullptr) return cudaSuccess;
    // This call makes the context of the current device current. A capture of another thread would refuse it.
    const RelaxedThread relaxed;
    if (const cudaError_t status = cudaFree(nullptr); status != cudaSuccess) return status;
    return static_cast<cudaError_t>(get(context));
}

int current_device() {
    int device = 0;
    return cudaGetDevice(&device) == cudaSuccess ? device : -1;
}

}  // namespace cuscope::cuda
