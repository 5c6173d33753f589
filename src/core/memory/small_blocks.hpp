// Small blocks of a device's default pool that arrays of one stream gave up, kept for the next arrays of this
// stream. On an H200 it takes the driver longer to free a block, to hand it out again and to record the event
// that other streams wait for than to launch a small kernel.
//
// A block is handed out again only for an array of exactly the same size. So compute-sanitizer still finds an
// access beyond the end of an array. The stream's order makes the reuse safe in this stream. For other
// streams there is one event for many blocks, recorded after all of them were given up.
#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <mutex>
#include <vector>

#include "core/stream/recorded_event.hpp"

namespace cuscope::core {

class SmallBlocks {
  public:
    static constexpr std::size_t most_bytes = 64 * 1024;

    struct Block {
        void* pointer = nullptr;  // null: there is none
        std::shared_ptr<const RecordedEvent> since;
    };
    // Throws if the runtime refuses to record an event. The stream, to which this object belongs, is not
    // being captured; its device is current.
    Block take(const Stream& stream, std::size_t bytes);
    // Keeps a block that no other stream uses. Never waits. False: the block is not kept. The blocks that
    // make room for it are added to `displaced`.
    bool keep(void* pointer, std::size_t bytes, unsigned generation, std::vector<void*>* displaced);
    // All blocks, or the blocks of the sizes that were not handed out since the last call. They are not kept
    // any more.
    std::vector<void*> take_all(unsigned generation);
    std::vector<void*> take_unused(unsigned generation);

  private:
    static constexpr std::size_t most_sizes = 16;

    struct Size {
        std::size_t bytes = 0;
        std::vector<void*> ready;                    // were given up before `since`
        std::shared_ptr<const RecordedEvent> since;  // null if there are none
        std::vector<void*> given_up;                 // after it
        bool used = false;                           // a block was handed out since the last take_unused()
    };
    template <class Which>
    std::vector<void*> take_those(unsigned generation, Which&& which);
    // Null if no block has this size.
    Size* find(std::size_t bytes, unsigned generation);

    std::mutex mutex_;
    std::array<Size, most_sizes> sizes_;
    std::size_t next_displaced_ = 0;
    unsigned generation_ = 0;
};

// Frees the blocks of all streams of the device, in stream order.
void release_small_blocks(Device& device) noexcept;
// The same for sizes that no array has asked for since the last call. A loop that synchronizes in each round
// keeps its blocks.
void release_unused_small_blocks(Device& device) noexcept;

}  // namespace cuscope::core
