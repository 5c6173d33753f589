// The memory that a simulated host and its devices hold: where allocations come from, and which allocation an
// address belongs to. Knows nothing of streams and time; the runtime's lock guards it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "runtime/types.hpp"

namespace cuscope::host {

struct Pool;

struct Allocation {
    std::byte* base = nullptr;
    std::size_t bytes = 0;
    MemoryType type = MemoryType::device;
    int device = 0;
    unsigned flags = 0;        // of host_alloc, host_register
    Pool* pool = nullptr;      // of stream-ordered memory
    bool registered = false;   // host memory that is the program's own
    bool fixed = false;        // a module's variable, a CUDA array: nothing that free takes
    std::uint64_t serial = 0;  // tells allocations apart that had the same address one after the other
};

// Which allocation an address belongs to.
class MemoryRegistry {
  public:
    // False if it overlaps one that is there. Allocations of no bytes are not kept.
    bool add(const Allocation& allocation);
    // False if no allocation begins there.
    bool remove(const void* base);
    // The allocation with base <= address < base + bytes, or null. Valid until that allocation is removed.
    const Allocation* find(const void* address) const;
    const Allocation* find_base(const void* base) const;
    // The allocation that holds all of [address, address + bytes), or null.
    const Allocation* find_range(const void* address, std::size_t bytes) const;
    // The allocation that ends before the address, in the same page, or null. Memory is given in whole pages.
    const Allocation* in_last_page(const void* address) const;
    std::size_t size() const { return by_base_.size(); }
    // In the order of their addresses.
    void for_each(const std::function<void(const Allocation&)>& visit) const;

  private:
    std::uint64_t last_serial_ = 0;
    // Nodes do not move, so that pointers to other allocations survive add and remove.
    std::map<std::uintptr_t, Allocation> by_base_;
    mutable const Allocation* last_hit_ = nullptr;
};

// The address range of one device. What is not allocated cannot be touched, except beside small allocations;
// what is allocated reads as zero. Where allocations lie depends on nothing but the calls before.
class DeviceArena {
  public:
    DeviceArena(int device, std::size_t capacity);
    ~DeviceArena();
    DeviceArena(const DeviceArena&) = delete;
    DeviceArena& operator=(const DeviceArena&) = delete;

    // Aligned to 512 bytes. Null: does not fit, or no bytes were asked for.
    std::byte* allocate(std::size_t bytes);
    // `base` and `bytes` are those of one allocate.
    void release(std::byte* base, std::size_t bytes);

    std::size_t capacity() const { return capacity_; }
    // As allocated: in units of 512 bytes, and of pages from 64 KiB on.
    std::size_t used() const { return used_; }

  private:
    // Free ranges of a stretch of addresses, neighbours merged. Best fit, then the lowest address.
    class FreeRanges {
      public:
        void add(std::size_t offset, std::size_t length);
        bool take(std::size_t length, std::size_t* offset);

      private:
        void insert(std::size_t offset, std::size_t length);
        std::map<std::size_t, std::size_t> by_offset_;
        std::set<std::pair<std::size_t, std::size_t>> by_length_;  // length, offset
    };

    static constexpr std::size_t no_chunk = ~std::size_t{0};

    std::byte* allocate_small(std::size_t bytes);
    void release_small(std::size_t offset, std::size_t bytes);
    bool open(std::size_t offset, std::size_t bytes);
    void close(std::size_t offset, std::size_t bytes);

    // The addresses: small allocations within chunks, a guard page, then large allocations with a guard page
    // each.
    std::byte* base_ = nullptr;
    std::size_t reserved_ = 0;
    std::size_t small_end_ = 0;

    std::size_t capacity_ = 0;
    std::size_t used_ = 0;
    FreeRanges small_, large_;
    std::vector<std::size_t> chunk_used_;  // bytes allocated in each chunk that was ever opened
    std::vector<bool> chunk_open_;
    std::size_t spare_chunk_ =
        no_chunk;  // the one empty chunk that stays open, so that alternating calls are fast
};

// Page-locked host memory: page-aligned, zero. Null: the machine has not that much.
std::byte* allocate_host(std::size_t bytes);
void release_host(std::byte* base, std::size_t bytes);

}  // namespace cuscope::host
