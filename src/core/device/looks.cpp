#include "core/device/looks.hpp"

#include <optional>

#include "core/device/observed.hpp"
#include "core/graph/capture.hpp"
#include "core/memory/window.hpp"

namespace cuscope::core {
namespace {

// An error that every later call would return, too.
bool is_lost(Device& device) {
    CaptureStatus capture = CaptureStatus::none;
    const Status status = device.runtime().stream_is_capturing(stream_per_thread, &capture);
    if (status != Status::success) device.runtime().get_last_error();
    return is_sticky(status);
}

// The number by which a simulated device knows the stream; 0 for the legacy default stream, because a capture
// may refuse the question. Each thread has a per-thread default stream of its own.
unsigned long long number_of(const Stream& stream) {
    unsigned long long number = stream.id();
    if (stream.handle() == stream_per_thread)
        stream.device().own_runtime().stream_get_id(stream_per_thread, &number);
    return number;
}

// Has the stream work in flight? Unknown if a capture forbids to ask. `every_thread`: the per-thread default
// stream stands for those of all threads, as far as they are known.
std::optional<bool> has_work(const Stream& stream, bool every_thread, StreamLook* look) {
    Device& device = stream.device();
    if (device.simulated()) {
        const bool any = every_thread && stream.handle() == stream_per_thread;
        const unsigned long long number = number_of(stream);
        for (PendingWork& work : device.own_runtime().pending()) {
            const bool its = any ? work.stream.starts_with("Stream per-thread default")
                             : stream.handle() == stream_legacy ? work.stream == "Stream legacy default"
                                                                : work.stream_id == number;
            if (!its || work.device != device.ordinal()) continue;
            if (look->in_flight++ == 0) look->first = std::move(work.what);
        }
        return look->in_flight > 0;
    }
    const std::optional<bool> busy = is_busy(stream);
    if (busy == true) {
        const std::vector<EnqueuedNote> notes = stream.enqueued().list();
        look->in_flight = notes.size();
        if (!notes.empty()) look->first = text_of(notes.front());
    }
    return busy;
}

}  // namespace

bool may_look() noexcept { return !forked_after_use() && !process_exiting() && !in_host_function(); }

StreamLook look_at(const StreamPtr& stream) {
    StreamLook look;
    if (!may_look()) return look;
    Device& device = stream->device();
    try {
        stream->check_usable();
    } catch (const std::exception&) {
        look.state = StreamState::reset;
        return look;
    }
    if (const std::optional<EnqueuedNote> note = stream->enqueued().latest()) look.last = text_of(*note);
    const Look looking;
    const DeviceScope scope(device);
    const RelaxedCapture relaxed(device);
    if (is_lost(device)) {
        look.state = StreamState::lost;
    } else if (stream->capturing()) {
        look.state = StreamState::captured;
    } else if (const std::optional<bool> busy = has_work(*stream, false, &look)) {
        look.state = *busy ? StreamState::working : StreamState::done;
    }
    return look;
}

EventStory look_at(const Event& event) {
    EventStory story;
    if (!may_look()) return story;
    Device& device = event.device();
    try {
        event.check_usable();
    } catch (const std::exception&) {
        story.moment = EventMoment::reset;
        return story;
    }
    const Look looking;
    const DeviceScope scope(device);
    const RelaxedCapture relaxed(device);
    if (is_lost(device)) {
        story.moment = EventMoment::lost;
        return story;
    }
    if (event.captured()) {
        story.moment = EventMoment::captured;
        return story;
    }
    const EventLook look = device.own_runtime().look_at(event.handle());
    switch (look.state) {
        case EventState::unknown:
            return story;
        case EventState::captured:
            story.moment = EventMoment::captured;
            return story;
        case EventState::not_recorded:
            story.moment = EventMoment::not_recorded;
            return story;
        case EventState::pending:
            story.moment = EventMoment::pending;
            return story;
        case EventState::happened:
            // A GPU says the same of an event that was never recorded.
            story.moment =
                event.stream() != 0 || device.simulated() ? EventMoment::happened : EventMoment::not_recorded;
            story.time_ns = look.time_ns;
            story.now_ns = device.own_runtime().trace_clock_ns();
            return story;
    }
    return story;
}

PeekResult peek(DeviceMemory& memory, std::span<const Part> parts, std::byte* destination, std::string* why) {
    const auto unavailable = [&](const char* reason) {
        *why = reason;
        return PeekResult::unavailable;
    };
    if (!may_look()) return unavailable("not to be read from here");
    try {
        memory.check_usable();
    } catch (const std::exception&) {
        return unavailable("its device was reset");
    }
    if (memory.kind() == DeviceMemory::Kind::graph)
        return unavailable("the memory belongs to a graph, and exists while the graph runs");
    Device& device = memory.device();
    const Look looking;
    const DeviceScope scope(device);
    const RelaxedCapture relaxed(device);
    if (is_lost(device)) return unavailable("its device is lost by an error");
    for (const StreamPtr& user : memory.users()) {
        StreamLook look;
        const std::optional<bool> busy = has_work(*user, true, &look);
        if (!busy) return unavailable("not to be read while a stream is captured");
        if (!*busy) continue;
        *why = look.first;
        return PeekResult::pending;
    }
    if (!memory.is_ready()) {
        *why = "work of another library";
        return PeekResult::pending;
    }
    if (!device.simulated() && &device.runtime() != &device.own_runtime())
        return unavailable("not to be read while a trace runs, which would have the copies");
    if (!device.simulated()) return read_through_window(device, memory, parts, destination, why);
    for (const Part& part : parts) {
        if (!device.own_runtime().peek(destination, static_cast<std::byte*>(memory.pointer()) + part.offset,
                                       part.bytes))
            return unavailable("its memory is not mapped");
        destination += part.bytes;
    }
    return PeekResult::values;
}

}  // namespace cuscope::core
