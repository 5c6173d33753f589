#include "host/memory/allocations.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <iterator>

#include "host/checking/shadow.hpp"
#include "runtime/checking.hpp"

#if defined(__SANITIZE_THREAD__)
#define CUSCOPE_THREAD_SANITIZER
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define CUSCOPE_THREAD_SANITIZER
#endif
#endif

namespace cuscope::host {

namespace {

const std::size_t page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
constexpr std::size_t granule = 512;
// While checks of kernels run, so much unused memory follows each allocation: a wrong index does not reach
// the next one.
constexpr std::size_t checked_gap = 64 * 1024;
constexpr std::size_t large_from = 64 * 1024;
// A guard on either side of page-locked memory, so that a kernel's wrong index does not reach Python's
// memory.
constexpr std::size_t host_guard = std::size_t{1} << 20;
constexpr std::size_t chunk = std::size_t{2} << 20;

std::size_t round_up(std::size_t value, std::size_t unit) { return (value + unit - 1) / unit * unit; }

std::uintptr_t number(const void* address) { return reinterpret_cast<std::uintptr_t>(address); }

// Reserves addresses at a fixed place, so that they are the same on every run. The place is away from the
// ranges that the system and AddressSanitizer use. Two places are a multiple of 1.75 TiB apart. No multiple
// is within 250 GiB of a power of two, or of three times a power of two. So a wrong index such as 1 << 40
// reaches no other device's memory.
// ThreadSanitizer allows no such place; with it the system chooses the address.
std::byte* reserve([[maybe_unused]] int device, std::size_t bytes) {
    constexpr int kind = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
#if defined(MAP_FIXED_NOREPLACE) && !defined(CUSCOPE_THREAD_SANITIZER)
    constexpr std::uintptr_t first = 0x110000000000, slot = std::uintptr_t{7} << 38;
    constexpr int slots = 32;
    for (int i = device; i < slots; ++i) {
        void* const wanted = reinterpret_cast<void*>(first + static_cast<std::uintptr_t>(i) * slot);
        void* const got = mmap(wanted, bytes, PROT_NONE, kind | MAP_FIXED_NOREPLACE, -1, 0);
        if (got == wanted) return static_cast<std::byte*>(got);
        if (got != MAP_FAILED)
            munmap(got, bytes);  // an older Linux kernel ignores the flag and takes the address as a hint
    }
#endif
    void* const got = mmap(nullptr, bytes, PROT_NONE, kind, -1, 0);
    return got == MAP_FAILED ? nullptr : static_cast<std::byte*>(got);
}

}  // namespace

bool MemoryRegistry::add(const Allocation& allocation) {
    if (allocation.bytes == 0) return false;
    const std::uintptr_t base = number(allocation.base);
    const auto next = by_base_.lower_bound(base);
    if (next != by_base_.end() && next->first - base < allocation.bytes) return false;
    if (next != by_base_.begin()) {
        const auto& [before, other] = *std::prev(next);
        if (base - before < other.bytes) return false;
    }
    Allocation& added = by_base_.emplace_hint(next, base, allocation)->second;
    added.serial = ++last_serial_;
    // While checks run, it is known that nothing has been written to new memory of a device.
    if (checking() && added.type == MemoryType::device && !added.fixed)
        added.shadow = std::make_shared<simt::Shadow>(added.base, added.bytes, false);
    return true;
}

bool MemoryRegistry::remove(const void* base) {
    const auto found = by_base_.find(number(base));
    if (found == by_base_.end()) return false;
    if (last_hit_ == &found->second) last_hit_ = nullptr;
    if (checking() && !found->second.fixed) note_freed(base, found->second.bytes);
    by_base_.erase(found);
    return true;
}

const std::shared_ptr<simt::Shadow>& MemoryRegistry::shadow_of(const Allocation& allocation) {
    std::shared_ptr<simt::Shadow>& shadow = by_base_.at(number(allocation.base)).shadow;
    if (!shadow) shadow = std::make_shared<simt::Shadow>(allocation.base, allocation.bytes, true);
    return shadow;
}

const Allocation* MemoryRegistry::find(const void* address) const {
    const std::uintptr_t wanted = number(address);
    // The subtraction is unsigned: an address below the base gives a difference larger than any allocation.
    if (last_hit_ && wanted - number(last_hit_->base) < last_hit_->bytes) return last_hit_;
    const auto after = by_base_.upper_bound(wanted);
    if (after == by_base_.begin()) return nullptr;
    const auto& [base, allocation] = *std::prev(after);
    if (wanted - base >= allocation.bytes) return nullptr;
    last_hit_ = &allocation;
    return last_hit_;
}

const Allocation* MemoryRegistry::find_base(const void* base) const {
    const Allocation* const found = find(base);
    return found && found->base == base ? found : nullptr;
}

const Allocation* MemoryRegistry::in_last_page(const void* address) const {
    auto next = by_base_.upper_bound(number(address));
    if (next == by_base_.begin()) return nullptr;
    const Allocation& before = std::prev(next)->second;
    const std::uintptr_t end = number(before.base) + before.bytes;
    return number(address) >= end && number(address) < (end + page - 1) / page * page ? &before : nullptr;
}

const Allocation* MemoryRegistry::find_range(const void* address, std::size_t bytes) const {
    const Allocation* const found = find(address);
    if (!found) return nullptr;
    return bytes <= found->bytes - (number(address) - number(found->base)) ? found : nullptr;
}

void MemoryRegistry::for_each(const std::function<void(const Allocation&)>& visit) const {
    for (const auto& [base, allocation] : by_base_) visit(allocation);
}

void DeviceArena::FreeRanges::insert(std::size_t offset, std::size_t length) {
    by_offset_.emplace(offset, length);
    by_length_.emplace(length, offset);
}

void DeviceArena::FreeRanges::add(std::size_t offset, std::size_t length) {
    if (length == 0) return;
    auto next = by_offset_.lower_bound(offset);
    if (next != by_offset_.end() && next->first == offset + length) {
        length += next->second;
        by_length_.erase({next->second, next->first});
        next = by_offset_.erase(next);
    }
    if (next != by_offset_.begin()) {
        const auto before = std::prev(next);
        if (before->first + before->second == offset) {
            offset = before->first;
            length += before->second;
            by_length_.erase({before->second, before->first});
            by_offset_.erase(before);
        }
    }
    insert(offset, length);
}

bool DeviceArena::FreeRanges::take(std::size_t length, std::size_t* offset) {
    const auto best = by_length_.lower_bound({length, 0});
    if (best == by_length_.end()) return false;
    const auto [found_length, found_offset] = *best;
    by_length_.erase(best);
    by_offset_.erase(found_offset);
    if (found_length > length) insert(found_offset + length, found_length - length);
    *offset = found_offset;
    return true;
}

DeviceArena::DeviceArena(int device, std::size_t capacity) : capacity_(capacity) {
    const std::size_t rounded = round_up(capacity, chunk);
    // Reserving addresses costs nothing, so there are enough that guard pages and fragmentation never refuse
    // an allocation that the capacity allows.
    for (std::size_t spare = rounded + (std::size_t{1} << 28); !base_ && spare >= page; spare /= 4) {
        small_end_ = rounded;
        reserved_ = small_end_ + page + rounded + spare;
        base_ = reserve(device, reserved_);
    }
    if (!base_) {
        reserved_ = small_end_ = 0;
        return;
    }
    madvise(base_ + small_end_, reserved_ - small_end_, MADV_HUGEPAGE);
    small_.add(0, small_end_);
    large_.add(small_end_ + page, reserved_ - small_end_ - page);
}

DeviceArena::~DeviceArena() {
    if (base_) munmap(base_, reserved_);
}

std::byte* DeviceArena::allocate(std::size_t bytes) {
    if (bytes == 0 || bytes > capacity_) return nullptr;
    if (bytes < large_from) return allocate_small(round_up(bytes, granule));

    bytes = round_up(bytes, page);
    if (bytes > capacity_ - used_) return nullptr;
    std::size_t offset = 0;
    const std::size_t gap = checking() ? checked_gap : page;
    if (!large_.take(bytes + gap, &offset)) return nullptr;
    if (!open(offset, bytes)) {
        large_.add(offset, bytes + gap);
        return nullptr;
    }
    if (gap != page) gaps_.insert(offset);
    used_ += bytes;
    return base_ + offset;
}

void DeviceArena::release(std::byte* base, std::size_t bytes) {
    const std::size_t offset = static_cast<std::size_t>(base - base_);
    if (bytes < large_from) {
        release_small(offset, round_up(bytes, granule));
        return;
    }
    bytes = round_up(bytes, page);
    close(offset, bytes);
    large_.add(offset, bytes + (gaps_.erase(offset) != 0 ? checked_gap : page));
    used_ -= bytes;
}

std::byte* DeviceArena::allocate_small(std::size_t bytes) {
    if (bytes > capacity_ - used_) return nullptr;
    std::size_t offset = 0;
    const std::size_t whole = bytes + (checking() ? checked_gap : 0);
    if (!small_.take(whole, &offset)) return nullptr;

    const std::size_t first = offset / chunk, last = (offset + whole - 1) / chunk;
    if (last >= chunk_used_.size()) {
        chunk_used_.resize(last + 1, 0);
        chunk_open_.resize(last + 1, false);
    }
    for (std::size_t i = first; i <= last; ++i) {
        if (!chunk_open_[i] && !open(i * chunk, chunk)) {
            small_.add(offset, whole);
            return nullptr;
        }
        chunk_open_[i] = true;
    }
    for (std::size_t i = first; i <= last; ++i) {
        chunk_used_[i] += std::min(offset + whole, (i + 1) * chunk) - std::max(offset, i * chunk);
        if (spare_chunk_ == i) spare_chunk_ = no_chunk;
    }
    if (whole != bytes) gaps_.insert(offset);
    used_ += bytes;
    std::memset(base_ + offset, 0, bytes);
    return base_ + offset;
}

void DeviceArena::release_small(std::size_t offset, std::size_t bytes) {
    const std::size_t whole = bytes + (gaps_.erase(offset) != 0 ? checked_gap : 0);
    const std::size_t first = offset / chunk, last = (offset + whole - 1) / chunk;
    for (std::size_t i = first; i <= last; ++i) {
        chunk_used_[i] -= std::min(offset + whole, (i + 1) * chunk) - std::max(offset, i * chunk);
        if (chunk_used_[i] > 0) continue;
        if (spare_chunk_ != no_chunk) {
            close(spare_chunk_ * chunk, chunk);
            chunk_open_[spare_chunk_] = false;
        }
        spare_chunk_ = i;
    }
    small_.add(offset, whole);
    used_ -= bytes;
}

bool DeviceArena::open(std::size_t offset, std::size_t bytes) {
    return mprotect(base_ + offset, bytes, PROT_READ | PROT_WRITE) == 0;
}

void DeviceArena::close(std::size_t offset, std::size_t bytes) {
    madvise(base_ + offset, bytes, MADV_DONTNEED);  // reads as zero when opened again
    mprotect(base_ + offset, bytes, PROT_NONE);
}

std::byte* allocate_host(std::size_t bytes) {
    // Page-locked memory cannot exceed the machine's memory, even if the system overcommits.
    const std::size_t machine =
        static_cast<std::size_t>(sysconf(_SC_PHYS_PAGES)) * static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
    if (bytes == 0 || bytes > machine) return nullptr;
    const std::size_t rounded = round_up(bytes, page);
    const std::size_t reserved = host_guard + rounded + host_guard;
    void* const mapping = mmap(nullptr, reserved, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (mapping == MAP_FAILED) return nullptr;
    std::byte* const base = static_cast<std::byte*>(mapping) + host_guard;
    if (mprotect(base, rounded, PROT_READ | PROT_WRITE) != 0) {
        munmap(mapping, reserved);
        return nullptr;
    }
    return base;
}

void release_host(std::byte* base, std::size_t bytes) {
    if (base) munmap(base - host_guard, host_guard + round_up(bytes, page) + host_guard);
}

}  // namespace cuscope::host
