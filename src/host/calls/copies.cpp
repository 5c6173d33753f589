// The host runtime's copies and memsets, in one, two and three dimensions.
#include "host/effects/copies.hpp"

#include "host/graph/nodes/captured.hpp"
#include "host/runtime/call.hpp"
#include "host/runtime/host_runtime.hpp"

namespace cuscope::host {
namespace {

// The call launches a kernel of the driver, and issues the command when that is done.
void spend_on_kernel(Machine& machine, Command* command) {
    const std::int64_t cost = machine.devices[command->device].model->costs.device_copy;
    machine.timeline.spend(cost);
    command->issued += cost;
}

Status copy(Machine& machine, Lock& lock, const Box& destination, const Box& source, const Extent& extent,
            MemcpyKind kind, Found<Stream> stream, const CopyRequest& given) {
    if (bytes_of(extent) == 0) return Status::success;  // nothing is checked, not even a capture
    if (!is_kind(kind)) return fail(Status::invalid_memcpy_direction);
    TRY(machine.captures.admit(*stream));
    CopyRequest request = given;
    request.node = stream->captured();
    if (request.synchronous && !request.node) {
        // A small pageable source is staged, but not before the stream's earlier work is done.
        const Allocation *to = nullptr, *from = nullptr;
        TRY(check_copy(machine, destination, source, extent, kind, &to, &from));
        if (bytes_of(extent) <= most_staged && from == nullptr && on_device(to)) {
            Device& owner = machine.devices[stream->device];
            TRY(machine.wait_for_stream(lock, *stream));
            TRY(owner.check());
            stream = owner.legacy;  // synchronous copies use the legacy stream, looked up after the wait
            TRY(machine.captures.admit(*stream));
        }
    }
    Command* command = nullptr;
    bool wait = false;
    TRY(make_copy(machine, destination, source, extent, kind, *stream, request, &command, &wait));
    if (stream->captured())
        return capture_copy(machine, *stream, destination, source, extent, kind, request.parameters, command);
    const CommandRef keep(machine.timeline.pool(), command);
    const int index = stream->device;
    if (command->engine == Engine::copy_on_device) spend_on_kernel(machine, command);
    machine.commit(command);
    if (!wait) {
        machine.waits.relieve(lock);
        return Status::success;
    }
    TRY(machine.waits.wait_for(lock, command));
    TRY(machine.devices[index].check());
    return Status::success;
}

Status copy_2d(Machine& machine, Lock& lock, void* destination, std::size_t destination_pitch,
               const void* source, std::size_t source_pitch, std::size_t width, std::size_t height,
               MemcpyKind kind, Found<Stream> stream, bool synchronous) {
    const std::size_t most = machine.devices.current().model->properties.memory_pitch;
    for (const std::size_t pitch : {destination_pitch, source_pitch}) {
        if (pitch >= width && pitch <= most) continue;
        return fail(Status::invalid_pitch_value, "a pitch of " + std::to_string(pitch) +
                                                     " bytes; allowed is from the width, " +
                                                     std::to_string(width) + ", to " + std::to_string(most));
    }
    return copy(machine, lock, Box::of(destination, destination_pitch), Box::of(source, source_pitch),
                {width, height, 1}, kind, stream, {.synchronous = synchronous});
}

Status copy_3d(Machine& machine, Lock& lock, const Memcpy3DParameters* parameters, Found<Stream> stream,
               bool synchronous) {
    Box destination, source;
    Extent extent;
    TRY(boxes_of(machine, parameters, &destination, &source, &extent));
    return copy(machine, lock, destination, source, extent, parameters->kind, stream,
                {.synchronous = synchronous, .parameters = parameters});
}

Status copy_peer(Machine& machine, Lock& lock, void* destination, int destination_device, const void* source,
                 int source_device, std::size_t bytes, Found<Stream> stream, bool synchronous) {
    for (const int index : {destination_device, source_device}) {
        if (!machine.devices.exist(index)) return fail(Status::invalid_device);
    }
    // The addresses tell where the memory is, whichever devices the call names.
    if (bytes > 0 &&
        (!on_device(machine.memory.find(destination)) || !on_device(machine.memory.find(source))))
        return fail(Status::invalid_value, "the addresses are not memory of devices");
    return copy(machine, lock, Box::of(destination), Box::of(source), {bytes, 1, 1}, MemcpyKind::by_address,
                stream, {.synchronous = synchronous, .peer = true});
}

// A synchronous memset waits only if the memory is page-locked host memory. Unlike a copy between devices, a
// memset is executed by the stream's device alone, so that device must have access to the memory.
Status set(Machine& machine, Lock& lock, const Box& box, std::uint32_t value, std::size_t element,
           const Extent& extent, Found<Stream> stream, bool synchronous = false) {
    if (bytes_of(extent) == 0) return Status::success;  // nothing is checked, not even a capture
    TRY(machine.captures.admit(*stream));
    const Allocation* const found = machine.memory.find(box.base);
    if (!stream->captured() && found != nullptr && !machine.devices[stream->device].reaches(*found)) {
        return fail(Status::invalid_value,
                    "the memory is on device " + std::to_string(found->device) + ", and device " +
                        std::to_string(stream->device) +
                        ", whose stream it is, has no access to it (device_enable_peer_access, of pools "
                        "mem_pool_set_access): use a stream of the memory's device");
    }
    Command* command = nullptr;
    TRY(make_set(machine, box, value, element, extent, *stream, stream->captured(), &command));
    if (stream->captured()) return capture_set(machine, *stream, box, value, element, extent, command);
    const bool wait = synchronous && found != nullptr && found->type == MemoryType::host;
    const CommandRef keep(machine.timeline.pool(), command);
    if (!is_small_memset(*machine.devices[stream->device].model, extent)) spend_on_kernel(machine, command);
    machine.commit(command);
    if (wait) return machine.waits.wait_for(lock, command);
    machine.waits.relieve(lock);
    return Status::success;
}

// `width` is in bytes.
Status set_2d(Machine& machine, Lock& lock, void* pointer, std::size_t pitch, std::uint32_t value,
              std::size_t element, std::size_t width, std::size_t height, Found<Stream> stream,
              bool synchronous = false) {
    TRY(check_set_2d(pointer, pitch, element, width, height));
    return set(machine, lock, Box::of(pointer, pitch), value, element, {width, height, 1}, stream,
               synchronous);
}

Status set_3d(Machine& machine, Lock& lock, const PitchedPointer& pitched, int value, const Extent& extent,
              Found<Stream> stream, bool synchronous) {
    if (bytes_of(extent) == 0) return Status::success;
    if (extent.width > pitched.pitch || (extent.depth > 1 && extent.height > pitched.y_size)) {
        return fail(Status::invalid_value, "the extent is larger than the memory's rows or slices");
    }
    return set(machine, lock, Box::of(pitched.pointer, pitched.pitch, pitched.pitch * pitched.y_size),
               static_cast<std::uint8_t>(value), 1, extent, stream, synchronous);
}

}  // namespace

Status HostRuntime::memcpy(void* destination, const void* source, std::size_t bytes, MemcpyKind kind) {
    ENTER(memcpy_async);
    return copy(machine_, call.lock(), Box::of(destination), Box::of(source), {bytes, 1, 1}, kind,
                machine_.devices.current().legacy, {.synchronous = true});
}

Status HostRuntime::memcpy_async(void* destination, const void* source, std::size_t bytes, MemcpyKind kind,
                                 StreamHandle stream) {
    ENTER(memcpy_async);
    const Found<Stream> found = machine_.find_stream(stream);
    if (found == nullptr) return invalid_handle("stream");
    return copy(machine_, call.lock(), Box::of(destination), Box::of(source), {bytes, 1, 1}, kind, found, {});
}

Status HostRuntime::memcpy_2d(void* destination, std::size_t destination_pitch, const void* source,
                              std::size_t source_pitch, std::size_t width, std::size_t height,
                              MemcpyKind kind) {
    ENTER(memcpy_async);
    return copy_2d(machine_, call.lock(), destination, destination_pitch, source, source_pitch, width, height,
                   kind, machine_.devices.current().legacy, true);
}

Status HostRuntime::memcpy_2d_async(void* destination, std::size_t destination_pitch, const void* source,
                                    std::size_t source_pitch, std::size_t width, std::size_t height,
                                    MemcpyKind kind, StreamHandle stream) {
    ENTER(memcpy_async);
    const Found<Stream> found = machine_.find_stream(stream);
    if (found == nullptr) return invalid_handle("stream");
    return copy_2d(machine_, call.lock(), destination, destination_pitch, source, source_pitch, width, height,
                   kind, found, false);
}

// ---- three dimensions, and arrays

Status HostRuntime::memcpy_3d(const Memcpy3DParameters* parameters) {
    ENTER(memcpy_async);
    return copy_3d(machine_, call.lock(), parameters, machine_.devices.current().legacy, true);
}

Status HostRuntime::memcpy_3d_async(const Memcpy3DParameters* parameters, StreamHandle stream) {
    ENTER(memcpy_async);
    const Found<Stream> found = machine_.find_stream(stream);
    if (found == nullptr) return invalid_handle("stream");
    return copy_3d(machine_, call.lock(), parameters, found, false);
}

// ---- devices among each other, and batches

Status HostRuntime::memcpy_peer(void* destination, int destination_device, const void* source,
                                int source_device, std::size_t bytes) {
    ENTER(memcpy_async);
    return copy_peer(machine_, call.lock(), destination, destination_device, source, source_device, bytes,
                     machine_.devices.current().legacy, true);
}

Status HostRuntime::memcpy_peer_async(void* destination, int destination_device, const void* source,
                                      int source_device, std::size_t bytes, StreamHandle stream) {
    ENTER(memcpy_async);
    const Found<Stream> found = machine_.find_stream(stream);
    if (found == nullptr) return invalid_handle("stream");
    return copy_peer(machine_, call.lock(), destination, destination_device, source, source_device, bytes,
                     found, false);
}

Status HostRuntime::memcpy_batch_async(void* const* destinations, const void* const* sources,
                                       const std::size_t* sizes, std::size_t count,
                                       const MemcpyAttributes* attributes,
                                       const std::size_t* attribute_indices, std::size_t attribute_count,
                                       StreamHandle stream) {
    ENTER(memcpy_async);
    if (destinations == nullptr || sources == nullptr || sizes == nullptr || count == 0 ||
        attributes == nullptr || attribute_indices == nullptr || attribute_count == 0 ||
        attribute_count > count || attribute_indices[0] != 0) {
        return fail(Status::invalid_value, "a batch has copies, and attributes from its first copy on");
    }
    for (std::size_t i = 0; i < attribute_count; ++i) {
        const int order = static_cast<int>(attributes[i].source_access_order);
        const bool ascending = i == 0 || attribute_indices[i] > attribute_indices[i - 1];
        if (order < 1 || order > 3 || !ascending || attribute_indices[i] >= count)
            return fail(Status::invalid_value);
    }
    if (stream == nullptr || stream == stream_legacy) {
        return fail(Status::invalid_value, "the legacy default stream takes no batch");
    }
    if (machine_.find_stream(stream) == nullptr) return invalid_handle("stream");
    for (std::size_t i = 0; i < count; ++i) {
        const Allocation *to = nullptr, *from = nullptr;
        if (sizes[i] == 0) return fail(Status::invalid_value, "a copy of no bytes");
        TRY(check_copy(machine_, Box::of(destinations[i]), Box::of(sources[i]), {sizes[i], 1, 1},
                       MemcpyKind::by_address, &to, &from));
    }
    std::size_t group = 0;
    for (std::size_t i = 0; i < count; ++i) {
        while (group + 1 < attribute_count && attribute_indices[group + 1] <= i) ++group;
        const bool stage = attributes[group].source_access_order == SourceAccessOrder::during_api_call;
        // The previous copy may have waited. Another thread may have destroyed the stream meanwhile.
        const Found<Stream> still = machine_.find_stream(stream);
        if (still == nullptr) return invalid_handle("stream");
        TRY(copy(machine_, call.lock(), Box::of(destinations[i]), Box::of(sources[i]), {sizes[i], 1, 1},
                 MemcpyKind::by_address, still, {.stage = stage}));
    }
    return Status::success;
}

// ---- sets

Status HostRuntime::memset(void* pointer, int value, std::size_t bytes) {
    ENTER(memset_async);
    return set(machine_, call.lock(), Box::of(pointer), static_cast<std::uint8_t>(value), 1, {bytes, 1, 1},
               machine_.devices.current().legacy, true);
}

Status HostRuntime::memset_async(void* pointer, int value, std::size_t bytes, StreamHandle stream) {
    ENTER(memset_async);
    const Found<Stream> found = machine_.find_stream(stream);
    if (found == nullptr) return invalid_handle("stream");
    return set(machine_, call.lock(), Box::of(pointer), static_cast<std::uint8_t>(value), 1, {bytes, 1, 1},
               found);
}

Status HostRuntime::memset_2d(void* pointer, std::size_t pitch, int value, std::size_t width,
                              std::size_t height) {
    ENTER(memset_async);
    return set_2d(machine_, call.lock(), pointer, pitch, static_cast<std::uint8_t>(value), 1, width, height,
                  machine_.devices.current().legacy, true);
}

Status HostRuntime::memset_2d_async(void* pointer, std::size_t pitch, int value, std::size_t width,
                                    std::size_t height, StreamHandle stream) {
    ENTER(memset_async);
    const Found<Stream> found = machine_.find_stream(stream);
    if (found == nullptr) return invalid_handle("stream");
    return set_2d(machine_, call.lock(), pointer, pitch, static_cast<std::uint8_t>(value), 1, width, height,
                  found);
}

Status HostRuntime::memset_d2d16_async(void* pointer, std::size_t pitch, unsigned short value,
                                       std::size_t width, std::size_t height, StreamHandle stream) {
    ENTER(memset_async);
    const Found<Stream> found = machine_.find_stream(stream);
    if (found == nullptr) return invalid_handle("stream");
    return set_2d(machine_, call.lock(), pointer, pitch, value, sizeof(value), width * sizeof(value), height,
                  found);
}

Status HostRuntime::memset_d2d32_async(void* pointer, std::size_t pitch, unsigned value, std::size_t width,
                                       std::size_t height, StreamHandle stream) {
    ENTER(memset_async);
    const Found<Stream> found = machine_.find_stream(stream);
    if (found == nullptr) return invalid_handle("stream");
    return set_2d(machine_, call.lock(), pointer, pitch, value, sizeof(value), width * sizeof(value), height,
                  found);
}

Status HostRuntime::memset_3d(PitchedPointer pitched, int value, Extent extent) {
    ENTER(memset_async);
    return set_3d(machine_, call.lock(), pitched, value, extent, machine_.devices.current().legacy, true);
}

Status HostRuntime::memset_3d_async(PitchedPointer pitched, int value, Extent extent, StreamHandle stream) {
    ENTER(memset_async);
    const Found<Stream> found = machine_.find_stream(stream);
    if (found == nullptr) return invalid_handle("stream");
    return set_3d(machine_, call.lock(), pitched, value, extent, found, false);
}

}  // namespace cuscope::host
