// The host runtime's stream memory operations: writes of a value and waits for a value, in stream order.
#include "host/effects/stream_memory_operations.hpp"

#include "host/graph/nodes/captured.hpp"
#include "host/runtime/call.hpp"
#include "host/runtime/host_runtime.hpp"

namespace cuscope::host {
namespace {

Status enqueue_memory_operations(Machine& machine, Lock& lock, StreamHandle handle,
                                 const BatchMemOpNodeParameters& parameters) {
    const LastErrorKept kept;  // these are driver functions
    const Found<Stream> stream = machine.find_stream(handle);
    if (stream == nullptr) return invalid_handle("stream");
    TRY(machine.captures.admit(*stream));
    machine.timeline.spend(machine.devices.current().model->costs.memory_operation *
                           static_cast<Time>(parameters.count));
    const bool captured = stream->captured();
    Command* command = nullptr;
    TRY(make_memory_operations(machine, parameters, *stream, captured, &command));
    if (captured) return capture_batch(machine, *stream, parameters, command);
    if (command == nullptr) return Status::success;
    machine.commit(command);
    machine.waits.relieve(lock);
    return Status::success;
}

}  // namespace

Status HostRuntime::stream_write_value_32(StreamHandle stream, void* address, std::uint32_t value,
                                          unsigned flags) {
    ENTER(memory_operations);
    const MemoryOperation operation{MemoryOperationType::write_value_32, address, value, flags};
    return enqueue_memory_operations(machine_, call.lock(), stream, {&operation, 1, 0});
}

Status HostRuntime::stream_write_value_64(StreamHandle stream, void* address, std::uint64_t value,
                                          unsigned flags) {
    ENTER(memory_operations);
    const MemoryOperation operation{MemoryOperationType::write_value_64, address, value, flags};
    return enqueue_memory_operations(machine_, call.lock(), stream, {&operation, 1, 0});
}

Status HostRuntime::stream_wait_value_32(StreamHandle stream, void* address, std::uint32_t value,
                                         unsigned flags) {
    ENTER(memory_operations);
    const MemoryOperation operation{MemoryOperationType::wait_value_32, address, value, flags};
    return enqueue_memory_operations(machine_, call.lock(), stream, {&operation, 1, 0});
}

Status HostRuntime::stream_wait_value_64(StreamHandle stream, void* address, std::uint64_t value,
                                         unsigned flags) {
    ENTER(memory_operations);
    const MemoryOperation operation{MemoryOperationType::wait_value_64, address, value, flags};
    return enqueue_memory_operations(machine_, call.lock(), stream, {&operation, 1, 0});
}

Status HostRuntime::stream_batch_mem_op(StreamHandle stream, unsigned count,
                                        const MemoryOperation* operations, unsigned flags) {
    ENTER(memory_operations);
    return enqueue_memory_operations(machine_, call.lock(), stream, {operations, count, flags});
}

}  // namespace cuscope::host
