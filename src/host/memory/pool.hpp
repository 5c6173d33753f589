// A memory pool of a simulated device: the blocks that free_async gave back and malloc_async may reuse, and
// the pool's statistics. The stream that freed a block may reuse it at once, since its work runs in order.
// Other streams may reuse it when the free has ended. The runtime provides the memory itself.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

#include "host/memory/allocations.hpp"
#include "host/sim/command.hpp"
#include "runtime/memory_types.hpp"
#include "runtime/status.hpp"

namespace cuscope::host {

struct Pool {
    struct Free {
        std::byte* base;
        const SimStream* stream;  // null once the stream is destroyed
        CommandRef freed;
    };

    int device = 0;
    std::size_t max_size = 0;  // 0: limited by the device's memory only
    bool is_default = false;
    bool destroyed = false;                 // removed once its last allocation is gone
    std::map<int, std::uint64_t> settings;  // reuse switches and the release threshold
    std::map<int, int> access;              // by other device: cudaMemAccessFlags
    std::uint64_t reserved = 0, reserved_high = 0, used = 0, used_high = 0;
    std::size_t allocations = 0;
    int waiting = 0;                                // calls that wait for room; they keep the pool alive
    std::map<std::size_t, std::vector<Free>> free;  // by size, oldest first

    // The share of a pool that an allocation takes.
    static std::size_t rounded(std::size_t bytes) {
        constexpr std::size_t granularity = 512;
        return (bytes + granularity - 1) / granularity * granularity;
    }

    std::uint64_t setting(MemPoolAttribute attribute) const;
    Status get_attribute(MemPoolAttribute attribute, std::uint64_t* value) const;
    Status set_attribute(MemPoolAttribute attribute, std::uint64_t value);
    MemAccess access_of(int other_device) const {
        if (other_device == device) return MemAccess::read_write;
        const auto given = access.find(other_device);
        return given == access.end() ? MemAccess::none : static_cast<MemAccess>(given->second);
    }

    // Null if the pool has no free block of that size that the stream may use and `accepts(base)` accepts.
    template <class Accept>
    std::byte* take(std::size_t size, const SimStream* stream, const Accept& accepts) {
        const auto bucket = free.find(size);
        if (bucket == free.end()) return nullptr;
        auto& blocks = bucket->second;
        const auto found = std::find_if(blocks.begin(), blocks.end(), [&](const Free& block) {
            return (block.stream == stream || block.freed->ended >= 0) && accepts(block.base);
        });
        if (found == blocks.end()) return nullptr;
        std::byte* const base = found->base;
        blocks.erase(found);
        if (blocks.empty()) free.erase(bucket);
        return base;
    }
    // Gives blocks that no work uses any more to `release(base, size)`, until at most `keep` bytes are
    // reserved.
    template <class Release>
    void trim(std::uint64_t keep, Release&& release) {
        for (auto bucket = free.begin(); bucket != free.end() && reserved > keep;) {
            const std::size_t size = bucket->first;
            std::erase_if(bucket->second, [&](const Free& block) {
                if (reserved <= keep || !block.freed->functional) return false;
                release(block.base, size);
                reserved -= size;
                return true;
            });
            bucket = bucket->second.empty() ? free.erase(bucket) : std::next(bucket);
        }
    }
    // `size` is the allocation's share of the pool, `bytes` the size that the program requested. As on a GPU,
    // `used` counts the requested bytes.
    void count_in(std::size_t size, std::size_t bytes, bool fresh) {
        if (fresh) reserved_high = std::max(reserved_high, reserved += size);
        used_high = std::max(used_high, used += bytes);
        ++allocations;
    }
    void count_out(std::size_t bytes) {
        used -= bytes;
        --allocations;
    }
    // For a reset of the device. The default pool stays, as it was at first.
    void reset() {
        reserved = reserved_high = used = used_high = allocations = 0;
        settings.clear();
        destroyed = !is_default;
    }
    void forget(const SimStream* stream) {
        for (auto& [size, blocks] : free) {
            for (Free& block : blocks) {
                if (block.stream == stream) block.stream = nullptr;
            }
        }
    }
};

// The bytes that the allocation takes from its device's memory.
inline std::size_t bytes_held(const Allocation& allocation) {
    return allocation.pool != nullptr ? Pool::rounded(allocation.bytes) : allocation.bytes;
}

}  // namespace cuscope::host
