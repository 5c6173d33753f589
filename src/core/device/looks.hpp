// The state of streams, events and memory, as far as it can be found out without a call that waits or that
// could invalidate a capture. For pictures of these objects in notebooks.
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "core/memory/memory.hpp"
#include "core/stream/event.hpp"

namespace cuscope::core {

// May this thread ask the runtime at all? Not inside a host function, after a fork, or while the process
// exits.
bool may_look() noexcept;

enum class StreamState { unknown, lost, reset, captured, working, done };
struct StreamLook {
    StreamState state = StreamState::unknown;
    std::size_t in_flight = 0;  // as far as is known
    std::string first, last;    // the oldest command in flight, and the last command; empty: unknown
};
StreamLook look_at(const StreamPtr& stream);

// `reset` and `lost` as for streams; `unknown` if the runtime may not be asked.
enum class EventMoment { unknown, lost, reset, captured, not_recorded, pending, happened };
struct EventStory {
    EventMoment moment = EventMoment::unknown;
    std::int64_t time_ns = -1, now_ns = -1;  // of the simulated host; -1: unknown
};
EventStory look_at(const Event& event);

struct Part {
    std::size_t offset = 0, bytes = 0;  // of the memory
};
enum class PeekResult { values, pending, unavailable };
// Copies parts of the memory, one behind the other, to the destination, unless work that uses the memory is
// in flight. `why` tells why there are no values. At most `most_peeked` bytes.
constexpr std::size_t most_peeked = std::size_t{16} << 10;
PeekResult peek(DeviceMemory& memory, std::span<const Part> parts, std::byte* destination, std::string* why);

}  // namespace cuscope::core
