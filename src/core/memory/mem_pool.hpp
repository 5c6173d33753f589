// A pool of device memory, from which stream-ordered allocations come. A device has a default pool, which
// lives as long as the device. Other pools go with their last owner and their last allocation.
#pragma once

#include <cstdint>
#include <memory>

#include "core/memory/memory.hpp"

namespace cuscope::core {

class MemPool {
  public:
    // `limit` in bytes; 0: as much as the device has.
    static std::shared_ptr<MemPool> create(const DevicePtr& device, std::size_t limit);
    static std::shared_ptr<MemPool> default_of(const DevicePtr& device);
    // The pool of allocations that name none.
    static std::shared_ptr<MemPool> current_of(const DevicePtr& device);
    static void make_current(const std::shared_ptr<MemPool>& pool);
    // The package's own pool for large results of operations. Null if they come from the current pool.
    static std::shared_ptr<MemPool> of_results(const Stream& stream, std::size_t bytes);
    // Sets the access of another device to the memory of all pools of this one.
    static void set_access(Device& owner, int other, MemAccess access);
    // Lets copies in streams of `device` reach memory that comes from another device's pool. False: the
    // devices are not peers.
    static bool let_copy(Device& device, const DeviceMemory& memory);

    MemPool(DevicePtr device, MemPoolHandle handle, std::size_t limit, bool owned);
    MemPool(const MemPool&) = delete;
    MemPool& operator=(const MemPool&) = delete;
    ~MemPool();

    // A result of `bytes` bytes: see of_results().
    static std::shared_ptr<DeviceMemory> allocate_result(const StreamPtr& stream, std::size_t bytes) {
        return DeviceMemory::allocate(stream, bytes, of_results(*stream, bytes));
    }

    const DevicePtr& device() const { return device_; }
    MemPoolHandle handle() const;
    std::size_t limit() const { return limit_; }
    bool is_default() const { return !owned_; }
    // Tells the pools of a device apart for as long as the process lives, because handles are reused; 0: the
    // default pool.
    std::uint64_t serial() const { return serial_; }

    // To be called for each stream in which memory of the pool is freed.
    void freed_in(const StreamPtr& stream) { frees_.add(stream); }

    std::uint64_t attribute(MemPoolAttribute attribute) const;
    void set_attribute(MemPoolAttribute attribute, std::uint64_t value);
    // Gives unused memory back to the system, down to `keep` bytes. The default pool's small blocks and the
    // pool of results go back, too.
    void trim(std::size_t keep);

  private:
    DevicePtr device_;
    unsigned generation_;
    MemPoolHandle handle_;
    std::size_t limit_;
    bool owned_;
    std::uint64_t serial_;
    Uses frees_;
};

}  // namespace cuscope::core
