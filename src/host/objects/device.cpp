#include "host/objects/device.hpp"

#include <unistd.h>

#include <algorithm>

#include "host/sim/timeline.hpp"
#include "runtime/activity.hpp"

namespace cuscope::host {
namespace {

// Half of the machine's memory, assuming that no other process needs it; never more than the model has.
std::size_t backed_memory(const DeviceModel& model) {
    const std::size_t machine =
        static_cast<std::size_t>(sysconf(_SC_PHYS_PAGES)) * static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
    return std::min(model.properties.total_global_memory, machine / 2);
}

}  // namespace

Device::Device(int number, const DeviceModel& its_model)
    : ordinal(number),
      activity_name(index_of_name("host:" + std::to_string(number))),
      model(&its_model),
      memory(backed_memory(its_model)),
      arena(std::make_unique<DeviceArena>(number, memory)) {
    reset_limits();
}

Status Device::check() const { return lost == Status::success ? lost : fail(lost, lost_detail); }

void Device::lose(Status status, std::string detail) {
    if (lost != Status::success) return;
    lost = status;
    lost_detail = std::move(detail);
}

Status Device::set_flags(unsigned changed) {
    constexpr unsigned schedules =
        flags::device_schedule_spin | flags::device_schedule_yield | flags::device_schedule_blocking_sync;
    const unsigned schedule = changed & schedules;
    if ((changed & ~(schedules | flags::device_map_host | lmem_resize_to_max)) != 0 ||
        (schedule & (schedule - 1)) != 0) {
        return fail(Status::invalid_value);
    }
    flags = changed | flags::device_map_host;
    return Status::success;
}

Status Device::enable_peer(int peer) {
    if (std::find(peers.begin(), peers.end(), peer) != peers.end())
        return fail(Status::peer_access_already_enabled);
    peers.push_back(peer);
    return Status::success;
}

Status Device::disable_peer(int peer) {
    return std::erase(peers, peer) == 0 ? fail(Status::peer_access_not_enabled) : Status::success;
}

bool Device::reaches(const Allocation& allocation) const {
    if (allocation.type != MemoryType::device || allocation.device == ordinal) return true;
    // Enabling peer access does not cover the peer's pools.
    if (allocation.pool != nullptr) return allocation.pool->access_of(ordinal) != MemAccess::none;
    return std::find(peers.begin(), peers.end(), allocation.device) != peers.end();
}

std::byte* Device::allocate(std::size_t bytes) { return bytes > memory ? nullptr : arena->allocate(bytes); }

Status Device::out_of_memory(std::size_t bytes) const {
    return fail(Status::memory_allocation, std::to_string(bytes) + " bytes were asked for; " +
                                               std::to_string(memory - arena->used()) + " of " +
                                               std::to_string(memory) + " are free");
}

Pool& Device::add_pool() {
    pools.push_back(std::make_unique<Pool>());
    pools.back()->device = ordinal;
    return *pools.back();
}

Pool& Device::pool_for_plain(std::size_t bytes) {
    Pool& made = add_pool();
    made.destroyed = true;
    made.count_in(Pool::rounded(bytes), bytes, true);
    return made;
}

void Device::trim(Pool& trimmed, std::uint64_t keep) {
    trimmed.trim(keep, [&](std::byte* base, std::size_t size) { release(base, size); });
}

void Device::trim_pools() {
    for (auto& each : pools) {
        const std::uint64_t keep = each->destroyed ? 0 : each->setting(MemPoolAttribute::release_threshold);
        if (each->free.empty() || each->reserved <= keep) continue;
        trim(*each, keep);
    }
    std::erase_if(pools, [](const auto& each) {
        return each->destroyed && each->allocations == 0 && each->waiting == 0 && each->free.empty();
    });
}

void Device::sweep(Timeline& timeline) {
    std::erase_if(destroyed, [&](const auto& stream) {
        if (stream->last && !stream->last->functional) return false;
        for (auto& each : pools) each->forget(stream.get());
        timeline.remove_stream(*stream);
        return true;
    });
}

// ---- all devices

Device& Devices::add(const DeviceModel& model) {
    devices_.push_back(std::make_unique<Device>(static_cast<int>(devices_.size()), model));
    count_ = static_cast<int>(devices_.size());
    return *devices_.back();
}

}  // namespace cuscope::host
