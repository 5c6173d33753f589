// The host runtime's memory: allocations, copies and sets.
#include <algorithm>

#include "host/call.hpp"
#include "host/host_runtime.hpp"

namespace cuscope::host {
namespace {

constexpr std::size_t granularity = 512;
// A pageable source up to this size is taken along by the call, which returns at once.
constexpr std::size_t most_staged = std::size_t{64} << 10;

std::size_t rounded(std::size_t bytes) { return (bytes + granularity - 1) / granularity * granularity; }

Time transfer(std::size_t bytes, double rate) { return static_cast<Time>(static_cast<double>(bytes) / rate); }

}  // namespace

std::size_t HostRuntime::held(const Allocation& allocation) {
    return allocation.stream_ordered ? rounded(allocation.bytes) : allocation.bytes;
}

Status HostRuntime::out_of_memory(std::size_t bytes) {
    const Device& full = device();
    return fail(Status::memory_allocation, std::to_string(bytes) + " bytes were asked for; " +
                                               std::to_string(full.memory - full.arena->used()) + " of " +
                                               std::to_string(full.memory) + " are free");
}

std::byte* HostRuntime::allocate(Device& device, std::size_t bytes) {
    if (bytes > device.memory) return nullptr;
    return device.arena->allocate(bytes);
}

Status HostRuntime::malloc(void** pointer, std::size_t bytes) {
    Call call(*this, &CallCosts::malloc);
    if (call.refused()) return call.status();
    if (pointer == nullptr) return fail(Status::invalid_value);
    *pointer = nullptr;
    if (bytes == 0) return Status::success;
    const int index = thread().device;
    std::byte* base = allocate(device(), bytes);
    if (base == nullptr && !device().pool.empty()) {
        if (Status status = wait_for_device(call.lock(), index); status != Status::success) return status;
        trim_pool(device());
        base = allocate(device(), bytes);
    }
    if (base == nullptr) return out_of_memory(bytes);
    memory_.add({base, bytes, MemoryType::device, index, 0, false, 0});
    *pointer = base;
    return Status::success;
}

// Waits for the device, as cudaFree does: nothing that runs may still use the memory.
Status HostRuntime::free(void* pointer) {
    Call call(*this, &CallCosts::free);
    if (call.refused()) return call.status();
    if (pointer == nullptr) return Status::success;
    const Allocation* found = memory_.find_base(pointer);
    if (found == nullptr || found->type != MemoryType::device) {
        return fail(Status::invalid_value,
                    "the address is not one that malloc returned, or it was freed before");
    }
    const int index = found->device;
    if (Status status = wait_for_device(call.lock(), index); status != Status::success) return status;
    found = memory_.find_base(pointer);
    if (found == nullptr) return fail(Status::invalid_value, "the address was freed by another thread");
    const std::size_t bytes = held(*found);
    memory_.remove(pointer);
    devices_[index]->arena->release(static_cast<std::byte*>(pointer), bytes);
    return Status::success;
}

// Memory that a stream gave back may be taken by the same stream at once, since its work is in order, and by
// others when its free has ended.
Status HostRuntime::malloc_async(void** pointer, std::size_t bytes, StreamHandle stream) {
    Call call(*this, &CallCosts::malloc_async);
    if (call.refused()) return call.status();
    if (pointer == nullptr) return fail(Status::invalid_value);
    *pointer = nullptr;
    Stream* found = find_stream(stream);
    if (found == nullptr) return invalid_handle("stream");
    if (bytes == 0) return Status::success;
    const int index = found->device;
    Device& owner = *devices_[index];
    if (bytes > owner.memory) return out_of_memory(bytes);
    const std::size_t size = rounded(bytes);
    std::byte* base = nullptr;
    const auto reusable = std::find_if(owner.pool.begin(), owner.pool.end(), [&](const Pooled& pooled) {
        return pooled.bytes == size && (pooled.stream == found || (pooled.freed->ended >= 0));
    });
    if (reusable != owner.pool.end()) {
        base = reusable->base;
        owner.pool.erase(reusable);
    } else {
        base = allocate(owner, size);
        if (base == nullptr && !owner.pool.empty()) {
            if (Status status = wait_for_device(call.lock(), index); status != Status::success) return status;
            trim_pool(owner);
            base = allocate(owner, size);
        }
        if (base == nullptr) return out_of_memory(bytes);
    }
    memory_.add({base, bytes, MemoryType::device, index, 0, true, 0});
    *pointer = base;
    return Status::success;
}

Status HostRuntime::free_async(void* pointer, StreamHandle stream) {
    Call call(*this, &CallCosts::free_async);
    if (call.refused()) return call.status();
    Stream* found = find_stream(stream);
    if (found == nullptr) return invalid_handle("stream");
    if (pointer == nullptr) return Status::success;
    const Allocation* allocation = memory_.find_base(pointer);
    if (allocation == nullptr || allocation->type != MemoryType::device) {
        return fail(Status::invalid_value,
                    "the address is not one that malloc_async returned, or it was freed before");
    }
    Command* command = begin(*found, Engine::none);
    Device& owner = *devices_[allocation->device];
    const std::size_t size = held(*allocation);
    owner.pool.push_back(
        {static_cast<std::byte*>(pointer), size, found, CommandRef(timeline_.pool(), command)});
    memory_.remove(pointer);
    commit(command);
    relieve(call.lock());
    return Status::success;
}

void HostRuntime::trim_pool(Device& device) {
    std::erase_if(device.pool, [&](const Pooled& pooled) {
        if (!pooled.freed->functional) return false;
        device.arena->release(pooled.base, pooled.bytes);
        return true;
    });
}

Status HostRuntime::host_alloc(void** pointer, std::size_t bytes, unsigned flags) {
    Call call(*this, &CallCosts::host_alloc);
    if (call.refused()) return call.status();
    constexpr unsigned known =
        flags::host_alloc_portable | flags::host_alloc_mapped | flags::host_alloc_write_combined;
    if (pointer == nullptr || (flags & ~known) != 0) return fail(Status::invalid_value);
    *pointer = nullptr;
    if (bytes == 0) return Status::success;
    std::byte* base = allocate_host(bytes);
    if (base == nullptr) {
        return fail(Status::memory_allocation,
                    std::to_string(bytes) + " bytes of page-locked memory are more than the machine has");
    }
    // With unified addressing all page-locked memory is mapped.
    memory_.add({base, bytes, MemoryType::host, thread().device, flags | flags::host_alloc_mapped, false, 0});
    *pointer = base;
    return Status::success;
}

Status HostRuntime::free_host(void* pointer) {
    Call call(*this, &CallCosts::free_host);
    if (call.refused()) return call.status();
    if (pointer == nullptr) return Status::success;
    const Allocation* found = memory_.find_base(pointer);
    if (found == nullptr || found->type != MemoryType::host) {
        return fail(Status::invalid_value,
                    "the address is not one that host_alloc returned, or it was freed before");
    }
    for (int i = 0; i < device_count_; ++i) {
        if (Status status = wait_for_device(call.lock(), i); status != Status::success) return status;
    }
    found = memory_.find_base(pointer);
    if (found == nullptr) return fail(Status::invalid_value, "the address was freed by another thread");
    const std::size_t bytes = found->bytes;
    memory_.remove(pointer);
    release_host(static_cast<std::byte*>(pointer), bytes);
    return Status::success;
}

Status HostRuntime::host_get_flags(unsigned* flags, void* pointer) {
    Call call(*this, &CallCosts::other);
    if (call.refused()) return call.status();
    const Allocation* found = memory_.find(pointer);
    if (flags == nullptr || found == nullptr || found->type != MemoryType::host)
        return fail(Status::invalid_value);
    *flags = found->flags;
    return Status::success;
}

Status HostRuntime::host_get_device_pointer(void** device_pointer, void* host_pointer, unsigned flags) {
    Call call(*this, &CallCosts::other);
    if (call.refused()) return call.status();
    const Allocation* found = memory_.find(host_pointer);
    if (device_pointer == nullptr || flags != 0 || found == nullptr || found->type != MemoryType::host) {
        return fail(Status::invalid_value);
    }
    *device_pointer = host_pointer;
    return Status::success;
}

Status HostRuntime::pointer_get_attributes(PointerAttributes* attributes, const void* pointer) {
    Call call(*this, &CallCosts::other);
    if (call.refused()) return call.status();
    if (attributes == nullptr) return fail(Status::invalid_value);
    *attributes = {};
    void* address = const_cast<void*>(pointer);
    if (const Allocation* found = memory_.find(pointer)) {
        attributes->type = found->type;
        attributes->device = found->device;
        attributes->device_pointer = address;
        if (found->type == MemoryType::host) attributes->host_pointer = address;
    } else {
        attributes->host_pointer = address;
    }
    return Status::success;
}

Status HostRuntime::mem_get_info(std::size_t* free, std::size_t* total) {
    Call call(*this, &CallCosts::other);
    if (call.refused()) return call.status();
    if (free == nullptr || total == nullptr) return fail(Status::invalid_value);
    *total = device().memory;
    *free = device().memory - std::min(device().memory, device().arena->used());
    return Status::success;
}

// ---- copies

Status HostRuntime::copy(Lock& lock, void* destination, const void* source, std::size_t bytes,
                         MemcpyKind kind, Stream& stream, bool synchronous) {
    if (static_cast<int>(kind) < 0 || static_cast<int>(kind) > 4)
        return fail(Status::invalid_memcpy_direction);
    if (bytes == 0) return Status::success;
    if (destination == nullptr || source == nullptr) return fail(Status::invalid_value, "a null address");
    const Allocation* to = memory_.find(destination);
    const Allocation* from = memory_.find(source);
    for (const auto& [allocation, address, what] :
         {std::tuple(to, static_cast<const void*>(destination), "destination"),
          std::tuple(from, source, "source")}) {
        if (allocation == nullptr) continue;
        const auto left = static_cast<std::size_t>(allocation->base + allocation->bytes -
                                                   static_cast<const std::byte*>(address));
        if (bytes > left) {
            return fail(Status::invalid_value, std::to_string(bytes) + " bytes are more than the " +
                                                   std::to_string(left) + " that the " + what + " holds");
        }
    }
    const bool to_device = to != nullptr && to->type == MemoryType::device;
    const bool from_device = from != nullptr && from->type == MemoryType::device;
    const bool fits =
        kind == MemcpyKind::by_address ||
        (to_device == (kind == MemcpyKind::host_to_device || kind == MemcpyKind::device_to_device) &&
         from_device == (kind == MemcpyKind::device_to_host || kind == MemcpyKind::device_to_device));
    if (!fits)
        return fail(Status::invalid_value, "the kind of the copy does not fit the memory at its addresses");

    const DeviceModel& model = *devices_[stream.device]->model;
    const bool pageable_source = from == nullptr, pageable_destination = to == nullptr;
    Command* command = begin(stream, Engine::copy_on_device);
    auto effect = std::make_unique<CopyEffect>(destination, source, bytes);
    if (to_device && from_device && to->device == from->device) {
        command->duration = model.device_copy_latency_ns + transfer(bytes, model.device_to_device_rate);
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
    // A pageable source is small and taken along, or the call returns when it has been read; a pageable
    // destination has been written when the call returns. Between two devices, or on one, nothing waits.
    bool wait = pageable_destination || (synchronous && !(to_device && from_device));
    if (pageable_source && to_device) {
        if (bytes <= most_staged) {
            effect->stage();
            wait = false;
        } else {
            wait = true;
        }
    }
    command->effect = std::move(effect);
    const CommandRef keep(timeline_.pool(), command);
    commit(command);
    if (!wait) {
        relieve(lock);
        return Status::success;
    }
    const int index = stream.device;
    if (Status status = wait_for(lock, command); status != Status::success) return status;
    if (devices_[index]->lost != Status::success)
        return fail(devices_[index]->lost, devices_[index]->lost_detail);
    return Status::success;
}

Status HostRuntime::memcpy(void* destination, const void* source, std::size_t bytes, MemcpyKind kind) {
    Call call(*this, &CallCosts::memcpy_async);
    if (call.refused()) return call.status();
    return copy(call.lock(), destination, source, bytes, kind, *device().legacy, true);
}

Status HostRuntime::memcpy_async(void* destination, const void* source, std::size_t bytes, MemcpyKind kind,
                                 StreamHandle stream) {
    Call call(*this, &CallCosts::memcpy_async);
    if (call.refused()) return call.status();
    Stream* found = find_stream(stream);
    if (found == nullptr) return invalid_handle("stream");
    return copy(call.lock(), destination, source, bytes, kind, *found, false);
}

Status HostRuntime::set(Lock& lock, void* pointer, int value, std::size_t bytes, Stream& stream) {
    if (bytes == 0) return Status::success;
    const Allocation* found = memory_.find(pointer);
    if (found == nullptr) return fail(Status::invalid_value, "the address is no device memory");
    const auto left = static_cast<std::size_t>(found->base + found->bytes - static_cast<std::byte*>(pointer));
    if (bytes > left) {
        return fail(Status::invalid_value, std::to_string(bytes) + " bytes are more than the " +
                                               std::to_string(left) + " that the memory holds");
    }
    const DeviceModel& model = *devices_[stream.device]->model;
    Command* command = begin(stream, Engine::copy_on_device);
    command->observable = found->type == MemoryType::host;
    command->duration = model.device_copy_latency_ns + transfer(bytes, model.memset_rate);
    command->effect = std::make_unique<SetEffect>(pointer, value, bytes);
    commit(command);
    relieve(lock);
    return Status::success;
}

// Waits where the memory is page-locked memory of the host, and nowhere else.
Status HostRuntime::memset(void* pointer, int value, std::size_t bytes) {
    Call call(*this, &CallCosts::memset_async);
    if (call.refused()) return call.status();
    Stream& legacy = *device().legacy;
    const Allocation* found = memory_.find(pointer);
    const bool wait = found != nullptr && found->type == MemoryType::host;
    const Status status = set(call.lock(), pointer, value, bytes, legacy);
    if (status != Status::success || !wait) return status;
    return wait_for(call.lock(), CommandRef(legacy.last).get());
}

Status HostRuntime::memset_async(void* pointer, int value, std::size_t bytes, StreamHandle stream) {
    Call call(*this, &CallCosts::memset_async);
    if (call.refused()) return call.status();
    Stream* found = find_stream(stream);
    if (found == nullptr) return invalid_handle("stream");
    return set(call.lock(), pointer, value, bytes, *found);
}

}  // namespace cuscope::host
