// The runtime's lock is held for a microsecond at most, several hundred thousand times a second. A thread
// that finds the lock taken therefore retries for a moment before it sleeps: sleeping alone would cost more
// than the time for which the lock is held.
//
// A call that waits releases the lock meanwhile. Other threads may then destroy any stream, event, pool or
// other object. So the only things that a call keeps across a wait are references that it owns (CommandRef,
// std::shared_ptr) and device numbers; everything else is looked up again. A look-up returns Found<T>. In
// debug and sanitizer builds Found<T> aborts the program if it is used after its thread released the lock.
#pragma once

#include <mutex>
#if !defined(NDEBUG) || defined(CUSCOPE_CHECK_LOOKUPS)
#include <cstdio>
#include <cstdlib>
#undef CUSCOPE_CHECK_LOOKUPS
#define CUSCOPE_CHECK_LOOKUPS 1
#else
#define CUSCOPE_CHECK_LOOKUPS 0
#endif

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

#if CUSCOPE_CHECK_LOOKUPS
// How often this thread has released the lock within a call.
inline thread_local unsigned long long times_unlocked = 0;
#endif

// Every function that releases the lock within a call calls this first.
inline void note_unlock() {
#if CUSCOPE_CHECK_LOOKUPS
    ++times_unlocked;
#endif
}

// An object that a look-up found, or null. Valid until the calling thread waits.
template <class T>
class Found {
  public:
    Found(T* object) : object_(object) {}  // NOLINT: a look-up returns a pointer
    // Also from a look-up of a derived class or of a non-const object.
    template <class U>
    Found(const Found<U>& other) : object_(other.get()) {}

    T* get() const {
        check();
        return object_;
    }
    T& operator*() const { return *get(); }
    T* operator->() const { return get(); }
    explicit operator bool() const { return object_ != nullptr; }
    friend bool operator==(const Found& found, const T* other) { return found.object_ == other; }

  private:
#if CUSCOPE_CHECK_LOOKUPS
    void check() const {
        if (looked_up_ == times_unlocked) return;
        std::fputs(
            "cuscope: an object of the simulated runtime is used after a wait that may have destroyed it\n",
            stderr);
        std::abort();
    }
    unsigned long long looked_up_ = times_unlocked;
#else
    void check() const {}
#endif
    T* object_;
};

}  // namespace cuscope::host
