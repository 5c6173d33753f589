#include "core/memory/host_blocks.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <mutex>

namespace cuscope::core {
namespace {

constexpr std::size_t huge_page = 2 << 20, page = 4096;
constexpr std::size_t most_kept_bytes = std::size_t{512} << 20;

// Lies before the memory that the caller gets.
struct alignas(64) Header {
    std::size_t mapped;  // bytes, with the header
    bool touched;        // all pages are there
};

// Released blocks, oldest first.
struct Kept {
    std::mutex mutex;
    std::array<Header*, 4> blocks{};
    std::size_t count = 0, bytes = 0;

    Header* remove(std::size_t at) {
        Header* const block = blocks[at];
        std::copy(blocks.begin() + at + 1, blocks.begin() + count, blocks.begin() + at);
        --count;
        bytes -= block->mapped;
        return block;
    }
};

Kept& kept() {
    static Kept* const instance = new Kept;  // outlives static destructors
    return *instance;
}

Header* header_of(const void* block) { return static_cast<Header*>(const_cast<void*>(block)) - 1; }

// A kept block that is large enough without wasting more than a quarter of it. A process that was forked
// while another thread had the lock cannot take it, so nothing waits for the lock.
Header* reuse(std::size_t mapped) {
    const std::unique_lock lock(kept().mutex, std::try_to_lock);
    if (!lock) return nullptr;
    for (std::size_t i = kept().count; i-- > 0;) {
        const std::size_t has = kept().blocks[i]->mapped;
        if (has >= mapped && has - mapped <= has / 4) return kept().remove(i);
    }
    return nullptr;
}

// Whole huge pages, at an address where the system can use them.
Header* map(std::size_t mapped) {
    const std::size_t room = mapped + huge_page;
    void* const at = mmap(nullptr, room, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (at == MAP_FAILED) return nullptr;
    auto* const first = static_cast<std::byte*>(at);
    const std::size_t skip = (huge_page - reinterpret_cast<std::uintptr_t>(first) % huge_page) % huge_page;
    if (skip != 0) munmap(first, skip);
    if (skip != huge_page) munmap(first + skip + mapped, huge_page - skip);
    madvise(first + skip, mapped, MADV_HUGEPAGE);  // a hint that the system may refuse
    auto* const header = reinterpret_cast<Header*>(first + skip);
    *header = {mapped, false};
    return header;
}

void touch(std::byte* first, std::size_t bytes) {
#ifdef MADV_POPULATE_WRITE
    if (madvise(first, bytes, MADV_POPULATE_WRITE) == 0) return;
#endif
    // The copy may write the same byte at this time, so it is not simply stored.
    for (std::size_t at = 0; at < bytes; at += page)
        std::atomic_ref(reinterpret_cast<unsigned char&>(first[at])).fetch_or(0, std::memory_order_relaxed);
}

}  // namespace

void* take_host_block(std::size_t bytes, bool zeroed) {
    if (bytes > SIZE_MAX - 2 * huge_page) return nullptr;
    const std::size_t mapped = (bytes + sizeof(Header) + huge_page - 1) / huge_page * huge_page;
    if (Header* const block = reuse(mapped)) {
        if (zeroed) std::memset(block + 1, 0, bytes);
        return block + 1;
    }
    Header* const block = map(mapped);
    return block == nullptr ? nullptr : block + 1;
}

void give_host_block(void* given) {
    if (given == nullptr) return;
    Header* const block = header_of(given);
    const std::size_t mapped = block->mapped;
    if (mapped <= most_kept_bytes) {
        block->touched = true;  // a result was in it
        std::array<Header*, 4> dropped{};
        std::size_t count = 0;
        if (const std::unique_lock lock(kept().mutex, std::try_to_lock); lock) {
            while (kept().count == kept().blocks.size() || kept().bytes + mapped > most_kept_bytes)
                dropped[count++] = kept().remove(0);
            kept().blocks[kept().count++] = block;
            kept().bytes += mapped;
        } else {
            dropped[count++] = block;
        }
        for (std::size_t i = 0; i < count; ++i) munmap(dropped[i], dropped[i]->mapped);
        return;
    }
    munmap(block, mapped);
}

std::size_t host_block_room(const void* block) { return header_of(block)->mapped - sizeof(Header); }

std::unique_ptr<ThreadTeam> touch_host_block(void* block) {
    Header* const header = header_of(block);
    if (header->touched) return nullptr;
    const std::size_t pieces = header->mapped / huge_page;
    auto team = std::make_unique<ThreadTeam>(pieces, [header](std::size_t i) {
        touch(reinterpret_cast<std::byte*>(header) + i * huge_page, huge_page);
    });
    team->allow(pieces);
    return team;
}

}  // namespace cuscope::core
