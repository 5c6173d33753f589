#include "cuda/cupti/calls.hpp"

#include <memory>

namespace cuscope::cuda::cupti {

void Calls::add(std::uint32_t correlation, const CallOfWork& call) {
    std::atomic<Block*>& slot = blocks_[correlation / in_block % most_blocks];
    Block* block = slot.load(std::memory_order_acquire);
    if (block == nullptr) {
        auto made = std::make_unique<Block>();
        if (slot.compare_exchange_strong(block, made.get(), std::memory_order_acq_rel))
            block = made.release();
    }
    Entry& entry = (*block)[correlation % in_block];
    entry.call = call;
    entry.key.store(key(correlation), std::memory_order_release);
}

std::optional<CallOfWork> Calls::find(std::uint32_t correlation) const {
    const Block* const block = blocks_[correlation / in_block % most_blocks].load(std::memory_order_acquire);
    if (block == nullptr) return std::nullopt;
    const Entry& entry = (*block)[correlation % in_block];
    if (entry.key.load(std::memory_order_acquire) != key(correlation)) return std::nullopt;
    return entry.call;
}

}  // namespace cuscope::cuda::cupti
