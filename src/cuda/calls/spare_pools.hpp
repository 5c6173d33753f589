// Memory pools are not destroyed but used again. cuMemPoolDestroy of a pool beside other threads that use
// other pools or streams ends in a SIGSEGV or a hang within seconds, also for a pool whose memory has all
// come back, and in a C++ program whose threads share nothing (driver 580.159, H100 and H200). Taking a pool
// again is several times faster than making one, too.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <map>
#include <mutex>
#include <set>

namespace cuscope::cuda {

class SparePools {
  public:
    // A pool that was let go, as new; null: there is none of these properties.
    cudaMemPool_t take(const cudaMemPoolProps& properties);
    void made(cudaMemPool_t pool, const cudaMemPoolProps& properties);
    // The device may use the pool's memory from now on.
    void reached(cudaMemPool_t pool, int device);
    // In place of cudaMemPoolDestroy. cudaErrorInvalidValue: the pool was not made here, or was let go
    // before.
    cudaError_t keep(cudaMemPool_t pool);
    // The current device was reset, and took its pools with it.
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
