// An event: a point in a stream. Differences are taken between events that were made with timing.
#pragma once

#include <atomic>
#include <memory>

#include "core/stream.hpp"

namespace cuscope::core {

struct EventTraits {
    using Handle = EventHandle;
    static constexpr const char* call = "cudaEventDestroy";
    static Status destroy(Runtime& runtime, Handle handle) { return runtime.event_destroy(handle); }
};

class Event {
  public:
    static std::shared_ptr<Event> create(const DevicePtr& device, unsigned flags);
    Event(const DevicePtr& device, EventHandle handle) : handle_(device, handle) {}

    Device& device() const { return handle_.device(); }
    EventHandle handle() const { return handle_.get(); }
    void check_usable() const { device().check_generation(handle_.generation(), "Event"); }

    void record(const Stream& stream);
    bool query() const;
    void synchronize() const;

  private:
    unique_handle<EventTraits> handle_;
    std::atomic<unsigned long long> stream_{0};  // serial number of the stream it was last recorded in
};

// Milliseconds from `start` to `stop`.
float elapsed_ms(const Event& start, const Event& stop);

}  // namespace cuscope::core
