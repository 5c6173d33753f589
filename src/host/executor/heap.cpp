#include "host/executor/heap.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <iterator>

namespace cuscope::simt {
namespace {

// Freed blocks from this size on give their memory back to the system.
constexpr std::size_t returned_from = 1 << 20;

// Whole pages of [begin, begin + bytes) read as zero again and take no memory.
void give_back(char* begin, std::size_t bytes) {
    const auto page = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
    const auto first = (reinterpret_cast<std::uintptr_t>(begin) + page - 1) / page * page;
    const auto last = (reinterpret_cast<std::uintptr_t>(begin) + bytes) / page * page;
    if (first < last) madvise(reinterpret_cast<void*>(first), last - first, MADV_DONTNEED);
}

}  // namespace

void Heap::set_limit(std::size_t bytes) {
    const std::scoped_lock lock(mutex_);
    limit_ = bytes;
}

void Heap::add_free(char* begin, std::size_t bytes) {
    auto next = free_.lower_bound(begin);
    if (next != free_.end() && next->first == begin + bytes) {
        bytes += next->second;
        const auto merged = next++;
        remove_free(merged);
    }
    if (next != free_.begin()) {
        const auto before = std::prev(next);
        if (before->first + before->second == begin) {
            begin = before->first;
            bytes += before->second;
            remove_free(before);
        }
    }
    free_.emplace(begin, bytes);
    free_by_bytes_.emplace(bytes, begin);
}

void Heap::remove_free(std::map<char*, std::size_t>::iterator range) {
    free_by_bytes_.erase({range->second, range->first});
    free_.erase(range);
}

// Reserves twice the limit, because addresses cost nothing and then fragmentation rarely refuses an
// allocation within the limit. Memory that was reserved for earlier, lower limits stays.
bool Heap::grow() {
    if (grown_to_ >= limit_) return false;
    GuardedMemory more(limit_ * 2);
    if (!more) return false;
    grown_to_ = limit_;
    memory_.push_back(std::move(more));
    add_free(memory_.back().begin(), memory_.back().bytes());
    return true;
}

void* Heap::allocate(std::size_t bytes) {
    const std::scoped_lock lock(mutex_);
    if (bytes == 0 || bytes > limit_) return nullptr;
    const std::size_t padded = (bytes + unit - 1) / unit * unit;
    if (used_ > limit_ || padded > limit_ - used_) return nullptr;
    auto best = free_by_bytes_.lower_bound({padded, nullptr});
    if (best == free_by_bytes_.end()) {
        if (!grow()) return nullptr;
        best = free_by_bytes_.lower_bound({padded, nullptr});
        if (best == free_by_bytes_.end()) return nullptr;
    }
    const auto [range_bytes, begin] = *best;
    remove_free(free_.find(begin));
    if (range_bytes > padded) add_free(begin + padded, range_bytes - padded);
    allocations_.emplace(begin, padded);
    used_ += padded;
    return begin;
}

bool Heap::free(void* address) {
    const std::scoped_lock lock(mutex_);
    const auto found = allocations_.find(address);
    if (found == allocations_.end()) return false;
    const std::size_t bytes = found->second;
    used_ -= bytes;
    allocations_.erase(found);
    if (bytes >= returned_from) give_back(static_cast<char*>(address), bytes);
    add_free(static_cast<char*>(address), bytes);
    return true;
}

bool Heap::holds(const void* address) {
    const std::scoped_lock lock(mutex_);
    const auto* place = static_cast<const char*>(address);
    for (const GuardedMemory& memory : memory_)
        if (place >= memory.begin() && place < memory.end()) return true;
    return false;
}

}  // namespace cuscope::simt
