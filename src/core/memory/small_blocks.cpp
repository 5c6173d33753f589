#include "core/memory/small_blocks.hpp"

#include <algorithm>
#include <utility>

#include "core/stream/stream.hpp"

namespace cuscope::core {
namespace {

// The blocks of a size that wait for an event together, at least and at most.
constexpr std::size_t batch_of(std::size_t bytes) {
    return bytes <= SmallBlocks::most_bytes / 4 ? 16 : bytes <= SmallBlocks::most_bytes / 2 ? 8 : 4;
}
constexpr std::size_t most_of(std::size_t bytes) {
    return std::clamp<std::size_t>((256 << 10) / bytes, 4, 32);
}

using TryLock = std::unique_lock<std::mutex>;

}  // namespace

SmallBlocks::Size* SmallBlocks::find(std::size_t bytes, unsigned generation) {
    if (generation_ != generation) {  // a reset has destroyed the blocks
        for (Size& size : sizes_) size = {};
        generation_ = generation;
    }
    const auto found =
        std::find_if(sizes_.begin(), sizes_.end(), [=](const Size& size) { return size.bytes == bytes; });
    return found == sizes_.end() ? nullptr : &*found;
}

// The event is recorded under the lock. Threads that find the lock taken do without kept blocks.
SmallBlocks::Block SmallBlocks::take(const Stream& stream, std::size_t bytes) {
    const TryLock lock(mutex_, std::try_to_lock);
    Size* const size = lock ? find(bytes, stream.device().generation()) : nullptr;
    if (size == nullptr) return {};
    if (size->ready.empty()) {
        if (size->given_up.size() < batch_of(bytes)) return {};
        size->since = RecordedEvent::in(stream);
        size->ready.swap(size->given_up);
    }
    Block block{size->ready.back(), size->since};
    size->used = true;
    size->ready.pop_back();
    if (size->ready.empty()) size->since.reset();
    return block;
}

bool SmallBlocks::keep(void* pointer, std::size_t bytes, unsigned generation, std::vector<void*>* displaced) {
    const TryLock lock(mutex_, std::try_to_lock);
    if (!lock) return false;
    Size* size = find(bytes, generation);
    if (size == nullptr) {
        size = find(0, generation);
        if (size == nullptr) {
            size = &sizes_[next_displaced_++ % most_sizes];
            *displaced = std::move(size->ready);
            displaced->insert(displaced->end(), size->given_up.begin(), size->given_up.end());
            *size = {};
        }
        size->bytes = bytes;
    }
    if (size->given_up.size() >= most_of(bytes)) return false;
    size->given_up.push_back(pointer);
    return true;
}

template <class Which>
std::vector<void*> SmallBlocks::take_those(unsigned generation, Which&& which) {
    std::vector<void*> taken;
    const auto lock = locked<std::unique_lock<std::mutex>>(mutex_);
    find(0, generation);
    for (Size& size : sizes_) {
        if (!which(size)) continue;
        taken.insert(taken.end(), size.ready.begin(), size.ready.end());
        taken.insert(taken.end(), size.given_up.begin(), size.given_up.end());
        size = {};
    }
    return taken;
}

std::vector<void*> SmallBlocks::take_all(unsigned generation) {
    return take_those(generation, [](Size&) { return true; });
}

std::vector<void*> SmallBlocks::take_unused(unsigned generation) {
    return take_those(generation, [](Size& size) { return !std::exchange(size.used, false); });
}

namespace {

void release(Device& device, std::vector<void*> (SmallBlocks::*take)(unsigned)) noexcept {
    if (device.simulated()) return;
    for (const StreamPtr& stream : Stream::all_of(device)) {
        SmallBlocks* const blocks = stream->small_blocks();
        if (blocks == nullptr) continue;
        const unsigned generation = device.generation();
        for (void* const pointer : (blocks->*take)(generation)) {
            device.release(generation, "cudaFreeAsync", [pointer, stream](Runtime& runtime) {
                return runtime.free_async(pointer, stream->handle());
            });
        }
    }
}

}  // namespace

void release_small_blocks(Device& device) noexcept { release(device, &SmallBlocks::take_all); }
void release_unused_small_blocks(Device& device) noexcept { release(device, &SmallBlocks::take_unused); }

}  // namespace cuscope::core
