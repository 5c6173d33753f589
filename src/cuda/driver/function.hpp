// Functions of the driver that the runtime library has no name for, looked up when first used.
#pragma once

#include <cuda.h>
#include <cuda_runtime_api.h>

#include <atomic>

namespace cuscope::cuda {

// A function of the driver; null where it is too old. Looked up until it is found: inside a host function the
// driver refuses to tell.
template <class Function>
class DriverFunction {
  public:
    constexpr DriverFunction(const char* name, unsigned version) : name_(name), version_(version) {}
    Function get() {
        if (void* const known = function_.load(std::memory_order_acquire)) {
            return reinterpret_cast<Function>(known);
        }
        void* function = nullptr;
        cudaDriverEntryPointQueryResult found = cudaDriverEntryPointSymbolNotFound;
        const cudaError_t status =
            cudaGetDriverEntryPointByVersion(name_, &function, version_, cudaEnableDefault, &found);
        if (status != cudaSuccess || found != cudaDriverEntryPointSuccess) return nullptr;
        function_.store(function, std::memory_order_release);
        return reinterpret_cast<Function>(function);
    }

  private:
    const char* name_;
    unsigned version_;
    std::atomic<void*> function_{nullptr};
};

}  // namespace cuscope::cuda
