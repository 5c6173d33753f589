// The processor's clock, before something is measured.
#pragma once

#include <chrono>

// Benchmarks from Python do it likewise: after a wait the processor's clock may be low.
inline void wake_the_processor() {
    const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(50);
    while (std::chrono::steady_clock::now() < end) {
    }
}
