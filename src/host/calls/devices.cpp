// The host runtime's devices and errors.
#include <unistd.h>

#include <algorithm>

#include "host/effects/semaphore.hpp"
#include "host/graph/graph.hpp"
#include "host/runtime/call.hpp"
#include "host/runtime/host_runtime.hpp"

namespace cuscope::host {
namespace {

constexpr int cuda_version = 13000;

// Half of the machine's memory, assuming that no other process needs it; never more than the model has.
std::size_t backed_memory(const DeviceModel& model) {
    const std::size_t machine =
        static_cast<std::size_t>(sysconf(_SC_PHYS_PAGES)) * static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
    return std::min(model.properties.total_global_memory, machine / 2);
}

}  // namespace

Status HostRuntime::add_model(const DeviceModel& model, int* ordinal) {
    auto device = std::make_unique<Device>();
    const int index = timeline_.add_device(model);
    device->model = &model;
    device->memory = backed_memory(model);
    device->arena = std::make_unique<DeviceArena>(index, device->memory);
    auto legacy = std::make_unique<Stream>();
    legacy->id = next_stream_id_++;
    timeline_.add_stream(*legacy, index, 0, true, true);
    device->legacy = legacy.get();
    device->streams.push_back(std::move(legacy));
    device->limits = first_limits(model);
    device->heap = std::make_shared<simt::Heap>(device->limits[static_cast<int>(Limit::malloc_heap_size)]);
    auto pool = std::make_unique<Pool>();
    pool->device = index;
    pool->is_default = true;
    live_.insert(pool.get());
    device->pool = pool.get();
    device->pools.push_back(std::move(pool));
    devices_.push_back(std::move(device));
    device_count_ = index + 1;
    *ordinal = index;
    return Status::success;
}

Status HostRuntime::add_device(int* device, const char* model) {
    ENTER(other, Call::On::host);
    const DeviceModel* found = model == nullptr ? nullptr : find_device_model(model);
    if (found == nullptr) {
        std::string known;
        for (const std::string& name : device_model_names()) known += (known.empty() ? "" : ", ") + name;
        return fail(Status::invalid_value, "there is no device model of that name; there are: " + known);
    }
    return add_model(*found, device);
}

Status HostRuntime::get_device_count(int* count) {
    ENTER(other, Call::On::host);
    if (count == nullptr) return fail(Status::invalid_value);
    *count = static_cast<int>(devices_.size());
    return Status::success;
}

// Takes no lock and costs no simulated time: every object makes its own device current around its calls.
Status HostRuntime::set_device(int device) {
    if (thread().in_host_function) return Status::not_permitted;
    if (device < 0 || device >= device_count_) return fail(Status::invalid_device);
    thread().device = device;
    return Status::success;
}

Status HostRuntime::get_device(int* device) {
    if (thread().in_host_function) return Status::not_permitted;
    if (device == nullptr) return fail(Status::invalid_value);
    *device = thread().device;
    return Status::success;
}

Status HostRuntime::get_device_properties(DeviceProperties* properties, int device) {
    ENTER(other, Call::On::host);
    if (device < 0 || device >= static_cast<int>(devices_.size())) return fail(Status::invalid_device);
    if (properties == nullptr) return fail(Status::invalid_value);
    *properties = devices_[device]->model->properties;
    properties->total_global_memory = devices_[device]->memory;
    return Status::success;
}

Status HostRuntime::device_get_attribute(int* value, DeviceAttribute attribute, int device) {
    ENTER(other, Call::On::host);
    if (device < 0 || device >= static_cast<int>(devices_.size())) return fail(Status::invalid_device);
    const Device& asked = *devices_[device];
    if (value == nullptr || !device_attribute(*asked.model, attribute, asked.memory, value)) {
        return fail(Status::invalid_value, "the model has no such attribute");
    }
    return Status::success;
}

Status HostRuntime::device_synchronize() {
    ENTER(synchronize);
    const int index = thread().device;
    TRY(graphs_->spoil_device(*this, index));
    // Like other calls that may be unsafe during a capture, a wait invalidates captures on other devices.
    TRY(forbidden());
    const Status status = wait_for_device(call.lock(), index);
    flush_printed(call.lock());
    if (status != Status::success) return status;
    if (device().lost != Status::success) return fail(device().lost, device().lost_detail);
    trim_pools(device());
    return Status::success;
}

// Destroys the device's streams, memory and libraries. A lost device stays lost: within this process it
// cannot be recovered.
Status HostRuntime::device_reset() {
    ENTER(other, Call::On::host);
    const int index = thread().device;
    Device& reset = *devices_[index];
    TRY(graphs_->spoil_device(*this, index));
    abort_kernels(index);
    {
        const auto ended = [](Device* device) { --device->resets; };
        const std::unique_ptr<Device, decltype(ended)> resetting(&reset, ended);
        ++reset.resets;
        // Repeats while other threads have issued more work to the device: its streams are destroyed next.
        do {
            TRY(wait_for_device(call.lock(), index));
        } while (!is_idle(index));
    }
    if (reset.lost != Status::success) {
        reset.lost = Status::devices_unavailable;
        reset.lost_detail = "the device was lost to an earlier error; restart the process";
        return Status::success;
    }
    graphs_->forget_device(*this, index);
    std::erase_if(semaphores_, [&](const auto& entry) { return entry.second->device == index; });
    for (auto& stream : reset.streams) {
        if (stream.get() == reset.legacy) continue;
        live_.erase(stream.get());
        reset_streams_.insert(static_cast<const SimStream*>(stream.get()));
        timeline_.remove_stream(*stream);
    }
    std::erase_if(reset.streams, [&](const auto& stream) { return stream.get() != reset.legacy; });
    for (auto& [handle, event] : events_) event->reset |= event->device == index;
    for (auto& pool : reset.pools) {
        pool->trim(0, [&](std::byte* base, std::size_t size) { reset.arena->release(base, size); });
        if (!pool->is_default) live_.erase(pool.get());
        pool->reserved = pool->reserved_high = pool->used = pool->used_high = pool->allocations = 0;
        pool->settings.clear();
    }
    for (auto& pool : reset.pools) pool->destroyed = !pool->is_default;
    std::erase_if(reset.pools, [](const auto& pool) { return pool->destroyed && pool->waiting == 0; });
    reset.pool = reset.pools.front().get();
    std::erase_if(arrays_, [&](const auto& entry) {
        if (entry.second->device != index) return false;
        live_.erase(entry.first);
        return true;
    });
    std::erase_if(mipmapped_arrays_, [&](const auto& entry) { return entry.second->device == index; });
    std::erase_if(textures_, [&](const auto& entry) { return entry.second->device == index; });
    reset.limits = first_limits(*reset.model);
    reset.heap = std::make_shared<simt::Heap>(reset.limits[static_cast<int>(Limit::malloc_heap_size)]);
    reset.has_printed = reset.has_allocated = false;
    for (auto& [handle, library] : libraries_) {
        const auto loaded = library->instances.find(index);
        if (loaded == library->instances.end()) continue;
        for (const auto& global : loaded->second->globals()) memory_.remove(global.address);
        library->instances.erase(loaded);
    }
    release_unloaded();
    std::vector<Allocation> gone;
    memory_.for_each([&](const Allocation& allocation) {
        if (allocation.device == index) gone.push_back(allocation);
    });
    for (const Allocation& allocation : gone) {
        memory_.remove(allocation.base);
        if (allocation.type == MemoryType::managed) managed_.erase(allocation.base);
        if (allocation.registered) continue;
        if (allocation.type != MemoryType::device) {
            page_locked_.remove(allocation.base);
            release_host(allocation.base, allocation.bytes);
        } else {
            reset.arena->release(allocation.base, held(allocation));
        }
    }
    return Status::success;
}

Status HostRuntime::set_device_flags(unsigned flags) {
    ENTER(other);
    constexpr unsigned schedules =
        flags::device_schedule_spin | flags::device_schedule_yield | flags::device_schedule_blocking_sync;
    const unsigned schedule = flags & schedules;
    if ((flags & ~(schedules | flags::device_map_host | lmem_resize_to_max)) != 0 ||
        (schedule & (schedule - 1)) != 0) {
        return fail(Status::invalid_value);
    }
    device().flags = flags | flags::device_map_host;
    return Status::success;
}

Status HostRuntime::get_device_flags(unsigned* flags) {
    ENTER(other);
    if (flags == nullptr) return fail(Status::invalid_value);
    *flags = device().flags;
    return Status::success;
}

Status HostRuntime::device_can_access_peer(int* can_access, int device, int peer) {
    ENTER(other);
    const int count = static_cast<int>(devices_.size());
    if (device < 0 || device >= count || peer < 0 || peer >= count) return fail(Status::invalid_device);
    if (can_access == nullptr) return fail(Status::invalid_value);
    *can_access = device != peer ? 1 : 0;
    return Status::success;
}

Status HostRuntime::device_enable_peer_access(int peer, unsigned flags) {
    ENTER(other);
    if (peer < 0 || peer >= static_cast<int>(devices_.size())) return fail(Status::invalid_device);
    if (flags != 0) return fail(Status::invalid_value);
    if (peer == thread().device)
        return fail(Status::peer_access_unsupported, "a device is no peer of itself");
    TRY(forbidden());
    auto& peers = device().peers;
    if (std::find(peers.begin(), peers.end(), peer) != peers.end())
        return fail(Status::peer_access_already_enabled);
    peers.push_back(peer);
    return Status::success;
}

Status HostRuntime::device_disable_peer_access(int peer) {
    ENTER(other);
    if (peer < 0 || peer >= static_cast<int>(devices_.size())) return fail(Status::invalid_device);
    if (std::erase(device().peers, peer) == 0) return fail(Status::peer_access_not_enabled);
    return Status::success;
}

Status HostRuntime::device_get_stream_priority_range(int* least, int* greatest) {
    ENTER(other);
    if (least != nullptr) *least = device().model->least_priority;
    if (greatest != nullptr) *greatest = device().model->greatest_priority;
    return Status::success;
}

Status HostRuntime::driver_get_version(int* version) { return runtime_get_version(version); }

Status HostRuntime::runtime_get_version(int* version) {
    if (thread().in_host_function) return Status::not_permitted;
    if (version == nullptr) return fail(Status::invalid_value);
    *version = cuda_version;
    return Status::success;
}

Status HostRuntime::get_last_error() {
    if (thread().in_host_function) return Status::not_permitted;
    return std::exchange(thread().last, Status::success);
}

Status HostRuntime::peek_at_last_error() {
    if (thread().in_host_function) return Status::not_permitted;
    return thread().last;
}

}  // namespace cuscope::host
