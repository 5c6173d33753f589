// The host runtime's stream-ordered allocator and its pools.
#include <algorithm>
#include <limits>

#include "host/graph/graph.hpp"
#include "host/runtime/call.hpp"
#include "host/runtime/host_runtime.hpp"

namespace cuscope::host {
namespace {

constexpr std::size_t granularity = 512;

std::size_t rounded(std::size_t bytes) { return (bytes + granularity - 1) / granularity * granularity; }

std::string no_device(int device) { return "there is no device " + std::to_string(device); }

std::uint64_t setting(const Pool& pool, MemPoolAttribute attribute) {
    const auto found = pool.settings.find(static_cast<int>(attribute));
    if (found != pool.settings.end()) return found->second;
    return attribute == MemPoolAttribute::release_threshold ? 0 : 1;
}

}  // namespace

std::size_t HostRuntime::held(const Allocation& allocation) {
    return allocation.pool != nullptr ? rounded(allocation.bytes) : allocation.bytes;
}

Found<Pool> HostRuntime::find_pool(MemPoolHandle handle) {
    return live_.contains(handle) ? reinterpret_cast<Pool*>(handle) : nullptr;
}

// Returns memory that the pools hold beyond their thresholds to the device. Destroyed pools are removed once
// they have no allocation left.
void HostRuntime::trim_pools(Device& device) {
    for (auto& pool : device.pools) {
        const std::uint64_t keep = pool->destroyed ? 0 : setting(*pool, MemPoolAttribute::release_threshold);
        if (pool->free.empty() || pool->reserved <= keep) continue;
        pool->trim(keep, [&](std::byte* base, std::size_t size) { device.arena->release(base, size); });
    }
    std::erase_if(device.pools, [](const auto& pool) {
        return pool->destroyed && pool->allocations == 0 && pool->waiting == 0 && pool->free.empty();
    });
}

// Memory from malloc that is given to free_async belongs to no pool. It waits for its stream in a pool of its
// own, which serves no allocations and disappears with it.
Pool& HostRuntime::pool_for_plain(int device, std::size_t bytes) {
    auto made = std::make_unique<Pool>();
    made->device = device;
    made->destroyed = true;
    made->count_in(rounded(bytes), bytes, true);
    devices_[device]->pools.push_back(std::move(made));
    return *devices_[device]->pools.back();
}

Status HostRuntime::allocate(Lock& lock, int device, std::size_t bytes, std::byte** base) {
    Device& owner = *devices_[device];
    *base = allocate(owner, bytes);
    if (*base != nullptr) return Status::success;
    const bool pooled = std::any_of(owner.pools.begin(), owner.pools.end(),
                                    [](const auto& pool) { return !pool->free.empty(); });
    if (pooled) {
        TRY(wait_for_device(lock, device));
        for (auto& pool : owner.pools) {
            pool->trim(0, [&](std::byte* freed, std::size_t size) { owner.arena->release(freed, size); });
        }
        *base = allocate(owner, bytes);
    }
    return *base != nullptr ? Status::success : out_of_memory(bytes);
}

Status HostRuntime::malloc_from(Lock& lock, void** pointer, std::size_t bytes, Found<Pool> found,
                                Found<Stream> stream) {
    Pool& pool = *found;
    const int index = pool.device;
    Device& owner = *devices_[index];
    if (bytes > owner.memory) return out_of_memory(bytes);
    const std::size_t size = rounded(bytes);
    std::byte* base = pool.take(size, stream.get());
    const bool fresh = base == nullptr;
    if (fresh) {
        ++pool.waiting;
        const auto done = [](Pool* p) { --p->waiting; };
        const std::unique_ptr<Pool, decltype(done)> keep(&pool, done);
        if (pool.max_size != 0 && pool.reserved + size > pool.max_size) {
            // Waiting helps only if the pool holds freed memory.
            if (!pool.free.empty()) {
                TRY(wait_for_device(lock, index));
            }
            const std::uint64_t room = pool.max_size > size ? pool.max_size - size : 0;
            pool.trim(room, [&](std::byte* freed, std::size_t n) { owner.arena->release(freed, n); });
            if (size > pool.max_size || pool.reserved + size > pool.max_size) {
                return fail(Status::memory_allocation, std::to_string(bytes) +
                                                           " bytes were asked for; the pool is limited to " +
                                                           std::to_string(pool.max_size) + ", of which " +
                                                           std::to_string(pool.used) + " are in use");
            }
        }
        if (!pool.destroyed) {
            TRY(allocate(lock, index, size, &base));
        }
        if (pool.destroyed) {
            if (base != nullptr) owner.arena->release(base, size);
            return fail(Status::invalid_value, "the pool was destroyed while the allocation waited for room");
        }
    }
    pool.count_in(size, bytes, fresh);
    memory_.add({base, bytes, MemoryType::device, index, 0, &pool});
    *pointer = base;
    return Status::success;
}

// Even in a stream that is not captured, these calls may be unsafe during another thread's capture.
Status HostRuntime::admit_pooled(const Stream& stream) {
    if (Status status = admit(stream); status != Status::success || stream.capture != nullptr) return status;
    return forbidden();
}

Status HostRuntime::malloc_async(void** pointer, std::size_t bytes, StreamHandle stream) {
    ENTER(malloc_async);
    if (pointer == nullptr) return fail(Status::invalid_value);
    *pointer = nullptr;
    const Found<Stream> found = find_stream(stream);
    if (found == nullptr) return invalid_handle("stream");
    TRY(admit_pooled(*found));
    if (bytes == 0) return Status::success;
    if (found->capture != nullptr) return capture_alloc(*found, pointer, bytes, found->device);
    return malloc_from(call.lock(), pointer, bytes, devices_[found->device]->pool, found);
}

Status HostRuntime::malloc_from_pool_async(void** pointer, std::size_t bytes, MemPoolHandle pool,
                                           StreamHandle stream) {
    ENTER(malloc_async);
    if (pointer == nullptr) return fail(Status::invalid_value);
    *pointer = nullptr;
    const Found<Stream> found = find_stream(stream);
    if (found == nullptr) return invalid_handle("stream");
    TRY(admit_pooled(*found));
    const Found<Pool> from = find_pool(pool);
    if (from == nullptr) return fail(Status::invalid_value, "the pool does not exist, or was destroyed");
    if (bytes == 0) return Status::success;
    if (found->capture != nullptr) return capture_alloc(*found, pointer, bytes, from->device);
    return malloc_from(call.lock(), pointer, bytes, from, found);
}

Status HostRuntime::free_async(void* pointer, StreamHandle stream) {
    ENTER(free_async);
    const Found<Stream> found = find_stream(stream);
    if (found == nullptr) return invalid_handle("stream");
    TRY(admit_pooled(*found));
    if (pointer == nullptr) return Status::success;
    if (found->capture != nullptr) return capture_free(*found, pointer);
    const Allocation* allocation = memory_.find_base(pointer);
    if (GraphMemory* memory = graphs_->memory_at(pointer); memory != nullptr && memory->allocated) {
        memory->allocated = false;
        commit(begin(*found, Engine::none, Role::release));
        relieve(call.lock());
        return Status::success;
    }
    if (allocation == nullptr || allocation->type != MemoryType::device || allocation->fixed) {
        return fail(Status::invalid_value,
                    "the address is not one that malloc_async or malloc returned, or it was freed before");
    }
    Command* command = begin(*found, Engine::none, Role::release);
    const std::size_t size = held(*allocation);
    Pool& pool = allocation->pool != nullptr ? *allocation->pool : pool_for_plain(allocation->device, size);
    pool.count_out(allocation->pool != nullptr ? allocation->bytes : size);
    pool.free[size].push_back(
        {static_cast<std::byte*>(pointer), found.get(), CommandRef(timeline_.pool(), command)});
    memory_.remove(pointer);
    commit(command);
    relieve(call.lock());
    return Status::success;
}

// ---- pools

Status HostRuntime::device_get_default_mem_pool(MemPoolHandle* pool, int device) {
    ENTER(other);
    if (pool == nullptr) return fail(Status::invalid_value);
    if (device < 0 || device >= device_count_) return fail(Status::invalid_device);
    *pool = reinterpret_cast<MemPoolHandle>(devices_[device]->pools.front().get());
    return Status::success;
}

Status HostRuntime::device_get_mem_pool(MemPoolHandle* pool, int device) {
    ENTER(other);
    if (pool == nullptr || device < 0 || device >= device_count_)
        return fail(Status::invalid_value, no_device(device));
    *pool = reinterpret_cast<MemPoolHandle>(devices_[device]->pool);
    return Status::success;
}

Status HostRuntime::device_set_mem_pool(int device, MemPoolHandle pool) {
    ENTER(other);
    if (device < 0 || device >= device_count_) return fail(Status::invalid_device);
    const Found<Pool> found = find_pool(pool);
    if (found == nullptr || found->device != device) {
        return fail(Status::invalid_value, "the pool does not exist, or is of another device");
    }
    devices_[device]->pool = found.get();
    return Status::success;
}

Status HostRuntime::mem_pool_create(MemPoolHandle* pool, const MemPoolProperties* properties) {
    ENTER(malloc);
    if (pool == nullptr || properties == nullptr) return fail(Status::invalid_value);
    *pool = nullptr;
    if (properties->location.type != MemLocationType::device) {
        return fail(Status::invalid_value, "a pool is of a device's memory");
    }
    TRY(forbidden());
    const int device = properties->location.id;
    if (device < 0 || device >= device_count_) return fail(Status::invalid_value, no_device(device));
    auto made = std::make_unique<Pool>();
    made->device = device;
    made->max_size = properties->max_size;
    live_.insert(made.get());
    *pool = reinterpret_cast<MemPoolHandle>(made.get());
    devices_[device]->pools.push_back(std::move(made));
    return Status::success;
}

Status HostRuntime::mem_pool_destroy(MemPoolHandle pool) {
    ENTER(free);
    TRY(forbidden());
    const Found<Pool> found = find_pool(pool);
    if (found == nullptr || found->is_default) {
        return fail(Status::invalid_value, "the pool does not exist, or is a device's default one");
    }
    Device& owner = *devices_[found->device];
    if (owner.pool == found) owner.pool = owner.pools.front().get();
    live_.erase(pool);
    found->destroyed = true;
    trim_pools(owner);
    return Status::success;
}

Status HostRuntime::mem_pool_get_attribute(MemPoolHandle pool, MemPoolAttribute attribute,
                                           std::uint64_t* value) {
    ENTER(other);
    TRY(forbidden());
    const Found<const Pool> found = find_pool(pool);
    if (found == nullptr || value == nullptr) return fail(Status::invalid_value);
    switch (attribute) {
        case MemPoolAttribute::reserved_current:
            *value = found->reserved;
            return Status::success;
        case MemPoolAttribute::reserved_high:
            *value = found->reserved_high;
            return Status::success;
        case MemPoolAttribute::used_current:
            *value = found->used;
            return Status::success;
        case MemPoolAttribute::used_high:
            *value = found->used_high;
            return Status::success;
        case MemPoolAttribute::reuse_follow_event_dependencies:
        case MemPoolAttribute::reuse_allow_opportunistic:
        case MemPoolAttribute::reuse_allow_internal_dependencies:
        case MemPoolAttribute::release_threshold:
            *value = setting(*found, attribute);
            return Status::success;
    }
    return fail(Status::invalid_value);
}

Status HostRuntime::mem_pool_set_attribute(MemPoolHandle pool, MemPoolAttribute attribute,
                                           std::uint64_t value) {
    ENTER(other);
    TRY(forbidden());
    const Found<Pool> found = find_pool(pool);
    if (found == nullptr) return fail(Status::invalid_value);
    switch (attribute) {
        case MemPoolAttribute::reserved_high:
        case MemPoolAttribute::used_high:
            if (value != 0) return fail(Status::invalid_value, "a high-water mark can only be set to 0");
            (attribute == MemPoolAttribute::used_high ? found->used_high : found->reserved_high) =
                attribute == MemPoolAttribute::used_high ? found->used : found->reserved;
            return Status::success;
        case MemPoolAttribute::reuse_follow_event_dependencies:
        case MemPoolAttribute::reuse_allow_opportunistic:
        case MemPoolAttribute::reuse_allow_internal_dependencies:
            found->settings[static_cast<int>(attribute)] = value != 0 ? 1 : 0;
            return Status::success;
        case MemPoolAttribute::release_threshold:
            found->settings[static_cast<int>(attribute)] = value;
            return Status::success;
        case MemPoolAttribute::reserved_current:
        case MemPoolAttribute::used_current:
            break;
    }
    return fail(Status::invalid_value, "the attribute can only be read");
}

Status HostRuntime::mem_pool_trim_to(MemPoolHandle pool, std::size_t bytes) {
    ENTER(other);
    TRY(forbidden());
    const Found<Pool> found = find_pool(pool);
    if (found == nullptr) return fail(Status::invalid_value);
    Device& owner = *devices_[found->device];
    found->trim(bytes, [&](std::byte* base, std::size_t size) { owner.arena->release(base, size); });
    return Status::success;
}

Status HostRuntime::mem_pool_set_access(MemPoolHandle pool, const MemAccessDescription* descriptions,
                                        std::size_t count) {
    ENTER(other);
    TRY(forbidden());
    const Found<Pool> found = find_pool(pool);
    if (found == nullptr || (descriptions == nullptr && count > 0)) return fail(Status::invalid_value);
    for (std::size_t i = 0; i < count; ++i) {
        const MemAccessDescription& given = descriptions[i];
        if (given.location.type != MemLocationType::device)
            return fail(Status::invalid_value, "access to a pool is given to devices");
        if (given.location.id < 0 || given.location.id >= device_count_) return fail(Status::invalid_device);
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
    TRY(forbidden());
    const Found<const Pool> found = find_pool(pool);
    if (found == nullptr || flags == nullptr || location == nullptr ||
        location->type != MemLocationType::device) {
        return fail(Status::invalid_value);
    }
    if (location->id < 0 || location->id >= device_count_)
        return fail(Status::invalid_value, no_device(location->id));
    const auto given = found->access.find(location->id);
    *flags = location->id == found->device  ? MemAccess::read_write
             : given == found->access.end() ? MemAccess::none
                                            : static_cast<MemAccess>(given->second);
    return Status::success;
}

}  // namespace cuscope::host
