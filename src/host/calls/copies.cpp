// The host runtime's copies and memsets, in one, two and three dimensions.
#include "host/effects/copies.hpp"

#include <algorithm>

#include "host/runtime/call.hpp"
#include "host/runtime/host_runtime.hpp"

namespace cuscope::host {
namespace {

// The call itself copies a pageable source of up to this size to a staging buffer and returns at once.
constexpr std::size_t most_staged = std::size_t{64} << 10;

Time transfer(std::size_t bytes, double rate) { return static_cast<Time>(static_cast<double>(bytes) / rate); }

Box box_of(void* pointer, std::size_t pitch = 0, std::size_t slice = 0) {
    return {static_cast<std::byte*>(pointer), pitch, slice};
}
Box box_of(const void* pointer, std::size_t pitch = 0, std::size_t slice = 0) {
    return box_of(const_cast<void*>(pointer), pitch, slice);
}

bool is_kind(MemcpyKind kind) { return static_cast<int>(kind) >= 0 && static_cast<int>(kind) <= 4; }

bool on_device(const Allocation* allocation) {
    return allocation != nullptr && allocation->type != MemoryType::host;
}
bool between_devices(const Allocation* to, const Allocation* from) {
    return on_device(to) && on_device(from) && to->device != from->device;
}
bool managed(const Allocation* allocation) {
    return allocation != nullptr && allocation->type == MemoryType::managed;
}

}  // namespace

// Finds the allocation that the box lies in, if any, and checks that it holds the whole box.
Status HostRuntime::check_box(const Box& box, const Extent& extent, const char* what,
                              const Allocation** allocation) {
    if (box.base == nullptr) return fail(Status::invalid_value, std::string("the ") + what + " is null");
    *allocation = memory_.find(box.base);
    if (*allocation == nullptr) return Status::success;
    const auto left = static_cast<std::size_t>((*allocation)->base + (*allocation)->bytes - box.base);
    if (box.reach(extent) <= left) return Status::success;
    return fail(Status::invalid_value, std::to_string(box.reach(extent)) + " bytes are more than the " +
                                           std::to_string(left) + " that the " + what + " holds");
}

Status HostRuntime::check_copy(const Box& destination, const Box& source, const Extent& extent,
                               MemcpyKind kind, const Allocation** to, const Allocation** from) {
    if (bytes_of(extent) == 0) return Status::success;
    if (!is_kind(kind)) return fail(Status::invalid_memcpy_direction);
    TRY(check_box(destination, extent, "destination", to));
    TRY(check_box(source, extent, "source", from));
    // With unified addressing a known address itself tells where its memory is, so the kind does not matter.
    // Pageable memory is refused where the kind says that it is device memory.
    const bool to_device = kind == MemcpyKind::host_to_device || kind == MemcpyKind::device_to_device;
    const bool from_device = kind == MemcpyKind::device_to_host || kind == MemcpyKind::device_to_device;
    if ((to_device && *to == nullptr) || (from_device && *from == nullptr)) {
        return fail(Status::invalid_value,
                    std::string("the kind of the copy says that its ") +
                        (to_device && *to == nullptr ? "destination" : "source") +
                        " is device memory, but the address is pageable memory of the host");
    }
    return Status::success;
}

// A copy is executed by its stream's device, which needs access to memory that lies in another device's
// pools. Copies that name both devices need no such access: each device reads or writes its own side.
Status HostRuntime::check_access(int device, const Allocation* to, const Allocation* from) {
    for (const Allocation* side : {to, from}) {
        if (side == nullptr || side->pool == nullptr || reaches(device, *side)) continue;
        return fail(Status::invalid_value,
                    "device " + std::to_string(device) + " has no access to the pool of device " +
                        std::to_string(side->device) + " from which the memory comes (mem_pool_set_access)");
    }
    return Status::success;
}

Status HostRuntime::make_copy(const Box& destination, const Box& source, const Extent& extent,
                              MemcpyKind kind, Stream& stream, const CopyRequest& request, Command** made,
                              bool* wait) {
    const Allocation *to = nullptr, *from = nullptr;
    TRY(check_copy(destination, source, extent, kind, &to, &from));
    const std::size_t bytes = bytes_of(extent);
    if (bytes == 0) return Status::success;
    if (!request.peer) {
        TRY(check_access(stream.device, to, from));
    }
    const bool to_device = on_device(to), from_device = on_device(from);
    const DeviceModel& model = *devices_[stream.device]->model;
    const bool pageable_source = from == nullptr, pageable_destination = to == nullptr;
    Command* command = begin(stream, Engine::copy_on_device);
    command->observable = managed(to);
    auto effect = std::make_shared<CopyEffect>(destination, source, extent);
    if (to_device && from_device && to->device == from->device) {
        command->duration = model.device_copy_latency_ns + transfer(bytes, model.device_to_device_rate);
    } else if (between_devices(to, from) && !managed(to) && !managed(from)) {
        command->engine = Engine::copy_to_device;
        command->duration =
            model.copy_latency_ns + transfer(bytes, std::min(devices_[to->device]->model->link_rate,
                                                             devices_[from->device]->model->link_rate));
    } else if (to_device) {
        command->engine = Engine::copy_to_device;
        command->duration =
            model.copy_latency_ns +
            transfer(bytes, pageable_source ? model.pageable_host_to_device_rate : model.host_to_device_rate);
    } else if (from_device) {
        command->engine = Engine::copy_to_host;
        command->observable = true;
        command->duration =
            model.copy_latency_ns + transfer(bytes, pageable_destination ? model.pageable_device_to_host_rate
                                                                         : model.device_to_host_rate);
    } else {
        command->engine = Engine::copy_to_host;
        command->observable = true;
        command->duration = model.copy_latency_ns + transfer(bytes, model.device_to_host_rate);
    }
    // When the call returns, a pageable source has been staged or read, and a pageable destination has been
    // written. A copy between two devices, or within one, does not make the call wait. A copy within the
    // host's memory is always complete when the call returns.
    //
    // A graph reads and writes these buffers when it runs, so the call never waits.
    *wait = pageable_destination || (!to_device && !from_device) ||
            (request.synchronous && !(to_device && from_device));
    if (request.node) {
        *wait = false;
    } else if (pageable_source && to_device) {
        if (bytes <= most_staged) {
            effect->stage();
            *wait = false;
        } else {
            *wait = true;
        }
    } else if (request.stage) {
        effect->stage();
    }
    command->effect = std::move(effect);
    *made = command;
    return Status::success;
}

Status HostRuntime::copy(Lock& lock, const Box& destination, const Box& source, const Extent& extent,
                         MemcpyKind kind, Found<Stream> stream, const CopyRequest& given) {
    if (bytes_of(extent) == 0) return Status::success;  // nothing is checked, not even a capture
    if (!is_kind(kind)) return fail(Status::invalid_memcpy_direction);
    TRY(admit(*stream));
    CopyRequest request = given;
    request.node = stream->capture != nullptr;
    if (request.synchronous && !request.node) {
        // A small pageable source is staged, but not before the stream's earlier work is done.
        const Allocation *to = nullptr, *from = nullptr;
        TRY(check_copy(destination, source, extent, kind, &to, &from));
        const std::size_t bytes = bytes_of(extent);
        if (bytes > 0 && bytes <= most_staged && from == nullptr && on_device(to)) {
            Device& owner = *devices_[stream->device];
            for (const CommandRef& last : last_of_stream(*stream)) {
                TRY(wait_for(lock, last.get()));
            }
            if (owner.lost != Status::success) return fail(owner.lost, owner.lost_detail);
            stream = owner.legacy;  // synchronous copies use the legacy stream, looked up after the wait
            TRY(admit(*stream));
        }
    }
    Command* command = nullptr;
    bool wait = false;
    TRY(make_copy(destination, source, extent, kind, *stream, request, &command, &wait));
    if (command == nullptr) return Status::success;
    if (stream->capture != nullptr)
        return capture_copy(*stream, destination, source, extent, kind, request.parameters, command);
    const CommandRef keep(timeline_.pool(), command);
    const int index = stream->device;
    commit(command);
    if (!wait) {
        relieve(lock);
        return Status::success;
    }
    TRY(wait_for(lock, command));
    if (devices_[index]->lost != Status::success)
        return fail(devices_[index]->lost, devices_[index]->lost_detail);
    return Status::success;
}

Status HostRuntime::memcpy(void* destination, const void* source, std::size_t bytes, MemcpyKind kind) {
    ENTER(memcpy_async);
    return copy(call.lock(), box_of(destination), box_of(source), {bytes, 1, 1}, kind, device().legacy,
                {.synchronous = true});
}

Status HostRuntime::memcpy_async(void* destination, const void* source, std::size_t bytes, MemcpyKind kind,
                                 StreamHandle stream) {
    ENTER(memcpy_async);
    const Found<Stream> found = find_stream(stream);
    if (found == nullptr) return invalid_handle("stream");
    return copy(call.lock(), box_of(destination), box_of(source), {bytes, 1, 1}, kind, found, {});
}

Status HostRuntime::copy_2d(Lock& lock, void* destination, std::size_t destination_pitch, const void* source,
                            std::size_t source_pitch, std::size_t width, std::size_t height, MemcpyKind kind,
                            Found<Stream> stream, bool synchronous) {
    const std::size_t most = device().model->properties.memory_pitch;
    for (const std::size_t pitch : {destination_pitch, source_pitch}) {
        if (pitch >= width && pitch <= most) continue;
        return fail(Status::invalid_pitch_value, "a pitch of " + std::to_string(pitch) +
                                                     " bytes; allowed is from the width, " +
                                                     std::to_string(width) + ", to " + std::to_string(most));
    }
    return copy(lock, box_of(destination, destination_pitch), box_of(source, source_pitch),
                {width, height, 1}, kind, stream, {.synchronous = synchronous});
}

Status HostRuntime::memcpy_2d(void* destination, std::size_t destination_pitch, const void* source,
                              std::size_t source_pitch, std::size_t width, std::size_t height,
                              MemcpyKind kind) {
    ENTER(memcpy_async);
    return copy_2d(call.lock(), destination, destination_pitch, source, source_pitch, width, height, kind,
                   device().legacy, true);
}

Status HostRuntime::memcpy_2d_async(void* destination, std::size_t destination_pitch, const void* source,
                                    std::size_t source_pitch, std::size_t width, std::size_t height,
                                    MemcpyKind kind, StreamHandle stream) {
    ENTER(memcpy_async);
    const Found<Stream> found = find_stream(stream);
    if (found == nullptr) return invalid_handle("stream");
    return copy_2d(call.lock(), destination, destination_pitch, source, source_pitch, width, height, kind,
                   found, false);
}

// ---- three dimensions, and arrays

Status HostRuntime::boxes_of(const Memcpy3DParameters* parameters, Box* destination, Box* source,
                             Extent* whole_extent) {
    if (parameters == nullptr) return fail(Status::invalid_value);
    const Memcpy3DParameters& p = *parameters;
    const auto given = [](ArrayHandle array, const PitchedPointer& pitched) {
        return (array != nullptr) != (pitched.pointer != nullptr);
    };
    if (!given(p.source_array, p.source) || !given(p.destination_array, p.destination)) {
        return fail(Status::invalid_value, "each side of the copy is either an array or a pitched pointer");
    }
    const Found<const Array> from = find_array(p.source_array), to = find_array(p.destination_array);
    if ((p.source_array != nullptr && from == nullptr) || (p.destination_array != nullptr && to == nullptr))
        return invalid_handle("array");
    if (from != nullptr && to != nullptr && from->element != to->element) {
        return fail(Status::invalid_value, "the arrays' elements differ in size");
    }
    const std::size_t element = from != nullptr ? from->element : to != nullptr ? to->element : 1;
    Extent extent = p.extent;
    extent.width *= element;
    *whole_extent = extent;
    if (bytes_of(extent) == 0) return Status::success;

    Status status = Status::success;
    const auto side = [&](const Array* array, const PitchedPointer& pitched, const Position& at,
                          const char* what) -> Box {
        if (array != nullptr) {
            const std::size_t height = std::max<std::size_t>(1, array->extent.height),
                              depth = std::max<std::size_t>(1, array->extent.depth);
            if (at.x + p.extent.width > array->extent.width || at.y + p.extent.height > height ||
                at.z + p.extent.depth > depth) {
                status =
                    fail(Status::invalid_value, std::string("the ") + what + " array has " +
                                                    std::to_string(array->extent.width) + " x " +
                                                    std::to_string(height) + " x " + std::to_string(depth) +
                                                    " elements: the copy is "
                                                    "larger");
            }
            const std::size_t pitch = array->extent.width * array->element;
            const Box whole{array->base, pitch, pitch * height};
            return {whole.row(at.y, at.z) + at.x * array->element, whole.pitch, whole.slice};
        }
        const std::size_t slice = pitched.pitch * pitched.y_size;
        if (at.x + extent.width > pitched.pitch) {
            status = fail(Status::invalid_value,
                          std::string("the ") + what + "'s pitch of " + std::to_string(pitched.pitch) +
                              " bytes is less than the " + std::to_string(at.x + extent.width) +
                              " of a row of the copy");
        } else if (extent.depth > 1 && at.y + extent.height > pitched.y_size) {
            status = fail(Status::invalid_value, std::string("the ") + what + "'s slices have " +
                                                     std::to_string(pitched.y_size) + " rows, the copy " +
                                                     std::to_string(at.y + extent.height));
        }
        const Box whole = box_of(pitched.pointer, pitched.pitch, slice);
        return {whole.row(at.y, at.z) + at.x, whole.pitch, whole.slice};
    };
    *destination = side(to.get(), p.destination, p.destination_position, "destination");
    if (status != Status::success) return status;
    *source = side(from.get(), p.source, p.source_position, "source");
    return status;
}

Status HostRuntime::copy_3d(Lock& lock, const Memcpy3DParameters* parameters, Found<Stream> stream,
                            bool synchronous) {
    Box destination, source;
    Extent extent;
    TRY(boxes_of(parameters, &destination, &source, &extent));
    return copy(lock, destination, source, extent, parameters->kind, stream,
                {.synchronous = synchronous, .parameters = parameters});
}

Status HostRuntime::memcpy_3d(const Memcpy3DParameters* parameters) {
    ENTER(memcpy_async);
    return copy_3d(call.lock(), parameters, device().legacy, true);
}

Status HostRuntime::memcpy_3d_async(const Memcpy3DParameters* parameters, StreamHandle stream) {
    ENTER(memcpy_async);
    const Found<Stream> found = find_stream(stream);
    if (found == nullptr) return invalid_handle("stream");
    return copy_3d(call.lock(), parameters, found, false);
}

// ---- devices among each other, and batches

Status HostRuntime::copy_peer(Lock& lock, void* destination, int destination_device, const void* source,
                              int source_device, std::size_t bytes, Found<Stream> stream, bool synchronous) {
    for (const int index : {destination_device, source_device}) {
        if (index < 0 || index >= device_count_) return fail(Status::invalid_device);
    }
    // The addresses tell where the memory is, whichever devices the call names.
    if (bytes > 0 && (!on_device(memory_.find(destination)) || !on_device(memory_.find(source))))
        return fail(Status::invalid_value, "the addresses are not memory of devices");
    return copy(lock, box_of(destination), box_of(source), {bytes, 1, 1}, MemcpyKind::by_address, stream,
                {.synchronous = synchronous, .peer = true});
}

Status HostRuntime::memcpy_peer(void* destination, int destination_device, const void* source,
                                int source_device, std::size_t bytes) {
    ENTER(memcpy_async);
    return copy_peer(call.lock(), destination, destination_device, source, source_device, bytes,
                     device().legacy, true);
}

Status HostRuntime::memcpy_peer_async(void* destination, int destination_device, const void* source,
                                      int source_device, std::size_t bytes, StreamHandle stream) {
    ENTER(memcpy_async);
    const Found<Stream> found = find_stream(stream);
    if (found == nullptr) return invalid_handle("stream");
    return copy_peer(call.lock(), destination, destination_device, source, source_device, bytes, found,
                     false);
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
    if (find_stream(stream) == nullptr) return invalid_handle("stream");
    for (std::size_t i = 0; i < count; ++i) {
        const Allocation *to = nullptr, *from = nullptr;
        if (sizes[i] == 0) return fail(Status::invalid_value, "a copy of no bytes");
        TRY(check_copy(box_of(destinations[i]), box_of(sources[i]), {sizes[i], 1, 1}, MemcpyKind::by_address,
                       &to, &from));
    }
    std::size_t group = 0;
    for (std::size_t i = 0; i < count; ++i) {
        while (group + 1 < attribute_count && attribute_indices[group + 1] <= i) ++group;
        const bool stage = attributes[group].source_access_order == SourceAccessOrder::during_api_call;
        // The previous copy may have waited. Another thread may have destroyed the stream meanwhile.
        const Found<Stream> still = find_stream(stream);
        if (still == nullptr) return invalid_handle("stream");
        TRY(copy(call.lock(), box_of(destinations[i]), box_of(sources[i]), {sizes[i], 1, 1},
                 MemcpyKind::by_address, still, {.stage = stage}));
    }
    return Status::success;
}

// ---- sets

Status HostRuntime::make_set(const Box& box, std::uint32_t value, std::size_t element, const Extent& extent,
                             Stream& stream, Command** made) {
    const std::size_t bytes = bytes_of(extent);
    if (bytes == 0) return Status::success;
    const Allocation* found = nullptr;
    if (stream.capture != nullptr) {
        found = memory_.find(box.base);  // a captured memset is checked when its graph is launched
    } else if (Status status = check_box(box, extent, "memory", &found); status != Status::success) {
        return status;
    } else if (found == nullptr) {
        return fail(Status::invalid_value, "the address is no device memory");
    }
    const DeviceModel& model = *devices_[stream.device]->model;
    Command* command = begin(stream, Engine::copy_on_device);
    command->observable = found == nullptr || found->type != MemoryType::device;
    command->duration = model.device_copy_latency_ns + transfer(bytes, model.memset_rate);
    command->effect = std::make_shared<SetEffect>(box, value, element, extent);
    *made = command;
    return Status::success;
}

// A synchronous memset waits only if the memory is page-locked host memory. Unlike a copy between devices, a
// memset is executed by the stream's device alone, so that device must have access to the memory.
Status HostRuntime::set(Lock& lock, const Box& box, std::uint32_t value, std::size_t element,
                        const Extent& extent, Found<Stream> stream, bool synchronous) {
    if (bytes_of(extent) == 0) return Status::success;  // nothing is checked, not even a capture
    TRY(admit(*stream));
    const Allocation* const found = memory_.find(box.base);
    if (stream->capture == nullptr && found != nullptr && !reaches(stream->device, *found)) {
        return fail(Status::invalid_value,
                    "the memory is on device " + std::to_string(found->device) + ", and device " +
                        std::to_string(stream->device) +
                        ", whose stream it is, has no access to it (device_enable_peer_access, of pools "
                        "mem_pool_set_access): use a stream of the memory's device");
    }
    Command* command = nullptr;
    TRY(make_set(box, value, element, extent, *stream, &command));
    if (command == nullptr) return Status::success;
    if (stream->capture != nullptr) return capture_set(*stream, box, value, element, extent, command);
    const bool wait = synchronous && found != nullptr && found->type == MemoryType::host;
    const CommandRef keep(timeline_.pool(), command);
    commit(command);
    if (wait) return wait_for(lock, command);
    relieve(lock);
    return Status::success;
}

Status HostRuntime::memset(void* pointer, int value, std::size_t bytes) {
    ENTER(memset_async);
    return set(call.lock(), box_of(pointer), static_cast<std::uint8_t>(value), 1, {bytes, 1, 1},
               device().legacy, true);
}

Status HostRuntime::memset_async(void* pointer, int value, std::size_t bytes, StreamHandle stream) {
    ENTER(memset_async);
    const Found<Stream> found = find_stream(stream);
    if (found == nullptr) return invalid_handle("stream");
    return set(call.lock(), box_of(pointer), static_cast<std::uint8_t>(value), 1, {bytes, 1, 1}, found);
}

Status HostRuntime::check_set_2d(const void* pointer, std::size_t pitch, std::size_t element,
                                 std::size_t width, std::size_t height) {
    if (height > 1 && pitch < width) {
        return fail(Status::invalid_value, "a pitch of " + std::to_string(pitch) +
                                               " bytes is less than the width, " + std::to_string(width));
    }
    if (reinterpret_cast<std::uintptr_t>(pointer) % element != 0 || (height > 1 && pitch % element != 0)) {
        return fail(Status::invalid_value, "the address and the pitch are multiples of the pattern's " +
                                               std::to_string(element) + " bytes");
    }
    return Status::success;
}

// `width` is in bytes.
Status HostRuntime::set_2d(Lock& lock, void* pointer, std::size_t pitch, std::uint32_t value,
                           std::size_t element, std::size_t width, std::size_t height, Found<Stream> stream,
                           bool synchronous) {
    TRY(check_set_2d(pointer, pitch, element, width, height));
    return set(lock, box_of(pointer, pitch), value, element, {width, height, 1}, stream, synchronous);
}

Status HostRuntime::memset_2d(void* pointer, std::size_t pitch, int value, std::size_t width,
                              std::size_t height) {
    ENTER(memset_async);
    return set_2d(call.lock(), pointer, pitch, static_cast<std::uint8_t>(value), 1, width, height,
                  device().legacy, true);
}

Status HostRuntime::memset_2d_async(void* pointer, std::size_t pitch, int value, std::size_t width,
                                    std::size_t height, StreamHandle stream) {
    ENTER(memset_async);
    const Found<Stream> found = find_stream(stream);
    if (found == nullptr) return invalid_handle("stream");
    return set_2d(call.lock(), pointer, pitch, static_cast<std::uint8_t>(value), 1, width, height, found);
}

Status HostRuntime::memset_d2d16_async(void* pointer, std::size_t pitch, unsigned short value,
                                       std::size_t width, std::size_t height, StreamHandle stream) {
    ENTER(memset_async);
    const Found<Stream> found = find_stream(stream);
    if (found == nullptr) return invalid_handle("stream");
    return set_2d(call.lock(), pointer, pitch, value, sizeof(value), width * sizeof(value), height, found);
}

Status HostRuntime::memset_d2d32_async(void* pointer, std::size_t pitch, unsigned value, std::size_t width,
                                       std::size_t height, StreamHandle stream) {
    ENTER(memset_async);
    const Found<Stream> found = find_stream(stream);
    if (found == nullptr) return invalid_handle("stream");
    return set_2d(call.lock(), pointer, pitch, value, sizeof(value), width * sizeof(value), height, found);
}

Status HostRuntime::set_3d(Lock& lock, const PitchedPointer& pitched, int value, const Extent& extent,
                           Found<Stream> stream, bool synchronous) {
    if (bytes_of(extent) == 0) return Status::success;
    if (extent.width > pitched.pitch || (extent.depth > 1 && extent.height > pitched.y_size)) {
        return fail(Status::invalid_value, "the extent is larger than the memory's rows or slices");
    }
    return set(lock, box_of(pitched.pointer, pitched.pitch, pitched.pitch * pitched.y_size),
               static_cast<std::uint8_t>(value), 1, extent, stream, synchronous);
}

Status HostRuntime::memset_3d(PitchedPointer pitched, int value, Extent extent) {
    ENTER(memset_async);
    return set_3d(call.lock(), pitched, value, extent, device().legacy, true);
}

Status HostRuntime::memset_3d_async(PitchedPointer pitched, int value, Extent extent, StreamHandle stream) {
    ENTER(memset_async);
    const Found<Stream> found = find_stream(stream);
    if (found == nullptr) return invalid_handle("stream");
    return set_3d(call.lock(), pitched, value, extent, found, false);
}

}  // namespace cuscope::host
