#include "host/effects/copies.hpp"

#include <algorithm>

#include "host/checking/shadow.hpp"
#include "host/runtime/machine.hpp"

namespace cuscope::host {
namespace {

Time transfer(std::size_t bytes, double rate) { return static_cast<Time>(static_cast<double>(bytes) / rate); }

// Sets the times of a copy between host and device, or between devices. `locked`: of page-locked memory.
void time_copy(Command& command, const DeviceModel& model, std::size_t bytes, double rate, bool locked) {
    command.lead = model.copy_lead_ns;
    command.duration = model.copy_latency_ns + transfer(bytes, rate);
    command.finish = model.copy_finish_ns;
    command.on_link = locked;
    if (!locked) return;
    const auto size = static_cast<std::int64_t>(bytes);
    const double ramp = static_cast<double>(std::min(size, model.copy_ramp_bytes)) /
                        static_cast<double>(model.copy_ramp_bytes);
    command.lead += static_cast<Time>(static_cast<double>(model.copy_ramp_ns) * ramp);
    if (size > model.small_copy_bytes) return;
    const bool to_device = command.engine == Engine::copy_to_device;
    const Time whole = to_device ? model.small_to_device_ns : model.small_to_host_ns;
    command.duration = std::min(command.duration, whole);
    command.lead = std::min(command.lead, whole - command.duration);
    command.finish = whole - command.duration - command.lead;
}

// `node`: in a graph.
Time device_copy_latency(const DeviceModel& model, bool node) {
    return node ? model.graph_copy_latency_ns : model.device_copy_latency_ns;
}

// Sets the times of a copy on the device, which reads and writes each byte.
void time_copy_on_device(Command& command, const DeviceModel& model, std::size_t bytes, bool node) {
    // Beyond cached_bytes, data leave the cache before they are used again. At one and a half times as many
    // bytes, nothing is found there.
    const auto traffic = 2 * static_cast<double>(bytes), cached = static_cast<double>(model.cached_bytes);
    const double lost = cached == 0 ? 1 : std::clamp((traffic - cached) / (cached / 2), 0.0, 1.0);
    const auto from_memory = static_cast<std::size_t>(lost * traffic);
    const Time in_cache = transfer(2 * bytes - from_memory, model.cache_rate);
    command.duration =
        device_copy_latency(model, node) + transfer(from_memory, 2 * model.device_to_device_rate) + in_cache;
    command.finish = model.device_copy_finish_ns;
}

// The L2 cache does not make memsets faster.
void time_memset(Command& command, const DeviceModel& model, const Extent& extent, bool node) {
    const std::size_t bytes = bytes_of(extent);
    command.duration = device_copy_latency(model, node) + transfer(bytes, model.memset_rate);
    command.finish = model.device_copy_finish_ns;
    if (!is_small_memset(model, extent)) return;
    const double part = static_cast<double>(bytes) / static_cast<double>(model.small_memset_bytes);
    const Time more = command.duration + command.finish - model.small_memset_ns;
    command.duration = model.small_memset_ns + static_cast<Time>(part * static_cast<double>(more));
    command.finish = 0;
}

bool between_devices(const Allocation* to, const Allocation* from) {
    return on_device(to) && on_device(from) && to->device != from->device;
}
bool managed(const Allocation* allocation) {
    return allocation != nullptr && allocation->type == MemoryType::managed;
}

// A copy is executed by its stream's device, which needs access to memory that lies in another device's
// pools. Copies that name both devices need no such access: each device reads or writes its own side.
Status check_access(const Device& device, const Allocation* to, const Allocation* from) {
    for (const Allocation* side : {to, from}) {
        if (side == nullptr || side->pool == nullptr || device.reaches(*side)) continue;
        return fail(Status::invalid_value,
                    "device " + std::to_string(device.ordinal) + " has no access to the pool of device " +
                        std::to_string(side->device) + " from which the memory comes (mem_pool_set_access)");
    }
    return Status::success;
}

}  // namespace

void mark_written(const std::shared_ptr<simt::Shadow>& shadow, const Box& box, const Extent& extent) {
    if (!shadow) return;
    for (std::size_t z = 0; z < extent.depth; ++z)
        for (std::size_t y = 0; y < extent.height; ++y) shadow->mark_written(box.row(y, z), extent.width);
}

Status check_box(const Machine& machine, const Box& box, const Extent& extent, const char* what,
                 const Allocation** allocation) {
    if (box.base == nullptr) return fail(Status::invalid_value, std::string("the ") + what + " is null");
    *allocation = machine.memory.find(box.base);
    if (*allocation == nullptr) return Status::success;
    const auto left = static_cast<std::size_t>((*allocation)->base + (*allocation)->bytes - box.base);
    if (box.reach(extent) <= left) return Status::success;
    return fail(Status::invalid_value, std::to_string(box.reach(extent)) + " bytes are more than the " +
                                           std::to_string(left) + " that the " + what + " holds");
}

bool is_there(const Machine& machine, const Box& box, const Extent& extent) {
    const Allocation* found = nullptr;
    return check_box(machine, box, extent, "memory of a node", &found) == Status::success && found != nullptr;
}

bool is_kind(MemcpyKind kind) { return static_cast<int>(kind) >= 0 && static_cast<int>(kind) <= 4; }

bool on_device(const Allocation* allocation) {
    return allocation != nullptr && allocation->type != MemoryType::host;
}

Status check_copy(const Machine& machine, const Box& destination, const Box& source, const Extent& extent,
                  MemcpyKind kind, const Allocation** to, const Allocation** from) {
    if (!is_kind(kind)) return fail(Status::invalid_memcpy_direction);
    TRY(check_box(machine, destination, extent, "destination", to));
    TRY(check_box(machine, source, extent, "source", from));
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

Status make_copy(Machine& machine, const Box& destination, const Box& source, const Extent& extent,
                 MemcpyKind kind, Stream& stream, const CopyRequest& request, Command** made, bool* wait) {
    const std::size_t bytes = bytes_of(extent);
    if (bytes == 0) return Status::success;
    const Allocation *to = nullptr, *from = nullptr;
    TRY(check_copy(machine, destination, source, extent, kind, &to, &from));
    if (!request.peer) TRY(check_access(machine.devices[stream.device], to, from));
    const bool to_device = on_device(to), from_device = on_device(from);
    const DeviceModel& model = *machine.devices[stream.device].model;
    const bool pageable_source = from == nullptr, pageable_destination = to == nullptr;
    Command* command = machine.begin(stream, Engine::copy_on_device);
    command->observable = managed(to);
    auto effect = std::make_shared<CopyEffect>(destination, source, extent);
    if (to_device && from_device && to->device == from->device) {
        time_copy_on_device(*command, model, bytes, request.node);
    } else if (between_devices(to, from) && !managed(to) && !managed(from)) {
        command->engine = Engine::copy_to_device;
        time_copy(*command, model, bytes,
                  std::min(machine.devices[to->device].model->link_rate,
                           machine.devices[from->device].model->link_rate),
                  false);
    } else if (to_device) {
        command->engine = Engine::copy_to_device;
        time_copy(*command, model, bytes,
                  pageable_source ? model.pageable_host_to_device_rate : model.host_to_device_rate,
                  !pageable_source);
    } else {
        command->engine = Engine::copy_to_host;
        command->observable = true;
        const bool pageable = from_device && pageable_destination;
        time_copy(*command, model, bytes,
                  pageable ? model.pageable_device_to_host_rate : model.device_to_host_rate,
                  from_device && !pageable);
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
    if (to != nullptr) effect->set_written(to->shadow);
    command->effect = std::move(effect);
    *made = command;
    return Status::success;
}

Status boxes_of(const Machine& machine, const Memcpy3DParameters* parameters, Box* destination, Box* source,
                Extent* whole_extent) {
    if (parameters == nullptr) return fail(Status::invalid_value);
    const Memcpy3DParameters& p = *parameters;
    const auto given = [](ArrayHandle array, const PitchedPointer& pitched) {
        return (array != nullptr) != (pitched.pointer != nullptr);
    };
    if (!given(p.source_array, p.source) || !given(p.destination_array, p.destination)) {
        return fail(Status::invalid_value, "each side of the copy is either an array or a pitched pointer");
    }
    const Found<const Array> from = machine.arrays.find(p.source_array),
                             to = machine.arrays.find(p.destination_array);
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

    const auto side = [&](const Array* array, const PitchedPointer& pitched, const Position& at,
                          const char* what, Box* box) {
        if (array != nullptr) return array->part(at, p.extent, what, box);
        if (at.x + extent.width > pitched.pitch) {
            return fail(Status::invalid_value,
                        std::string("the ") + what + "'s pitch of " + std::to_string(pitched.pitch) +
                            " bytes is less than the " + std::to_string(at.x + extent.width) +
                            " of a row of the copy");
        }
        if (extent.depth > 1 && at.y + extent.height > pitched.y_size) {
            return fail(Status::invalid_value, std::string("the ") + what + "'s slices have " +
                                                   std::to_string(pitched.y_size) + " rows, the copy " +
                                                   std::to_string(at.y + extent.height));
        }
        const Box whole = Box::of(pitched.pointer, pitched.pitch, pitched.pitch * pitched.y_size);
        *box = {whole.row(at.y, at.z) + at.x, whole.pitch, whole.slice};
        return Status::success;
    };
    TRY(side(to.get(), p.destination, p.destination_position, "destination", destination));
    return side(from.get(), p.source, p.source_position, "source", source);
}

Status check_set_2d(const void* pointer, std::size_t pitch, std::size_t element, std::size_t width,
                    std::size_t height) {
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

bool is_small_memset(const DeviceModel& model, const Extent& extent) {
    return extent.height == 1 && extent.depth == 1 &&
           extent.width < static_cast<std::size_t>(model.small_memset_bytes);
}

Status make_set(Machine& machine, const Box& box, std::uint32_t value, std::size_t element,
                const Extent& extent, Stream& stream, bool node, Command** made) {
    const std::size_t bytes = bytes_of(extent);
    if (bytes == 0) return Status::success;
    const Allocation* found = nullptr;
    if (stream.captured()) {
        found = machine.memory.find(box.base);  // a captured memset is checked when its graph is launched
    } else {
        TRY(check_box(machine, box, extent, "memory", &found));
        if (found == nullptr) return fail(Status::invalid_value, "the address is no device memory");
    }
    const DeviceModel& model = *machine.devices[stream.device].model;
    Command* command = machine.begin(stream, Engine::copy_on_device);
    command->observable = found == nullptr || found->type != MemoryType::device;
    time_memset(*command, model, extent, node);
    auto effect = std::make_shared<SetEffect>(box, value, element, extent);
    if (found != nullptr) effect->set_written(found->shadow);
    command->effect = std::move(effect);
    *made = command;
    return Status::success;
}

}  // namespace cuscope::host
