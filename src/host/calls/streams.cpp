// The host runtime's streams, events and host functions.
#include <algorithm>

#include "host/effects/host_function.hpp"
#include "host/graph/graph.hpp"
#include "host/runtime/call.hpp"
#include "host/runtime/host_runtime.hpp"

namespace cuscope::host {

Found<HostRuntime::Stream> HostRuntime::find_stream(StreamHandle handle) {
    if (handle == nullptr || handle == stream_legacy) return device().legacy;
    if (handle == stream_per_thread) {
        Device& current = device();
        for (auto& stream : current.streams) {
            if (stream->thread == thread().id) return stream.get();
        }
        auto stream = std::make_unique<Stream>();
        stream->id = next_stream_id_++;
        stream->thread = thread().id;
        timeline_.add_stream(*stream, thread().device, 0, true, false);
        current.streams.push_back(std::move(stream));
        return current.streams.back().get();
    }
    return live_.contains(handle) ? static_cast<Stream*>(reinterpret_cast<SimStream*>(handle)) : nullptr;
}

Found<HostRuntime::Event> HostRuntime::find_event(EventHandle handle) {
    return live_.contains(handle) ? reinterpret_cast<Event*>(handle) : nullptr;
}

Status HostRuntime::stream_create_with_priority(StreamHandle* stream, unsigned flags, int priority) {
    ENTER(stream_create);
    if (stream == nullptr || (flags & ~flags::stream_non_blocking) != 0) return fail(Status::invalid_value);
    Device& owner = device();
    sweep(owner);
    auto made = std::make_unique<Stream>();
    made->flags = flags;
    made->id = next_stream_id_++;
    const int clamped = std::clamp(priority, owner.model->greatest_priority, owner.model->least_priority);
    timeline_.add_stream(*made, thread().device, clamped, flags != flags::stream_non_blocking, false);
    SimStream* handle = made.get();
    live_.insert(handle);
    reset_streams_.erase(handle);
    *stream = reinterpret_cast<StreamHandle>(handle);
    owner.streams.push_back(std::move(made));
    return Status::success;
}

// The stream's work goes on. The object is released when the work has ended.
Status HostRuntime::stream_destroy(StreamHandle stream) {
    ENTER(stream_destroy);
    const Found<Stream> found = find_stream(stream);
    if (found == nullptr) return invalid_handle("stream");
    TRY(admit_legacy(*found));
    if (!live_.contains(stream)) return invalid_handle("stream");
    if (found->capture != nullptr) {
        Capture& capture = *found->capture;
        if (capture.origin == found.get()) {
            // A capture that was begun in this stream can no longer be ended.
            spoil(capture, Status::success, "the stream in which it was begun was destroyed");
            leave_capture(capture);
        } else {
            // The stream's captured work still has to be joined to the capture's origin.
            capture.left.insert(capture.left.end(), found->tips.begin(), found->tips.end());
            std::erase(capture.streams, found.get());
            found->capture = nullptr;
        }
    }
    live_.erase(stream);
    Device& owner = *devices_[found->device];
    const auto place = std::find_if(owner.streams.begin(), owner.streams.end(),
                                    [&](const auto& other) { return other.get() == found.get(); });
    owner.destroyed.push_back(std::move(*place));
    owner.streams.erase(place);
    sweep(owner);
    return Status::success;
}

void HostRuntime::sweep(Device& device) {
    std::erase_if(device.destroyed, [&](const auto& stream) {
        if (stream->last && !stream->last->functional) return false;
        for (auto& pool : device.pools) pool->forget(stream.get());
        timeline_.remove_stream(*stream);
        return true;
    });
}

// The stream's work has ended when all the returned commands have ended. The references are owned: while a
// caller waits for the first command, another thread may destroy any of these streams.
std::vector<CommandRef> HostRuntime::last_of_stream(const Stream& stream) {
    if (!stream.legacy) return {stream.last};
    // For the legacy stream: the commands that a command issued to it now would wait for.
    std::vector<CommandRef> last;
    for (const SimStream* other : timeline_.streams(stream.device)) {
        if (other->blocking && other->last) last.push_back(other->last);
    }
    return last;
}

Status HostRuntime::stream_synchronize(StreamHandle stream) {
    ENTER(synchronize);
    const Found<Stream> found = find_stream(stream);
    if (found == nullptr) return invalid_handle("stream");
    const int index = found->device;
    Status status = inquire(*found);
    if (status != Status::success) return status;
    for (const CommandRef& last : last_of_stream(*found)) {
        if (status == Status::success) status = wait_for(call.lock(), last.get());
    }
    flush_printed(call.lock());
    if (status != Status::success) return status;
    if (devices_[index]->lost != Status::success)
        return fail(devices_[index]->lost, devices_[index]->lost_detail);
    trim_pools(*devices_[index]);
    return Status::success;
}

Status HostRuntime::stream_query(StreamHandle stream) {
    ENTER(stream_query);
    const Found<Stream> found = find_stream(stream);
    if (found == nullptr) {
        if (!reset_streams_.contains(stream)) return invalid_handle("stream");
        return fail(Status::context_is_destroyed, "the stream went with device_reset");
    }
    TRY(inquire(*found));
    const int index = found->device;
    bool done = true;
    for (const CommandRef& last : last_of_stream(*found)) {
        if (done) done = is_done(call.lock(), last.get());
    }
    if (devices_[index]->lost != Status::success)
        return fail(devices_[index]->lost, devices_[index]->lost_detail);
    return done ? Status::success : Status::not_ready;
}

Status HostRuntime::stream_wait_event(StreamHandle stream, EventHandle event, unsigned flags) {
    ENTER(stream_wait);
    const Found<Stream> found = find_stream(stream);
    const Found<Event> awaited = find_event(event);
    if (found == nullptr) return invalid_handle("stream");
    TRY(admit(*found));
    if ((flags & ~flags::event_wait_external) != 0) return fail(Status::invalid_value);
    TRY(admit_awaited(*found, awaited.get(), flags != 0));
    // Outside a capture an external event has no meaning.
    const bool ended = awaited->capture != 0 && graphs_->active(awaited->capture) == nullptr;
    if (flags != 0 && found->capture == nullptr && !ended) return fail(Status::illegal_state);
    if (found->capture != nullptr || awaited->capture != 0) return capture_wait(*found, *awaited, flags != 0);
    if (!awaited->record) return Status::success;
    commit(begin(*found, Engine::none, Role::event_wait), awaited->record.get());
    relieve(call.lock());
    return Status::success;
}

namespace {

// On a GPU the runtime library queries the driver in a way that the driver refuses for captured streams.
const char* const asked_detail =
    "a stream that is being captured is not asked for its flags, its number or its device";

}  // namespace

Status HostRuntime::stream_get_flags(StreamHandle stream, unsigned* flags) {
    ENTER(other);
    const Found<const Stream> found = find_stream(stream);
    if (found == nullptr) return invalid_handle("stream");
    TRY(admit_uncaptured(*found, asked_detail));
    if (flags == nullptr) return fail(Status::invalid_value);
    *flags = found->flags;
    return Status::success;
}

Status HostRuntime::stream_get_priority(StreamHandle stream, int* priority) {
    ENTER(other);
    const Found<const Stream> found = find_stream(stream);
    if (found == nullptr) return invalid_handle("stream");
    TRY(admit(*found));
    if (priority == nullptr) return fail(Status::invalid_value);
    *priority = found->priority;
    return Status::success;
}

Status HostRuntime::stream_get_id(StreamHandle stream, unsigned long long* id) {
    ENTER(other);
    const Found<const Stream> found = find_stream(stream);
    if (found == nullptr) return invalid_handle("stream");
    TRY(admit_uncaptured(*found, asked_detail));
    if (id == nullptr) return fail(Status::invalid_value);
    *id = found->id;
    return Status::success;
}

Status HostRuntime::stream_get_device(StreamHandle stream, int* device) {
    ENTER(other);
    const Found<const Stream> found = find_stream(stream);
    if (found == nullptr) return invalid_handle("stream");
    TRY(admit_uncaptured(*found, asked_detail));
    if (device == nullptr) return fail(Status::invalid_value);
    *device = found->device;
    return Status::success;
}

Status HostRuntime::launch_host_func(StreamHandle stream, HostFunction function, void* data) {
    ENTER(host_function);
    const Found<Stream> found = find_stream(stream);
    if (found == nullptr) return invalid_handle("stream");
    if (function == nullptr) return fail(Status::invalid_value, "the function is null");
    TRY(admit(*found));
    Command* command = nullptr;
    TRY(make_host_command({function, data}, *found, &command));
    if (found->capture != nullptr) return capture_host(*found, function, data, command);
    commit(command);
    relieve(call.lock());
    return Status::success;
}

Status HostRuntime::make_host_command(const HostNodeParameters& parameters, Stream& stream, Command** made) {
    if (parameters.function == nullptr) return fail(Status::invalid_value, "the function is null");
    Command* command = begin(stream, Engine::host);
    command->duration = devices_[stream.device]->model->host_function_ns;
    command->duration_from_effect = true;
    command->observable = true;
    command->effect =
        std::make_shared<HostFunctionEffect>(parameters.function, parameters.data, command->duration);
    *made = command;
    return Status::success;
}

namespace {

struct Callback {
    StreamHandle stream;
    StreamCallback callback;
    void* data;
};

void call_back(void* data) {
    const std::unique_ptr<Callback> callback(static_cast<Callback*>(data));
    callback->callback(callback->stream, static_cast<int>(Status::success), callback->data);
}

}  // namespace

// Callbacks cannot be captured.
Status HostRuntime::stream_add_callback(StreamHandle stream, StreamCallback callback, void* data,
                                        unsigned flags) {
    ENTER(host_function);
    const Found<Stream> found = find_stream(stream);
    if (found == nullptr) return invalid_handle("stream");
    if (callback == nullptr || flags != 0) return fail(Status::invalid_value);
    TRY(admit_uncaptured(*found, "a callback of this kind is not captured: launch a host function"));
    Command* command = nullptr;
    auto packed = std::make_unique<Callback>(Callback{stream, callback, data});
    TRY(make_host_command({call_back, packed.get()}, *found, &command));
    packed.release();
    commit(command);
    relieve(call.lock());
    return Status::success;
}

// ---- events

Status HostRuntime::event_create_with_flags(EventHandle* event, unsigned flags) {
    ENTER(event_create);
    constexpr unsigned known =
        flags::event_blocking_sync | flags::event_disable_timing | flags::event_interprocess;
    const bool interprocess_with_timing =
        (flags & flags::event_interprocess) != 0 && (flags & flags::event_disable_timing) == 0;
    if (event == nullptr || (flags & ~known) != 0 || interprocess_with_timing)
        return fail(Status::invalid_value);
    auto made = std::make_unique<Event>();
    made->flags = flags;
    made->device = thread().device;
    *event = reinterpret_cast<EventHandle>(made.get());
    live_.insert(made.get());
    events_.emplace(made.get(), std::move(made));
    return Status::success;
}

Status HostRuntime::event_destroy(EventHandle event) {
    ENTER(event_destroy);
    if (events_.erase(event) == 0) return invalid_handle("event");
    live_.erase(event);
    return Status::success;
}

Status HostRuntime::event_record_with_flags(EventHandle event, StreamHandle stream, unsigned flags) {
    ENTER(event_record);
    const Found<Event> recorded = find_event(event);
    const Found<Stream> found = find_stream(stream);
    if (found == nullptr) return invalid_handle("stream");
    TRY(admit(*found));
    if (recorded == nullptr) return invalid_handle("event");  // invalidates no capture, unlike a wait
    if ((flags & ~flags::event_record_external) != 0) return fail(Status::invalid_value);
    // Outside a capture an external record has no meaning.
    if (flags != 0 && found->capture == nullptr) return fail(Status::illegal_state);
    // The current device does not matter. A wait, unlike a record, accepts an event of another device.
    if (recorded->device != found->device) {
        return fail(Status::invalid_resource_handle,
                    "an event of device " + std::to_string(recorded->device) +
                        " is not recorded in a stream of device " + std::to_string(found->device));
    }
    if (found->capture != nullptr && flags == 0 && (recorded->flags & flags::event_interprocess) != 0)
        return fail(Status::stream_capture_unsupported,  // invalidates no capture either
                    "a captured record of an event that other processes may know is an external one");
    if (found->capture != nullptr) return capture_record(*found, *recorded, event, flags != 0);
    Command* command = begin(*found, Engine::none, Role::event_record);
    recorded->record = CommandRef(timeline_.pool(), command);
    recorded->capture = 0;
    commit(command);
    relieve(call.lock());
    return Status::success;
}

Status HostRuntime::event_query(EventHandle event) {
    ENTER(event_query);
    const Found<Event> asked = find_event(event);
    if (asked == nullptr) return invalid_handle("event");
    if (asked->reset) return fail(Status::device_uninitialized, "the event was made before device_reset");
    TRY(inquire(*asked));
    const CommandRef record = asked->record;
    const bool done = is_done(call.lock(), record.get());
    if (device().lost != Status::success) return fail(device().lost, device().lost_detail);
    return done ? Status::success : Status::not_ready;
}

Status HostRuntime::event_synchronize(EventHandle event) {
    ENTER(synchronize);
    const Found<Event> awaited = find_event(event);
    if (awaited == nullptr) return invalid_handle("event");
    TRY(inquire(*awaited));
    const CommandRef record = awaited->record;
    const Status status = wait_for(call.lock(), record.get());
    flush_printed(call.lock());
    if (status != Status::success) return status;
    if (device().lost != Status::success) return fail(device().lost, device().lost_detail);
    trim_pools(device());
    return Status::success;
}

Status HostRuntime::event_elapsed_time(float* milliseconds, EventHandle start, EventHandle end) {
    ENTER(elapsed_time);
    const Found<Event> first = find_event(start);
    const Found<Event> second = find_event(end);
    if (milliseconds == nullptr) return fail(Status::invalid_value);
    for (Event* event : {first.get(), second.get()}) {
        if (event == nullptr) return invalid_handle("event");
        if (event->capture != 0) return captured_event(*event);
        if ((event->flags & flags::event_disable_timing) != 0)
            return fail(Status::invalid_resource_handle, "an event made without timing has no time");
        if (!event->record)
            return fail(Status::invalid_resource_handle, "an event that was never recorded has no time");
    }
    if (first->device != second->device) {
        return fail(Status::invalid_resource_handle,
                    "the events are of device " + std::to_string(first->device) + " and device " +
                        std::to_string(second->device) + ", whose clocks are not compared");
    }
    const CommandRef from = first->record, to = second->record;
    if (!is_done(call.lock(), from.get()) || !is_done(call.lock(), to.get())) {
        if (device().lost != Status::success) return fail(device().lost, device().lost_detail);
        thread().detail.clear();
        return Status::not_ready;
    }
    *milliseconds = static_cast<float>(static_cast<double>(to->ended - from->ended) * 1e-6);
    return Status::success;
}

}  // namespace cuscope::host
