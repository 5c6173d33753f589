// The host runtime's allocations of device and page-locked memory.
#include <algorithm>

#include "host/runtime/call.hpp"
#include "host/runtime/host_runtime.hpp"

namespace cuscope::host {

namespace {

constexpr std::size_t pitch_alignment = 512;

// False if the product overflows.
bool multiply(std::size_t a, std::size_t b, std::size_t* product) {
    return !__builtin_mul_overflow(a, b, product);
}

}  // namespace

Status HostRuntime::malloc(void** pointer, std::size_t bytes) {
    ENTER(malloc);
    if (pointer == nullptr) return fail(Status::invalid_value);
    *pointer = nullptr;
    if (bytes == 0) return Status::success;
    TRY(machine_.captures.forbidden());
    const int index = thread().device;
    std::byte* base = nullptr;
    TRY(machine_.allocate(call.lock(), index, bytes, &base));
    machine_.memory.add({base, bytes, MemoryType::device, index});
    *pointer = base;
    return Status::success;
}

// Waits for the device, as cudaFree does: running work may still use the memory.
Status HostRuntime::free(void* pointer) {
    ENTER(free);
    TRY(machine_.captures.forbidden());
    if (pointer == nullptr) return Status::success;
    const Allocation* found = machine_.memory.find_base(pointer);
    if (found == nullptr || found->type == MemoryType::host || found->fixed) {
        return fail(Status::invalid_value,
                    "the address is not one that malloc returned, or it was freed before");
    }
    const int index = found->device;
    const std::uint64_t serial = found->serial;
    TRY(machine_.wait_to_free(call.lock(), index));
    found = machine_.memory.find_base(pointer);
    if (found == nullptr || found->serial != serial)
        return fail(Status::invalid_value, "the address was freed by another thread");
    const Allocation freed = *found;
    if (freed.pool != nullptr) {
        --freed.pool->allocations;  // `used` keeps it, as on a GPU: only free_async subtracts it
        freed.pool->reserved -= bytes_held(freed);
    }
    machine_.memory.remove(pointer);
    machine_.release(freed);
    return Status::success;
}

Status HostRuntime::malloc_pitch(void** pointer, std::size_t* pitch, std::size_t width, std::size_t height) {
    PitchedPointer made;
    const bool asked = pointer != nullptr && pitch != nullptr;
    const Status status = malloc_3d(asked ? &made : nullptr, {width, height, 1});
    if (!asked) return status;
    *pointer = made.pointer;
    *pitch = made.pitch;
    return status;
}

Status HostRuntime::malloc_3d(PitchedPointer* pitched, Extent extent) {
    ENTER(malloc);
    if (pitched == nullptr) return fail(Status::invalid_value);
    *pitched = {};
    if (extent.width == 0 || extent.height == 0 || extent.depth == 0) return Status::success;
    TRY(machine_.captures.forbidden());
    std::size_t pitch = 0, slice = 0, bytes = 0;
    if (__builtin_add_overflow(extent.width, pitch_alignment - 1, &pitch) ||
        !multiply(pitch = pitch / pitch_alignment * pitch_alignment, extent.height, &slice) ||
        !multiply(slice, extent.depth, &bytes)) {
        return fail(Status::memory_allocation, "so many bytes have no addresses");
    }
    const int index = thread().device;
    std::byte* base = nullptr;
    TRY(machine_.allocate(call.lock(), index, bytes, &base));
    machine_.memory.add({base, bytes, MemoryType::device, index});
    *pitched = {base, pitch, extent.width, extent.height};
    return Status::success;
}

Status HostRuntime::host_alloc(void** pointer, std::size_t bytes, unsigned flags) {
    ENTER(host_alloc);
    if (pointer == nullptr) return fail(Status::invalid_value);
    *pointer = nullptr;
    if (bytes == 0) return Status::success;  // whatever the flags are
    TRY(machine_.captures.forbidden());
    constexpr unsigned known =
        flags::host_alloc_portable | flags::host_alloc_mapped | flags::host_alloc_write_combined;
    if ((flags & ~known) != 0) return fail(Status::invalid_value);
    std::byte* base = allocate_host(bytes);
    if (base == nullptr) {
        return fail(Status::memory_allocation,
                    std::to_string(bytes) + " bytes of page-locked memory are more than the machine has");
    }
    // With unified addressing all page-locked memory is mapped.
    const unsigned shown =
        machine_.page_locked.place(base, bytes, thread().device, flags | flags::host_alloc_mapped);
    machine_.memory.add({base, bytes, MemoryType::host, thread().device, shown});
    *pointer = base;
    return Status::success;
}

Status HostRuntime::free_host(void* pointer) {
    ENTER(free_host);
    TRY(machine_.captures.forbidden());
    if (pointer == nullptr) return Status::success;
    const Allocation* found = machine_.memory.find_base(pointer);
    if (found == nullptr || found->type != MemoryType::host || found->registered) {
        return fail(Status::invalid_value,
                    "the address is not one that host_alloc returned, or it was freed before");
    }
    const std::uint64_t serial = found->serial;
    TRY(machine_.wait_to_free(call.lock(), -1));
    found = machine_.memory.find_base(pointer);
    if (found == nullptr || found->serial != serial)
        return fail(Status::invalid_value, "the address was freed by another thread");
    const Allocation freed = *found;
    machine_.memory.remove(pointer);
    machine_.release(freed);
    return Status::success;
}

Status HostRuntime::host_get_flags(unsigned* flags, void* pointer) {
    ENTER(other);
    const Allocation* found = machine_.memory.find(pointer);
    if (flags == nullptr || found == nullptr || found->type == MemoryType::device)
        return fail(Status::invalid_value);
    *flags = found->type == MemoryType::managed ? flags::host_alloc_mapped : found->flags;
    return Status::success;
}

Status HostRuntime::host_get_device_pointer(void** device_pointer, void* host_pointer, unsigned flags) {
    ENTER(other);
    const Allocation* found = machine_.memory.find(host_pointer);
    if (device_pointer == nullptr || flags != 0 || found == nullptr || found->type != MemoryType::host) {
        return fail(Status::invalid_value);
    }
    *device_pointer = host_pointer;
    return Status::success;
}

Status HostRuntime::pointer_get_attributes(PointerAttributes* attributes, const void* pointer) {
    ENTER(other);
    if (attributes == nullptr) return fail(Status::invalid_value);
    *attributes = {};
    void* address = const_cast<void*>(pointer);
    if (const Allocation* found = machine_.memory.find(pointer)) {
        attributes->type = found->type;
        attributes->device = found->device;
        if (machine_.devices.current().reaches(*found)) attributes->device_pointer = address;
        if (found->type != MemoryType::device) attributes->host_pointer = address;
    } else {
        attributes->host_pointer = address;
    }
    return Status::success;
}

Status HostRuntime::mem_get_info(std::size_t* free, std::size_t* total) {
    ENTER(other);
    if (free == nullptr || total == nullptr) return fail(Status::invalid_value);
    *total = machine_.devices.current().memory;
    *free = machine_.devices.current().memory -
            std::min(machine_.devices.current().memory, machine_.devices.current().arena->used());
    return Status::success;
}

}  // namespace cuscope::host
