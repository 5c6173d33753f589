// Large copies between pageable host memory and a device. They go through a ring of page-locked chunks, which
// several threads fill or empty while the device copies other chunks. The runtime's own copy of pageable
// memory uses one thread. The elements may have any strides in the host's memory: the threads gather and
// scatter them.
#pragma once

#include <cstddef>
#include <memory>
#include <mutex>
#include <vector>

#include "core/memory/copy_plan.hpp"
#include "core/memory/host_move.hpp"
#include "core/stream/stream.hpp"

namespace cuscope::core {

// Smaller copies end before the threads have started.
inline constexpr std::size_t staging_threshold = 8 << 20;

// Is it a large copy of pageable memory outside of a capture? Simulated devices always leave it to the
// runtime, because they model the time of the runtime's copy.
bool goes_through_ring(const Stream& stream, MemcpyKind kind, const void* host, std::size_t bytes);

class StagingRing {
  public:
    explicit StagingRing(Device& device) : device_(device) {}
    StagingRing(const StagingRing&) = delete;
    StagingRing& operator=(const StagingRing&) = delete;
    ~StagingRing();

    static constexpr std::size_t chunk_bytes = 2 << 20;

    // The boxes are at most a chunk; `to` are the steps on the device, all positive, `from` those of the
    // host's memory. Both return false, without having done anything, if the runtime should do the copy: when
    // the ring is in use or there is no memory for it. The stream's device must be current. After to_device()
    // the host memory may be changed; after to_host() it is filled.
    bool to_device(std::byte* device, const std::byte* host, const Boxes& boxes, const Stream& stream);
    bool to_host(std::byte* host, std::byte* device, const Boxes& boxes, const Stream& stream);
    // How the device copies a box between a chunk and its memory.
    static CopyPlan plan(const Boxes::Box& box, std::size_t element, MemcpyKind kind);

  private:
    struct Chunk {
        std::byte* memory = nullptr;
        EventHandle event = nullptr;        // recorded after the device's last copy of the chunk
        unsigned long long pending_in = 0;  // the stream of that copy, if it was not waited for
    };

    bool ready(const Stream& stream);
    bool allocate();
    void forget();
    Status issue(Chunk& chunk, std::byte* device, const Boxes& boxes, std::size_t index, MemcpyKind kind,
                 const Stream& stream);
    // Ends a copy. If it failed, waits until none of its commands is in flight.
    void finish(Status status, const Stream& stream);

    Device& device_;
    std::mutex mutex_;  // held during a copy
    std::byte* memory_ = nullptr;
    unsigned generation_ = 0;
    std::vector<Chunk> chunks_;
};

}  // namespace cuscope::core
