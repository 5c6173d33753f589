// Vector clocks. A timeline is a stream, or the host; a tick is one command of a timeline.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

namespace cuscope::order {

using Timeline = std::uint32_t;
inline constexpr Timeline host_timeline = 0;
// Counts the waits for numbers in memory and for external semaphores. Nobody knows in advance which command
// ends such a wait, so the order of the commands behind it is known only in part.
inline constexpr Timeline open_waits = 1;
inline constexpr Timeline first_stream_timeline = 2;

// For each timeline the latest tick that lies before a command. Timelines without one are left out.
class Clock {
  public:
    std::uint64_t at(Timeline timeline) const {
        const auto found = place(timeline);
        return found != ticks_.end() && found->first == timeline ? found->second : 0;
    }
    void set(Timeline timeline, std::uint64_t tick) {
        const auto found = ticks_.begin() + (place(timeline) - ticks_.begin());
        if (found != ticks_.end() && found->first == timeline)
            found->second = tick;
        else
            ticks_.insert(found, {timeline, tick});
    }
    // The later tick of each timeline.
    void join(const Clock& other) {
        if (other.ticks_.empty()) return;
        std::vector<Tick> joined;
        joined.reserve(ticks_.size() + other.ticks_.size());
        auto mine = ticks_.begin();
        auto theirs = other.ticks_.begin();
        while (mine != ticks_.end() || theirs != other.ticks_.end()) {
            if (theirs == other.ticks_.end() || (mine != ticks_.end() && mine->first < theirs->first)) {
                joined.push_back(*mine++);
            } else if (mine == ticks_.end() || theirs->first < mine->first) {
                joined.push_back(*theirs++);
            } else {
                joined.emplace_back(mine->first, std::max(mine->second, theirs->second));
                ++mine;
                ++theirs;
            }
        }
        ticks_.swap(joined);
    }

  private:
    using Tick = std::pair<Timeline, std::uint64_t>;
    std::vector<Tick>::const_iterator place(Timeline timeline) const {
        return std::lower_bound(ticks_.begin(), ticks_.end(), timeline,
                                [](const Tick& tick, Timeline at) { return tick.first < at; });
    }

    std::vector<Tick> ticks_;  // by timeline
};

}  // namespace cuscope::order
