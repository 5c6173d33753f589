// Keeps a list of streams, so that memory can be released without waiting. cudaFree, cudaFreeHost,
// cudaFreeArray, cudaHostUnregister and cudaLibraryUnload wait for all work of the device, and the library
// has no call that tells whether there is any.
#pragma once

#include <cuda_runtime_api.h>

#include <atomic>
#include <functional>
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
    // A stream was created on the current device.
    void made(cudaStream_t stream);
    // To be called before the stream is destroyed. Its work goes on without it.
    void leaving(cudaStream_t stream);
    // To be called after a reset of the current device: all its streams are gone.
    void forget();

    // Is all work of the current device done, or of all devices in use? Does not wait and invalidates no
    // capture. Streams that other code created are unknown, unless the legacy default stream waits for them.
    // A release of memory then waits for these streams, as the library does.
    bool idle(bool all_devices);

    // Records an event behind the work of each stream of the current device that is not being captured. The
    // caller destroys them. Streams that other code created are unknown, as above.
    std::vector<cudaEvent_t> events_behind_work();

    // Calls the function while all work of all devices in use is done, and no other thread of this package
    // gives them work. False: there is work, or a stream is being captured, and nothing was called.
    bool when_idle(const std::function<void()>& call);

    // To be held while a capture begins: querying a captured stream would invalidate the capture.
    std::mutex& mutex() { return mutex_; }

  private:
    struct Book {
        std::vector<cudaStream_t> streams;
        std::vector<cudaEvent_t> left;  // recorded after the work of destroyed streams
    };
    static unsigned long long bit_of(int device) { return device >= 0 && device < 64 ? 1ULL << device : 0; }
    bool captured();           // any stream of any device
    bool is_idle(Book& book);  // `book` is the current device's
    bool is_idle(bool all_devices);

    std::atomic<unsigned long long> used_{0};  // devices
    std::mutex mutex_;                         // guards the members below
    std::map<int, Book> books_;
};

}  // namespace cuscope::cuda
