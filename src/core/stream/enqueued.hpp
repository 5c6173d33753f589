// The last commands given to a stream, for cuscope.pending() on a GPU and for pictures of streams: a few
// plain numbers for each call, written without a lock and turned into text only when it is read. A simulated
// device knows the commands in flight by itself, but not those that have ended.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "runtime/launch_types.hpp"

namespace cuscope::core {

enum class Enqueued : std::uint8_t {
    kernel,         // interned name, grid, block
    copy,           // bytes, MemcpyKind
    memset,         // bytes
    host_function,  // ticket; 1: of a graph
    event_wait,     // serial number of the stream in which the event was recorded
    write_value,    // address, value, bytes
    wait_value,     // address, value, flags and bytes
    semaphore,      // how many; 1: a wait
    graph,
};

struct EnqueuedNote {
    std::uint64_t number = 0;  // counts from 1 in each stream
    Enqueued kind = Enqueued::kernel;
    std::uint64_t a = 0, b = 0, c = 0;
};

class EnqueuedNotes {
  public:
    void add(Enqueued kind, std::uint64_t a = 0, std::uint64_t b = 0, std::uint64_t c = 0) noexcept {
        const std::uint64_t number = last_.fetch_add(1, std::memory_order_relaxed) + 1;
        Slot& slot = slots_[number % size];
        // marks the slot as being written, before any of the numbers
        slot.tag.store(0, std::memory_order_relaxed);
        // No fences, because the thread sanitizer does not support them.
        slot.a.store(a, std::memory_order_release);
        slot.b.store(b, std::memory_order_release);
        slot.c.store(c, std::memory_order_release);
        slot.tag.store(number << 8 | static_cast<std::uint64_t>(kind), std::memory_order_release);
    }
    std::uint64_t last() const noexcept { return last_.load(std::memory_order_relaxed); }
    // All commands up to this number have ended.
    void ended(std::uint64_t number) noexcept { ended_.store(number, std::memory_order_relaxed); }
    // The commands that may be in flight and are still recorded, oldest first.
    std::vector<EnqueuedNote> list() const {
        std::vector<EnqueuedNote> notes;
        const std::uint64_t last = this->last(), ended = ended_.load(std::memory_order_relaxed);
        for (std::uint64_t number = last > size ? last - size + 1 : 1; number <= last; ++number) {
            if (number <= ended) continue;
            if (const std::optional<EnqueuedNote> note = at(number)) notes.push_back(*note);
        }
        return notes;
    }
    // The last command, even if it has ended.
    std::optional<EnqueuedNote> latest() const {
        const std::uint64_t last = this->last();
        return last == 0 ? std::nullopt : at(last);
    }

  private:
    std::optional<EnqueuedNote> at(std::uint64_t number) const {
        const Slot& slot = slots_[number % size];
        const std::uint64_t tag = slot.tag.load(std::memory_order_acquire);
        const EnqueuedNote note{
            tag >> 8, static_cast<Enqueued>(tag & 0xff), slot.a.load(std::memory_order_acquire),
            slot.b.load(std::memory_order_acquire), slot.c.load(std::memory_order_acquire)};
        if (note.number != number || slot.tag.load(std::memory_order_relaxed) != tag) return std::nullopt;
        return note;
    }

    static constexpr std::size_t size = 16;
    struct Slot {
        std::atomic<std::uint64_t> tag{0}, a{0}, b{0}, c{0};
    };
    std::atomic<std::uint64_t> last_{0}, ended_{0};
    std::array<Slot, size> slots_;
};

// A copy of the text that is never freed, so that notes can refer to it after its owner is gone.
const char* interned(const std::string& text);

// Three sizes in one number: 32 bits for x, 16 each for y and z. That holds every grid and block that CUDA
// allows.
inline std::uint64_t packed(const Dim3& size) {
    return size.x | std::uint64_t{size.y & 0xffff} << 32 | std::uint64_t{size.z & 0xffff} << 48;
}
inline Dim3 unpacked(std::uint64_t size) {
    return {static_cast<unsigned>(size), static_cast<unsigned>(size >> 32 & 0xffff),
            static_cast<unsigned>(size >> 48)};
}

}  // namespace cuscope::core
