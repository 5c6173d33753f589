// The state of an event, as Runtime::look_at() finds it.
#pragma once

#include <cstdint>

namespace cuscope {

enum class EventState { unknown, not_recorded, captured, pending, happened };

struct EventLook {
    EventState state = EventState::unknown;
    std::int64_t time_ns = -1;  // of clock_ns(), when the event happened; -1: unknown
};

}  // namespace cuscope
