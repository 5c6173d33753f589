// Memory pools are not destroyed but reused. If cuMemPoolDestroy runs while other threads use other pools or
// streams, the process ends in a SIGSEGV or a hang within seconds. This happens even if all the pool's memory
// was returned, and in a C++ program with threads that share nothing (driver 580.159, H100 and H200). Reusing
// a pool is also several times faster than creating one.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <map>
#include <mutex>
#include <set>

namespace cuscope::cuda {

class SparePools {
  public:
    // A pool that was released, reset to its initial state; null if there is none with these properties.
    cudaMemPool_t take(const cudaMemPoolProps& properties);
    void made(cudaMemPool_t pool, const cudaMemPoolProps& properties);
    // The device may use the pool's memory from now on.
    void reached(cudaMemPool_t pool, int device);
    // Releases a pool in place of cudaMemPoolDestroy. cudaErrorInvalidValue: the pool was not made here, or
    // was already released.
    cudaError_t keep(cudaMemPool_t pool);
    // To be called after a reset of the current device, which destroyed its pools.
    void forget();

  private:
    struct Known {
        int device;
        std::size_t max_size;
        bool spare = false;
        std::set<int> reached_by;  // other devices
    };
    std::mutex mutex_;
    std::map<cudaMemPool_t, Known> pools_;
};

}  // namespace cuscope::cuda
