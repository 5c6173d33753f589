// Simulated devices: their model, their memory, the streams and pools that they own, their limits, and
// whether they are lost. Private to src/host.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "host/executor/heap.hpp"
#include "host/memory/allocations.hpp"
#include "host/memory/pool.hpp"
#include "host/objects/stream.hpp"
#include "host/runtime/thread_state.hpp"
#include "host/sim/device_model.hpp"

namespace cuscope::host {

constexpr unsigned lmem_resize_to_max = 0x10;  // a device flag: cudaDeviceLmemResizeToMax

struct Device {
    Device(int number, const DeviceModel& its_model);

    // The error of a lost device, which every call on it returns.
    Status check() const;
    void lose(Status status, std::string detail);

    Status check_limit(Limit limit) const;  // refuses a limit that the device lacks
    Status get_limit(Limit limit, std::size_t* value) const;
    Status set_limit(Limit limit, std::size_t value);
    void reset_limits();  // of the kernels' heap, too

    Status set_flags(unsigned changed);
    Status enable_peer(int peer);
    Status disable_peer(int peer);
    // Can the device access this memory in place? True for its own memory, the host's memory, managed memory,
    // and peer memory that it was given access to.
    bool reaches(const Allocation& allocation) const;

    // Null if the device has no room.
    std::byte* allocate(std::size_t bytes);
    void release(std::byte* base, std::size_t bytes) { arena->release(base, bytes); }
    Status out_of_memory(std::size_t bytes) const;

    Pool& add_pool();
    // Memory from malloc that is given to free_async belongs to no pool. It waits for its stream in a pool of
    // its own, which serves no allocations and disappears with it.
    Pool& pool_for_plain(std::size_t bytes);
    // Gives memory of the pool that no work uses any more back, until at most `keep` bytes are reserved.
    void trim(Pool& trimmed, std::uint64_t keep);
    // Returns memory that the pools hold beyond their thresholds to the device. Destroyed pools are removed
    // once they have no allocation left.
    void trim_pools();
    // Releases the destroyed streams whose work has ended.
    void sweep(Timeline& timeline);

    const int ordinal;
    const std::uint32_t activity_name;  // of "host:0": an index into activity_names()
    const DeviceModel* const model;
    const std::size_t memory;
    const std::unique_ptr<DeviceArena> arena;
    Stream* legacy = nullptr;
    std::vector<std::unique_ptr<Stream>> streams;
    std::vector<std::unique_ptr<Stream>> destroyed;  // still have pending work
    std::vector<std::unique_ptr<Pool>> pools;        // the default pool is the first
    Pool* pool = nullptr;                            // the current pool
    Status lost = Status::success;                   // once set, every call returns it
    std::string lost_detail;
    unsigned flags = flags::device_map_host;
    std::map<int, std::size_t> limits;
    std::shared_ptr<simt::Heap> heap;
    int resets = 0;  // running device_reset calls; they abort kernels and waits on memory
    bool has_printed = false, has_allocated = false;  // a kernel that does so was launched
    std::vector<int> peers;
};

class Devices {
  public:
    Device& operator[](int ordinal) const { return *devices_[static_cast<std::size_t>(ordinal)]; }
    // The thread's current device.
    Device& current() const { return (*this)[thread().device]; }
    // These two may be called without the lock.
    int count() const { return count_; }
    bool exist(int ordinal) const { return ordinal >= 0 && ordinal < count_; }

    Device& add(const DeviceModel& model);

    auto begin() const { return devices_.begin(); }
    auto end() const { return devices_.end(); }

  private:
    std::vector<std::unique_ptr<Device>> devices_;
    std::atomic<int> count_{0};
};

}  // namespace cuscope::host
