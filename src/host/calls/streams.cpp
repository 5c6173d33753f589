// The host runtime's streams, events and host functions.
#include "host/effects/host_function.hpp"
#include "host/graph/nodes/captured.hpp"
#include "host/runtime/call.hpp"
#include "host/runtime/host_runtime.hpp"

namespace cuscope::host {

Status HostRuntime::stream_create_with_priority(StreamHandle* stream, unsigned flags, int priority) {
    ENTER(stream_create);
    if (stream == nullptr || (flags & ~flags::stream_non_blocking) != 0) return fail(Status::invalid_value);
    Device& owner = machine_.devices.current();
    owner.sweep(machine_.timeline);
    *stream = machine_.streams.create(owner, flags, priority);
    return Status::success;
}

// The stream's work goes on. The object is released when the work has ended.
Status HostRuntime::stream_destroy(StreamHandle stream) {
    ENTER(stream_destroy);
    const Found<Stream> found = machine_.find_stream(stream);
    if (found == nullptr) return invalid_handle("stream");
    TRY(machine_.captures.admit_legacy(*found));
    if (!machine_.streams.contains(stream)) return invalid_handle("stream");
    machine_.captures.leave_stream(*found);
    machine_.streams.destroy(*found, machine_.devices[found->device]);
    return Status::success;
}

Status HostRuntime::stream_synchronize(StreamHandle stream) {
    ENTER(synchronize);
    const Found<Stream> found = machine_.find_stream(stream);
    if (found == nullptr) return invalid_handle("stream");
    const int index = found->device;
    TRY(machine_.captures.inquire(*found));
    const Status status = machine_.wait_for_stream(call.lock(), *found);
    machine_.running.flush_printed(call.lock());
    if (status != Status::success) return status;
    TRY(machine_.devices[index].check());
    machine_.devices[index].trim_pools();
    return Status::success;
}

Status HostRuntime::stream_query(StreamHandle stream) {
    ENTER(stream_query);
    const Found<Stream> found = machine_.find_stream(stream);
    if (found == nullptr) {
        if (!machine_.streams.was_reset(stream)) return invalid_handle("stream");
        return fail(Status::context_is_destroyed, "the stream went with device_reset");
    }
    TRY(machine_.captures.inquire(*found));
    const int index = found->device;
    bool done = true;
    for (const CommandRef& last : machine_.last_of_stream(*found)) {
        if (done) done = machine_.waits.is_done(call.lock(), last.get());
    }
    TRY(machine_.devices[index].check());
    return done ? Status::success : Status::not_ready;
}

Status HostRuntime::stream_wait_event(StreamHandle stream, EventHandle event, unsigned flags) {
    ENTER(stream_wait);
    const Found<Stream> found = machine_.find_stream(stream);
    const Found<Event> awaited = machine_.events.find(event);
    if (found == nullptr) return invalid_handle("stream");
    TRY(machine_.captures.admit(*found));
    if ((flags & ~flags::event_wait_external) != 0) return fail(Status::invalid_value);
    TRY(machine_.captures.admit_awaited(*found, awaited.get(), flags != 0));
    // Outside a capture an external event has no meaning.
    const bool ended = awaited->capture != 0 && machine_.captures.active(awaited->capture) == nullptr;
    if (flags != 0 && !found->captured() && !ended) return fail(Status::illegal_state);
    if (found->captured() || awaited->capture != 0)
        return machine_.captures.wait(*found, *awaited, flags != 0);
    if (!awaited->record) return Status::success;
    machine_.commit(machine_.begin(*found, Engine::none, Role::event_wait), awaited->record.get());
    machine_.waits.relieve(call.lock());
    return Status::success;
}

namespace {

// On a GPU the runtime library queries the driver in a way that the driver refuses for captured streams.
const char* const asked_detail =
    "a stream that is being captured is not asked for its flags, its number or its device";

}  // namespace

Status HostRuntime::stream_get_flags(StreamHandle stream, unsigned* flags) {
    ENTER(other);
    const Found<const Stream> found = machine_.find_stream(stream);
    if (found == nullptr) return invalid_handle("stream");
    TRY(machine_.captures.admit_uncaptured(*found, asked_detail));
    if (flags == nullptr) return fail(Status::invalid_value);
    *flags = found->flags;
    return Status::success;
}

Status HostRuntime::stream_get_priority(StreamHandle stream, int* priority) {
    ENTER(other);
    const Found<const Stream> found = machine_.find_stream(stream);
    if (found == nullptr) return invalid_handle("stream");
    TRY(machine_.captures.admit(*found));
    if (priority == nullptr) return fail(Status::invalid_value);
    *priority = found->priority;
    return Status::success;
}

Status HostRuntime::stream_get_id(StreamHandle stream, unsigned long long* id) {
    ENTER(other);
    const Found<const Stream> found = machine_.find_stream(stream);
    if (found == nullptr) return invalid_handle("stream");
    TRY(machine_.captures.admit_uncaptured(*found, asked_detail));
    if (id == nullptr) return fail(Status::invalid_value);
    *id = found->id;
    return Status::success;
}

Status HostRuntime::stream_get_device(StreamHandle stream, int* device) {
    ENTER(other);
    const Found<const Stream> found = machine_.find_stream(stream);
    if (found == nullptr) return invalid_handle("stream");
    TRY(machine_.captures.admit_uncaptured(*found, asked_detail));
    if (device == nullptr) return fail(Status::invalid_value);
    *device = found->device;
    return Status::success;
}

Status HostRuntime::launch_host_func(StreamHandle stream, HostFunction function, void* data) {
    ENTER(host_function);
    const Found<Stream> found = machine_.find_stream(stream);
    if (found == nullptr) return invalid_handle("stream");
    if (function == nullptr) return fail(Status::invalid_value, "the function is null");
    TRY(machine_.captures.admit(*found));
    Command* command = nullptr;
    TRY(make_host_command(machine_, {function, data}, *found, &command));
    if (found->captured()) return capture_host(machine_, *found, function, data, command);
    machine_.commit(command);
    machine_.waits.relieve(call.lock());
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
    const Found<Stream> found = machine_.find_stream(stream);
    if (found == nullptr) return invalid_handle("stream");
    if (callback == nullptr || flags != 0) return fail(Status::invalid_value);
    TRY(machine_.captures.admit_uncaptured(
        *found, "a callback of this kind is not captured: launch a host function"));
    Command* command = nullptr;
    auto packed = std::make_unique<Callback>(Callback{stream, callback, data});
    TRY(make_host_command(machine_, {call_back, packed.get()}, *found, &command));
    packed.release();
    machine_.commit(command);
    machine_.waits.relieve(call.lock());
    return Status::success;
}

// ---- events

Status HostRuntime::event_create_with_flags(EventHandle* event, unsigned flags) {
    ENTER(event_create);
    if (event == nullptr || !Event::allows(flags)) return fail(Status::invalid_value);
    auto made = std::make_unique<Event>();
    made->flags = flags;
    made->device = thread().device;
    *event = machine_.events.add(std::move(made));
    return Status::success;
}

Status HostRuntime::event_destroy(EventHandle event) {
    ENTER(event_destroy);
    return machine_.events.remove(event) == nullptr ? invalid_handle("event") : Status::success;
}

Status HostRuntime::event_record_with_flags(EventHandle event, StreamHandle stream, unsigned flags) {
    ENTER(event_record);
    const Found<Event> recorded = machine_.events.find(event);
    const Found<Stream> found = machine_.find_stream(stream);
    if (found == nullptr) return invalid_handle("stream");
    TRY(machine_.captures.admit(*found));
    if (recorded == nullptr) return invalid_handle("event");  // invalidates no capture, unlike a wait
    if ((flags & ~flags::event_record_external) != 0) return fail(Status::invalid_value);
    // Outside a capture an external record has no meaning.
    if (flags != 0 && !found->captured()) return fail(Status::illegal_state);
    TRY(recorded->check_record(found->device));
    if (found->captured() && flags == 0 && recorded->interprocess())
        return fail(Status::stream_capture_unsupported,  // invalidates no capture either
                    "a captured record of an event that other processes may know is an external one");
    if (found->captured()) {
        machine_.captures.record(*found, *recorded, flags != 0);
        return Status::success;
    }
    Command* command = machine_.begin(*found, Engine::none, Role::event_record);
    recorded->set_record(CommandRef(machine_.timeline.pool(), command));
    machine_.commit(command);
    machine_.waits.relieve(call.lock());
    return Status::success;
}

Status HostRuntime::event_query(EventHandle event) {
    ENTER(event_query);
    const Found<Event> asked = machine_.events.find(event);
    if (asked == nullptr) return invalid_handle("event");
    if (asked->reset) return fail(Status::device_uninitialized, "the event was made before device_reset");
    TRY(machine_.captures.inquire(*asked));
    const CommandRef record = asked->record;
    const bool done = machine_.waits.is_done(call.lock(), record.get());
    TRY(machine_.devices.current().check());
    return done ? Status::success : Status::not_ready;
}

Status HostRuntime::event_synchronize(EventHandle event) {
    ENTER(synchronize);
    const Found<Event> awaited = machine_.events.find(event);
    if (awaited == nullptr) return invalid_handle("event");
    TRY(machine_.captures.inquire(*awaited));
    const CommandRef record = awaited->record;
    const Status status = machine_.waits.wait_for(call.lock(), record.get());
    machine_.running.flush_printed(call.lock());
    if (status != Status::success) return status;
    TRY(machine_.devices.current().check());
    machine_.devices.current().trim_pools();
    return Status::success;
}

Status HostRuntime::event_elapsed_time(float* milliseconds, EventHandle start, EventHandle end) {
    ENTER(elapsed_time);
    const Found<Event> first = machine_.events.find(start);
    const Found<Event> second = machine_.events.find(end);
    if (milliseconds == nullptr) return fail(Status::invalid_value);
    for (Event* event : {first.get(), second.get()}) {
        if (event == nullptr) return invalid_handle("event");
        if (event->capture != 0) return machine_.captures.captured_event(*event);
        TRY(event->check_timed());
    }
    if (first->device != second->device) {
        return fail(Status::invalid_resource_handle,
                    "the events are of device " + std::to_string(first->device) + " and device " +
                        std::to_string(second->device) + ", whose clocks are not compared");
    }
    const CommandRef from = first->record, to = second->record;
    if (!machine_.waits.is_done(call.lock(), from.get()) || !machine_.waits.is_done(call.lock(), to.get())) {
        TRY(machine_.devices.current().check());
        thread().detail.clear();
        return Status::not_ready;
    }
    *milliseconds = static_cast<float>(static_cast<double>(to->ended - from->ended) * 1e-6);
    return Status::success;
}

}  // namespace cuscope::host
