// The heap for malloc() in kernels: memory that only kernels of the device can use. An allocation lives until
// a kernel frees it, or as long as the device. The memory lies between guards, and the list of allocations is
// kept elsewhere: a kernel that writes past the end of a block can damage only other blocks.
#pragma once

#include <cstddef>
#include <map>
#include <mutex>
#include <set>
#include <unordered_map>
#include <utility>
#include <vector>

#include "host/executor/fiber.hpp"

namespace cuscope::simt {

class Heap {
  public:
    explicit Heap(std::size_t limit) : limit_(limit) {}
    Heap(const Heap&) = delete;
    Heap& operator=(const Heap&) = delete;

    // Sets the limit for kernels that run from now on. Existing allocations stay.
    void set_limit(std::size_t bytes);
    // Null if the limit leaves no room.
    void* allocate(std::size_t bytes);
    // False if allocate() did not return this address, or if it was freed already.
    bool free(void* address);
    // Is the address in the heap's memory, allocated or not?
    bool holds(const void* address);

  private:
    // CUDA's heap uses this many bytes for an allocation of one byte.
    static constexpr std::size_t unit = 16;

    // These need the lock.
    bool grow();
    void add_free(char* begin, std::size_t bytes);
    void remove_free(std::map<char*, std::size_t>::iterator range);

    std::mutex mutex_;
    std::size_t limit_, used_ = 0;
    std::size_t grown_to_ = 0;  // the largest limit that the memory suffices for
    std::vector<GuardedMemory> memory_;
    std::unordered_map<void*, std::size_t> allocations_;
    // Free ranges; neighbours are merged. Best fit, then the lowest address.
    std::map<char*, std::size_t> free_;
    std::set<std::pair<std::size_t, char*>> free_by_bytes_;
};

}  // namespace cuscope::simt
