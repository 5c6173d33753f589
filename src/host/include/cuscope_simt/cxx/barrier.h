// cuda::barrier, latch and semaphores.
#pragma once
#pragma GCC system_header

#include "cuscope_simt/cxx/atomic.h"
#include "cuscope_simt/groups/places.h"

namespace cuda {

namespace std {
struct __empty_completion {
    CUSCOPE_INLINE void operator()() const {}
};
}  // namespace std

namespace cuscope {

// A spin lock, because blocks run on several OS threads. It is held for a few instructions, and never while
// another thread of the block may run.
class Lock {
  public:
    CUSCOPE_INLINE explicit Lock(unsigned char* byte) : byte_(byte) {
        while (__atomic_test_and_set(byte, __ATOMIC_ACQUIRE)) look_again();
    }
    CUSCOPE_INLINE ~Lock() { __atomic_clear(byte_, __ATOMIC_RELEASE); }
    Lock(const Lock&) = delete;

  private:
    static CUSCOPE_INLINE void look_again() { asm volatile("" ::: "memory"); }
    unsigned char* byte_;
};

CUSCOPE_INLINE void note_meeting(bool of_block) {
    ::cuscope_simt::synchronized(of_block ? ::cuscope_simt::Synchronization::met_in_block
                                          : ::cuscope_simt::Synchronization::met_on_device);
}

// Waits until *word differs from `value`.
CUSCOPE_INLINE void wait_for_change(const unsigned* word, unsigned value, bool of_block, const char* file,
                                    int line, const char* operation) {
    const ::cuscope_simt::Site site{file, line, operation};
    while (__atomic_load_n(word, __ATOMIC_ACQUIRE) == value) {
        if (of_block) {
            ::cuscope_simt::switching(
                [&](::cuscope_simt::Fiber* self) { self->api->wait_word(self, word, value, &site); });
        } else {
            wait_a_little();
        }
    }
    note_meeting(of_block);
}

// Can only threads of this block know this address?
CUSCOPE_INLINE bool is_of_block(const void* address) {
    const ::cuscope_simt::Index3& cluster = cuscope_fiber->cluster_dim;
    return cluster.x * cluster.y * cluster.z <= 1 &&
           cuscope_fiber->api->shared_rank(cuscope_fiber, address) >= 0;
}

// The counts of a barrier. A phase is over when all expected arrivals have come, and all announced bytes have
// been copied.
struct Phases {
    unsigned generation;
    int pending, expected, bytes;
    unsigned char locked;

    CUSCOPE_INLINE void start(__PTRDIFF_TYPE__ count) {
        const ::cuscope_simt::Unchecked unchecked;
        generation = 0;
        pending = expected = static_cast<int>(count);
        bytes = 0;
        locked = 0;
    }
    // Returns the phase that this arrival belongs to.
    template <class Completion>
    CUSCOPE_INLINE unsigned arrive(int count, int dropped, int announced, int came, Completion&& completion) {
        bool last;
        unsigned now;
        {
            const ::cuscope_simt::Unchecked unchecked;
            const Lock lock(&locked);
            now = generation;
            expected -= dropped;
            pending -= count;
            bytes += announced - came;
            last = pending == 0 && bytes == 0;
        }
        if (last) {
            note_meeting(is_of_block(this));
            completion();
            const ::cuscope_simt::Unchecked unchecked;
            const Lock lock(&locked);
            pending = expected;
            __atomic_store_n(&generation, now + 1, __ATOMIC_RELEASE);
        }
        ::cuscope_simt::poll();
        return now;
    }
};

}  // namespace cuscope

template <thread_scope Scope, class Completion = std::__empty_completion>
class barrier {
  public:
    class arrival_token {
        friend class barrier;
        unsigned phase_;
        explicit arrival_token(unsigned phase) : phase_(phase) {}

      public:
        arrival_token() = default;
    };

    barrier() = default;
    CUSCOPE_INLINE barrier(__PTRDIFF_TYPE__ expected, Completion completion = Completion())
        : completion_(completion) {
        phases_.start(expected);
    }
    barrier(const barrier&) = delete;
    barrier& operator=(const barrier&) = delete;

    CUSCOPE_INLINE arrival_token arrive(__PTRDIFF_TYPE__ count = 1) { return token(count, 0, 0, 0); }
    CUSCOPE_INLINE void wait(arrival_token&& token, CUSCOPE_HERE) const {
        cuscope::wait_for_change(&phases_.generation, token.phase_, cuscope::is_of_block(this), file, line,
                                 "barrier::wait");
    }
    CUSCOPE_INLINE void wait_parity(bool parity, CUSCOPE_HERE) const {
        for (unsigned now; ((now = phase()) & 1u) == static_cast<unsigned>(parity);)
            cuscope::wait_for_change(&phases_.generation, now, cuscope::is_of_block(this), file, line,
                                     "barrier::wait_parity");
        cuscope::note_meeting(cuscope::is_of_block(this));
    }
    CUSCOPE_INLINE void arrive_and_wait(CUSCOPE_HERE) {
        const unsigned phase = token(1, 0, 0, 0).phase_;
        cuscope::wait_for_change(&phases_.generation, phase, cuscope::is_of_block(this), file, line,
                                 "barrier::arrive_and_wait");
    }
    CUSCOPE_INLINE void arrive_and_drop() { token(1, 1, 0, 0); }
    CUSCOPE_INLINE bool try_wait(arrival_token&& token) const { return over(token.phase_); }
    CUSCOPE_INLINE bool try_wait_parity(bool parity) const {
        const bool answer = (phase() & 1u) != static_cast<unsigned>(parity);
        if (answer)
            cuscope::note_meeting(cuscope::is_of_block(this));
        else
            cuscope::wait_a_little();
        return answer;
    }
    template <class Duration>
    CUSCOPE_INLINE bool try_wait_for(arrival_token&& token, const Duration&) const {
        return over(token.phase_);
    }
    static constexpr __PTRDIFF_TYPE__ max() { return (1 << 20) - 1; }

    CUSCOPE_INLINE arrival_token cuscope_arrive_bytes(__PTRDIFF_TYPE__ count, __PTRDIFF_TYPE__ announced) {
        return token(count, 0, announced, 0);
    }
    CUSCOPE_INLINE arrival_token cuscope_arrive_and_drop() { return token(1, 1, 0, 0); }
    CUSCOPE_INLINE void cuscope_bytes(__PTRDIFF_TYPE__ announced, __PTRDIFF_TYPE__ came) {
        token(0, 0, announced, came);
    }

    friend CUSCOPE_INLINE void init(barrier* made, __PTRDIFF_TYPE__ expected) {
        made->phases_.start(expected);
    }
    friend CUSCOPE_INLINE void init(barrier* made, __PTRDIFF_TYPE__ expected, Completion completion) {
        made->phases_.start(expected);
        made->completion_ = completion;
    }

  private:
    CUSCOPE_INLINE arrival_token token(__PTRDIFF_TYPE__ count, int dropped, __PTRDIFF_TYPE__ announced,
                                       __PTRDIFF_TYPE__ came) {
        return arrival_token(phases_.arrive(static_cast<int>(count), dropped, static_cast<int>(announced),
                                            static_cast<int>(came), completion_));
    }
    CUSCOPE_INLINE unsigned phase() const { return __atomic_load_n(&phases_.generation, __ATOMIC_ACQUIRE); }
    CUSCOPE_INLINE bool over(unsigned then) const {
        if (phase() == then) cuscope::wait_a_little();
        if (phase() == then) return false;
        cuscope::note_meeting(cuscope::is_of_block(this));
        return true;
    }

    alignas(8) cuscope::Phases phases_;
    [[no_unique_address]] Completion completion_;
};

namespace device {
// Arrivals that announce bytes, and the copies that bring these bytes.
template <class Completion>
CUSCOPE_INLINE auto barrier_arrive_tx(barrier<thread_scope_block, Completion>& made, __PTRDIFF_TYPE__ count,
                                      __PTRDIFF_TYPE__ bytes) {
    return made.cuscope_arrive_bytes(count, bytes);
}
template <class Completion>
CUSCOPE_INLINE void barrier_expect_tx(barrier<thread_scope_block, Completion>& made, __PTRDIFF_TYPE__ bytes) {
    made.cuscope_bytes(bytes, 0);
}
}  // namespace device

template <thread_scope Scope>
class latch {
  public:
    constexpr explicit latch(__PTRDIFF_TYPE__ expected)
        : left_(static_cast<unsigned>(expected)), open_(expected == 0 ? 1u : 0u) {}
    latch(const latch&) = delete;

    CUSCOPE_INLINE void count_down(__PTRDIFF_TYPE__ count = 1) {
        const unsigned by = static_cast<unsigned>(count);
        if (__atomic_sub_fetch(&left_, by, __ATOMIC_ACQ_REL) == 0)
            __atomic_store_n(&open_, 1u, __ATOMIC_RELEASE);
        ::cuscope_simt::poll();
    }
    CUSCOPE_INLINE bool try_wait() const {
        ::cuscope_simt::poll();
        if (__atomic_load_n(&open_, __ATOMIC_ACQUIRE) == 0) return false;
        cuscope::note_meeting(cuscope::is_of_block(this));
        return true;
    }
    CUSCOPE_INLINE void wait(CUSCOPE_HERE) const {
        cuscope::wait_for_change(&open_, 0, cuscope::is_of_block(this), file, line, "latch::wait");
    }
    CUSCOPE_INLINE void arrive_and_wait(__PTRDIFF_TYPE__ count = 1, CUSCOPE_HERE) {
        count_down(count);
        wait(file, line);
    }
    static constexpr __PTRDIFF_TYPE__ max() { return 0x7fffffff; }

  private:
    unsigned left_, open_;
};

template <thread_scope Scope, __PTRDIFF_TYPE__ LeastMax = 0x7fffffff>
class counting_semaphore {
  public:
    counting_semaphore() = default;
    constexpr explicit counting_semaphore(__PTRDIFF_TYPE__ count) : count_(static_cast<int>(count)) {}
    counting_semaphore(const counting_semaphore&) = delete;

    CUSCOPE_INLINE void release(__PTRDIFF_TYPE__ count = 1) { count_.fetch_add(static_cast<int>(count)); }
    CUSCOPE_INLINE bool try_acquire() {
        int now = count_.load();
        while (now > 0)
            if (count_.compare_exchange_weak(now, now - 1)) return true;
        return false;
    }
    CUSCOPE_INLINE void acquire() {
        while (!try_acquire()) cuscope::wait_a_little();
    }
    static constexpr __PTRDIFF_TYPE__ max() { return LeastMax; }

  private:
    atomic<int, Scope> count_;
};
template <thread_scope Scope>
using binary_semaphore = counting_semaphore<Scope, 1>;

namespace std {
template <class Completion = __empty_completion>
using barrier = ::cuda::barrier<thread_scope_system, Completion>;
using latch = ::cuda::latch<thread_scope_system>;
template <__PTRDIFF_TYPE__ LeastMax = 0x7fffffff>
using counting_semaphore = ::cuda::counting_semaphore<thread_scope_system, LeastMax>;
using binary_semaphore = ::cuda::binary_semaphore<thread_scope_system>;
}  // namespace std

}  // namespace cuda
