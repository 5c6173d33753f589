#include "cuda/cupti/calls.hpp"

#include <memory>

namespace cuscope::cuda::cupti {

std::uint64_t Calls::add(const CallOfWork& call) {
    const std::uint64_t place = next_.fetch_add(1, std::memory_order_relaxed) + 1;
    std::atomic<Block*>& slot = blocks_[place / in_block % most_blocks];
    Block* block = slot.load(std::memory_order_acquire);
    if (block == nullptr) {
        auto made = std::make_unique<Block>();
        if (slot.compare_exchange_strong(block, made.get(), std::memory_order_acq_rel))
            block = made.release();
    }
    Entry& entry = (*block)[place % in_block];
    entry.call = call;
    entry.place.store(place, std::memory_order_release);
    return place;
}

std::optional<CallOfWork> Calls::find(std::uint64_t place) const {
    const Block* const block = blocks_[place / in_block % most_blocks].load(std::memory_order_acquire);
    if (place == 0 || block == nullptr) return std::nullopt;
    const Entry& entry = (*block)[place % in_block];
    if (entry.place.load(std::memory_order_acquire) != place) return std::nullopt;
    return entry.call;
}

}  // namespace cuscope::cuda::cupti
