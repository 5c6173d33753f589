// How a GPU's driver places page-locked memory, as an H200 answered: what is smaller than 2 MiB shares chunks
// of that size, write-combined memory and other apart, and all of a chunk has the flags of what was allocated
// in it first.
#pragma once

#include <cstddef>
#include <map>

namespace cuscope::host {

class PageLockedChunks {
  public:
    // The flags that an allocation shows which asked for `flags`, in a chunk of its device and kind.
    unsigned place(const void* base, std::size_t bytes, int device, bool write_combined, unsigned flags) {
        if (bytes >= chunk_bytes) return flags;
        Chunk* chunk = nullptr;
        std::size_t offset = 0;
        for (auto& [number, there] : chunks_) {
            if (there.device != device || there.write_combined != write_combined) continue;
            offset = there.room_for(bytes);
            if (offset + bytes > chunk_bytes) continue;
            chunk = &there;
            places_[base] = {number, offset};
            break;
        }
        if (chunk == nullptr) {
            offset = 0;
            chunk = &(chunks_[next_] = {device, write_combined, flags, {}});
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

    struct Chunk {
        int device = 0;
        bool write_combined = false;
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
    std::map<unsigned long long, Chunk> chunks_;  // in the order in which they were made
    std::map<const void*, Place> places_;
    unsigned long long next_ = 0;
};

}  // namespace cuscope::host
