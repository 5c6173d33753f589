// The host runtime's managed memory, and host memory that the program registers.
#include <algorithm>

#include "host/runtime/call.hpp"
#include "host/runtime/host_runtime.hpp"

namespace cuscope::host {
namespace {

bool same(const PageState& a, const PageState& b, MemRangeAttribute attribute) {
    switch (attribute) {
        case MemRangeAttribute::preferred_location:
            return a.preferred_location == b.preferred_location;
        case MemRangeAttribute::last_prefetch_location:
            return a.last_prefetch == b.last_prefetch;
        default:
            return true;
    }
}

}  // namespace

Status HostRuntime::malloc_managed(void** pointer, std::size_t bytes, unsigned flags) {
    ENTER(malloc);
    if (pointer == nullptr) return fail(Status::invalid_value);
    *pointer = nullptr;
    if (bytes == 0) return Status::success;  // whatever the flags are
    if (flags != flags::mem_attach_global && flags != flags::mem_attach_host) {
        return fail(Status::invalid_value, "managed memory is attached globally (1) or to the host (2)");
    }
    TRY(machine_.captures.forbidden());
    std::byte* base = allocate_host(bytes);
    if (base == nullptr) {
        return fail(Status::memory_allocation,
                    std::to_string(bytes) + " bytes of managed memory are more than the machine has");
    }
    machine_.memory.add({base, bytes, MemoryType::managed, thread().device, flags});
    machine_.managed[base];
    *pointer = base;
    return Status::success;
}

Status HostRuntime::host_register(void* pointer, std::size_t bytes, unsigned flags) {
    ENTER(host_alloc);
    TRY(machine_.captures.forbidden());
    constexpr unsigned known = flags::host_register_portable | flags::host_register_mapped |
                               flags::host_register_io_memory | flags::host_register_read_only;
    if (pointer == nullptr || bytes == 0 || (flags & ~known) != 0) return fail(Status::invalid_value);
    const Allocation* const found = machine_.memory.find(pointer);
    const Allocation* const before = found == nullptr ? machine_.memory.in_last_page(pointer) : nullptr;
    if (const Allocation* there = found != nullptr ? found : before;
        there != nullptr && there->type != MemoryType::host) {
        return fail(Status::invalid_value, "the address is memory of a device, not of the host");
    }
    if (found != nullptr && !found->registered)
        return fail(Status::invalid_value, "the memory came from host_alloc, and so is page-locked already");
    if (before != nullptr && !before->registered) {
        return fail(Status::host_memory_already_registered,
                    "the page of the address is page-locked already, with memory that host_alloc returned");
    }
    Allocation allocation{static_cast<std::byte*>(pointer), bytes, MemoryType::host, thread().device,
                          flags | flags::host_alloc_mapped};
    allocation.registered = true;
    if (!machine_.memory.add(allocation)) {
        return fail(Status::host_memory_already_registered,
                    "a part of the " + std::to_string(bytes) + " bytes is page-locked already");
    }
    return Status::success;
}

Status HostRuntime::host_unregister(void* pointer) {
    ENTER(free_host);
    TRY(machine_.captures.forbidden());
    if (pointer == nullptr) return fail(Status::invalid_value);
    const auto registration = [&]() -> std::uint64_t {  // 0: none begins there
        const Allocation* allocation = machine_.memory.find_base(pointer);
        return allocation != nullptr && allocation->registered ? allocation->serial : 0;
    };
    const std::uint64_t serial = registration();
    if (serial == 0) {
        return fail(machine_.memory.find(pointer) == nullptr ? Status::host_memory_not_registered
                                                             : Status::invalid_value,
                    "no memory that host_register locked begins at the address");
    }
    TRY(machine_.wait_to_free(call.lock(), -1));
    if (registration() != serial) return fail(Status::host_memory_not_registered);
    machine_.memory.remove(pointer);
    return Status::success;
}

namespace {

// The device that a location names, -1 for the host. False if there is no such location.
bool place_of(const MemLocation& location, int devices, int* place) {
    switch (location.type) {
        case MemLocationType::device:
            *place = location.id;
            return location.id >= 0 && location.id < devices;
        case MemLocationType::host:
        case MemLocationType::host_numa_current:
            *place = cpu_device_id;
            return true;
        case MemLocationType::host_numa:
            *place = cpu_device_id;
            return location.id == 0;
        default:
            return false;
    }
}

}  // namespace

// The transfer takes its time in stream order. The new location of the pages is recorded at once, since only
// durations depend on it.
Status HostRuntime::mem_prefetch_async(const void* pointer, std::size_t bytes, MemLocation location,
                                       unsigned flags, StreamHandle stream) {
    ENTER(memcpy_async);
    const Found<Stream> found = machine_.find_stream(stream);
    if (found == nullptr) return invalid_handle("stream");
    int place = 0;
    const bool known = place_of(location, machine_.devices.count(), &place);
    if (!known && location.type == MemLocationType::device) return fail(Status::invalid_device);
    if (!known || flags != 0 || bytes == 0) return fail(Status::invalid_value);
    TRY(machine_.captures.admit_uncaptured(*found, "a prefetch is not captured"));
    const Allocation* allocation = machine_.memory.find_range(pointer, bytes);
    if (allocation == nullptr || allocation->type != MemoryType::managed) {
        return fail(Status::invalid_value, "the range is no managed memory");
    }
    ManagedRanges& ranges = machine_.managed[allocation->base];
    const auto offset = static_cast<std::size_t>(static_cast<const std::byte*>(pointer) - allocation->base);
    std::size_t pages = 0;
    ranges.visit(offset, bytes, [&](const PageState& state, std::size_t count) {
        if (state.location != place) pages += count;
    });
    ranges.change(offset, bytes, [&](PageState& state) { state.location = state.last_prefetch = place; });
    const DeviceModel& model = *machine_.devices[found->device].model;
    Command* command =
        machine_.begin(*found, place == cpu_device_id ? Engine::copy_to_host : Engine::copy_to_device);
    const double rate = place == cpu_device_id ? model.device_to_host_rate : model.host_to_device_rate;
    command->lead = model.copy_lead_ns;
    command->finish = model.copy_finish_ns;
    command->duration =
        model.copy_latency_ns + static_cast<Time>(static_cast<double>(pages * ManagedRanges::page) / rate);
    machine_.commit(command);
    machine_.waits.relieve(call.lock());
    return Status::success;
}

Status HostRuntime::mem_advise(const void* pointer, std::size_t bytes, MemoryAdvice advice,
                               MemLocation location) {
    ENTER(other);
    const Allocation* allocation = machine_.memory.find_range(pointer, bytes);
    if (bytes == 0 || allocation == nullptr || allocation->type != MemoryType::managed) {
        return fail(Status::invalid_value, "the range is no managed memory");
    }
    int place = invalid_device_id;
    const bool about_place = advice == MemoryAdvice::set_preferred_location ||
                             advice == MemoryAdvice::set_accessed_by ||
                             advice == MemoryAdvice::unset_accessed_by;
    if (about_place && !place_of(location, machine_.devices.count(), &place)) {
        return fail(location.type == MemLocationType::device ? Status::invalid_device
                                                             : Status::invalid_value);
    }
    if (static_cast<int>(advice) < 1 || static_cast<int>(advice) > 6) return fail(Status::invalid_value);
    const auto offset = static_cast<std::size_t>(static_cast<const std::byte*>(pointer) - allocation->base);
    machine_.managed[allocation->base].change(offset, bytes, [&](PageState& state) {
        switch (advice) {
            case MemoryAdvice::set_read_mostly:
            case MemoryAdvice::unset_read_mostly:
                state.read_mostly = advice == MemoryAdvice::set_read_mostly;
                break;
            case MemoryAdvice::set_preferred_location:
            case MemoryAdvice::unset_preferred_location:
                state.preferred_location = place;
                break;
            case MemoryAdvice::set_accessed_by:
            case MemoryAdvice::unset_accessed_by:
                std::erase(state.accessed_by, place);
                if (advice == MemoryAdvice::set_accessed_by) {
                    state.accessed_by.insert(
                        std::upper_bound(state.accessed_by.begin(), state.accessed_by.end(), place), place);
                }
                break;
        }
    });
    return Status::success;
}

// Reports a value only if all pages of the range share it; otherwise none.
Status HostRuntime::mem_range_get_attribute(int* data, std::size_t data_bytes, MemRangeAttribute attribute,
                                            const void* pointer, std::size_t bytes) {
    ENTER(other);
    const Allocation* allocation = machine_.memory.find_range(pointer, bytes);
    if (bytes == 0 || allocation == nullptr || allocation->type != MemoryType::managed) {
        return fail(Status::invalid_value, "the range is no managed memory");
    }
    const std::size_t count = data_bytes / sizeof(int);
    const bool several = attribute == MemRangeAttribute::accessed_by;
    if (data == nullptr || data_bytes % sizeof(int) != 0 || count == 0 || (!several && count != 1)) {
        return fail(Status::invalid_value, "an answer is one int, or, for accessed_by, as many as fit");
    }
    std::vector<PageState> states;
    const auto offset = static_cast<std::size_t>(static_cast<const std::byte*>(pointer) - allocation->base);
    machine_.managed[allocation->base].visit(
        offset, bytes, [&](const PageState& state, std::size_t) { states.push_back(state); });
    const bool agreed = std::all_of(states.begin(), states.end(), [&](const PageState& state) {
        return same(state, states.front(), attribute);
    });
    switch (attribute) {
        case MemRangeAttribute::read_mostly:
            *data = std::all_of(states.begin(), states.end(), [](const auto& s) { return s.read_mostly; });
            return Status::success;
        case MemRangeAttribute::preferred_location:
            *data = agreed ? states.front().preferred_location : invalid_device_id;
            return Status::success;
        case MemRangeAttribute::last_prefetch_location:
            *data = agreed ? states.front().last_prefetch : invalid_device_id;
            return Status::success;
        case MemRangeAttribute::accessed_by: {
            std::vector<int> all = states.front().accessed_by;
            std::erase_if(all, [&](int place) {
                return !std::all_of(states.begin(), states.end(), [&](const PageState& state) {
                    return std::binary_search(state.accessed_by.begin(), state.accessed_by.end(), place);
                });
            });
            std::fill_n(data, count, invalid_device_id);
            std::copy_n(all.begin(), std::min(count, all.size()), data);
            return Status::success;
        }
    }
    return fail(Status::invalid_value);
}

}  // namespace cuscope::host
