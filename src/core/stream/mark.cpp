#include "core/stream/mark.hpp"

#include "core/graph/capture.hpp"

namespace cuscope::core {

StreamMark mark(const StreamPtr& stream) noexcept {
    Device& device = stream->device();
    StreamMark made{stream, nullptr, device.generation()};
    try {
        const ReleaseScope scope(device);
        Runtime& runtime = device.runtime();
        // Most streams have finished by now: then this is one call instead of two, with an immediate answer.
        const Status now = runtime.stream_query(stream->handle());
        if (now == Status::success) return {};
        if (now != Status::not_ready) runtime.get_last_error();
        Status status = device.take_event(&made.event);
        if (status == Status::success) {
            status = runtime.event_record_with_flags(made.event, stream->handle(), 0);
        }
        if (status == Status::success) return made;
        runtime.get_last_error();
    } catch (const Error&) {
        // Without an event the stream itself is queried, which may say "done" later than necessary.
    }
    device.give_event(made.event, made.generation);
    made.event = nullptr;
    return made;
}

bool is_past(const StreamMark& mark) noexcept {
    if (mark.stream == nullptr) return true;
    Device& device = mark.stream->device();
    if (device.generation() != mark.generation) return true;
    Status status = Status::success;
    try {
        const ReleaseScope scope(device);
        Runtime& runtime = device.runtime();
        status = mark.event != nullptr ? runtime.event_query(mark.event)
                                       : runtime.stream_query(mark.stream->handle());
        if (status == Status::not_ready) return false;
        if (status != Status::success) runtime.get_last_error();
        if (is_put_off(status)) return false;
    } catch (const Error&) {
        return true;
    }
    device.give_event(mark.event, mark.generation);
    return true;
}

bool make_wait(const Stream& later, const StreamMark& mark) noexcept {
    if (is_past(mark)) return true;
    Device& device = later.device();
    try {
        const ReleaseScope scope(device);
        Runtime& runtime = device.runtime();
        const Status status = mark.event != nullptr ? runtime.stream_wait_event(later.handle(), mark.event, 0)
                                                    : order(later, *mark.stream);
        if (status != Status::success) {
            runtime.get_last_error();
            return false;
        }
    } catch (const Error&) {
        return false;
    }
    mark.stream->device().give_event(mark.event, mark.generation);
    return true;
}

void keep_until_done(const StreamPtr& stream, std::shared_ptr<void> thing) {
    if (const auto capture = stream->capture()) {
        capture->keep(thing);
        return;
    }
    stream->device().retire([mark = mark(stream), thing = std::move(thing)] { return is_past(mark); });
}

}  // namespace cuscope::core
