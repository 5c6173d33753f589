// Makes records for traces from commands that have ended. Runs under the runtime's lock. It changes nothing,
// so a program's timeline is the same with and without a trace.
#include "host/effects/copies.hpp"
#include "host/effects/host_function.hpp"
#include "host/effects/kernel.hpp"
#include "host/effects/semaphore.hpp"
#include "host/effects/stream_memory_operations.hpp"
#include "host/runtime/machine.hpp"
#include "runtime/activity.hpp"

namespace cuscope::host {
namespace {

ActivityEngine engine_of(Engine engine) {
    switch (engine) {
        case Engine::copy_to_device:
            return ActivityEngine::copy_to_device;
        case Engine::copy_to_host:
            return ActivityEngine::copy_to_host;
        case Engine::copy_on_device:
            return ActivityEngine::copy_on_device;
        case Engine::compute:
            return ActivityEngine::kernels;
        case Engine::host:
            return ActivityEngine::host_functions;
        case Engine::none:
            break;
    }
    return ActivityEngine::none;
}

ActivityKind kind_of(const Command& command) {
    switch (command.role) {
        case Role::event_record:
            return ActivityKind::event_record;
        case Role::event_wait:
            return ActivityKind::event_wait;
        case Role::allocation:
            return ActivityKind::allocation;
        case Role::release:
            return ActivityKind::free;
        case Role::graph_begin:
            return ActivityKind::graph;
        case Role::graph_end:
            return ActivityKind::graph_end;
        default:
            break;
    }
    switch (command.engine) {
        case Engine::compute:
            return ActivityKind::kernel;
        case Engine::host:
            return ActivityKind::host_function;
        case Engine::none:
            break;
        default:
            return ActivityKind::copy;  // a prefetch, unless the effect says otherwise
    }
    if (dynamic_cast<const MemoryOperationsEffect*>(command.effect.get()) != nullptr)
        return ActivityKind::memory_operation;
    if (dynamic_cast<const SemaphoresEffect*>(command.effect.get()) != nullptr)
        return ActivityKind::semaphore;
    return ActivityKind::other;
}

std::array<std::uint32_t, 3> sizes(const Dim3& size) { return {size.x, size.y, size.z}; }

void describe_kernel(const KernelEffect& kernel, WorkRecord* record) {
    const simt::Launch& launch = kernel.launch;
    record->name = kernel.name;
    record->grid = sizes(launch.grid);
    record->block = sizes(launch.block);
    record->shared_bytes =
        static_cast<std::uint32_t>(launch.kernel->static_shared_bytes + launch.dynamic_shared_bytes);
}

// The device that has the memory; -1 for memory of the host, and for managed memory.
int device_of(const Machine& machine, const std::byte* address) {
    const Allocation* found = machine.memory.find(address);
    return found != nullptr && found->type == MemoryType::device ? found->device : -1;
}

void describe_copy(const Machine& machine, Engine engine, const CopyEffect& copy, WorkRecord* record) {
    record->bytes = static_cast<std::int64_t>(bytes_of(copy.extent()));
    const int from = device_of(machine, copy.source().base), to = device_of(machine, copy.destination().base);
    if (from >= 0 && to >= 0 && from != to) {
        static const std::uint32_t between_devices = index_of_name("device to other device");
        record->name = between_devices;
    }
    const std::byte* host = engine == Engine::copy_to_device ? copy.source().base
                            : engine == Engine::copy_to_host ? copy.destination().base
                                                             : nullptr;
    record->pageable = host != nullptr && machine.memory.find(host) == nullptr;
}

std::uint32_t direction(Engine engine) {
    static const std::uint32_t to_device = index_of_name("host to device"),
                               to_host = index_of_name("device to host"),
                               on_device = index_of_name("device to device");
    switch (engine) {
        case Engine::copy_to_device:
            return to_device;
        case Engine::copy_to_host:
            return to_host;
        default:
            return on_device;
    }
}

}  // namespace

void Machine::set_recorder(ActivityRecorder* new_recorder) {
    recorder_ = new_recorder;
    recorded_stream_ = 0;  // a new trace knows no stream
}

StreamRecord Machine::describe(const Stream& stream) const {
    return {stream.id,         devices[stream.device].activity_name,
            stream.device,     stream.priority,
            stream.blocking,   stream.legacy,
            stream.thread != 0};
}

void Machine::record(const Command& command) {
    WorkRecord record;
    record.kind = kind_of(command);
    if (record.kind == ActivityKind::other) return;  // only bookkeeping of graphs: it has no work of its own
    record.number = command.number();
    record.call = command.call;
    record.cause = command.cause;
    record.graph = command.graph;
    record.start = command.started;
    record.end = command.ended;
    record.issued = command.issued;
    record.ready = command.met;
    record.reason = command.reason;
    record.engine = engine_of(command.engine);
    record.device = devices[command.device].activity_name;
    if (const Effect* effect = command.effect.get()) {
        if (command.engine == Engine::compute) {
            describe_kernel(KernelEffect::of(command), &record);
        } else if (const auto* copy = dynamic_cast<const CopyEffect*>(effect)) {
            describe_copy(*this, command.engine, *copy, &record);
        } else if (const auto* set = dynamic_cast<const SetEffect*>(effect)) {
            record.kind = ActivityKind::memset;
            record.bytes = static_cast<std::int64_t>(bytes_of(set->extent()));
        }
    }
    if (record.kind == ActivityKind::copy && record.name == 0) record.name = direction(command.engine);
    if (command.name != 0) record.name = command.name;
    const auto& stream = static_cast<const Stream&>(*command.stream);
    record.stream = stream.id;
    recorder_->add(record);
    if (stream.id != recorded_stream_) {
        recorder_->add(describe(stream));
        recorded_stream_ = stream.id;
    }
}

}  // namespace cuscope::host
