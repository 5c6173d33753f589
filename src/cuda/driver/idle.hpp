// Which streams there are, so that memory can be given back without waiting: cudaFree, cudaFreeHost,
// cudaFreeArray, cudaHostUnregister and cudaLibraryUnload wait for all work of the device, and the library
// has no call that says whether there is any.
#pragma once

#include <cuda_runtime_api.h>

#include <atomic>
#include <map>
#include <mutex>
#include <vector>

#include "runtime/status.hpp"

namespace cuscope::cuda {

class KnownStreams {
  public:
    void note_device(int device) {
        if (const unsigned long long bit = bit_of(device); (used_.load(std::memory_order_relaxed) & bit) == 0)
            used_ |= bit;
    }
    // Of the current device.
    void made(cudaStream_t stream);
    // Before it is destroyed: its work goes on without it.
    void leaving(cudaStream_t stream);
    // The current device was reset: nothing that was made there is left.
    void forget();

    // Is all work done, of the current device or of all that were used? Waits for nothing and spoils no
    // capture. Does not know of streams that something else made, unless the legacy default stream waits for
    // them: what is given back then waits for those, as the library does.
    bool idle(bool all_devices);

    // To be held while a capture begins: a question about a stream that is captured would spoil the capture.
    std::mutex& mutex() { return mutex_; }

  private:
    struct Book {
        std::vector<cudaStream_t> streams;
        std::vector<cudaEvent_t> left;  // behind the work of streams that are gone
    };
    static unsigned long long bit_of(int device) { return device >= 0 && device < 64 ? 1ULL << device : 0; }
    bool captured();           // any stream of any device
    bool is_idle(Book& book);  // of the current device

    std::atomic<unsigned long long> used_{0};  // devices
    std::mutex mutex_;                         // of what is below
    std::map<int, Book> books_;
};

}  // namespace cuscope::cuda
