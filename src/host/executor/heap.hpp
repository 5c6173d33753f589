// What kernels allocate with malloc(): memory of a device that only kernels know, and that lives as long as
// the device does unless a kernel frees it. It lies between guards, and what the heap knows of its blocks
// lies elsewhere: a kernel that writes past the end of a block changes other blocks at most.
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

    // Of kernels that run from now on; what was allocated stays.
    void set_limit(std::size_t bytes);
    // Null if the limit leaves no room.
    void* allocate(std::size_t bytes);
    // False if it is no address that allocate() gave, or was freed.
    bool free(void* address);
    // Is it an address of the heap's memory, allocated or not?
    bool holds(const void* address);

  private:
    // What CUDA's heap spends on an allocation of one byte.
    static constexpr std::size_t unit = 16;

    // With the lock held.
    bool grow();
    void add_free(char* begin, std::size_t bytes);
    void remove_free(std::map<char*, std::size_t>::iterator range);

    std::mutex mutex_;
    std::size_t limit_, used_ = 0;
    std::size_t grown_to_ = 0;  // the limit that the memory is enough for
    std::vector<GuardedMemory> memory_;
    std::unordered_map<void*, std::size_t> allocations_;
    // What is free, neighbours merged. Best fit, then the lowest address.
    std::map<char*, std::size_t> free_;
    std::set<std::pair<std::size_t, char*>> free_by_bytes_;
};

}  // namespace cuscope::simt
