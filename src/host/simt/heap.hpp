// What kernels allocate with malloc(): memory of a device that only kernels know, and that lives as long as
// the device does unless a kernel frees it.
#pragma once

#include <cstddef>
#include <mutex>
#include <unordered_map>

namespace cuscope::simt {

class Heap {
  public:
    explicit Heap(std::size_t limit) : limit_(limit) {}
    Heap(const Heap&) = delete;
    Heap& operator=(const Heap&) = delete;
    ~Heap();

    // Of kernels that run from now on; what was allocated stays.
    void set_limit(std::size_t bytes);
    // Null if the limit leaves no room.
    void* allocate(std::size_t bytes);
    // False if it is no address that allocate() gave, or was freed.
    bool free(void* address);

  private:
    // What CUDA's heap spends on an allocation of one byte.
    static constexpr std::size_t unit = 16;

    std::mutex mutex_;
    std::size_t limit_, used_ = 0;
    std::unordered_map<void*, std::size_t> allocations_;
};

}  // namespace cuscope::simt
