// How a GPU's driver places page-locked memory, as measured on an H200. Allocations of less than 2 MiB share
// chunks of 2 MiB. Write-combined memory has its own chunks. All allocations in a chunk report the flags of
// the chunk's first allocation.
#pragma once

#include <cstddef>
#include <map>

#include "runtime/memory_types.hpp"

namespace cuscope::host {

class PageLockedChunks {
  public:
    // Places an allocation that was requested with `flags`. Returns the flags that it reports.
    unsigned place(const void* base, std::size_t bytes, int device, unsigned flags) {
        if (bytes >= chunk_bytes) return flags;
        Chunk* chunk = nullptr;
        std::size_t offset = 0;
        for (auto& [number, there] : chunks_) {
            if (there.device != device || is_write_combined(there.flags) != is_write_combined(flags))
                continue;
            offset = there.room_for(bytes);
            if (offset + bytes > chunk_bytes) continue;
            chunk = &there;
            places_[base] = {number, offset};
            break;
        }
        if (chunk == nullptr) {
            offset = 0;
            chunk = &(chunks_[next_] = {device, flags, {}});
            places_[base] = {next_++, offset};
        }
        chunk->used[offset] = bytes;
        return chunk->flags;
    }

    void remove(const void* base) {
        const auto place = places_.find(base);
        if (place == places_.end()) return;
        const auto chunk = chunks_.find(place->second.chunk);
        chunk->second.used.erase(place->second.offset);
        if (chunk->second.used.empty()) chunks_.erase(chunk);
        places_.erase(place);
    }

  private:
    static constexpr std::size_t chunk_bytes = std::size_t{2} << 20, alignment = 512;

    static bool is_write_combined(unsigned flags) { return (flags & flags::host_alloc_write_combined) != 0; }

    struct Chunk {
        int device = 0;
        unsigned flags = 0;
        std::map<std::size_t, std::size_t> used;  // offset, bytes

        // The first gap that is large enough, or the end.
        std::size_t room_for(std::size_t bytes) const {
            std::size_t end = 0;
            for (const auto& [offset, size] : used) {
                if (end + bytes <= offset) break;
                end = (offset + size + alignment - 1) / alignment * alignment;
            }
            return end;
        }
    };
    struct Place {
        unsigned long long chunk;
        std::size_t offset;
    };
    std::map<unsigned long long, Chunk> chunks_;  // in order of creation
    std::map<const void*, Place> places_;
    unsigned long long next_ = 0;
};

}  // namespace cuscope::host
