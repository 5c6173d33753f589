// Driver functions that the runtime library lacks, looked up at first use.
#pragma once

#include <cuda.h>
#include <cuda_runtime_api.h>

#include <atomic>

namespace cuscope::cuda {

// A driver function; null if the driver is too old. A failed look-up is repeated at the next use, because the
// driver refuses look-ups inside a host function.
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
