#include "host/simt/heap.hpp"

#include <cstdlib>

namespace cuscope::simt {

Heap::~Heap() {
    for (const auto& [address, bytes] : allocations_) std::free(address);
}

void Heap::set_limit(std::size_t bytes) {
    const std::scoped_lock lock(mutex_);
    limit_ = bytes;
}

void* Heap::allocate(std::size_t bytes) {
    if (bytes == 0 || bytes > limit_) return nullptr;
    const std::size_t padded = (bytes + unit - 1) / unit * unit;
    const std::scoped_lock lock(mutex_);
    if (padded > limit_ - used_) return nullptr;
    void* const address = std::aligned_alloc(unit, padded);
    if (address == nullptr) return nullptr;
    allocations_.emplace(address, padded);
    used_ += padded;
    return address;
}

bool Heap::free(void* address) {
    const std::scoped_lock lock(mutex_);
    const auto found = allocations_.find(address);
    if (found == allocations_.end()) return false;
    used_ -= found->second;
    allocations_.erase(found);
    std::free(address);
    return true;
}

}  // namespace cuscope::simt
