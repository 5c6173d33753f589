// The host runtime's stream-ordered allocator and its pools.
#include "host/graph/nodes/captured.hpp"
#include "host/runtime/call.hpp"
#include "host/runtime/host_runtime.hpp"
#include "runtime/checking.hpp"

namespace cuscope::host {
namespace {

std::string no_device(int device) { return "there is no device " + std::to_string(device); }

Status malloc_from(Machine& machine, Lock& lock, void** pointer, std::size_t bytes, Found<Pool> found,
                   Found<Stream> stream) {
    Pool& pool = *found;
    const int index = pool.device;
    Device& owner = machine.devices[index];
    if (bytes > owner.memory) return machine.devices.current().out_of_memory(bytes);
    const std::size_t size = Pool::rounded(bytes);
    // While checks run, an array needs a gap behind it, which blocks from before the checks do not have.
    std::byte* base = pool.take(size, stream.get(), [&](const std::byte* block) {
        return !checking() || owner.arena->has_gap(block);
    });
    const bool fresh = base == nullptr;
    if (fresh) {
        ++pool.waiting;
        const auto done = [](Pool* p) { --p->waiting; };
        const std::unique_ptr<Pool, decltype(done)> keep(&pool, done);
        if (pool.max_size != 0 && pool.reserved + size > pool.max_size) {
            // Waiting helps only if the pool holds freed memory.
            if (!pool.free.empty()) {
                TRY(machine.wait_for_device(lock, index));
            }
            const std::uint64_t room = pool.max_size > size ? pool.max_size - size : 0;
            owner.trim(pool, room);
            if (size > pool.max_size || pool.reserved + size > pool.max_size) {
                return fail(Status::memory_allocation, std::to_string(bytes) +
                                                           " bytes were asked for; the pool is limited to " +
                                                           std::to_string(pool.max_size) + ", of which " +
                                                           std::to_string(pool.used) + " are in use");
            }
        }
        if (!pool.destroyed) {
            TRY(machine.allocate(lock, index, size, &base));
        }
        if (pool.destroyed) {
            if (base != nullptr) owner.release(base, size);
            return fail(Status::invalid_value, "the pool was destroyed while the allocation waited for room");
        }
    }
    pool.count_in(size, bytes, fresh);
    machine.memory.add({base, bytes, MemoryType::device, index, 0, &pool});
    *pointer = base;
    return Status::success;
}

}  // namespace

Status HostRuntime::malloc_async(void** pointer, std::size_t bytes, StreamHandle stream) {
    ENTER(malloc_async);
    if (pointer == nullptr) return fail(Status::invalid_value);
    *pointer = nullptr;
    const Found<Stream> found = machine_.find_stream(stream);
    if (found == nullptr) return invalid_handle("stream");
    TRY(machine_.captures.admit_pooled(*found));
    if (bytes == 0) return Status::success;
    if (found->captured()) return capture_alloc(machine_, *found, pointer, bytes, found->device);
    return malloc_from(machine_, call.lock(), pointer, bytes, machine_.devices[found->device].pool, found);
}

Status HostRuntime::malloc_from_pool_async(void** pointer, std::size_t bytes, MemPoolHandle pool,
                                           StreamHandle stream) {
    ENTER(malloc_async);
    if (pointer == nullptr) return fail(Status::invalid_value);
    *pointer = nullptr;
    const Found<Stream> found = machine_.find_stream(stream);
    if (found == nullptr) return invalid_handle("stream");
    TRY(machine_.captures.admit_pooled(*found));
    const Found<Pool> from = machine_.pools.find(pool);
    if (from == nullptr) return invalid_handle("pool", Status::invalid_value);
    if (bytes == 0) return Status::success;
    if (found->captured()) return capture_alloc(machine_, *found, pointer, bytes, from->device);
    return malloc_from(machine_, call.lock(), pointer, bytes, from, found);
}

Status HostRuntime::free_async(void* pointer, StreamHandle stream) {
    ENTER(free_async);
    const Found<Stream> found = machine_.find_stream(stream);
    if (found == nullptr) return invalid_handle("stream");
    TRY(machine_.captures.admit_pooled(*found));
    if (pointer == nullptr) return Status::success;
    if (found->captured()) return capture_free(machine_, *found, pointer);
    const Allocation* allocation = machine_.memory.find_base(pointer);
    if (GraphMemory* memory = machine_.graphs.memory_at(pointer); memory != nullptr && memory->allocated) {
        memory->allocated = false;
        machine_.commit(machine_.begin(*found, Engine::none, Role::release));
        machine_.waits.relieve(call.lock());
        return Status::success;
    }
    if (allocation == nullptr || allocation->type != MemoryType::device || allocation->fixed) {
        return fail(Status::invalid_value,
                    "the address is not one that malloc_async or malloc returned, or it was freed before");
    }
    Command* command = machine_.begin(*found, Engine::none, Role::release);
    const std::size_t size = bytes_held(*allocation);
    Pool& pool = allocation->pool != nullptr ? *allocation->pool
                                             : machine_.devices[allocation->device].pool_for_plain(size);
    pool.count_out(allocation->pool != nullptr ? allocation->bytes : size);
    pool.free[size].push_back(
        {static_cast<std::byte*>(pointer), found.get(), CommandRef(machine_.timeline.pool(), command)});
    machine_.memory.remove(pointer);
    machine_.commit(command);
    machine_.waits.relieve(call.lock());
    return Status::success;
}

// ---- pools

Status HostRuntime::device_get_default_mem_pool(MemPoolHandle* pool, int device) {
    ENTER(other);
    if (pool == nullptr) return fail(Status::invalid_value);
    if (!machine_.devices.exist(device)) return fail(Status::invalid_device);
    *pool = reinterpret_cast<MemPoolHandle>(machine_.devices[device].pools.front().get());
    return Status::success;
}

Status HostRuntime::device_get_mem_pool(MemPoolHandle* pool, int device) {
    ENTER(other);
    if (pool == nullptr || !machine_.devices.exist(device))
        return fail(Status::invalid_value, no_device(device));
    *pool = reinterpret_cast<MemPoolHandle>(machine_.devices[device].pool);
    return Status::success;
}

Status HostRuntime::device_set_mem_pool(int device, MemPoolHandle pool) {
    ENTER(other);
    if (!machine_.devices.exist(device)) return fail(Status::invalid_device);
    const Found<Pool> found = machine_.pools.find(pool);
    if (found == nullptr || found->device != device) {
        return fail(Status::invalid_value, "the pool does not exist, or is of another device");
    }
    machine_.devices[device].pool = found.get();
    return Status::success;
}

Status HostRuntime::mem_pool_create(MemPoolHandle* pool, const MemPoolProperties* properties) {
    ENTER(malloc);
    if (pool == nullptr || properties == nullptr) return fail(Status::invalid_value);
    *pool = nullptr;
    if (properties->location.type != MemLocationType::device) {
        return fail(Status::invalid_value, "a pool is of a device's memory");
    }
    TRY(machine_.captures.forbidden());
    const int device = properties->location.id;
    if (!machine_.devices.exist(device)) return fail(Status::invalid_value, no_device(device));
    Pool& made = machine_.devices[device].add_pool();
    made.max_size = properties->max_size;
    *pool = machine_.pools.add(made);
    return Status::success;
}

Status HostRuntime::mem_pool_destroy(MemPoolHandle pool) {
    ENTER(free);
    TRY(machine_.captures.forbidden());
    const Found<Pool> found = machine_.pools.find(pool);
    if (found == nullptr || found->is_default) {
        return fail(Status::invalid_value, "the pool does not exist, or is a device's default one");
    }
    Device& owner = machine_.devices[found->device];
    if (owner.pool == found) owner.pool = owner.pools.front().get();
    machine_.pools.remove(*found);
    found->destroyed = true;
    owner.trim_pools();
    return Status::success;
}

Status HostRuntime::mem_pool_get_attribute(MemPoolHandle pool, MemPoolAttribute attribute,
                                           std::uint64_t* value) {
    ENTER(other);
    TRY(machine_.captures.forbidden());
    const Found<const Pool> found = machine_.pools.find(pool);
    if (found == nullptr || value == nullptr) return fail(Status::invalid_value);
    return found->get_attribute(attribute, value);
}

Status HostRuntime::mem_pool_set_attribute(MemPoolHandle pool, MemPoolAttribute attribute,
                                           std::uint64_t value) {
    ENTER(other);
    TRY(machine_.captures.forbidden());
    const Found<Pool> found = machine_.pools.find(pool);
    if (found == nullptr) return fail(Status::invalid_value);
    return found->set_attribute(attribute, value);
}

Status HostRuntime::mem_pool_trim_to(MemPoolHandle pool, std::size_t bytes) {
    ENTER(other);
    TRY(machine_.captures.forbidden());
    const Found<Pool> found = machine_.pools.find(pool);
    if (found == nullptr) return fail(Status::invalid_value);
    machine_.devices[found->device].trim(*found, bytes);
    return Status::success;
}

Status HostRuntime::mem_pool_set_access(MemPoolHandle pool, const MemAccessDescription* descriptions,
                                        std::size_t count) {
    ENTER(other);
    TRY(machine_.captures.forbidden());
    const Found<Pool> found = machine_.pools.find(pool);
    if (found == nullptr || (descriptions == nullptr && count > 0)) return fail(Status::invalid_value);
    for (std::size_t i = 0; i < count; ++i) {
        const MemAccessDescription& given = descriptions[i];
        if (given.location.type != MemLocationType::device)
            return fail(Status::invalid_value, "access to a pool is given to devices");
        if (!machine_.devices.exist(given.location.id)) return fail(Status::invalid_device);
        if (given.location.id == found->device && given.flags == MemAccess::none)
            return fail(Status::invalid_device, "a pool's own device keeps its access");
        if (given.flags != MemAccess::none && given.flags != MemAccess::read_write)
            return fail(Status::invalid_value, "access to a pool is none or to read and write");
    }
    for (std::size_t i = 0; i < count; ++i) {
        found->access[descriptions[i].location.id] = static_cast<int>(descriptions[i].flags);
    }
    return Status::success;
}

Status HostRuntime::mem_pool_get_access(MemAccess* flags, MemPoolHandle pool, MemLocation* location) {
    ENTER(other);
    TRY(machine_.captures.forbidden());
    const Found<const Pool> found = machine_.pools.find(pool);
    if (found == nullptr || flags == nullptr || location == nullptr ||
        location->type != MemLocationType::device) {
        return fail(Status::invalid_value);
    }
    if (!machine_.devices.exist(location->id)) return fail(Status::invalid_value, no_device(location->id));
    *flags = found->access_of(location->id);
    return Status::success;
}

}  // namespace cuscope::host
