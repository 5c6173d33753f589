// The simulated time that a kernel's threads read. Reading the clock advances it, and by more the longer the
// thread has run. So a thread that spins for milliseconds reads a few thousand times, and stops at most a
// thousandth too late. Once one thread has spun, later threads skip the same time.
#pragma once

#include <cstdint>

namespace cuscope::simt {

// How long earlier threads spun at the places where the kernel reads its clock, in the order in which a
// thread comes to these places.
struct SpinProfile {
    static constexpr unsigned capacity = 8;
    struct Spin {
        const void* site;
        std::int64_t nanoseconds;
    };
    Spin spins[capacity];
    unsigned count = 0;
};

// The time of one thread of a block, in nanoseconds since its kernel started.
class ThreadClock {
  public:
    static constexpr unsigned no_thread = ~0u;

    void forget() { thread_ = no_thread; }
    // A fiber runs one thread after the other. Each starts at the kernel's start time.
    std::int64_t now(unsigned thread) const { return thread == thread_ ? now_ : 0; }
    void set(unsigned thread, std::int64_t now) {
        begin_thread(thread);
        now_ = now;
    }
    // `site`: the place in the code that reads the clock.
    std::int64_t read(unsigned thread, const void* site, SpinProfile& profile) {
        begin_thread(thread);
        if (site != site_) begin_spin(site);
        now_ += step(now_);
        if (++reads_ == 1) spin_began_ = now_;
        if (reads_ == 2 && spins_ < profile.count && profile.spins[spins_].site == site) {
            const std::int64_t end = spin_began_ + profile.spins[spins_].nanoseconds;
            if (end > now_) now_ = end;
            is_spin_ = true;
        }
        if (reads_ >= reads_of_a_spin) is_spin_ = true;
        if (is_spin_ && spins_ < SpinProfile::capacity) {
            profile.spins[spins_] = {site, now_ - spin_began_};
            if (profile.count <= spins_) profile.count = spins_ + 1;
        }
        return now_;
    }

  private:
    static constexpr unsigned reads_of_a_spin = 64;
    static std::int64_t step(std::int64_t elapsed) { return elapsed < 32 * 1024 ? 32 : elapsed / 1024; }

    void begin_thread(unsigned thread) {
        if (thread == thread_) return;
        *this = ThreadClock();
        thread_ = thread;
    }
    void begin_spin(const void* site) {
        if (is_spin_) ++spins_;
        site_ = site;
        reads_ = 0;
        is_spin_ = false;
    }

    unsigned thread_ = no_thread;
    unsigned reads_ = 0;  // consecutive reads at site_
    unsigned spins_ = 0;  // spins that have ended
    bool is_spin_ = false;
    const void* site_ = nullptr;
    std::int64_t now_ = 0;
    std::int64_t spin_began_ = 0;
};

}  // namespace cuscope::simt
