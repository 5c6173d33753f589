// The runtime's lock is held for a microsecond at most, several hundred thousand times a second: whoever
// finds it taken tries again for a moment before it sleeps, which costs more than that by itself.
#pragma once

#include <mutex>

namespace cuscope::host {

using Lock = std::unique_lock<std::mutex>;

inline void take(Lock& lock) {
    constexpr int tries = 100;
    for (int i = 0; i < tries; ++i) {
        if (lock.try_lock()) return;
#if defined(__x86_64__)
        __builtin_ia32_pause();
#endif
    }
    lock.lock();
}

}  // namespace cuscope::host
