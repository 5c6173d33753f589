#include "host/objects/event.hpp"

#include "host/runtime/thread_state.hpp"

namespace cuscope::host {

bool Event::allows(unsigned flags) {
    constexpr unsigned known =
        flags::event_blocking_sync | flags::event_disable_timing | flags::event_interprocess;
    const bool interprocess_with_timing =
        (flags & flags::event_interprocess) != 0 && (flags & flags::event_disable_timing) == 0;
    return (flags & ~known) == 0 && !interprocess_with_timing;
}

// The current device does not matter. A wait, unlike a record, accepts an event of another device.
Status Event::check_record(int stream_device) const {
    if (device == stream_device) return Status::success;
    return fail(Status::invalid_resource_handle, "an event of device " + std::to_string(device) +
                                                     " is not recorded in a stream of device " +
                                                     std::to_string(stream_device));
}

Status Event::check_timed() const {
    if ((flags & flags::event_disable_timing) != 0)
        return fail(Status::invalid_resource_handle, "an event made without timing has no time");
    if (!record) return fail(Status::invalid_resource_handle, "an event that was never recorded has no time");
    return Status::success;
}

// Events with timing are refused: such a record has no time of its own.
Status Event::check_beside(unsigned record_flags) const {
    if ((flags & flags::event_disable_timing) == 0) {
        return fail(Status::not_supported, "an event with timing: a launch records one made without only");
    }
    if (interprocess())
        return fail(Status::not_supported, "an event that processes share, which no launch records");
    if ((record_flags & flags::event_record_external) != 0)
        return fail(Status::illegal_state, "an external record, outside of a capture");
    if (record_flags != 0) return fail(Status::invalid_value, "record flags that are none");
    return Status::success;
}

}  // namespace cuscope::host
