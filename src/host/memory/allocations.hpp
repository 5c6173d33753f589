// The memory of a simulated host and its devices: where allocations come from, and which allocation an
// address belongs to. Independent of streams and time. The runtime's lock guards it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <utility>
#include <vector>

#include "runtime/types.hpp"

namespace cuscope::simt {
class Shadow;
}

namespace cuscope::host {

struct Pool;

struct Allocation {
    std::byte* base = nullptr;
    std::size_t bytes = 0;
    MemoryType type = MemoryType::device;
    int device = 0;
    unsigned flags = 0;        // the flags of host_alloc or host_register
    Pool* pool = nullptr;      // stream-ordered memory: its pool
    bool registered = false;   // the program's own memory, given to host_register
    bool fixed = false;        // a module variable or a CUDA array, which free refuses
    std::uint64_t serial = 0;  // unique, unlike the address, which may be reused
    // What checks know about its bytes; null until checks need it.
    std::shared_ptr<simt::Shadow> shadow{};
};

// Maps addresses to allocations.
class MemoryRegistry {
  public:
    // False if it overlaps a known allocation. Allocations of zero bytes are not kept.
    bool add(const Allocation& allocation);
    // False if no allocation begins there.
    bool remove(const void* base);
    // The allocation with base <= address < base + bytes, or null. Valid until that allocation is removed.
    const Allocation* find(const void* address) const;
    const Allocation* find_base(const void* base) const;
    // The allocation that holds all of [address, address + bytes), or null.
    const Allocation* find_range(const void* address, std::size_t bytes) const;
    // The allocation that ends before the address but shares its last page with it, or null. Memory is mapped
    // in whole pages.
    const Allocation* in_last_page(const void* address) const;
    // The shadow of the allocation's bytes; a new one counts all of them as written.
    const std::shared_ptr<simt::Shadow>& shadow_of(const Allocation& allocation);
    std::size_t size() const { return by_base_.size(); }
    // Visits allocations in address order.
    void for_each(const std::function<void(const Allocation&)>& visit) const;

  private:
    std::uint64_t last_serial_ = 0;
    // Map nodes do not move, so pointers to other allocations survive add and remove.
    std::map<std::uintptr_t, Allocation> by_base_;
    mutable const Allocation* last_hit_ = nullptr;
};

// The address range of one device. Unallocated memory cannot be touched, except next to small allocations.
// Newly allocated memory reads as zero. The addresses depend only on the earlier calls.
class DeviceArena {
  public:
    DeviceArena(int device, std::size_t capacity);
    ~DeviceArena();
    DeviceArena(const DeviceArena&) = delete;
    DeviceArena& operator=(const DeviceArena&) = delete;

    // Aligned to 512 bytes. Null if the request does not fit or is for zero bytes.
    std::byte* allocate(std::size_t bytes);
    // `base` and `bytes` are the result and the argument of one call of allocate.
    void release(std::byte* base, std::size_t bytes);

    // Was the allocation made while checks of kernels ran, so that unused memory follows it?
    bool has_gap(const std::byte* base) const {
        return gaps_.contains(static_cast<std::size_t>(base - base_));
    }

    std::size_t capacity() const { return capacity_; }
    // Rounded up as allocated: to 512 bytes, and from 64 KiB on to pages.
    std::size_t used() const { return used_; }

  private:
    // The free ranges of an address range, with neighbours merged. Takes the best fit; among equals the
    // lowest address.
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

    // The layout: small allocations in chunks, a guard page, then large allocations with a guard page each.
    std::byte* base_ = nullptr;
    std::size_t reserved_ = 0;
    std::size_t small_end_ = 0;

    std::size_t capacity_ = 0;
    std::size_t used_ = 0;
    FreeRanges small_, large_;
    std::set<std::size_t> gaps_;  // offsets of allocations with a larger gap behind them: made during checks
    std::vector<std::size_t> chunk_used_;  // bytes allocated in each chunk that was ever opened
    std::vector<bool> chunk_open_;
    std::size_t spare_chunk_ =
        no_chunk;  // one empty chunk stays open, so that alternating allocate and release are fast
};

// Page-locked host memory, page-aligned and zeroed. Null if the machine does not have that much memory.
std::byte* allocate_host(std::size_t bytes);
void release_host(std::byte* base, std::size_t bytes);

}  // namespace cuscope::host
