// Large copies between pageable host memory and a device, through a ring of page-locked chunks that several
// threads fill or empty while the device copies others: the runtime's own way does it with one thread.
#pragma once

#include <cstddef>
#include <memory>
#include <mutex>
#include <vector>

#include "core/stream/stream.hpp"

namespace cuscope::core {

// Smaller copies are over before the threads have started.
inline constexpr std::size_t staging_threshold = 8 << 20;

class StagingRing {
  public:
    explicit StagingRing(Device& device) : device_(device) {}
    StagingRing(const StagingRing&) = delete;
    StagingRing& operator=(const StagingRing&) = delete;
    ~StagingRing();

    // Both say false, having done nothing, where the copy is better left to the runtime: the ring is in use,
    // or there is no memory for it. The stream's device is current. After to_device() the host's memory may
    // be changed; after to_host() it is filled.
    bool to_device(void* destination, const void* host, std::size_t bytes, const Stream& stream);
    bool to_host(void* host, const void* source, std::size_t bytes, const Stream& stream);

  private:
    struct Chunk {
        std::byte* memory = nullptr;
        EventHandle event = nullptr;        // behind the device's last copy of the chunk
        unsigned long long pending_in = 0;  // the stream of that copy, if nobody waited for it
    };

    bool ready(const Stream& stream);
    bool allocate();
    void forget();
    Status issue(Chunk& chunk, void* destination, const void* source, std::size_t bytes, MemcpyKind kind,
                 const Stream& stream);
    // Ends a copy: nothing is on its way any more where it failed.
    void finish(Status status, const Stream& stream);

    Device& device_;
    std::mutex mutex_;  // held throughout a copy
    std::byte* memory_ = nullptr;
    unsigned generation_ = 0;
    std::vector<Chunk> chunks_;
};

}  // namespace cuscope::core
