// A memory pool of a simulated device: what free_async gave back and malloc_async may take again, and the
// pool's statistics. What a stream gave back, the same stream may take at once, since its work is in order;
// others when the free has ended. Where the memory comes from is the runtime's affair.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

#include "host/sim/command.hpp"

namespace cuscope::host {

struct Pool {
    struct Free {
        std::byte* base;
        const SimStream* stream;  // null once that is gone
        CommandRef freed;
    };

    int device = 0;
    std::size_t max_size = 0;  // 0: as much as the device has
    bool is_default = false;
    bool destroyed = false;                 // goes with its last allocation
    std::map<int, std::uint64_t> settings;  // switches, and the release threshold
    std::map<int, int> access;              // of other devices: cudaMemAccessFlags
    std::uint64_t reserved = 0, reserved_high = 0, used = 0, used_high = 0;
    std::size_t allocations = 0;
    int waiting = 0;                                // calls that wait for room in it: it stays while they do
    std::map<std::size_t, std::vector<Free>> free;  // by size, oldest first

    // Null: nothing of that size that the stream may have.
    std::byte* take(std::size_t size, const SimStream* stream) {
        const auto bucket = free.find(size);
        if (bucket == free.end()) return nullptr;
        auto& blocks = bucket->second;
        const auto found = std::find_if(blocks.begin(), blocks.end(), [&](const Free& block) {
            return block.stream == stream || block.freed->ended >= 0;
        });
        if (found == blocks.end()) return nullptr;
        std::byte* const base = found->base;
        blocks.erase(found);
        if (blocks.empty()) free.erase(bucket);
        return base;
    }
    // Gives back to `release(base, size)` what nobody uses any more, until no more than `keep` bytes are
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
    // `size` is the allocation's share of the pool, `bytes` the request of the program: a GPU counts the
    // second as used.
    void count_in(std::size_t size, std::size_t bytes, bool fresh) {
        if (fresh) reserved_high = std::max(reserved_high, reserved += size);
        used_high = std::max(used_high, used += bytes);
        ++allocations;
    }
    void count_out(std::size_t bytes) {
        used -= bytes;
        --allocations;
    }
    void forget(const SimStream* stream) {
        for (auto& [size, blocks] : free) {
            for (Free& block : blocks) {
                if (block.stream == stream) block.stream = nullptr;
            }
        }
    }
};

}  // namespace cuscope::host
