#include "core/stream/recorded_event.hpp"

#include "core/stream/stream.hpp"

namespace cuscope::core {

RecordedEvent::RecordedEvent(Device& device) : device_(device), generation_(device.generation()) {
    device.check(device.take_event(&handle_), "cudaEventCreateWithFlags");
}

std::shared_ptr<const RecordedEvent> RecordedEvent::in(const Stream& stream) {
    Device& device = stream.device();
    auto event = std::make_shared<RecordedEvent>(device);
    device.check(device.runtime().event_record_with_flags(event->handle_, stream.handle(), 0),
                 "cudaEventRecord");
    return event;
}

}  // namespace cuscope::core
