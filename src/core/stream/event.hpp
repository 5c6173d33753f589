// An event: a point in a stream. Elapsed times are measured between events that were made with timing.
#pragma once

#include <atomic>
#include <memory>

#include "core/stream/stream.hpp"

namespace cuscope::core {

struct EventTraits {
    using Handle = EventHandle;
    static constexpr const char* call = "cudaEventDestroy";
    static Status destroy(Runtime& runtime, Handle handle) { return runtime.event_destroy(handle); }
};

class Event {
  public:
    static std::shared_ptr<Event> create(const DevicePtr& device, unsigned flags);
    Event(const DevicePtr& device, EventHandle handle)
        : handle_(std::make_shared<unique_handle<EventTraits>>(device, handle)) {}

    Device& device() const { return handle_->device(); }
    EventHandle handle() const { return handle_->get(); }
    void check_usable() const { device().check_generation(handle_->generation(), "Event"); }

    // An external record becomes a node of the graph that the stream is being captured to.
    void record(const Stream& stream, bool external = false);
    // Whether it was last recorded in a capture, and that capture while it is under way.
    bool captured() const { return captured_.load(std::memory_order_relaxed); }
    std::shared_ptr<Capture> capture() const;
    // The object that keeps the handle valid.
    std::shared_ptr<void> keeper() const { return handle_; }
    // The serial number of the stream in which it was last recorded; 0: never recorded.
    unsigned long long stream() const { return stream_.load(std::memory_order_relaxed); }
    bool query() const;
    void synchronize() const;

  private:
    friend float elapsed_ms(const Event& start, const Event& stop);
    void record_in_capture(const Stream& stream, bool external);
    void refuse_if_captured(const char* call) const;

    std::shared_ptr<unique_handle<EventTraits>> handle_;  // shared with the graphs that record it
    std::atomic<bool> captured_{false};
    std::weak_ptr<Capture> capture_;             // guarded by one lock for all events
    std::atomic<unsigned long long> stream_{0};  // serial number of the stream in which it was last recorded
};

// Milliseconds from `start` to `stop`.
float elapsed_ms(const Event& start, const Event& stop);

}  // namespace cuscope::core
