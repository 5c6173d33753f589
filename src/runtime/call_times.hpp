// When the calling thread made its calls that are traced, on the clock of traces.
#pragma once

#include <cstdint>

namespace cuscope {

struct CallTimes {
    std::int64_t began = 0;       // the call that the thread is in; 0: it is in none
    std::uint64_t last_call = 0;  // the number of the thread's latest call that is over
    std::int64_t last_ended = 0;  // its end
};
inline CallTimes& call_times() {
    static constinit thread_local CallTimes times;
    return times;
}

}  // namespace cuscope
