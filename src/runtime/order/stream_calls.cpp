// Devices, streams and events.
#include <functional>
#include <thread>

#include "runtime/order/operations.hpp"
#include "runtime/order/order_runtime.hpp"

namespace cuscope::order {
namespace {

StreamHandle plain(StreamHandle stream) { return stream == nullptr ? stream_legacy : stream; }
bool is_legacy(StreamHandle stream) { return plain(stream) == stream_legacy; }

std::string name_of_stream(StreamHandle stream, unsigned long long id, int device) {
    std::string name = is_legacy(stream)             ? "the default stream"
                       : stream == stream_per_thread ? "the per-thread default stream"
                                                     : "Stream #" + std::to_string(id);
    if (device != 0) name += " of device " + std::to_string(device);
    return name;
}

}  // namespace

int OrderRuntime::current_device() {
    const Quiet quiet;
    int device = 0;
    if (under().get_device(&device) != Status::success) under().get_last_error();
    return device;
}

StreamKey OrderRuntime::key_of(StreamHandle stream) {
    stream = plain(stream);
    const bool is_default = stream == stream_legacy || stream == stream_per_thread;
    const std::uint64_t thread =
        stream == stream_per_thread ? std::hash<std::thread::id>()(std::this_thread::get_id()) : 0;
    const StreamKey key{&under(), reinterpret_cast<std::uintptr_t>(stream),
                        is_default ? current_device() : -1, thread};
    know(key, stream);
    return key;
}

void OrderRuntime::know(const StreamKey& key, StreamHandle stream) {
    if (Checker::get().knows(key)) return;
    StreamFacts facts;
    facts.legacy = is_legacy(stream);
    unsigned long long id = 0;
    if (std::get<2>(key) >= 0) {
        facts.device = std::get<2>(key);
    } else {
        const Quiet quiet;
        unsigned flags = 0;
        bool known = under().stream_get_flags(stream, &flags) == Status::success;
        known = known && under().stream_get_device(stream, &facts.device) == Status::success;
        known = known && under().stream_get_id(stream, &id) == Status::success;
        if (!known) under().get_last_error();
        facts.blocking = (flags & flags::stream_non_blocking) == 0;
    }
    facts.name = name_of_stream(stream, id, facts.device);
    Checker::get().introduce(key, std::move(facts));
}

void OrderRuntime::introduce(StreamHandle stream, unsigned flags, unsigned long long id, int device) {
    StreamFacts facts;
    facts.device = device;
    facts.blocking = (flags & flags::stream_non_blocking) == 0;
    facts.name = name_of_stream(stream, id, device);
    Checker::get().introduce({&under(), reinterpret_cast<std::uintptr_t>(stream), -1, 0}, std::move(facts));
}

bool OrderRuntime::is_captured(StreamHandle stream) {
    if (is_legacy(stream)) return false;
    const Quiet quiet;
    CaptureStatus status = CaptureStatus::none;
    if (under().stream_is_capturing(stream, &status) != Status::success) under().get_last_error();
    return status != CaptureStatus::none;
}

void OrderRuntime::enqueue(StreamHandle stream, Work work, bool waits) {
    if (is_captured(stream)) return note_node(stream, std::move(work));
    const StreamKey key = key_of(stream);
    Checker::get().enqueue(key, std::move(work));
    if (waits) Checker::get().wait_for_last(key);
}

Status OrderRuntime::device_synchronize() {
    const Status status = ForwardingRuntime::device_synchronize();
    if (status == Status::success && watched())
        Checker::get().device_done(&under(), current_device(), NoWait::active());
    return status;
}

Status OrderRuntime::device_reset() {
    const Status status = ForwardingRuntime::device_reset();
    if (status == Status::success && watched()) Checker::get().device_done(&under(), current_device(), false);
    return status;
}

Status OrderRuntime::stream_create_with_priority(StreamHandle* stream, unsigned flags, int priority) {
    const Status status = ForwardingRuntime::stream_create_with_priority(stream, flags, priority);
    if (status != Status::success || !watched()) return status;
    StreamFacts facts;
    facts.device = current_device();
    facts.blocking = (flags & flags::stream_non_blocking) == 0;
    facts.made_at = program_line_number();
    unsigned long long id = 0;
    {
        const Quiet quiet;
        if (under().stream_get_id(*stream, &id) != Status::success) under().get_last_error();
    }
    facts.name = name_of_stream(*stream, id, facts.device);
    Checker::get().introduce({&under(), reinterpret_cast<std::uintptr_t>(*stream), -1, 0}, std::move(facts));
    return status;
}

Status OrderRuntime::stream_destroy(StreamHandle stream) {
    const Status status = ForwardingRuntime::stream_destroy(stream);
    if (status == Status::success && watched())
        Checker::get().stream_destroyed({&under(), reinterpret_cast<std::uintptr_t>(stream), -1, 0});
    return status;
}

Status OrderRuntime::stream_synchronize(StreamHandle stream) {
    const Status status = ForwardingRuntime::stream_synchronize(stream);
    if (status == Status::success && watched()) Checker::get().stream_done(key_of(stream), NoWait::active());
    return status;
}

Status OrderRuntime::stream_query(StreamHandle stream) {
    const Status status = ForwardingRuntime::stream_query(stream);
    if (status == Status::success && watched()) Checker::get().stream_done(key_of(stream), NoWait::active());
    return status;
}

Status OrderRuntime::stream_wait_event(StreamHandle stream, EventHandle event, unsigned flags) {
    const Status status = ForwardingRuntime::stream_wait_event(stream, event, flags);
    // In a capture, the edges of the graph say who waits.
    if (status != Status::success || !watched()) return status;
    if (!is_captured(stream)) {
        Checker::get().stream_waits(key_of(stream), event);
    } else if ((flags & cuscope::flags::event_wait_external) != 0) {
        Work work;
        work.what = "the wait for an event";
        work.waits_for = event;
        note_node(stream, std::move(work));
    }
    return status;
}

Status OrderRuntime::launch_host_func(StreamHandle stream, HostFunction function, void* data) {
    if (!watched() || is_captured(stream)) {
        const Status status = ForwardingRuntime::launch_host_func(stream, function, data);
        if (status == Status::success && watched()) {
            Work work;
            work.what = "the host function";
            work.host_functions.push_back(host_function_key(function, data));
            note_node(stream, std::move(work));
        }
        return status;
    }
    // The function may begin before the call returns.
    Work work;
    work.what = "the host function";
    work.host_functions.push_back(host_function_key(function, data));
    Checker::get().enqueue(key_of(stream), std::move(work));
    return ForwardingRuntime::launch_host_func(stream, function, data);
}

Status OrderRuntime::wait_value(Status status, StreamHandle stream, void* address, unsigned bytes) {
    if (status != Status::success || !watched()) return status;
    Work work;
    work.what = "the wait for a number in memory";
    add_rows(work.accesses, address, bytes, bytes, 1, Role::atomic);
    if (is_captured(stream))
        note_node(stream, std::move(work));
    else
        Checker::get().enqueue_open_wait(key_of(stream), std::move(work));
    return status;
}

Status OrderRuntime::write_value(Status status, StreamHandle stream, void* address, unsigned bytes) {
    if (status != Status::success || !watched()) return status;
    Work work;
    work.what = "the write of a number to memory";
    add_rows(work.accesses, address, bytes, bytes, 1, Role::atomic);
    if (is_captured(stream))
        note_node(stream, std::move(work));
    else
        Checker::get().enqueue_flags(key_of(stream), std::move(work));
    return status;
}

Status OrderRuntime::stream_write_value_32(StreamHandle stream, void* address, std::uint32_t value,
                                           unsigned flags) {
    return write_value(ForwardingRuntime::stream_write_value_32(stream, address, value, flags), stream,
                       address, 4);
}
Status OrderRuntime::stream_write_value_64(StreamHandle stream, void* address, std::uint64_t value,
                                           unsigned flags) {
    return write_value(ForwardingRuntime::stream_write_value_64(stream, address, value, flags), stream,
                       address, 8);
}
Status OrderRuntime::stream_wait_value_32(StreamHandle stream, void* address, std::uint32_t value,
                                          unsigned flags) {
    return wait_value(ForwardingRuntime::stream_wait_value_32(stream, address, value, flags), stream, address,
                      4);
}
Status OrderRuntime::stream_wait_value_64(StreamHandle stream, void* address, std::uint64_t value,
                                          unsigned flags) {
    return wait_value(ForwardingRuntime::stream_wait_value_64(stream, address, value, flags), stream, address,
                      8);
}

Status OrderRuntime::stream_batch_mem_op(StreamHandle stream, unsigned count,
                                         const MemoryOperation* operations, unsigned flags) {
    const Status status = ForwardingRuntime::stream_batch_mem_op(stream, count, operations, flags);
    if (status != Status::success || !watched()) return status;
    for (unsigned i = 0; i < count; ++i) {
        const MemoryOperation& operation = operations[i];
        if (operation.waits()) wait_value(status, stream, operation.address, operation.bytes());
        if (operation.writes()) write_value(status, stream, operation.address, operation.bytes());
    }
    return status;
}

Status OrderRuntime::signal_external_semaphores_async(const ExternalSemaphoreHandle* semaphores,
                                                      const ExternalSemaphoreParameters* parameters,
                                                      unsigned count, StreamHandle stream) {
    const Status status =
        ForwardingRuntime::signal_external_semaphores_async(semaphores, parameters, count, stream);
    if (status == Status::success && watched()) {
        Work work;
        work.what = "the signal of a semaphore";
        enqueue(stream, std::move(work));
    }
    return status;
}

Status OrderRuntime::wait_external_semaphores_async(const ExternalSemaphoreHandle* semaphores,
                                                    const ExternalSemaphoreParameters* parameters,
                                                    unsigned count, StreamHandle stream) {
    const Status status =
        ForwardingRuntime::wait_external_semaphores_async(semaphores, parameters, count, stream);
    if (status == Status::success && watched() && !is_captured(stream)) {
        Work work;
        work.what = "the wait for a semaphore";
        Checker::get().enqueue_open_wait(key_of(stream), std::move(work));
    }
    return status;
}

// ---- events

Status OrderRuntime::event_create_with_flags(EventHandle* event, unsigned flags) {
    const Status status = ForwardingRuntime::event_create_with_flags(event, flags);
    if (status == Status::success && watched()) Checker::get().event_created(*event);
    return status;
}

Status OrderRuntime::event_destroy(EventHandle event) {
    const Status status = ForwardingRuntime::event_destroy(event);
    if (status == Status::success && watched()) Checker::get().event_destroyed(event);
    return status;
}

Status OrderRuntime::event_record_with_flags(EventHandle event, StreamHandle stream, unsigned flags) {
    const Status status = ForwardingRuntime::event_record_with_flags(event, stream, flags);
    if (status != Status::success || !watched()) return status;
    if (!is_captured(stream)) {
        Checker::get().event_recorded(event, key_of(stream));
        return status;
    }
    Checker::get().event_captured(event);
    if ((flags & cuscope::flags::event_record_external) != 0) {
        Work work;
        work.what = "the record of an event";
        work.records = event;
        note_node(stream, std::move(work));
    }
    return status;
}

Status OrderRuntime::event_query(EventHandle event) {
    const Status status = ForwardingRuntime::event_query(event);
    if (status == Status::success && watched()) Checker::get().event_done(event, NoWait::active());
    return status;
}

Status OrderRuntime::event_synchronize(EventHandle event) {
    if (watched()) Checker::get().host_waits(event);
    const Status status = ForwardingRuntime::event_synchronize(event);
    if (status == Status::success && watched()) Checker::get().event_done(event, NoWait::active());
    return status;
}

Status OrderRuntime::event_elapsed_time(float* milliseconds, EventHandle start, EventHandle end) {
    const Status status = ForwardingRuntime::event_elapsed_time(milliseconds, start, end);
    if (status == Status::success && watched()) {
        Checker::get().event_done(start, false);
        Checker::get().event_done(end, false);
    }
    return status;
}

}  // namespace cuscope::order
