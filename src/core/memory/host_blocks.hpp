// Host memory for large results. New pages cost a copy as much time as the copy itself, so a few released
// blocks are kept for the next results, and the pages of new blocks are touched by threads ahead of the copy.
#pragma once

#include <cstddef>
#include <memory>

#include "core/memory/thread_team.hpp"

namespace cuscope::core {

// Smaller memory is reused by malloc().
inline constexpr std::size_t host_block_threshold = 8 << 20;

// A block, aligned to 64 bytes; null if there is no memory. It is zero if `zeroed`.
void* take_host_block(std::size_t bytes, bool zeroed);
// Keeps the block for take_host_block(), or unmaps it if too much would be kept. Takes null, too.
void give_host_block(void* block);
// The bytes that the block has room for.
std::size_t host_block_room(const void* block);
// Threads that touch the pages of the block, from its beginning on, until the result is dropped. Null if the
// pages are known to be there.
std::unique_ptr<ThreadTeam> touch_host_block(void* block);

}  // namespace cuscope::core
