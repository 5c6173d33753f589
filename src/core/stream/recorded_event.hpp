// An event of the device's store, recorded in a stream once. Its last owner gives it back.
#pragma once

#include <memory>

#include "core/device/device.hpp"

namespace cuscope::core {

class Stream;

class RecordedEvent {
  public:
    // Records what the stream was given so far. Throws if the runtime refuses. The stream's device is
    // current.
    static std::shared_ptr<const RecordedEvent> in(const Stream& stream);

    explicit RecordedEvent(Device& device);
    RecordedEvent(const RecordedEvent&) = delete;
    RecordedEvent& operator=(const RecordedEvent&) = delete;
    ~RecordedEvent() { device_.give_event(handle_, generation_); }

    EventHandle handle() const { return handle_; }

  private:
    Device& device_;
    unsigned generation_;
    EventHandle handle_ = nullptr;
};

}  // namespace cuscope::core
